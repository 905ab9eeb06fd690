//! Cores of limbs: capsules inside the flesh of bones that do not pass through each other, however much flesh gives way.
//!
//! Contact of flesh pushes on the light nodes of its surface, and explicit springs between them are soft: a limb on which a whole character lands would pass through them. All of a limb moves with its bone, so
//! that springs between bones may be stiff ([`crate::coupling`]).
//!
//! A core has the second moments of the flesh of its bone. An elliptic cylinder with the half axes a ≥ b and the length 2 H has the variances a²/4, b²/4 and H²/3 along its axes; two parallel capsules of radius
//! b at a distance of a − b on either side of the axis cover its section but for the corners.

use crate::home::{HomeBody, Homes};
use sinew_contact::nearest_on_segments;
use sinew_math::spatial::Frame;
use sinew_math::{Mat3, Vec3};

/// A capsule in the frame of a bone (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LimbCore {
    /// The bone, counted among those of all rigs from 1.
    pub(crate) bone: u32,
    pub(crate) ends: [Vec3; 2],
    pub(crate) radius: f64,
}

/// Two cores that keep a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CorePair {
    pub(crate) cores: [u32; 2],
    /// The distance of their axes (m).
    pub(crate) distance: f64,
}

/// The cores of all rigs with flesh that has a home.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LimbCores {
    pub(crate) cores: Vec<LimbCore>,
    pub(crate) pairs: Vec<CorePair>,
}

/// The radius of a core relative to that of the flesh around it: what flesh may yield by is left to it.
const FILL: f64 = 0.95;
/// Bones with a smaller part of the flesh of their body have no core: fingers, ears.
const MIN_MASS: f64 = 3e-3;
/// Sections with a ratio a/b beyond this have two capsules.
const ROUND: f64 = 1.2;
/// Cores that overlap at rest keep this fraction of their distance there.
const OF_REST: f64 = 0.9;
/// Pairs that would keep less than this fraction of the sum of their radii are no pairs.
const MIN_DISTANCE: f64 = 0.4;

/// What the cores of a body are fitted to.
pub(crate) struct LimbFlesh<'a> {
    pub(crate) homes: &'a Homes,
    pub(crate) node_rest: &'a [Vec3],
    pub(crate) node_mass: &'a [f64],
    /// Frames of all bones at rest, the world first.
    pub(crate) rest_frames: &'a [Frame],
}

impl LimbCores {
    /// Fits cores to the flesh of bones. `collide` says of two bodies, by their indices, whether they do; `are_joined` whether two bones are one, or share a joint.
    pub(crate) fn build(
        flesh: &LimbFlesh,
        collide: impl Fn(usize, usize) -> bool,
        are_joined: impl Fn(u32, u32) -> bool,
    ) -> LimbCores {
        let mut cores = Vec::new();
        let mut body_of_core: Vec<&HomeBody> = Vec::new();
        for body in &flesh.homes.bodies {
            fit_body(flesh, body, &mut cores);
            body_of_core.resize(cores.len(), body);
        }
        let mut pairs = Vec::new();
        for b in 0..cores.len() {
            for a in 0..b {
                let (first, second) = (&cores[a], &cores[b]);
                let bodies = [a, b].map(|core| body_of_core[core]);
                if !collide(bodies[0].body, bodies[1].body) || are_joined(first.bone, second.bone) {
                    continue;
                }
                // limbs of one character are drawn as they are at rest; those of two are anywhere before they meet
                let sum = first.radius + second.radius;
                let distance = if bodies[0].bones == bodies[1].bones {
                    let [p, q] =
                        [first, second].map(|core| core.placed(&flesh.rest_frames[core.bone as usize]));
                    sum.min(OF_REST * nearest_on_segments(&p, &q).gap().norm())
                } else {
                    sum
                };
                if distance >= MIN_DISTANCE * sum {
                    pairs.push(CorePair { cores: [a as u32, b as u32], distance });
                }
            }
        }
        LimbCores { cores, pairs }
    }
}

impl LimbCore {
    /// Its axis in the world, with its bone in a frame (m).
    pub(crate) fn placed(&self, frame: &Frame) -> [Vec3; 2] {
        self.ends.map(|end| frame.point(&end))
    }
}

