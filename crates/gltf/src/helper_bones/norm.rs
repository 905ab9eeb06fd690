//! Iteratively reweighted least squares for norms near the largest error.
//!
//! ```text
//! Σ e^p   is lowered by   Σ λ e²,   λ ∝ max(e/e_max, f)^(p − 2)
//! ```
//!
//! Steps with this λ alone overshoot, so λ changes by its geometric mean with the one before, as in Lawson's algorithm for Chebyshev
//! approximation. With p = 4 the largest error of a dance falls round by round; with p = 8 it wanders.

/// f: errors below this fraction of the largest are weighted alike, so that what is good is not forgotten.
const FLOOR: f32 = 0.1;

/// The p of a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Norm {
    /// p − 2.
    exponent: i32,
}

impl Norm {
    /// p = 4.
    pub(super) const FOURTH: Norm = Norm { exponent: 2 };

    /// Updates λ by errors, of which `largest` is the largest anywhere.
    pub(super) fn emphasise(&self, errors: &[f32], largest: f32, emphasis: &mut [f32]) {
        for (lambda, error) in emphasis.iter_mut().zip(errors) {
            let wanted = (error / largest.max(f32::MIN_POSITIVE)).max(FLOOR).powi(self.exponent);
            *lambda = (*lambda * wanted).sqrt();
        }
    }
}
