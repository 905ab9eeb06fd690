//! Constraint forces in explicit steps, and constraint energies of a state.

mod anchored;
mod energy;
#[cfg(test)]
mod tests;

pub(crate) use anchored::Surroundings;
pub(crate) use energy::{ConstraintEnergy, ConstraintStep};

use crate::constraint::{Anchor, Asked, Constraint, ConstraintPath, Hold, NodeRow, belt, sum};
use crate::coupling::BoneCoupling;
use crate::desc::Mobility;
use crate::substep::Substep;
use crate::{Control, Model, State};
use anchored::AppliedForces;
use sinew_math::Vec3;

/// Workspace of constraints.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstraintForces {
    pub(crate) applied: AppliedForces,
    /// Points of one belt, and their velocities.
    points: Vec<Vec3>,
    velocities: Vec<Vec3>,
}

/// The force of a constraint in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintForce {
    /// The constraint: an index into [`Model::constraints`].
    pub constraint: usize,
    /// Its points (m); a point with a target is followed by the target.
    pub points: Vec<Vec3>,
    /// Spring tension (N), negative under compression; without damping.
    pub tension: f64,
    /// Its energy (J).
    pub energy: f64,
}

impl ConstraintForces {
    /// Applies all constraints in a sub-step: adds forces on nodes (N) and stores those on bones and obstacles. Returns
    /// the energy supplied by prescribed targets, lengths, strengths and kinematic obstacles (J).
    ///
    /// Changes by the control are applied instantaneously at the beginning, and their work is accounted for; then the points move in a constant potential. Symplectic Euler staggers velocities half a step
    /// before positions and conserves, to second order, E − h/2 v·∂E/∂x. The work of a change is therefore
    ///
    /// ```text
    /// E' − E − h/2 v · (∂E'/∂x − ∂E/∂x)
    /// ```
    pub(crate) fn pull(
        &mut self,
        model: &Model,
        control: &Control,
        Substep { from, to, h, .. }: Substep,
        now: &Surroundings,
        node_force: &mut [Vec3],
    ) -> f64 {
        self.applied.clear(model);
        let mut given = 0.0;
        for (i, constraint) in model.constraints().iter().enumerate() {
            let path = control.constraint(i);
            let (before, asked) = (path.asks(constraint, from), path.asks(constraint, to));
            let prescribed = (asked.place - before.place) / h;
            given += match &constraint.hold {
                // a point with a target
                Hold::Place { anchor, .. } => {
                    let y = anchor.at(now);
                    let v = anchor.velocity(model, now, &y);
                    let gap = y - asked.place;
                    let (damper, gradient) = (-asked.damping * (v - prescribed), asked.spring.gradient(&gap));
                    let earlier = y - before.place;
                    let spring = asked.spring.energy(&gap)
                        - before.spring.energy(&earlier)
                        - 0.5 * h * v.dot(&(gradient - before.spring.gradient(&earlier)));
                    let force = damper - gradient;
                    anchor.pull(model, now, (&y, &force), node_force, &mut self.applied);
                    spring + h * damper.dot(&prescribed)
                }

                // two points
                Hold::Between(ends) => {
                    let [a, b] = [ends[0].at(now), ends[1].at(now)];
                    let gap = a - b;
                    let apart = ends[0].velocity(model, now, &a) - ends[1].velocity(model, now, &b);
                    let gradient = asked.spring.gradient(&gap);
                    let force = -gradient - along_damper(&asked, &gap, &apart);
                    ends[0].pull(model, now, (&a, &force), node_force, &mut self.applied);
                    ends[1].pull(model, now, (&b, &-force), node_force, &mut self.applied);
                    let ends_with_forces = [(&ends[0], &a, force), (&ends[1], &b, -force)];
                    let prescribed: f64 = ends_with_forces
                        .iter()
                        .map(|(end, y, force)| prescribed_power(model, now, end, y, force))
                        .sum();
                    let spring = asked.spring.energy(&gap)
                        - before.spring.energy(&gap)
                        - 0.5 * h * apart.dot(&(gradient - before.spring.gradient(&gap)));
                    spring - h * prescribed
                }

                // held by impulses instead, see `exact_constraints`
                Hold::Exact { .. } => 0.0,

                // a belt
                Hold::Around(rows) => {
                    self.place_belt(rows, now);
                    let length = belt::length(&self.points);
                    let [was, pull] = [&before, &asked].map(|asked| belt_force(length, asked));
                    self.apply_belt(rows, &asked, pull.tension, node_force);
                    let rate = belt::length_rate(&self.points, &self.velocities);
                    pull.energy - was.energy - 0.5 * h * rate * (pull.tension - was.tension)
                }
            };
        }
        given
    }

