//! The inverse of settling: the unstressed shape that sags to the drawn one.
//!
//! Artists draw flesh as it looks under its own weight. With nodes drawn at x and held where bones and pins have them, the rest shape X has
//!
//! ```text
//! ∂Ψ/∂x (x; X) = m g      at every node that is not held
//! ```
//!
//! Newton's method with the stiffness K₀ of the drawn shape without stress, to first order the fixed point of `[Sellier2011]`, made faster by what earlier steps changed (`acceleration.rs`):
//!
//! ```text
//! K₀ d = m g − ∂Ψ/∂x,      X ← X − t Qᵀ d
//! ```
//!
//! d is about how far flesh would still sag, Q how flesh is turned from X to x, and t is halved until less of the sag is left and no tet is flattened.
//! Where flesh is too soft to carry all of its weight, the rest shape carries the largest fraction of it that was found to have a stable one. A rest shape is sought for one
//! body at a time; it knows nothing of loads, touches and constraints.

mod acceleration;
mod sag_solver;
#[cfg(test)]
mod tests;

use crate::pseudo_random::pseudo_random_vectors;
use acceleration::Acceleration;
use core::fmt;
use sag_solver::{FoundSag, SagSolver};
use sinew_flesh::{ElasticPotential, ElementDesc, Elements};
use sinew_math::sparse::times_transposed;
use sinew_math::{Mat3, Vec3};

/// A body as it is drawn: what a rest shape is sought for. The lists over nodes are of one length, and elements name nodes of it.
#[derive(Clone, Copy, Debug)]
pub struct DrawnShape<'a> {
    /// Where its nodes are (m).
    pub node_x: &'a [Vec3],
    /// The weight of each node, m g (N).
    pub node_weight: &'a [Vec3],
    /// Which nodes are held, by bones or pins.
    pub is_held: &'a [bool],
    /// Its elements over those nodes.
    pub elements: &'a [ElementDesc],
}

/// The unstressed shape that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RestShape {
    /// Where nodes are without stress (m).
    pub node_x: Vec<Vec3>,
    /// What of its weight the stress of the drawn shape does not carry, at each node that is not held (N).
    pub node_left: Vec<Vec3>,
    /// How it was found.
    pub report: RestShapeReport,
}

/// How well a rest shape carries the drawn one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestShapeReport {
    /// How much of the weight the stress of the drawn shape carries, between 0 and 1.
    pub carried: f64,
    /// How far flesh rests from the drawn shape in the bind pose, at most (m): to first order, and 0 where bones bear what is left.
    pub farthest: f64,
    /// The same in the mean over nodes that are not held (m).
    pub mean: f64,
    /// How far the rest shape is from the drawn one, at most (m).
    pub moved: f64,
    /// Steps of Newton's method in all.
    pub newton: usize,
    /// Steps of conjugate gradients in all.
    pub inner: usize,
}

impl fmt::Display for RestShapeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [farthest, mean, moved] = [self.farthest, self.mean, self.moved].map(|metres| 1e3 * metres);
        write!(
            f,
            "rests within {farthest:.4} mm of the drawn shape, {mean:.4} mm on average: stress carries {:.0} % of the weight, from a rest shape up to {moved:.1} mm away that took {} steps",
            100.0 * self.carried,
            self.newton
        )
    }
}

/// What may be left of the sag under the whole weight: a tenth of a micrometre of a centimetre.
const TOLERANCE: f64 = 1e-5;
/// What may be left where no step gets further.
const ENOUGH: f64 = 1e-2;
/// A sag this small beside the body's size is round-off: elements keep their rest shapes in single precision.
const ROUND_OFF: f64 = 1e-7;
/// The most steps for one fraction of the weight. Each leaves about as much of the error as flesh is strained, at most a third.
const MAX_NEWTON: usize = 20;
/// The most rest shapes that are tried in all: characters take some ten, and as long as five implicit steps for it.
const MAX_TRIALS: usize = 100;
/// How many fractions of the weight are tried: all of it, and four halvings, which find the fraction to a sixteenth.
const MAX_FRACTIONS: usize = 5;
/// The least fraction that is worth a rest shape. Below, flesh is so soft that its stress is no matter.
const MIN_FRACTION: f64 = 0.1;
/// How much of its drawn volume a tet of the rest shape keeps, at least, and how often that it has, at most.
const VOLUMES: [f64; 2] = [0.2, 5.0];
/// The largest ‖F‖² from the rest shape to the drawn one, which is 3 without strain: 2 in each direction.
const MAX_STRETCH: f64 = 12.0;
/// The most halvings of a step.
const MAX_HALVINGS: usize = 6;

