//! What a joint driven by torque lets through: Sᵀ Ĵ S, its inverse, and what is left of the inertia.
//!
//! ```text
//! Ψ = (Sᵀ Ĵ S + A)⁻¹ = (L Lᵀ)⁻¹,   W = Ĵ S L⁻ᵀ,   Π = Ĵ − W Wᵀ            [KimPollard2011, table I]
//! ```
//!
//! with A the diagonal of rotor inertias. The Cholesky factor L and W are all that the recursions need.

use crate::joint::MAX_DOFS;
use sinew_math::spatial::{ArticulatedInertia, Twist, Wrench};

/// A pivot below this fraction of the largest inertia that the column could meet is round-off: products of six terms leave a few
/// hundred ε.
const SINGULAR: f64 = 1e-13;

/// L and W of one joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Projection {
    count: usize,
    /// L below the diagonal.
    lower: [[f64; MAX_DOFS]; MAX_DOFS],
    /// 1 / Lₖₖ
    inverse: [f64; MAX_DOFS],
    /// W
    shed: [Wrench; MAX_DOFS],
}

impl Default for Projection {
    fn default() -> Projection {
        Projection {
            count: 0,
            lower: [[0.0; MAX_DOFS]; MAX_DOFS],
            inverse: [0.0; MAX_DOFS],
            shed: [Wrench::default(); MAX_DOFS],
        }
    }
}

/// Sᵀ Ĵ S + A has no inverse.
pub(crate) struct Singular;

impl Projection {
    /// Factors Sᵀ Ĵ S + A for the columns of S and the diagonal of A.
    #[inline]
    pub(crate) fn find(
        &mut self,
        inertia: &ArticulatedInertia,
        columns: &[Twist],
        diagonal: impl Fn(usize) -> f64,
    ) -> Result<(), Singular> {
        self.count = columns.len();
        let (rotational, linear) = (inertia.rotational.trace(), inertia.linear.trace());
        for (j, column) in columns.iter().enumerate() {
            // row j of L by the columns before, then W's column by the same elimination
            let mut shed = inertia.times(column);
            let added = diagonal(j);
            let mut pivot = column.dot(&shed) + added;
            let largest =
                column.angular.norm_squared() * rotational + column.linear.norm_squared() * linear + added;
            for k in 0..j {
                let l = column.dot(&self.shed[k]);
                self.lower[j][k] = l;
                pivot -= l * l;
                shed = shed - self.shed[k] * l;
            }
            // what is not a number is not sound either
            let sound = pivot > SINGULAR * largest && pivot.is_finite();
            if !sound {
                return Err(Singular);
            }
            self.inverse[j] = 1.0 / pivot.sqrt();
            self.shed[j] = shed * self.inverse[j];
        }
        Ok(())
    }

    /// Π = Ĵ − W Wᵀ
    #[inline]
    pub(crate) fn apply(&self, inertia: &mut ArticulatedInertia) {
        for w in &self.shed[..self.count] {
            inertia.subtract_square(w);
        }
    }

    /// y = L⁻¹ r, in place.
    #[inline]
    pub(crate) fn solve_lower(&self, r: &mut [f64]) {
        for j in 0..self.count {
            let mut y = r[j];
            for k in 0..j {
                y -= self.lower[j][k] * r[k];
            }
            r[j] = y * self.inverse[j];
        }
    }

    /// L⁻ᵀ y, in place.
    #[inline]
    pub(crate) fn solve_upper(&self, y: &mut [f64]) {
        for j in (0..self.count).rev() {
            let mut x = y[j];
            for k in j + 1..self.count {
                x -= self.lower[k][j] * y[k];
            }
            y[j] = x * self.inverse[j];
        }
    }

    /// W y
    #[inline]
    pub(crate) fn shed_times(&self, y: &[f64]) -> Wrench {
        let mut sum = Wrench::default();
        for (w, y) in self.shed[..self.count].iter().zip(y) {
            sum += *w * *y;
        }
        sum
    }

    /// y − Wᵀ V, in place.
    #[inline]
    pub(crate) fn subtract_shed_transposed(&self, v: &Twist, y: &mut [f64]) {
        for (w, y) in self.shed[..self.count].iter().zip(y) {
            *y -= v.dot(w);
        }
    }
}
