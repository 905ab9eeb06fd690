//! Implicit solids with global deformations: the muscles, bones and cartilage that skin slides over.                \[TurnerThalmann1993, §3.6; Barr1981; Barr1984\]
//!
//! A solid has an implicit function F, zero on its surface and negative inside, deformed by a map D: the surface is F(D⁻¹(p)) = 0. Closest points q satisfy
//!
//! ```text
//! F(q) = 0,    (p − q) × ∇F(q) = 0
//! ```
//!
//! and are found by Newton steps onto the surface, alternating with steps along it whose length follows Barzilai and Borwein. Spheres, ellipsoids of equal radii and capsules without deformation are exact.

mod deformation;
mod field;

pub use deformation::Deformation;

use crate::{DistanceGrid, Probe};
use field::Field;
use sinew_math::Vec3;
use sinew_math::parallel::for_each_part;
use sinew_mesh::ImplicitSurface;
use std::sync::Arc;

/// A solid in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitSolid {
    /// Its shape before it is deformed.
    pub shape: SolidShape,
    /// Scaling, taper, twist and bend.
    pub deformation: Deformation,
}

/// The shape of a solid, about the origin.
#[derive(Clone, Debug, PartialEq)]
pub enum SolidShape {
    /// A sphere.
    Sphere {
        /// Its radius (m).
        radius: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Its radii along x, y and z (m).
        radii: Vec3,
    },
    /// A capsule about a segment along y.
    Capsule {
        /// Half the length of the segment (m).
        half_length: f64,
        /// The radius (m).
        radius: f64,
    },
    /// A superquadric with poles along y.                                      \[Barr1981\]
    Superquadric {
        /// Its radii along x, y and z (m).
        radii: Vec3,
        /// ε₁ from pole to pole, and ε₂ around: 1 is round, towards 0 boxy, 2 flat between the axes.
        squareness: [f64; 2],
    },
    /// Balls, cones and ellipsoids that flow into each other.                          \[Bloomenthal1990\]
    Metaballs(Arc<ImplicitSurface>),
    /// The distance grid of a closed mesh.
    Grid(Arc<DistanceGrid>),
}

/// The nearest point of the surface of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidPoint {
    /// The point (m).
    pub point: Vec3,
    /// The outward unit normal there.
    pub normal: Vec3,
    /// Signed distance, negative inside (m).
    pub distance: f64,
}

/// Newton steps at most; six are usual from outside.
const MAX_STEPS: usize = 60;
/// Fractions of the size at which a closest point counts as found: far below the hundredth of a fat layer that users see.
const TOLERANCE: f64 = 1e-7;
/// From here on, steps along the surface are short ones, which end where curvature misled longer ones.
const CAREFUL_AFTER: usize = 20;
/// Points per parallel task.
const CHUNK: usize = 256;

impl From<SolidShape> for ImplicitSolid {
    fn from(shape: SolidShape) -> ImplicitSolid {
        ImplicitSolid { shape, deformation: Deformation::NONE }
    }
}

impl ImplicitSolid {
    /// Whether a point (m) is inside: the sign of the implicit function, which takes no search.
    #[inline]
    pub fn contains(&self, p: &Vec3) -> bool {
        self.field(p).value < 0.0
    }

    /// Signed distance of a point (m) and its gradient.
    pub fn probe(&self, p: &Vec3) -> Probe {
        let SolidPoint { distance, normal, .. } = self.nearest(p);
        Probe { distance, normal }
    }

    /// Signed distances of many points (m), and their gradients, on all threads.
    pub fn probe_all(&self, points: &[Vec3], out: &mut [Probe]) {
        for_each_part((points, out), CHUNK, |_, (points, out)| {
            points.iter().zip(out).for_each(|(p, out)| *out = self.probe(p));
        });
    }

    /// The nearest point of the surface.
    pub fn nearest(&self, p: &Vec3) -> SolidPoint {
        if let Some(exact) = self.exact(p) {
            return exact;
        }
        self.search(p, *p)
    }

    /// The nearest point, from one that was near a moment ago.
    pub fn nearest_from(&self, p: &Vec3, before: &Vec3) -> SolidPoint {
        match self.exact(p) {
            Some(exact) => exact,
            None => self.search(p, *before),
        }
    }

    /// Whether a point (m) may be within a distance (m) of the surface, without a search: by the box around ellipsoids and superquadrics.
    #[inline]
    pub fn may_be_within(&self, p: &Vec3, distance: f64) -> bool {
        let scale = match (&self.shape, &self.deformation) {
            (SolidShape::Ellipsoid { radii } | SolidShape::Superquadric { radii, .. }, deformation)
                if Deformation { scale: Vec3::repeat(1.0), ..*deformation } == Deformation::NONE =>
            {
                radii.component_mul(&deformation.scale)
            }
            _ => return true,
        };
        let beyond = (p.abs() - scale).sup(&Vec3::zeros());
        beyond.norm() <= distance.max(0.0)
    }

    /// The nearest point, by a single step from the one of a moment ago: exact to the second order in the motion since.
    pub fn follow(&self, p: &Vec3, before: &Vec3) -> SolidPoint {
        if let Some(exact) = self.exact(p) {
            return exact;
        }
        // onto the surface, and along it as if it were flat
        let Field { value, gradient } = self.field(before);
        let squared = gradient.norm_squared();
        if squared.is_nan() || squared <= 0.0 {
            return self.nearest(p);
        }
        let off = p - before;
        let slide = off - (off.dot(&gradient) / squared) * gradient;
        let next = before - (value / squared) * gradient + slide;

        // the tangent plane there
        let Field { value, gradient } = self.field(&next);
        let squared = gradient.norm_squared();
        if squared.is_nan() || squared <= 0.0 {
            return self.nearest(p);
        }
        let point = next - (value / squared) * gradient;
        let normal = gradient / squared.sqrt();
        SolidPoint { point, normal, distance: (p - point).dot(&normal) }
    }

