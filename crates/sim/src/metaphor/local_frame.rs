//! The local frame of a deformed body: where it is, and how it is turned.
//!
//! The robust best fit is the rotation R and the translation with the least sum of a bounded penalty, by iteratively reweighted least squares:      \[GemanMcClure1987\]
//!
//! ```text
//! min Σ m r²/(r² + s²),   r = |x − c − R (X − C)|        w ← m/(1 + r²/s²)²,   c, C: weighted means,   R: polar part of Σ w (x − c)(X − C)ᵀ
//! ```
//!
//! s is a fraction of the root mean square of r. Nodes that moved with the others have r ≪ s and count fully; those of an end that was bent away hardly count, while in a plain least-squares fit
//! they count the most. The fit begins anew with every step, from equal weights, so that it depends on positions only.

mod cone;

use crate::desc::FrameMethod;
use cone::Cone;
use sinew_math::svd::Polar;
use sinew_math::{Mat3, Vec3};

/// The nodes that the frame of a body is found from, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LocalFrame {
    nodes: Vec<FrameNode>,
    /// The frame of the thesis, if that one is used.
    cone: Option<Cone>,
}

/// One of the nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FrameNode {
    node: u32,
    mass: f64,
    rest: Vec3,
}

/// A rigid motion from the rest pose: x = c + R (X − C).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPose {
    /// The rotation R.
    pub rotation: Mat3,
    /// The centre C at rest (m).
    pub rest_center: Vec3,
    /// The same point now, c (m).
    pub center: Vec3,
}

impl Default for BodyPose {
    fn default() -> BodyPose {
        BodyPose { rotation: Mat3::identity(), rest_center: Vec3::zeros(), center: Vec3::zeros() }
    }
}

impl BodyPose {
    /// Where a point at rest (m) is carried to.
    pub fn carry(&self, rest: &Vec3) -> Vec3 {
        self.center + self.rotation * (rest - self.rest_center)
    }
}

/// Rounds of reweighting. The false rotation of a bar whose last third is bent by 30°, 60° and 90° was 7.8°, 14.7° and 19.8° without any, 4.7°, 7.3° and 5.6° after two, 0.9°, 1.1° and 1.2° after four, and 0.5°, 0.9° and 1.1° from six on.
const ROUNDS: usize = 6;
/// s² as a fraction of the mean square of r.
const SPREAD: f64 = 0.25;
/// Mean squares below this fraction of the squared size are round-off.
const RIGID: f64 = 1e-20;

impl LocalFrame {
    /// The frame of nodes with their masses (kg) and positions at rest (m).
    pub(crate) fn build(
        method: FrameMethod,
        nodes: impl Iterator<Item = u32>,
        (mass, rest): (&[f64], &[Vec3]),
    ) -> LocalFrame {
        let own = |node: u32| FrameNode { node, mass: mass[node as usize], rest: rest[node as usize] };
        let nodes: Vec<FrameNode> = nodes.map(own).collect();
        let cone = (method == FrameMethod::Cone).then(|| Cone::build(&nodes));
        LocalFrame { nodes, cone: cone.flatten() }
    }

    /// Finds the pose with nodes at positions `x` (m).
    pub(crate) fn find(&self, x: &[Vec3]) -> BodyPose {
        match &self.cone {
            Some(cone) => cone.find(x, self.mean_pose(x)),
            None => self.fit(x, ROUNDS),
        }
    }

    /// The centre of mass, not turned.
    fn mean_pose(&self, x: &[Vec3]) -> BodyPose {
        let mut sums = Sums::default();
        let origin = self.origins(x);
        self.nodes.iter().for_each(|own| sums.add(own.mass, own, x, &origin));
        BodyPose { rotation: Mat3::identity(), ..sums.pose(&origin) }
    }

    /// The robust best fit; without rounds of reweighting the least-squares one.
    fn fit(&self, x: &[Vec3], rounds: usize) -> BodyPose {
        // least squares
        let origin = self.origins(x);
        let mut sums = Sums::default();
        self.nodes.iter().for_each(|own| sums.add(own.mass, own, x, &origin));
        let mut pose = sums.pose(&origin);

        // reweighted
        for _ in 0..rounds {
            let squared = |own: &FrameNode| (x[own.node as usize] - pose.carry(&own.rest)).norm_squared();
            let (mut mean, mut size, mut mass) = (0.0, 0.0, 0.0);
            for own in &self.nodes {
                mean += own.mass * squared(own);
                size += own.mass * (own.rest - pose.rest_center).norm_squared();
                mass += own.mass;
            }
            if mean <= RIGID * size {
                break;
            }
            let spread = SPREAD * mean / mass;
            let mut sums = Sums::default();
            for own in &self.nodes {
                let kept = 1.0 + squared(own) / spread;
                sums.add(own.mass / (kept * kept), own, x, &origin);
            }
            pose = sums.pose(&origin);
        }
        pose
    }

