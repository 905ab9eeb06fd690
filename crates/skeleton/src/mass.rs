//! Mass properties of bones: mass, centre of mass and inertia tensor, given or computed from a solid.

mod polyhedron;

use core::f64::consts::PI;
use sinew_math::spatial::RigidInertia;
use sinew_math::{Isometry, Mat3, Vec3};
use sinew_mesh::TriMesh;

/// Mass, centre of mass and inertia tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MassProperties {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass in the bone's frame (m).
    pub center: Vec3,
    /// Inertia tensor about the centre of mass, in the axes of the bone's frame (kg m²).
    pub tensor: Mat3,
}

/// A particle fixed to a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// Mass (kg).
    pub mass: f64,
    /// Its position in the bone's frame (m).
    pub point: Vec3,
}

/// A solid in the bone's frame.
#[derive(Clone, Debug)]
pub enum SolidShape {
    /// A capsule: all points within a radius of a segment; a sphere where its ends coincide.
    Capsule {
        /// One end of the segment (m).
        from: Vec3,
        /// The other end (m).
        to: Vec3,
        /// The radius (m).
        radius: f64,
    },
    /// A box about the origin of `pose`.
    Box {
        /// Edge lengths (m).
        size: Vec3,
        /// Its pose in the bone's frame.
        pose: Isometry,
    },
    /// An ellipsoid about the origin of `pose`.
    Ellipsoid {
        /// Semi-axes (m).
        radii: Vec3,
        /// Its pose in the bone's frame.
        pose: Isometry,
    },
    /// The interior of a closed surface.
    Mesh(TriMesh),
}

impl MassProperties {
    /// The spatial inertia.
    pub fn inertia(&self) -> RigidInertia {
        RigidInertia::new(self.mass, self.center, self.tensor)
    }

    /// The composite of two bodies (parallel axis theorem).
    ///
    /// ```text
    /// I = I₁ + I₂ + m₁m₂/(m₁+m₂) (d² 1 − d dᵀ),   d = c₂ − c₁
    /// ```
    pub fn and(&self, other: &MassProperties) -> MassProperties {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return *self;
        }
        let d = other.center - self.center;
        let reduced = self.mass * (other.mass / mass);
        MassProperties {
            mass,
            center: self.center + d * (other.mass / mass),
            tensor: self.tensor + other.tensor + reduced * about_distance(&d),
        }
    }

    /// What is wrong with the values, if anything.
    fn fault(&self) -> Option<String> {
        let MassProperties { mass, center, tensor } = self;
        if !(mass.is_finite() && center.iter().chain(tensor.iter()).all(|x| x.is_finite())) {
            return Some("mass, centre and inertia tensor must be finite".into());
        }
        if *mass < 0.0 {
            return Some(format!("mass {mass} kg is negative"));
        }
        let size = tensor.amax();
        if *mass == 0.0 && size > 0.0 {
            return Some(format!(
                "inertia tensor of {size:.3e} kg m² without mass: give a mass, or use armature"
            ));
        }
        let skew = (tensor - tensor.transpose()).amax();
        // the tolerance of files with single-precision numbers
        if skew > 1e-6 * size {
            return Some(format!(
                "inertia tensor is not symmetric: entries across the diagonal differ by {skew:.3e} kg m²"
            ));
        }
        (!is_second_moment(&(Mat3::identity() * (0.5 * tensor.trace()) - tensor), size)).then(|| {
            "no solid has this inertia tensor: each principal moment must be at most the sum of the other two".into()
        })
    }
}

/// Whether Σ m x xᵀ could be this matrix: positive semidefinite to single precision, by its principal minors.
fn is_second_moment(moment: &Mat3, size: f64) -> bool {
    if size == 0.0 {
        return true;
    }
    let m = moment / size;
    let slack = -1e-6;
    let minor = |i: usize, j: usize| m[(i, i)] * m[(j, j)] - m[(i, j)] * m[(j, i)];
    (0..3).all(|i| m[(i, i)] >= slack)
        && minor(0, 1) >= slack
        && minor(0, 2) >= slack
        && minor(1, 2) >= slack
        && m.determinant() >= slack
}

/// d² 1 − d dᵀ: the inertia tensor of a unit mass at an offset.
fn about_distance(d: &Vec3) -> Mat3 {
    Mat3::identity() * d.norm_squared() - d * d.transpose()
}

/// The mass properties of a bone.
#[derive(Clone, Debug, Default)]
pub enum MassDesc {
    /// No mass. Then a descendant must have mass, or the joint must be fixed or only ever driven by motion.
    #[default]
    Massless,
    /// Mass, centre of mass and inertia tensor.
    Given(MassProperties),
    /// A solid of uniform density.
    Solid {
        /// Its shape, in the bone's frame.
        shape: SolidShape,
        /// Its density (kg/m³).
        density: f64,
    },
    /// Particles fixed to the bone.
    Points(Vec<PointMass>),
    /// The sum of several.
    Sum(Vec<MassDesc>),
}

impl MassDesc {
    /// The mass properties, or what is wrong with the description.
    pub fn find(&self) -> Result<MassProperties, String> {
        let found = match self {
            MassDesc::Massless => MassProperties::default(),
            MassDesc::Given(properties) => *properties,
            MassDesc::Solid { shape, density } => {
                if !(density.is_finite() && *density >= 0.0) {
                    return Err(format!("density {density} kg/m³ must be finite and not negative"));
                }
                shape.properties(*density)?
            }
            MassDesc::Points(points) => points.iter().try_fold(MassProperties::default(), |sum, p| {
                let point = MassProperties { mass: p.mass, center: p.point, tensor: Mat3::zeros() };
                point.fault().map_or(Ok(sum.and(&point)), Err)
            })?,
            MassDesc::Sum(all) => all
                .iter()
                .try_fold(MassProperties::default(), |sum, part| Ok::<_, String>(sum.and(&part.find()?)))?,
        };
        found.fault().map_or(Ok(found), Err)
    }
}

