//! Fabrics: elastic sheets by their mass, stretch stiffness and bending stiffness per area.

use crate::Material;
use thiserror::Error;

/// An isotropic elastic sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Mass per area (kg/m²).
    pub areal_density: f64,
    /// Stretch stiffness Y: force per width and strain (N/m).
    pub stretch: f64,
    /// Poisson's ratio ν of stretching and bending.
    pub poisson: f64,
    /// Bending stiffness B: moment per width and curvature of a wide strip (N m).
    pub bending: f64,
    /// Rate at which motion beside rigid motion decays (1/s).
    pub damping: f64,
}

impl Default for Fabric {
    /// Cotton.
    fn default() -> Fabric {
        Fabric::NAMED[0].1
    }
}

impl Fabric {
    /// The built-in fabrics by name; `docs/cloth.md` says where their numbers come from.
    pub const NAMED: [(&'static str, Fabric); 7] = [
        ("cotton", Fabric::new(0.13, 3000.0, 0.25, 8e-6, 0.8)),
        ("silk", Fabric::new(0.07, 2000.0, 0.25, 3e-6, 0.5)),
        ("jersey", Fabric::new(0.18, 300.0, 0.35, 3e-6, 1.0)),
        ("wool", Fabric::new(0.25, 1500.0, 0.25, 1.2e-5, 1.0)),
        ("felt", Fabric::new(0.35, 1500.0, 0.30, 2e-4, 1.5)),
        ("denim", Fabric::new(0.40, 8000.0, 0.25, 3e-5, 1.2)),
        ("leather", Fabric::new(0.80, 12_000.0, 0.40, 5e-4, 2.0)),
    ];

    const fn new(areal_density: f64, stretch: f64, poisson: f64, bending: f64, damping: f64) -> Fabric {
        Fabric { areal_density, stretch, poisson, bending, damping }
    }

    /// The built-in fabric with a name.
    pub fn named(name: &str) -> Option<Fabric> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, fabric)| *fabric)
    }

    /// A plate of a solid material, of a thickness t (m), whose motion decays at a rate (1/s):
    ///
    /// ```text
    /// ρ t        Y = E t        B = E t³ / (12 (1 − ν²))
    /// ```
    pub fn plate(material: &Material, thickness: f64, damping: f64) -> Fabric {
        let Material { young, poisson, density, .. } = *material;
        let bending = young * thickness * thickness * thickness / (12.0 * (1.0 - poisson * poisson));
        Fabric::new(density * thickness, young * thickness, poisson, bending, damping)
    }

    /// All parameters out of range.
    pub fn faults(&self) -> Vec<FabricFault> {
        let mut faults = Vec::new();
        if !(self.areal_density > 0.0 && self.areal_density.is_finite()) {
            faults.push(FabricFault::Density(self.areal_density));
        }
        if !(self.stretch > 0.0 && self.stretch.is_finite()) {
            faults.push(FabricFault::Stretch(self.stretch));
        }
        if !(self.poisson >= 0.0 && self.poisson <= 0.5) {
            faults.push(FabricFault::Poisson(self.poisson));
        }
        if !(self.bending >= 0.0 && self.bending.is_finite()) {
            faults.push(FabricFault::Bending(self.bending));
        }
        if !(self.damping >= 0.0 && self.damping.is_finite()) {
            faults.push(FabricFault::Damping(self.damping));
        }
        faults
    }
}

/// A number that no fabric can have.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum FabricFault {
    /// Mass per area out of range.
    #[error("areal_density = {0} kg/m² is not positive and finite: cotton has 0.13, leather 0.8")]
    Density(f64),
    /// Stretch stiffness out of range.
    #[error("stretch = {0} N/m is not positive and finite: jersey has 300, cotton 3000")]
    Stretch(f64),
    /// Poisson's ratio out of range.
    #[error("poisson = {0} is outside [0, 0.5]: woven fabrics have about 0.25")]
    Poisson(f64),
    /// Bending stiffness out of range.
    #[error("bending = {0} N m is negative or not finite: silk has 3e-6, leather 5e-4")]
    Bending(f64),
    /// Damping out of range.
    #[error("damping = {0} 1/s is negative or not finite: 0 swings for ever, cotton has 0.8")]
    Damping(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_fabrics_are_sound_and_found() {
        for (name, fabric) in Fabric::NAMED {
            assert!(fabric.faults().is_empty(), "{name}");
            assert_eq!(Fabric::named(name), Some(fabric));
        }
        assert_eq!(Fabric::named("jelly"), None);
        let broken = Fabric { stretch: f64::NAN, bending: -1.0, ..Fabric::default() };
        assert_eq!(broken.faults().len(), 2);
    }

    /// A rubber sheet of 2 mm: E t = 200 N/m.
    #[test]
    fn a_plate_has_the_stiffness_of_its_material() {
        let rubber = Material::named("rubber").expect("built in");
        let plate = Fabric::plate(&rubber, 2e-3, 0.0);
        assert!((plate.stretch - 200.0).abs() < 1e-9 && (plate.areal_density - 2.0).abs() < 1e-12);
        let bending = 1e5 * 8e-9 / (12.0 * (1.0 - 0.45 * 0.45));
        assert!((plate.bending - bending).abs() < 1e-18);
    }
}
