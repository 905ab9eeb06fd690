//! Global deformations of solids: scaling, then taper, twist and bend along y.                                   \[Barr1984\]
//!
//! ```text
//! scale   x' = s ∘ x
//! taper   x' = r x,  z' = r z,                            r = 1 + t y
//! twist   (x', z') = (x cos θ − z sin θ, x sin θ + z cos θ),        θ = w y
//! bend    x' = 1/k − cos θ (1/k − x),  y' = sin θ (1/k − x),        θ = k y
//! ```
//!
//! Each has a closed inverse D⁻¹. The gradient of a function of D⁻¹(p) is J⁻ᵀ times the one before, with J = ∂D/∂x.

use sinew_math::{Mat3, Vec3, real};

/// How a solid is deformed, in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deformation {
    /// Factors s along x, y and z.
    pub scale: Vec3,
    /// t (1/m): how much wider it becomes per metre along y.
    pub taper: f64,
    /// w (rad/m): how far it turns per metre along y.
    pub twist: f64,
    /// k (1/m): the curvature of its axis, towards x.
    pub bend: f64,
}

/// A taper leaves at least this much of the width.
const MIN_WIDTH: f64 = 0.05;

impl Default for Deformation {
    fn default() -> Deformation {
        Deformation::NONE
    }
}

impl Deformation {
    /// As it is.
    pub const NONE: Deformation =
        Deformation { scale: Vec3::new(1.0, 1.0, 1.0), taper: 0.0, twist: 0.0, bend: 0.0 };

    /// Whether it changes nothing.
    #[inline]
    pub fn is_none(&self) -> bool {
        let Deformation { scale, taper, twist, bend } = self;
        *taper == 0.0 && *twist == 0.0 && *bend == 0.0 && scale.x == 1.0 && scale.y == 1.0 && scale.z == 1.0
    }

    /// A muscle that swells by a factor across and keeps its volume: it is shorter by the square.
    pub fn swollen(factor: f64) -> Deformation {
        Deformation { scale: Vec3::new(factor, 1.0 / (factor * factor), factor), ..Deformation::NONE }
    }

    /// D(p)
    pub fn apply(&self, p: &Vec3) -> Vec3 {
        let p = self.scale.component_mul(p);
        let r = self.width(p.y);
        let p = Vec3::new(r * p.x, p.y, r * p.z);
        let (sin, cos) = sin_cos(self.twist * p.y);
        let p = Vec3::new(p.x * cos - p.z * sin, p.y, p.x * sin + p.z * cos);
        if self.bend == 0.0 {
            return p;
        }
        let (sin, cos) = sin_cos(self.bend * p.y);
        let out = 1.0 / self.bend - p.x;
        Vec3::new(1.0 / self.bend - cos * out, sin * out, p.z)
    }

    /// D⁻¹(p)
    #[inline]
    pub fn back(&self, p: &Vec3) -> Vec3 {
        let mut p = *p;
        if self.bend != 0.0 {
            let (u, v) = (1.0 / self.bend - p.x, p.y);
            let side = self.bend.signum();
            let angle = real::atan2(side * v, side * u);
            p = Vec3::new(
                1.0 / self.bend - side * (u * u + v * v).sqrt(),
                side * angle / self.bend.abs(),
                p.z,
            );
        }
        if self.twist != 0.0 {
            let (sin, cos) = sin_cos(self.twist * p.y);
            p = Vec3::new(p.x * cos + p.z * sin, p.y, p.z * cos - p.x * sin);
        }
        if self.taper != 0.0 {
            let r = self.width(p.y);
            p = Vec3::new(p.x / r, p.y, p.z / r);
        }
        p.component_div(&self.scale)
    }

    /// J⁻ᵀ g at a point before deformation.
    pub(super) fn gradient(&self, before: &Vec3, g: &Vec3) -> Vec3 {
        // stage by stage: each has the gradient g' with Jᵀ g' = g
        let p = self.scale.component_mul(before);
        let mut g = g.component_div(&self.scale);
        let mut p = p;
        if self.taper != 0.0 {
            let r = self.width(p.y);
            let rate = if r > MIN_WIDTH { self.taper } else { 0.0 };
            let along = g.y - rate * (p.x * g.x + p.z * g.z) / r;
            g = Vec3::new(g.x / r, along, g.z / r);
            p = Vec3::new(r * p.x, p.y, r * p.z);
        }
        if self.twist != 0.0 {
            let (sin, cos) = sin_cos(self.twist * p.y);
            let turned = Vec3::new(g.x * cos - g.z * sin, g.y, g.x * sin + g.z * cos);
            p = Vec3::new(p.x * cos - p.z * sin, p.y, p.x * sin + p.z * cos);
            // points move by w y × as y grows
            g = Vec3::new(turned.x, turned.y - self.twist * (p.x * turned.z - p.z * turned.x), turned.z);
        }
        if self.bend != 0.0 {
            let (sin, cos) = sin_cos(self.bend * p.y);
            // ∂/∂y = k (1/k − x) (sin θ, cos θ) = (1 − k x)(sin θ, cos θ),   ∂/∂x = (cos θ, −sin θ)
            let stretch = 1.0 - self.bend * p.x;
            let jacobian = Mat3::new(cos, stretch * sin, 0.0, -sin, stretch * cos, 0.0, 0.0, 0.0, 1.0);
            g = jacobian.try_inverse().map_or(g, |inverse| inverse.tr_mul(&g));
        }
        g
    }

    /// By how much it lengthens vectors up to a length (m), at most.
    pub(super) fn growth(&self, reach: f64) -> f64 {
        let scale = self.scale.amax();
        let taper = 1.0 + self.taper.abs() * reach * scale;
        // a bent point is at most as far as it is along and across
        scale * taper * if self.bend == 0.0 { 1.0 } else { core::f64::consts::SQRT_2 }
    }

    /// What is wrong with it, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let numbers = [self.taper, self.twist, self.bend];
        if !(self.scale.iter().all(|s| *s > 0.0 && *s < 1e6) && numbers.iter().all(|n| n.abs() < 1e6)) {
            return Some(format!(
                "its deformation {self:?} is out of range: factors must be above 0, and everything finite"
            ));
        }
        None
    }

    fn width(&self, y: f64) -> f64 {
        (1.0 + self.taper * y).max(MIN_WIDTH)
    }
}

fn sin_cos(angle: f64) -> (f64, f64) {
    if angle == 0.0 { (0.0, 1.0) } else { (real::sin(angle), real::cos(angle)) }
}