impl SolidShape {
    /// Mass properties at a density (kg/m³), or what is wrong with the shape.
    pub fn properties(&self, density: f64) -> Result<MassProperties, String> {
        match self {
            SolidShape::Capsule { from, to, radius } => capsule(from, to, *radius, density),
            SolidShape::Box { size, pose } => {
                positive("box sizes", size.as_slice())?;
                let mass = density * size.x * size.y * size.z;
                Ok(around(mass, size.component_mul(size) / 12.0, pose))
            }
            SolidShape::Ellipsoid { radii, pose } => {
                positive("semi-axes", radii.as_slice())?;
                let mass = density * 4.0 / 3.0 * PI * radii.x * radii.y * radii.z;
                Ok(around(mass, radii.component_mul(radii) / 5.0, pose))
            }
            SolidShape::Mesh(mesh) => polyhedron::properties(mesh, density),
        }
    }
}

/// A solid with second moments per mass ⟨x²⟩, ⟨y²⟩, ⟨z²⟩ (m²) along the axes of `pose`.
fn around(mass: f64, second: Vec3, pose: &Isometry) -> MassProperties {
    let moments = Vec3::new(second.y + second.z, second.x + second.z, second.x + second.y) * mass;
    let rotation = pose.rotation.to_rotation_matrix().into_inner();
    let tensor = rotation * Mat3::from_diagonal(&moments) * rotation.transpose();
    MassProperties { mass, center: pose.translation.vector, tensor: (tensor + tensor.transpose()) * 0.5 }
}

/// A cylinder of length L with a hemisphere of radius r at each end.
///
/// ```text
/// along:  m_c r²/2 + 2 m_s r²/5
/// across: m_c (L²/12 + r²/4) + m_s (2 r²/5 + L²/4 + 3 L r/8)
/// ```
fn capsule(from: &Vec3, to: &Vec3, r: f64, density: f64) -> Result<MassProperties, String> {
    positive("capsule radius", &[r])?;
    let segment = to - from;
    let length = segment.norm();
    if !length.is_finite() {
        return Err("the ends of the capsule must be finite".into());
    }
    let (cylinder, ball) = (density * PI * r * r * length, density * 4.0 / 3.0 * PI * r * r * r);
    let along = (0.5 * cylinder + 0.4 * ball) * r * r;
    let across = cylinder * (length * length / 12.0 + r * r / 4.0)
        + ball * (0.4 * r * r + length * length / 4.0 + 0.375 * length * r);
    let axis = if length > 0.0 { segment / length } else { Vec3::x() };
    let tensor = Mat3::identity() * across + (along - across) * axis * axis.transpose();
    Ok(MassProperties { mass: cylinder + ball, center: (from + to) * 0.5, tensor })
}

fn positive(what: &str, sizes: &[f64]) -> Result<(), String> {
    if sizes.iter().all(|s| s.is_finite() && *s > 0.0) {
        return Ok(());
    }
    Err(format!("{what} {sizes:?} m must be finite and above zero"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight equal particles at the corners of a box have three times the second moments of the solid box.
    #[test]
    fn particles_compose_a_body() {
        let corner = |i: u32| {
            let side = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            PointMass { mass: 0.25, point: Vec3::new(2.0 + 0.1 * side(0), 0.2 * side(1), 0.3 * side(2)) }
        };
        let found = MassDesc::Points((0..8).map(corner).collect()).find().unwrap();
        assert!((found.mass - 2.0).abs() < 1e-15 && (found.center - Vec3::x() * 2.0).norm() < 1e-15);
        let moments = Vec3::new(0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04) * 2.0;
        assert!((found.tensor - Mat3::from_diagonal(&moments)).amax() < 1e-14);
    }

    #[test]
    fn a_capsule_of_zero_length_is_a_sphere() {
        let p = Vec3::new(1.0, 2.0, 3.0);
        let capsule = SolidShape::Capsule { from: p, to: p, radius: 0.3 }.properties(10.0).unwrap();
        let pose = Isometry::translation(1.0, 2.0, 3.0);
        let ball = SolidShape::Ellipsoid { radii: Vec3::repeat(0.3), pose }.properties(10.0).unwrap();
        assert!((capsule.mass - ball.mass).abs() < 1e-14 && (capsule.tensor - ball.tensor).amax() < 1e-14);
    }

    #[test]
    fn impossible_inertia_tensors_are_rejected() {
        let with = |tensor: Mat3| {
            MassDesc::Given(MassProperties { mass: 1.0, center: Vec3::zeros(), tensor }).find()
        };
        assert!(with(Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 2.0))).is_ok());
        assert!(
            with(Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 2.1)))
                .unwrap_err()
                .contains("sum of the other two")
        );
        assert!(
            with(Mat3::new(1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
                .unwrap_err()
                .contains("not symmetric")
        );
        assert!(with(Mat3::from_diagonal_element(f64::NAN)).is_err());
        assert!(with(Mat3::from_diagonal_element(-1.0)).is_err());
    }
}
