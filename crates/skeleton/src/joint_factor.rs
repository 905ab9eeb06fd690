//! Joint-space factorisation of the articulated-body inertia of a torque-driven joint.
//!
//! ```text
//! Ψ = (Sᵀ Ĵ S + A)⁻¹ = (L Lᵀ)⁻¹,   W = Ĵ S L⁻ᵀ,   Π = Ĵ − W Wᵀ            [KimPollard2011, table I]
//! ```
//!
//! with A the diagonal of rotor inertias (armature). The recursions need only the Cholesky factor L and W.

use crate::joint::MAX_DOFS;
use sinew_math::spatial::{ArticulatedInertia, Twist, Wrench};

/// A pivot below this fraction of the largest inertia that its column could have is round-off: products of six terms leave a few
/// hundred ε.
const SINGULAR: f64 = 1e-13;

/// L and W of one joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointFactor {
    count: usize,
    /// L below the diagonal.
    lower: [[f64; MAX_DOFS]; MAX_DOFS],
    /// 1 / Lₖₖ.
    inverse: [f64; MAX_DOFS],
    /// The columns of W.
    w: [Wrench; MAX_DOFS],
}

impl Default for JointFactor {
    fn default() -> JointFactor {
        JointFactor {
            count: 0,
            lower: [[0.0; MAX_DOFS]; MAX_DOFS],
            inverse: [0.0; MAX_DOFS],
            w: [Wrench::default(); MAX_DOFS],
        }
    }
}

/// Sᵀ Ĵ S + A is singular.
pub(crate) struct Singular;

impl JointFactor {
    /// Factors Sᵀ Ĵ S + A for the columns of S and the diagonal of A.
    #[inline]
    pub(crate) fn find(
        &mut self,
        inertia: &ArticulatedInertia,
        columns: &[Twist],
        diagonal: impl Fn(usize) -> f64,
    ) -> Result<(), Singular> {
        // bounds for the pivots
        self.count = columns.len();
        let (rotational, linear) = (inertia.rotational.trace(), inertia.linear.trace());
        for (j, column) in columns.iter().enumerate() {
            // row j of L from the earlier columns, then column j of W by the same elimination
            let mut w = inertia.times(column);
            let added = diagonal(j);
            let mut pivot = column.dot(&w) + added;
            let largest =
                column.angular.norm_squared() * rotational + column.linear.norm_squared() * linear + added;
            for k in 0..j {
                let l = column.dot(&self.w[k]);
                self.lower[j][k] = l;
                pivot -= l * l;
                w = w - self.w[k] * l;
            }
            // the comparison rejects NaN too
            let is_positive = pivot > SINGULAR * largest && pivot.is_finite();
            if !is_positive {
                return Err(Singular);
            }
            self.inverse[j] = 1.0 / pivot.sqrt();
            self.w[j] = w * self.inverse[j];
        }
        Ok(())
    }

    /// Π = Ĵ − W Wᵀ: removes the inertia along the joint.
    #[inline]
    pub(crate) fn apply(&self, inertia: &mut ArticulatedInertia) {
        for column in &self.w[..self.count] {
            inertia.subtract_square(column);
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
    pub(crate) fn w_times(&self, y: &[f64]) -> Wrench {
        let mut sum = Wrench::default();
        for (column, y) in self.w[..self.count].iter().zip(y) {
            sum += *column * *y;
        }
        sum
    }

    /// y − Wᵀ V, in place.
    #[inline]
    pub(crate) fn subtract_w_transposed(&self, v: &Twist, y: &mut [f64]) {
        for (column, y) in self.w[..self.count].iter().zip(y) {
            *y -= v.dot(column);
        }
    }
}
