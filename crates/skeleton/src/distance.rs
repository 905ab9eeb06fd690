//! Signed distance of a point from the shape of a bone.

use crate::{MassDesc, SolidShape};
use sinew_math::{Isometry, Vec3, distance_to_segment};
use sinew_mesh::Solid;

/// The shape of a bone, prepared for distance queries: one solid or several.
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
    /// The solids that define the mass of a bone.
    pub fn shapes(&self) -> Vec<&SolidShape> {
        match self {
            MassDesc::Solid { shape, .. } => vec![shape],
            MassDesc::Sum(parts) => parts.iter().flat_map(MassDesc::shapes).collect(),
            MassDesc::Massless | MassDesc::Given(_) | MassDesc::Points(_) => Vec::new(),
        }
    }
}

impl ShapeDistance {
    /// Prepares the shape of a bone; `None` if no solid defines its mass. A mesh that encloses no volume has no inside.
    pub fn of(mass: &MassDesc) -> Option<ShapeDistance> {
        let solids: Vec<SolidDistance> = mass.shapes().into_iter().map(SolidDistance::new).collect();
        (!solids.is_empty()).then_some(ShapeDistance { solids })
    }

    /// Signed distance (m) of a point (m, bone's frame) from the surface, negative inside. Exact for capsules and outside of
    /// boxes; for ellipsoids a lower bound in magnitude with the right sign; for meshes the distance to the nearest vertex with
    /// the right sign.
    pub fn signed(&self, p: &Vec3) -> f64 {
        self.solids.iter().map(|solid| solid.signed(p)).fold(f64::INFINITY, f64::min)
    }

    /// Distance (m) of a point (m, bone's frame) from the core of the shape: the segment of a capsule, the centre of the others.
    pub fn to_middle(&self, p: &Vec3) -> f64 {
        self.solids.iter().map(|solid| solid.to_middle(p)).fold(f64::INFINITY, f64::min)
    }

    /// The cores of its solids as segments (m, bone's frame): the segment of a capsule; the centre of the others, twice.
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
                let over = to_local(pose, p).abs() - 0.5 * size;
                let outside = over.map(|x| x.max(0.0)).norm();
                if outside > 0.0 { outside } else { over.max() }
            }
            SolidShape::Ellipsoid { radii, pose } => {
                let k = to_local(pose, p).component_div(radii).norm();
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

fn to_local(pose: &Isometry, p: &Vec3) -> Vec3 {
    pose.rotation.inverse_transform_vector(&(p - pose.translation.vector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn signed_distances_are_negative_inside_and_exact_outside() {
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
            // the vertices of the mesh lie on the sphere
            (&ball, [0.0, 0.0, 0.8], 0.3),
            (&ball, [0.0, 0.0, 0.4], -0.1),
        ];
        for (shape, p, wanted) in cases {
            let found = SolidDistance::new(shape).signed(&Vec3::from(p));
            assert!((found - wanted).abs() < 1e-2, "{shape:?} at {p:?}: {found}");
        }
    }
}
