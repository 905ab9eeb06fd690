//! The local frame of the thesis: its x axis points to the mean of the nodes in a cone about the longest direction, and one node across the cone fixes the others.   \[Transue2014, IV\]
//!
//! The cone is chosen at rest. The plane that fits the nodes best, by orthogonal regression, has the normal n; the node that is farthest from the centre along the plane gives the direction of the cone, and the node whose
//! direction is most orthogonal to the mean of the cone gives y. Both move with the body:
//!
//! ```text
//! x = Y − c,   z = x × (y − c),   y = z × x,   each normalised;   R = (x y z)(x y z)ᵀ at rest
//! ```

use super::{BodyPose, FrameNode};
use sinew_math::svd::Svd;
use sinew_math::{Mat3, Vec3};

/// The nodes of the construction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cone {
    /// Those in the cone, with their masses (kg).
    members: Vec<(u32, f64)>,
    /// The one across.
    across: u32,
    /// The axes at rest.
    rest_axes: Mat3,
}

/// Cosine of half the angle of the cone, 25°: the thesis leaves it to the artist.
const COSINE: f64 = 0.9;

impl Cone {
    /// Chooses the nodes at rest; none if all of them are on a line.
    pub(super) fn build(nodes: &[FrameNode]) -> Option<Cone> {
        // the plane of best fit: its normal is the direction of least variance
        let mass: f64 = nodes.iter().map(|own| own.mass).sum();
        let center = nodes.iter().map(|own| own.mass * own.rest).sum::<Vec3>() / mass;
        let mut moments = Mat3::zeros();
        for own in nodes {
            let r = own.rest - center;
            moments += (own.mass * r) * r.transpose();
        }
        let normal: Vec3 = Svd::of(&moments).u.column(2).into();

        // the direction of the cone
        let along_plane = |own: &FrameNode| {
            let r = own.rest - center;
            r - normal * normal.dot(&r)
        };
        let farthest = nodes.iter().max_by(|a, b| along_plane(a).norm().total_cmp(&along_plane(b).norm()))?;
        let direction = along_plane(farthest).try_normalize(0.0)?;
        let is_inside = |own: &&FrameNode| {
            let r = own.rest - center;
            direction.dot(&r) >= COSINE * r.norm() && r.norm() > 0.0
        };
        let members: Vec<(u32, f64)> =
            nodes.iter().filter(is_inside).map(|own| (own.node, own.mass)).collect();

        // the node across
        let weight: f64 = members.iter().map(|member| member.1).sum();
        let mean =
            nodes.iter().filter(is_inside).map(|own| own.mass * own.rest).sum::<Vec3>() / weight - center;
        let aligned = |own: &&FrameNode| {
            let r = own.rest - center;
            if r.norm() > 0.0 { (mean.dot(&r) / r.norm()).abs() } else { f64::INFINITY }
        };
        let across = nodes.iter().min_by(|a, b| aligned(a).total_cmp(&aligned(b)))?;
        let rest_axes = axes(&mean, &(across.rest - center))?;
        Some(Cone { members, across: across.node, rest_axes })
    }

    /// The pose with nodes at positions (m), given their centre; not turned if the axes are parallel.
    pub(super) fn find(&self, x: &[Vec3], pose: BodyPose) -> BodyPose {
        let weight: f64 = self.members.iter().map(|member| member.1).sum();
        let mean = self.members.iter().map(|(node, mass)| *mass * x[*node as usize]).sum::<Vec3>() / weight;
        let now = axes(&(mean - pose.center), &(x[self.across as usize] - pose.center));
        let rotation = now.map_or_else(Mat3::identity, |now| now * self.rest_axes.transpose());
        BodyPose { rotation, ..pose }
    }
}

/// Orthonormal axes with x along a vector and y towards another.
fn axes(x: &Vec3, towards: &Vec3) -> Option<Mat3> {
    let z = x.cross(towards).try_normalize(0.0)?;
    let x = x.try_normalize(0.0)?;
    Some(Mat3::from_columns(&[x, z.cross(&x), z]))
}