impl DrawnShape<'_> {
    /// Finds the rest shape: as much work as five implicit steps for characters, at most ten times that where flesh is too soft. The same bits on any number of threads.
    ///
    /// # Panics
    /// If the lists differ in length, or an element has nodes that are not there.
    pub fn find_rest_shape(&self) -> RestShape {
        let mut search = Search::new(self);
        // what there is without a rest shape
        let mut best = search.trial(1.0, self.node_x.to_vec());
        search.whole_sag = best.sag.norm();
        let (mut low, mut high) = (0.0, 1.0);
        if best.sag.curves_down {
            // it hangs by less than holds it
            high = 0.0;
        } else if search.is_small(&best.sag) {
            low = 1.0;
        }
        // all of the weight first, then as much of it as has a rest shape
        let mut fraction = 1.0;
        for _ in 0..MAX_FRACTIONS {
            if low == 1.0 || high <= MIN_FRACTION || search.trials >= MAX_TRIALS {
                break;
            }
            match search.find(fraction, &best.rest) {
                Some(found) => (low, best) = (fraction, found),
                None => high = fraction,
            }
            fraction = 0.5 * (low + high);
        }
        if low < 1.0 {
            // what the fraction does not carry pulls as well
            best = search.trial(1.0, if low < MIN_FRACTION { self.node_x.to_vec() } else { best.rest });
        }
        let report = search.report(if low < MIN_FRACTION { 0.0 } else { low }, &best);
        RestShape { node_x: best.rest, node_left: best.left, report }
    }

    /// The weight of each node, none of those that are held.
    fn sought(&self) -> impl Iterator<Item = Option<Vec3>> + '_ {
        self.node_weight.iter().zip(self.is_held).map(|(weight, held)| (!held).then_some(*weight))
    }

    /// Whether rest edges keep every tet from being flattened, inverted or stretched beyond measure.
    fn allows(&self, rest: &[Vec3]) -> bool {
        let edges = |x: &[Vec3], nodes: &[u32; 4]| {
            let [a, b, c, d] = nodes.map(|node| x[node as usize]);
            Mat3::from_columns(&[b - a, c - a, d - a])
        };
        self.elements.iter().all(|element| {
            let (drawn, rest) = (edges(self.node_x, &element.nodes), edges(rest, &element.nodes));
            let ratio = rest.determinant() / drawn.determinant();
            let stretch =
                rest.try_inverse().map_or(f64::INFINITY, |inverse| (drawn * inverse).norm_squared());
            (VOLUMES[0]..=VOLUMES[1]).contains(&ratio) && stretch <= MAX_STRETCH
        })
    }
}

/// The search for a rest shape, and scratch.
struct Search<'a> {
    drawn: &'a DrawnShape<'a>,
    solver: SagSolver,
    /// The elements without stress in the drawn shape.
    drawn_elements: Elements,
    potential: ElasticPotential,
    /// The longest side of the box around the body (m).
    size: f64,
    /// √Σ sag² under the whole weight without a rest shape (m).
    whole_sag: f64,
    newton: usize,
    inner: usize,
    trials: usize,
}

/// A rest shape on trial.
struct Trial {
    rest: Vec<Vec3>,
    elements: Elements,
    /// What of the weight is left at each node (N).
    left: Vec<Vec3>,
    /// About how far flesh sags under that: as flesh without stress would.
    sag: FoundSag,
}

