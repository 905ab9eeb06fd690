//! Inverse static equilibrium: the stress-free shape that deforms under gravity to the drawn one.
//!
//! Artists draw flesh as it looks under its own weight. With nodes drawn at x and fixed by bones and pins, the rest shape X satisfies
//!
//! ```text
//! ∂Ψ/∂x (x; X) = m g      at every free node
//! ```
//!
//! It is found by a modified Newton method with the stress-free stiffness K₀ of the drawn shape, to first order the fixed-point iteration of `[Sellier2011]`, with Anderson acceleration (`acceleration.rs`):
//!
//! ```text
//! K₀ d = m g − ∂Ψ/∂x,      X ← X − t Qᵀ d
//! ```
//!
//! d approximates the remaining sag, Q is the rotation from X to x, and t is halved until the sag decreases and no tet degenerates.
//! Where flesh is too soft to carry all of its weight, the rest shape carries the largest fraction of it for which a stable shape was found. Each body is solved
//! separately; loads, contact and constraints are ignored.

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

/// A body as drawn, whose rest shape is computed. All slices over nodes have the same length, and elements index them.
#[derive(Clone, Copy, Debug)]
pub struct DrawnShape<'a> {
    /// Node positions (m).
    pub node_x: &'a [Vec3],
    /// The weight of each node, m g (N).
    pub node_weight: &'a [Vec3],
    /// Which nodes are fixed, by bones or pins.
    pub is_held: &'a [bool],
    /// Its elements over those nodes.
    pub elements: &'a [ElementDesc],
}

/// The computed stress-free shape.
#[derive(Clone, Debug, PartialEq)]
pub struct RestShape {
    /// Stress-free node positions (m).
    pub node_x: Vec<Vec3>,
    /// Residual weight at each free node that the stress of the drawn shape does not carry (N).
    pub node_left: Vec<Vec3>,
    /// Report of the search.
    pub report: RestShapeReport,
}

/// Quality of a rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestShapeReport {
    /// Fraction of the weight carried by the stress of the drawn shape, between 0 and 1.
    pub carried: f64,
    /// Maximum distance of the equilibrium in the bind pose from the drawn shape (m): to first order, and 0 where bones balance the residual.
    pub farthest: f64,
    /// The mean distance over free nodes (m).
    pub mean: f64,
    /// Maximum distance of the rest shape from the drawn one (m).
    pub moved: f64,
    /// Total number of Newton steps.
    pub newton: usize,
    /// Total number of conjugate gradient iterations.
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

/// Tolerance relative to the sag under the whole weight: a tenth of a micrometre per centimetre.
const TOLERANCE: f64 = 1e-5;
/// Relative residual that is accepted if no step makes progress.
const LOOSE_TOLERANCE: f64 = 1e-2;
/// A sag below this fraction of the body size is round-off: elements store their rest shapes in single precision.
const ROUND_OFF: f64 = 1e-7;
/// Maximum number of Newton steps for one fraction of the weight. Each step reduces the error to about the strain of the flesh, at most a third.
const MAX_NEWTON: usize = 20;
/// Maximum number of rest shapes evaluated: characters need about ten, which cost as much as five implicit steps.
const MAX_TRIALS: usize = 100;
/// Number of fractions of the weight that are tried: all of it, and four bisections, which find the fraction to a sixteenth.
const MAX_FRACTIONS: usize = 5;
/// Smallest fraction worth a rest shape. Below it, flesh is so soft that its stress is negligible.
const MIN_FRACTION: f64 = 0.1;
/// Bounds of the volume of a tet in the rest shape relative to the drawn one.
const VOLUMES: [f64; 2] = [0.2, 5.0];
/// The largest ‖F‖² from the rest shape to the drawn one, which is 3 without strain: 2 in each direction.
const MAX_STRETCH: f64 = 12.0;
/// Maximum number of step halvings.
const MAX_HALVINGS: usize = 6;

impl DrawnShape<'_> {
    /// Computes the rest shape: costs as much as five implicit steps for characters, at most ten times that where flesh is too soft. The result is bitwise independent of the number of threads.
    ///
    /// # Panics
    /// If the slices differ in length, or an element has invalid node indices.
    pub fn find_rest_shape(&self) -> RestShape {
        let mut search = Search::new(self);
        // the residual without a rest shape
        let mut best = search.trial(1.0, self.node_x.to_vec());
        search.whole_sag = best.sag.norm();
        let (mut low, mut high) = (0.0, 1.0);
        if best.sag.curves_down {
            // the drawn shape itself is not stable
            high = 0.0;
        } else if search.is_small(&best.sag) {
            low = 1.0;
        }
        // try all of the weight first, then bisect for the largest fraction that has a rest shape
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
            // the residual includes the weight beyond the fraction
            best = search.trial(1.0, if low < MIN_FRACTION { self.node_x.to_vec() } else { best.rest });
        }
        let report = search.report(if low < MIN_FRACTION { 0.0 } else { low }, &best);
        RestShape { node_x: best.rest, node_left: best.left, report }
    }

    /// The weight of each free node; none for fixed ones.
    fn sought(&self) -> impl Iterator<Item = Option<Vec3>> + '_ {
        self.node_weight.iter().zip(self.is_held).map(|(weight, held)| (!held).then_some(*weight))
    }

    /// Whether no tet is degenerate, inverted or stretched too much in a rest shape.
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

/// The search for a rest shape, with workspace.
struct Search<'a> {
    drawn: &'a DrawnShape<'a>,
    solver: SagSolver,
    /// The elements with the drawn shape as stress-free shape.
    drawn_elements: Elements,
    potential: ElasticPotential,
    /// The longest side of the body's bounding box (m).
    size: f64,
    /// √Σ sag² under the whole weight without a rest shape (m).
    whole_sag: f64,
    newton: usize,
    inner: usize,
    trials: usize,
}

/// A trial rest shape.
struct Trial {
    rest: Vec<Vec3>,
    elements: Elements,
    /// Residual weight at each node (N).
    left: Vec<Vec3>,
    /// Approximate sag under the residual, with the stress-free stiffness.
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

    /// The rest shape under a fraction of the weight, from an initial guess; none if no stable one was found.
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
        let is_found =
            self.is_small(&now.sag) || now.sag.norm() <= LOOSE_TOLERANCE * fraction * self.whole_sag;
        (is_found && self.is_stable(&now)).then_some(now)
    }

    fn is_small(&self, sag: &FoundSag) -> bool {
        sag.norm() <= TOLERANCE * self.whole_sag || sag.farthest() <= ROUND_OFF * self.size
    }

    /// Step against the sag, with backtracking until the sag decreases. Force residuals are not a suitable merit function: a small bending displacement causes stretching of second order, which is far stiffer.
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

    /// Evaluates the residual of a rest shape under a fraction of the weight.
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

    /// Whether the drawn shape is a stable equilibrium: conjugate gradients from a pseudo-random right-hand side found only positive curvature within the
    /// iteration limit.
    fn is_stable(&mut self, trial: &Trial) -> bool {
        let pushes = self.drawn.is_held.iter().zip(pseudo_random_vectors());
        let pushes: Vec<Vec3> = pushes.map(|(held, push)| if *held { Vec3::zeros() } else { push }).collect();
        let found = self.solver.solve(&trial.elements, self.drawn.node_x, &pushes);
        self.inner += found.iterations;
        !found.curves_down
    }

    /// The quality of a rest shape, with the tangent stiffness of the drawn shape including its stress.
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