/// Adds the cores of the bones of a body.
fn fit_body(flesh: &LimbFlesh, body: &HomeBody, cores: &mut Vec<LimbCore>) {
    // mass, first and second moments of the flesh of each bone
    let mut moments = vec![(0.0, Vec3::zeros(), Mat3::zeros()); body.bones.len()];
    for node in body.nodes.clone() {
        let x = &flesh.node_rest[node];
        for part in flesh.homes.of_node(node) {
            let mass = part.weight * flesh.node_mass[node];
            let (sum, first, second) = &mut moments[part.bone as usize - body.bones.start];
            *sum += mass;
            *first += mass * x;
            *second += mass * x * x.transpose();
        }
    }
    let total: f64 = moments.iter().map(|(mass, ..)| mass).sum();

    // capsules with these moments
    for (i, (mass, first, second)) in moments.into_iter().enumerate() {
        if mass > 0.0 && mass > MIN_MASS * total {
            let bone = body.bones.start + i;
            let center = first / mass;
            let variance = second / mass - center * center.transpose();
            fit_capsules(&center, &variance, |ends, radius| {
                let ends = ends.map(|end| flesh.rest_frames[bone].point_back(&end));
                cores.push(LimbCore { bone: bone as u32, ends, radius });
            });
        }
    }
}

/// The one or two capsules in an elliptic cylinder with a centre (m) and a variance (m²): their ends and their radius.
fn fit_capsules(center: &Vec3, variance: &Mat3, mut add: impl FnMut([Vec3; 2], f64)) {
    // half axes
    let axes = variance.symmetric_eigen();
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| axes.eigenvalues[*b].total_cmp(&axes.eigenvalues[*a]));
    let [along, wide, narrow] = order.map(|k| axes.eigenvalues[k].max(0.0).sqrt());
    let [direction, across] = [order[0], order[1]].map(|k| axes.eigenvectors.column(k).into_owned());
    let (half, a, b) = (3.0f64.sqrt() * along, 2.0 * wide, 2.0 * narrow);

    // one capsule in a round section, two in a wide one
    let radius = FILL * b;
    let reach = (FILL * half - radius).max(0.0) * direction;
    let sides: &[f64] = if a > ROUND * b { &[-1.0, 1.0] } else { &[0.0] };
    for side in sides {
        let middle = center + side * FILL * (a - b) * across;
        add([middle - reach, middle + reach], radius);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capsules(half_axes: [f64; 3]) -> Vec<([Vec3; 2], f64)> {
        let [half, a, b] = half_axes;
        let variance = Mat3::from_diagonal(&Vec3::new(a * a / 4.0, half * half / 3.0, b * b / 4.0));
        let mut found = Vec::new();
        fit_capsules(&Vec3::new(1.0, 2.0, 3.0), &variance, |ends, radius| found.push((ends, radius)));
        found
    }

    /// The capsule of a round limb fills 0.95 of its radius and length.
    #[test]
    fn a_round_limb_has_one_capsule_along_it() {
        let found = capsules([0.2, 0.05, 0.05]);
        let [(ends, radius)] = found[..] else { panic!("{found:?}") };
        assert!((radius - 0.0475).abs() < 1e-12);
        let tips = [ends[0].y, ends[1].y].map(|y| (y - 2.0).abs() + radius);
        assert!(tips.iter().all(|tip| (tip - 0.19).abs() < 1e-12), "{ends:?}");
        assert!(ends.iter().all(|end| (end.x - 1.0).abs() + (end.z - 3.0).abs() < 1e-12));
    }

    /// Both capsules of a wide chest reach to 0.95 of its width, and have 0.95 of its depth.
    #[test]
    fn a_wide_limb_has_two_capsules_side_by_side() {
        let found = capsules([0.3, 0.2, 0.1]);
        assert_eq!(found.len(), 2);
        let reach: Vec<f64> = found.iter().map(|(ends, radius)| (ends[0].x - 1.0).abs() + radius).collect();
        assert!(reach.iter().all(|reach| (reach - 0.19).abs() < 1e-12), "{reach:?}");
        assert!((found[0].0[0].x + found[1].0[0].x - 2.0).abs() < 1e-12);
    }
}