impl<'a> Search<'a> {
    fn new(drawn: &'a DrawnShape<'a>) -> Search<'a> {
        let first = drawn.node_x.first().copied().unwrap_or_default();
        let drawn_elements = Elements::build(drawn.node_x, drawn.elements);
        let fold = |f: fn(&Vec3, &Vec3) -> Vec3| drawn.node_x.iter().fold(first, |a, b| f(&a, b));
        Search {
            drawn,
            solver: SagSolver::build(drawn, &drawn_elements),
            drawn_elements,
            potential: ElasticPotential::default(),
            size: (fold(Vec3::sup) - fold(Vec3::inf)).amax(),
            whole_sag: 0.0,
            newton: 0,
            inner: 0,
            trials: 0,
        }
    }

    /// The rest shape under a fraction of the weight, from a first guess; none if there is none that was found and is stable.
    fn find(&mut self, fraction: f64, guess: &[Vec3]) -> Option<Trial> {
        let mut now = self.trial(fraction, guess.to_vec());
        let mut acceleration = Acceleration::default();
        for _ in 0..MAX_NEWTON {
            if self.is_small(&now.sag) || self.trials >= MAX_TRIALS {
                break;
            }
            self.newton += 1;
            let Some(next) = self.step(fraction, &now, &mut acceleration) else { break };
            now = next;
        }
        let is_found = self.is_small(&now.sag) || now.sag.norm() <= ENOUGH * fraction * self.whole_sag;
        (is_found && self.is_stable(&now)).then_some(now)
    }

    fn is_small(&self, sag: &FoundSag) -> bool {
        sag.norm() <= TOLERANCE * self.whole_sag || sag.farthest() <= ROUND_OFF * self.size
    }

    /// Goes against the sag as far as less of it is left. Forces would not do for a measure: what bends by a little is stretched by the square of that, and is far stiffer against it.
    fn step(&mut self, fraction: f64, now: &Trial, acceleration: &mut Acceleration) -> Option<Trial> {
        let back = self.back(now);
        let mut is_better = |rest: Vec<Vec3>, least: f64| {
            if !self.drawn.allows(&rest) {
                return None;
            }
            let next = self.trial(fraction, rest);
            (next.sag.norm() < (1.0 - least) * now.sag.norm()).then_some(next)
        };
        if let Some(next) = acceleration.next(&now.rest, &back).and_then(|rest| is_better(rest, 0.1)) {
            return Some(next);
        }
        acceleration.forget();
        let mut t = 1.0;
        for _ in 0..=MAX_HALVINGS {
            let rest = now.rest.iter().zip(&back).map(|(rest, back)| rest + t * back).collect();
            if let Some(next) = is_better(rest, 0.1 * t) {
                return Some(next);
            }
            t *= 0.5;
        }
        None
    }

    /// −Qᵀ d
    fn back(&self, now: &Trial) -> Vec<Vec3> {
        let mut turns = Vec::new();
        now.elements.find_node_turns(self.drawn.node_x, &mut turns);
        let back = |(sag, turn): (&Vec3, _)| {
            let [x, y, z, _] = times_transposed(turn, &[sag.x as f32, sag.y as f32, sag.z as f32, 0.0]);
            -Vec3::new(x.into(), y.into(), z.into())
        };
        now.sag.node_sag.iter().zip(&turns).map(back).collect()
    }

    /// What is left of a fraction of the weight with a rest shape.
    fn trial(&mut self, fraction: f64, rest: Vec<Vec3>) -> Trial {
        self.trials += 1;
        let elements = Elements::build(&rest, self.drawn.elements);
        self.potential.evaluate(&elements, self.drawn.node_x);
        let left = |(node, weight): (usize, Option<Vec3>)| {
            weight.map_or_else(Vec3::zeros, |weight| {
                fraction * weight - self.potential.gradient_of(&elements, node)
            })
        };
        let left: Vec<Vec3> = self.drawn.sought().enumerate().map(left).collect();
        let sag = self.solver.solve(&self.drawn_elements, self.drawn.node_x, &left);
        self.inner += sag.iterations;
        Trial { rest, elements, left, sag }
    }

    /// Whether the drawn shape is held up by its stress and not only balanced on it: conjugate gradients from a push that goes every way met only positive stiffness, in as many
    /// iterations as they were given.
    fn is_stable(&mut self, trial: &Trial) -> bool {
        let pushes = self.drawn.is_held.iter().zip(pseudo_random_vectors());
        let pushes: Vec<Vec3> = pushes.map(|(held, push)| if *held { Vec3::zeros() } else { push }).collect();
        let found = self.solver.solve(&trial.elements, self.drawn.node_x, &pushes);
        self.inner += found.iterations;
        !found.curves_down
    }

    /// What a rest shape comes to, with the stiffness that the drawn shape has by its stress.
    fn report(&mut self, carried: f64, best: &Trial) -> RestShapeReport {
        let sag = self.solver.solve(&best.elements, self.drawn.node_x, &best.left);
        let free = self.drawn.is_held.iter().filter(|held| !**held).count();
        let moved = best.rest.iter().zip(self.drawn.node_x).map(|(rest, x)| (rest - x).norm());
        RestShapeReport {
            carried,
            farthest: sag.farthest(),
            mean: sag.node_sag.iter().map(Vec3::norm).sum::<f64>() / free.max(1) as f64,
            moved: moved.fold(0.0, f64::max),
            newton: self.newton,
            inner: self.inner + sag.iterations,
        }
    }
}
