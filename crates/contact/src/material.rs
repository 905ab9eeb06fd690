//! Contact properties of surfaces, and how those of two surfaces in contact combine.

/// Contact properties of one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMaterial {
    /// Coulomb friction coefficient, if it has one of its own.
    pub friction: Option<f64>,
    /// Contact stiffness relative to the default.
    pub stiffness: f64,
}

/// Contact properties of two surfaces in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMaterial {
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Contact stiffness relative to the default.
    pub stiffness: f64,
}

impl Default for ContactMaterial {
    fn default() -> Self {
        ContactMaterial { friction: None, stiffness: 1.0 }
    }
}

impl ContactMaterial {
    /// The properties of this surface in contact with another:
    ///
    /// ```text
    /// μ = √(μ₁ μ₂);   that of one surface if the other has none, `default_friction` if neither has
    /// s = s₁ s₂
    /// ```
    ///
    /// The geometric mean is that of Box2D and Jolt: equal surfaces keep their coefficient, a slippery one makes the contact slippery (an arithmetic mean, as in PhysX, gives a frictionless one half of the other's), and neither side needs to know
    /// the other (a product, as in Bullet, makes two surfaces of 0.6 a contact of 0.36). Stiffnesses are factors on the same default, as is that of the scene.
    pub fn with(&self, other: &ContactMaterial, default_friction: f64) -> PairMaterial {
        let friction = match (self.friction, other.friction) {
            // zero also against infinite friction
            (Some(a), Some(b)) if a == 0.0 || b == 0.0 => 0.0,
            // no rounding where both are the same
            (Some(a), Some(b)) if a == b => a,
            (Some(a), Some(b)) => (a * b).sqrt(),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => default_friction,
        };
        PairMaterial { friction, stiffness: self.stiffness * other.stiffness }
    }

    /// The properties of this surface in contact with itself.
    pub fn with_itself(&self, default_friction: f64) -> PairMaterial {
        PairMaterial { friction: self.friction.unwrap_or(default_friction), stiffness: self.stiffness }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rough(friction: f64) -> ContactMaterial {
        ContactMaterial { friction: Some(friction), ..ContactMaterial::default() }
    }

    #[test]
    fn friction_of_a_pair_is_the_geometric_mean_of_those_that_have_one() {
        let plain = ContactMaterial::default();
        let friction = |a: ContactMaterial, b: ContactMaterial| {
            let found = a.with(&b, 0.6).friction;
            assert_eq!(found, b.with(&a, 0.6).friction);
            found
        };
        assert_eq!(friction(plain, plain), 0.6);
        assert_eq!(friction(rough(0.2), plain), 0.2);
        assert!((friction(rough(0.2), rough(0.8)) - 0.4).abs() < 1e-15);
        assert_eq!(friction(rough(0.3), rough(0.3)), 0.3);
        assert_eq!(friction(rough(0.0), rough(f64::INFINITY)), 0.0);
        assert_eq!(friction(rough(1.0), rough(f64::INFINITY)), f64::INFINITY);
        assert_eq!((rough(0.2).with_itself(0.6).friction, plain.with_itself(0.6).friction), (0.2, 0.6));
    }

    #[test]
    fn stiffness_factors_multiply_and_count_once_for_a_surface_with_itself() {
        let stiff = |stiffness: f64| ContactMaterial { stiffness, ..ContactMaterial::default() };
        assert_eq!(stiff(4.0).with(&stiff(0.5), 0.6).stiffness, 2.0);
        assert_eq!(stiff(4.0).with_itself(0.6).stiffness, 4.0);
    }
}