    /// Points near the nodes now and at rest (m), about which sums are taken.
    fn origins(&self, x: &[Vec3]) -> [Vec3; 2] {
        self.nodes.first().map_or([Vec3::zeros(); 2], |own| [x[own.node as usize], own.rest])
    }
}

/// Weighted sums over nodes.
#[derive(Default)]
struct Sums {
    weight: f64,
    now: Vec3,
    rest: Vec3,
    both: Mat3,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, weight: f64, own: &FrameNode, x: &[Vec3], origin: &[Vec3; 2]) {
        let (now, rest) = (x[own.node as usize] - origin[0], own.rest - origin[1]);
        self.weight += weight;
        self.now += weight * now;
        self.rest += weight * rest;
        self.both += (weight * now) * rest.transpose();
    }

    fn pose(&self, origin: &[Vec3; 2]) -> BodyPose {
        if self.weight == 0.0 {
            return BodyPose::default();
        }
        let (now, rest) = (self.now / self.weight, self.rest / self.weight);
        let rotation = Polar::of(&(self.both - self.now * rest.transpose())).rotation;
        BodyPose { rotation, rest_center: origin[1] + rest, center: origin[0] + now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::{Rotation, so3};

    /// A bar of 3 m along x with a square section of 0.4 m.
    fn bar() -> Vec<Vec3> {
        let at = |i: u32, j: u32, k: u32| {
            Vec3::new(0.1 * f64::from(i), 0.1 * f64::from(j) - 0.2, 0.1 * f64::from(k) - 0.2)
        };
        (0..=30).flat_map(|i| (0..=4).flat_map(move |j| (0..=4).map(move |k| at(i, j, k)))).collect()
    }

    /// The bar with its last third bent by an angle about z, each point rigidly turned by the angle at its place.
    fn bent(points: &[Vec3], angle: f64) -> Vec<Vec3> {
        points
            .iter()
            .map(|x| {
                let turn = so3::exp(&(angle * (x.x - 2.0).clamp(0.0, 0.3) / 0.3 * Vec3::z()));
                let hinge = Vec3::new(2.0, 0.0, 0.0);
                if x.x > 2.0 { hinge + turn * (x - hinge) } else { *x }
            })
            .collect()
    }

    fn frame(method: FrameMethod, points: &[Vec3]) -> LocalFrame {
        let mass = vec![1.0; points.len()];
        LocalFrame::build(method, 0..points.len() as u32, (&mass, points))
    }

    fn degrees(rotation: &Mat3) -> f64 {
        let cosine = 0.5 * (rotation.trace() - 1.0);
        sinew_math::real::acos(cosine.clamp(-1.0, 1.0)).to_degrees()
    }

    /// Rigid motions are found to round-off: a few ε of the polar decomposition, and acos of 1 − ε is √(2 ε) = 2e-8 rad.
    #[test]
    fn the_frame_turns_with_the_body() {
        let points = bar();
        let turn = Rotation::from_scaled_axis(Vec3::new(0.4, -1.9, 0.7));
        let moved: Vec<Vec3> = points.iter().map(|x| turn * x + Vec3::new(50.0, -3.0, 7.0)).collect();
        for method in [FrameMethod::BestFit, FrameMethod::Cone] {
            let pose = frame(method, &points).find(&moved);
            let error = pose.rotation * turn.to_rotation_matrix().matrix().transpose();
            assert!(degrees(&error) < 1e-5, "{method:?}");
            assert!((pose.carry(&points[17]) - moved[17]).norm() < 1e-10);
        }
    }

    /// A bent end turns the frame of the thesis by 11°, 18° and 22°, a least-squares fit by 8°, 15° and 20°, and the robust fit by 0.5°, 0.9° and 1.1°.
    #[test]
    fn a_bent_end_does_not_turn_the_frame() {
        let points = bar();
        for angle in [30.0_f64, 60.0, 90.0] {
            let moved = bent(&points, angle.to_radians());
            let own = frame(FrameMethod::BestFit, &points);
            let after = |rounds: usize| degrees(&own.fit(&moved, rounds).rotation);
            let cone = degrees(&frame(FrameMethod::Cone, &points).find(&moved).rotation);
            let (plain, best) = (after(0), after(ROUNDS));
            assert!(best < 1.5 && best < 0.1 * plain && best < 0.1 * cone, "{angle}: {best} {plain} {cone}");
        }
    }

    /// A flat sheet has a frame too: the third axis is normal to it.
    #[test]
    fn flat_bodies_have_a_frame() {
        let points: Vec<Vec3> =
            (0..36).map(|i| Vec3::new(f64::from(i % 6), 0.0, 1.5 * f64::from(i / 6))).collect();
        let turn = Rotation::from_scaled_axis(Vec3::new(1.4, 0.3, -0.8));
        let moved: Vec<Vec3> = points.iter().map(|x| turn * x).collect();
        for method in [FrameMethod::BestFit, FrameMethod::Cone] {
            let pose = frame(method, &points).find(&moved);
            assert!(degrees(&(pose.rotation * turn.to_rotation_matrix().matrix().transpose())) < 1e-5);
        }
    }
}