    /// The energy of all constraints after a fraction of the step (J).
    pub(crate) fn energy(
        &mut self,
        model: &Model,
        control: &Control,
        fraction: f64,
        now: &Surroundings,
    ) -> f64 {
        let all = model.constraints().iter().enumerate();
        all.map(|(i, constraint)| self.energy_of(constraint, &control.constraint(i), fraction, now)).sum()
    }

    fn energy_of(
        &mut self,
        constraint: &Constraint,
        path: &ConstraintPath,
        fraction: f64,
        now: &Surroundings,
    ) -> f64 {
        let asked = path.asks(constraint, fraction);
        match &constraint.hold {
            Hold::Place { anchor, .. } => asked.spring.energy(&(anchor.at(now) - asked.place)),
            Hold::Between([a, b]) => asked.spring.energy(&(a.at(now) - b.at(now))),
            Hold::Exact { .. } => 0.0,
            Hold::Around(rows) => {
                self.place_belt(rows, now);
                belt_force(belt::length(&self.points), &asked).energy
            }
        }
    }

    fn place_belt(&mut self, rows: &[NodeRow], now: &Surroundings) {
        self.points.clear();
        self.points.extend(rows.iter().map(|row| sum(row, now.node_x)));
        self.velocities.clear();
        self.velocities.extend(rows.iter().map(|row| sum(row, now.node_v)));
    }

    /// −(T + c ℓ̇) gᵢ on each point; a slack belt is not damped.
    fn apply_belt(&self, rows: &[NodeRow], asked: &Asked, tension: f64, node_force: &mut [Vec3]) {
        if tension == 0.0 {
            return;
        }
        let tension = tension + asked.damping * belt::length_rate(&self.points, &self.velocities);
        for (i, row) in rows.iter().enumerate() {
            let force = -tension * belt::length_gradient(&self.points, i);
            row.iter().for_each(|(node, weight)| node_force[*node as usize] += *weight * force);
        }
    }
}

fn belt_force(length: f64, asked: &Asked) -> belt::BeltForce {
    belt::pull(length, asked.spring.stiffness, asked.spring.length)
}

/// c n (n · ḋ): along the axis, so that it exerts no moment; zero for a slack rope.
fn along_damper(asked: &Asked, gap: &Vec3, apart: &Vec3) -> Vec3 {
    let distance = gap.norm();
    if distance == 0.0 || !asked.spring.is_taut(gap) {
        return Vec3::zeros();
    }
    let n = gap / distance;
    n * (asked.damping * n.dot(apart))
}

/// The power of a force on a kinematic obstacle or prescribed bone, which does not react to it (W).
fn prescribed_power(model: &Model, now: &Surroundings, anchor: &Anchor, y: &Vec3, force: &Vec3) -> f64 {
    match anchor {
        Anchor::Obstacle { obstacle, .. } if model.obstacles()[*obstacle].mobility == Mobility::Kinematic => {
            force.dot(&anchor.velocity(model, now, y))
        }
        _ => 0.0,
    }
}

/// The energy of all constraints in a state, with the control at the end of its step (J). It is not part of [`State::energies`].
pub fn constraint_energy(model: &Model, control: &Control, state: &State) -> f64 {
    constraint_forces(model, control, state).iter().map(|force| force.energy).sum()
}

/// The forces of all constraints in a state, with the control at the end of its step.
pub fn constraint_forces(model: &Model, control: &Control, state: &State) -> Vec<ConstraintForce> {
    let coupling = BoneCoupling::of(model, state);
    let (node_x, node_v) = (state.node_x.as_slice(), state.node_v.as_slice());
    let now = Surroundings { node_x, node_v, coupling: &coupling, obstacles: &state.obstacles, motions: &[] };
    let force = |(i, constraint): (usize, &Constraint)| {
        let asked = control.constraint(i).asks(constraint, 1.0);
        let (points, tension, energy) = match &constraint.hold {
            Hold::Place { anchor, .. } => {
                let y = anchor.at(&now);
                let gap = y - asked.place;
                (vec![y, asked.place], asked.spring.gradient(&gap).norm(), asked.spring.energy(&gap))
            }
            Hold::Between([a, b]) => {
                let [a, b] = [a.at(&now), b.at(&now)];
                let pull = asked.spring.gradient(&(a - b));
                let sign = if pull.dot(&(a - b)) < 0.0 { -1.0 } else { 1.0 };
                (vec![a, b], sign * pull.norm(), asked.spring.energy(&(a - b)))
            }
            // the force of an exact constraint is not a function of the state
            Hold::Exact { row, .. } => (vec![sum(row, node_x), asked.place], 0.0, 0.0),
            Hold::Around(rows) => {
                let points: Vec<Vec3> = rows.iter().map(|row| sum(row, node_x)).collect();
                let pull = belt_force(belt::length(&points), &asked);
                (points, pull.tension, pull.energy)
            }
        };
        ConstraintForce { constraint: i, points, tension, energy }
    };
    model.constraints().iter().enumerate().map(force).collect()
}
