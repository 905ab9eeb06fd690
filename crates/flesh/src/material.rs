//! Isotropic hyperelastic materials: constitutive law and parameters.

use crate::law;
pub use crate::law::{Lame, Law, StretchLimits};
use sinew_math::svd::Svd;
use sinew_math::{Mat3, Mat9, nalgebra};
use thiserror::Error;

/// An isotropic elastic solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// The constitutive law.
    pub law: Law,
    /// Young's modulus E (Pa).
    pub young: f64,
    /// Poisson's ratio ν.
    pub poisson: f64,
    /// Mass per volume ρ (kg/m³).
    pub density: f64,
    /// Damping of the lowest vibration mode as a fraction of critical damping.
    pub damping_ratio: f64,
}

/// The largest ν at which elements keep their volume each by itself, λ = 2ν/(1 − 2ν) μ.
const MAX_ELEMENT_POISSON: f64 = 0.45;

impl Default for Material {
    /// Jelly, the softest of the named materials.
    fn default() -> Material {
        Material::NAMED[0].1
    }
}

impl Material {
    /// The built-in materials by name, softest first.
    pub const NAMED: [(&'static str, Material); 8] = [
        ("jelly", Material::soft_solid(1e3, 0.40, 1000.0, 0.05)),
        ("fat", Material::tissue(2e3, 0.47, 950.0, 0.15)),
        ("firm-fat", Material::tissue(6e3, 0.47, 950.0, 0.25)),
        ("muscle", Material::tissue(10e3, 0.47, 1050.0, 0.25)),
        ("skin", Material::tissue(50e3, 0.45, 1090.0, 0.3)),
        ("flexed-muscle", Material::tissue(60e3, 0.47, 1050.0, 0.5)),
        ("rubber", Material::soft_solid(100e3, 0.45, 1000.0, 0.1)),
        ("tendon", Material::tissue(2e6, 0.45, 1130.0, 0.5)),
    ];

    /// A St. Venant-Kirchhoff solid with the default stretch limits, from Young's modulus (Pa), Poisson's ratio, density (kg/m³) and
    /// damping ratio.
    pub const fn soft_solid(young: f64, poisson: f64, density: f64, damping_ratio: f64) -> Material {
        let law = Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 });
        Material { law, young, poisson, density, damping_ratio }
    }

    /// A stable neo-Hookean solid, from Young's modulus (Pa), Poisson's ratio, density (kg/m³) and damping ratio. It resists volume loss
    /// under strong compression, as inside elbows and knees.
    pub const fn tissue(young: f64, poisson: f64, density: f64, damping_ratio: f64) -> Material {
        Material { law: Law::StableNeoHookean, young, poisson, density, damping_ratio }
    }

    /// The built-in material with a name.
    pub fn named(name: &str) -> Option<Material> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, material)| *material)
    }

    /// The Lamé parameters:
    ///
    /// ```text
    /// μ = E / (2 (1 + ν))        λ = E ν / ((1 + ν) (1 − 2ν))
    /// ```
    pub fn lame(&self) -> Lame {
        let Material { young: e, poisson: nu, .. } = *self;
        Lame { mu: e / (2.0 * (1.0 + nu)), lambda: e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)) }
    }

    /// The Lamé parameters of a single element. Above ν = 0.45 elements would lock: their λ is that of ν = 0.45, and the rest acts on the
    /// patches of [`crate::PatchList`].
    pub fn own_lame(&self) -> Lame {
        let Lame { mu, lambda } = self.lame();
        let max = 2.0 * MAX_ELEMENT_POISSON / (1.0 - 2.0 * MAX_ELEMENT_POISSON) * mu;
        Lame { mu, lambda: if self.poisson > MAX_ELEMENT_POISSON { max } else { lambda } }
    }

    /// The part of λ that acts on the mean dilatation of patches of elements (Pa).
    pub fn shared_lambda(&self) -> f64 {
        self.lame().lambda - self.own_lame().lambda
    }

    /// All parameters out of range.
    pub fn faults(&self) -> Vec<MaterialFault> {
        let mut faults = Vec::new();
        if !(self.young > 0.0 && self.young.is_finite()) {
            faults.push(MaterialFault::Young(self.young));
        }
        if !(self.poisson >= 0.0 && self.poisson < 0.5) {
            faults.push(MaterialFault::Poisson(self.poisson));
        }
        if !(self.density > 0.0 && self.density.is_finite()) {
            faults.push(MaterialFault::Density(self.density));
        }
        if !(self.damping_ratio >= 0.0 && self.damping_ratio.is_finite()) {
            faults.push(MaterialFault::Damping(self.damping_ratio));
        }
        if let Law::StVenantKirchhoff(limits) = self.law
            && !(limits.lower > 0.6 && limits.lower < 1.0 && limits.upper > 1.0 && limits.upper.is_finite())
        {
            faults.push(MaterialFault::Limits(limits.lower, limits.upper));
        }
        faults
    }
}

/// The law of a material at a deformation gradient F.
#[expect(non_snake_case, reason = "F as in docs/NOTATION.md")]
impl Material {
    /// Energy per rest volume Ψ(F) (J/m³).
    pub fn energy_density(&self, F: &Mat3) -> f64 {
        law::energy(self.law, self.lame(), &Svd::of(F).sigma)
    }

    /// First Piola-Kirchhoff stress P = ∂Ψ/∂F (Pa).
    pub fn stress(&self, F: &Mat3) -> Mat3 {
        let Lame { mu, lambda } = self.lame();
        let P = law::stress(self.law, &F.data.0, law::LaneLame { mu, lambda });
        Mat3::from_array_storage(nalgebra::ArrayStorage(P))
    }

    /// ∂P/∂F (Pa), both matrices stacked column by column.
    pub fn stress_derivative(&self, F: &Mat3) -> Mat9 {
        let svd = Svd::of(F);
        law::principal(self.law, self.lame(), &svd.sigma).stress_derivative(&svd)
    }
}

/// A number that no elastic solid can have.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum MaterialFault {
    /// Young's modulus out of range.
    #[error("young = {0} Pa is not positive and finite: flesh is 1e3 to 1e6")]
    Young(f64),
    /// Poisson's ratio out of range.
    #[error(
        "poisson = {0} is outside [0, 0.5): at 0.5 the solid is incompressible and no finite stiffness fits; try 0.47"
    )]
    Poisson(f64),
    /// Density out of range.
    #[error("density = {0} kg/m³ is not positive and finite: flesh is about 1000")]
    Density(f64),
    /// Damping ratio out of range.
    #[error("damping = {0} is negative or not finite: 0 rings for ever, 1 does not swing at all")]
    Damping(f64),
    /// Stretch limits out of range.
    #[error(
        "stretch limits [{0}, {1}] must satisfy 0.6 < lower < 1 < upper: St. Venant-Kirchhoff softens below 0.577 and would not recover"
    )]
    Limits(f64, f64),
}