    /// A radius about the origin that contains it (m).
    pub fn reach(&self) -> f64 {
        let reach = match &self.shape {
            SolidShape::Sphere { radius } => *radius,
            SolidShape::Ellipsoid { radii } => radii.max(),
            SolidShape::Capsule { half_length, radius } => half_length + radius,
            SolidShape::Superquadric { radii, .. } => radii.norm(),
            SolidShape::Metaballs(balls) => {
                let (low, high) = balls.bounds();
                low.abs().sup(&high.abs()).norm()
            }
            SolidShape::Grid(grid) => {
                let bounds = grid.grid.bounds();
                bounds.min.abs().sup(&bounds.max.abs()).norm()
            }
        };
        reach * self.deformation.growth(reach)
    }

    /// What is wrong with its parameters, if anything.
    pub fn fault(&self) -> Option<String> {
        let length = |what: &str, x: f64| {
            (!(x > 0.0 && x < 1e9)).then(|| format!("its {what} is {x} m: it must be above 0 and below 1e9"))
        };
        let shape = match &self.shape {
            SolidShape::Sphere { radius } => length("radius", *radius),
            SolidShape::Ellipsoid { radii } => radii.iter().find_map(|r| length("radius", *r)),
            SolidShape::Capsule { half_length, radius } => {
                length("radius", *radius).or_else(|| length("half length", *half_length))
            }
            SolidShape::Superquadric { radii, squareness } => {
                let squareness = squareness.iter().find(|e| !(0.1..=2.0).contains(*e));
                let fault = squareness.map(|e| {
                    format!("its squareness is {e}: it must be from 0.1, almost a box, to 2, an octahedron; 1 is round")
                });
                radii.iter().find_map(|r| length("radius", *r)).or(fault)
            }
            SolidShape::Metaballs(_) | SolidShape::Grid(_) => None,
        };
        shape.or_else(|| self.deformation.fault())
    }

    /// F and ∇F at a point (m), scaled to lengths.
    #[inline]
    fn field(&self, p: &Vec3) -> Field {
        if self.deformation.is_none() {
            return field::of(&self.shape, p);
        }
        let before = self.deformation.back(p);
        let Field { value, gradient } = field::of(&self.shape, &before);
        Field { value, gradient: self.deformation.gradient(&before, &gradient) }
    }

    /// The nearest point where it has a closed form.
    #[inline]
    fn exact(&self, p: &Vec3) -> Option<SolidPoint> {
        if !self.deformation.is_none() {
            return None;
        }
        let (center, radius) = match &self.shape {
            SolidShape::Sphere { radius } => (Vec3::zeros(), *radius),
            SolidShape::Capsule { half_length, radius } => {
                (Vec3::new(0.0, p.y.clamp(-half_length, *half_length), 0.0), *radius)
            }
            _ => return None,
        };
        let off = p - center;
        let length = off.norm();
        let normal = if length > 0.0 { off / length } else { Vec3::x() };
        Some(SolidPoint { point: center + radius * normal, normal, distance: length - radius })
    }

    /// Steps from q towards the nearest point of p.
    fn search(&self, p: &Vec3, mut q: Vec3) -> SolidPoint {
        let reach = self.reach();
        let tolerance = TOLERANCE * reach;
        // far away the field may not lead back
        let far = q.norm();
        if far > reach {
            q *= reach / far;
        }
        let inside = self.field(p).value < 0.0;
        let (mut last_move, mut last_slide) = (Vec3::zeros(), Vec3::zeros());
        let mut normal = Vec3::y();
        for step in 0..MAX_STEPS {
            // onto the surface
            let Field { value, gradient } = self.field(&q);
            let squared = gradient.norm_squared();
            if squared.is_nan() || squared <= 0.0 {
                // the middle has no direction: leave it by the shortest axis
                q += Vec3::new(0.3, 0.2, 0.9) * (0.01 * reach);
                continue;
            }
            normal = gradient / squared.sqrt();
            let back = short((-value / squared) * gradient, 0.3 * reach);

            // along it: a step by the curvature that the last one met
            let off = p - q;
            let slide = off - off.dot(&normal) * normal;
            let change = last_slide - slide;
            let met = last_move.dot(&change);
            let length = if step > CAREFUL_AFTER {
                0.2
            } else if step > 0 && met > 0.0 {
                (last_move.norm_squared() / met).clamp(0.02, 2.0)
            } else {
                // of a sphere about the origin, for points outside
                1.0 / (1.0 + (off.norm() / q.norm().max(tolerance)).min(1.0))
            };
            // no farther than the surface is flat
            let slide_step = short(length * slide, 0.2 * reach);
            q += back + slide_step;
            (last_move, last_slide) = (slide_step, slide);
            if back.norm() < tolerance && slide.norm() < tolerance {
                break;
            }
        }

        // a last step onto the surface, and the normal of the distance
        let Field { value, gradient } = self.field(&q);
        let squared = gradient.norm_squared();
        if squared > 0.0 {
            q -= (value / squared) * gradient;
            normal = gradient / squared.sqrt();
        }
        let off = p - q;
        let length = off.norm();
        let distance = if inside { -length } else { length };
        if length > 10.0 * tolerance {
            normal = off * (1.0 / distance);
        }
        SolidPoint { point: q, normal, distance }
    }
}

/// A vector, no longer than a length.
#[inline]
fn short(vector: Vec3, length: f64) -> Vec3 {
    let norm = vector.norm();
    if norm > length { vector * (length / norm) } else { vector }
}

#[cfg(test)]
mod tests;
