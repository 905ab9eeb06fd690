//! How far a point is from the shape of a bone.

use crate::{MassDesc, SolidShape};
use sinew_math::{Isometry, Vec3, distance_to_segment};
use sinew_mesh::Solid;

/// The shape of a bone, of one solid or several, that can be asked for distances. Built once; meshes need it.
#[derive(Debug)]
pub struct ShapeDistance {
    solids: Vec<SolidDistance>,
}

#[derive(Debug)]
struct SolidDistance {
    shape: SolidShape,
    solid: Option<Solid>,
}

impl MassDesc {
    /// The shape of a bone: the solids it weighs by.
    pub fn shapes(&self) -> Vec<&SolidShape> {
        match self {
            MassDesc::Solid { shape, .. } => vec![shape],
            MassDesc::Sum(parts) => parts.iter().flat_map(MassDesc::shapes).collect(),
            MassDesc::Massless | MassDesc::Given(_) | MassDesc::Points(_) => Vec::new(),
        }
    }
}

impl ShapeDistance {
    /// Prepares the shape of a bone; none if it weighs by no solid. A mesh that encloses nothing has no inside.
    pub fn of(mass: &MassDesc) -> Option<ShapeDistance> {
        let solids: Vec<SolidDistance> = mass.shapes().into_iter().map(SolidDistance::new).collect();
        (!solids.is_empty()).then_some(ShapeDistance { solids })
    }

    /// How far a point (m, bone's frame) is from the shape's surface (m), negative inside. Exact for capsules and outside of boxes;
    /// for ellipsoids of the right sign and never too far; for meshes the distance to the nearest vertex with the right sign.
    pub fn signed(&self, p: &Vec3) -> f64 {
        self.solids.iter().map(|solid| solid.signed(p)).fold(f64::INFINITY, f64::min)
    }

    /// How far a point (m, bone's frame) is from the shape's middle (m): the segment of a capsule, the centre of the others.
    pub fn to_middle(&self, p: &Vec3) -> f64 {
        self.solids.iter().map(|solid| solid.to_middle(p)).fold(f64::INFINITY, f64::min)
    }

    /// The middles of its solids, each from end to end (m, bone's frame): the segment of a capsule; twice the centre of the others.
    pub fn middles(&self) -> impl Iterator<Item = [Vec3; 2]> + '_ {
        self.solids.iter().map(SolidDistance::ends)
    }
}

impl SolidDistance {
    fn new(shape: &SolidShape) -> SolidDistance {
        let solid = match shape {
            SolidShape::Mesh(surface) => Solid::build(surface).ok(),
            _ => None,
        };
        SolidDistance { shape: shape.clone(), solid }
    }

    fn signed(&self, p: &Vec3) -> f64 {
        match &self.shape {
            SolidShape::Capsule { from, to, radius } => distance_to_segment(p, from, to) - radius,
            SolidShape::Box { size, pose } => {
                let over = back(pose, p).abs() - 0.5 * size;
                let outside = over.map(|x| x.max(0.0)).norm();
                if outside > 0.0 { outside } else { over.max() }
            }
            SolidShape::Ellipsoid { radii, pose } => {
                let k = back(pose, p).component_div(radii).norm();
                (k - 1.0) * radii.min()
            }
            SolidShape::Mesh(surface) => {
                let nearest = surface.vertices.iter().map(|v| (v - p).norm()).fold(f64::INFINITY, f64::min);
                let inside = self.solid.as_ref().is_some_and(|solid| solid.contains(p));
                if inside { -nearest } else { nearest }
            }
        }
    }

    fn to_middle(&self, p: &Vec3) -> f64 {
        match &self.shape {
            SolidShape::Capsule { from, to, .. } => distance_to_segment(p, from, to),
            _ => (p - self.ends()[0]).norm(),
        }
    }

    fn ends(&self) -> [Vec3; 2] {
        match &self.shape {
            SolidShape::Capsule { from, to, .. } => [*from, *to],
            SolidShape::Box { pose, .. } | SolidShape::Ellipsoid { pose, .. } => {
                [pose.translation.vector, pose.translation.vector]
            }
            SolidShape::Mesh(surface) => {
                let (low, high) = surface.bounds().unwrap_or_default();
                [0.5 * (low + high), 0.5 * (low + high)]
            }
        }
    }
}

fn back(pose: &Isometry, p: &Vec3) -> Vec3 {
    pose.rotation.inverse_transform_vector(&(p - pose.translation.vector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn points_inside_are_negative_and_distances_are_right() {
        let moved = Isometry::translation(1.0, 0.0, 0.0);
        let capsule = SolidShape::Capsule { from: Vec3::zeros(), to: Vec3::x(), radius: 0.2 };
        let solid_box = SolidShape::Box { size: Vec3::new(1.0, 2.0, 4.0), pose: moved };
        let ellipsoid = SolidShape::Ellipsoid { radii: Vec3::new(0.5, 1.0, 2.0), pose: moved };
        let ball = SolidShape::Mesh(shapes::sphere(0.5, 3));
        let cases = [
            (&capsule, [0.5, 0.0, 0.3], 0.1),
            (&capsule, [-0.3, 0.0, 0.4], 0.3),
            (&capsule, [0.5, 0.0, 0.1], -0.1),
            (&solid_box, [2.0, 0.0, 0.0], 0.5),
            (&solid_box, [1.1, 0.0, 0.0], -0.4),
            (&ellipsoid, [1.0, 2.0, 0.0], 0.5),
            (&ellipsoid, [1.0, 0.0, 1.0], -0.25),
            // the vertices of a sphere reach it
            (&ball, [0.0, 0.0, 0.8], 0.3),
            (&ball, [0.0, 0.0, 0.4], -0.1),
        ];
        for (shape, p, wanted) in cases {
            let found = SolidDistance::new(shape).signed(&Vec3::from(p));
            assert!((found - wanted).abs() < 1e-2, "{shape:?} at {p:?}: {found}");
        }
    }
}
