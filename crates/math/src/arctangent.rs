//! Arctangent for any [`Real`], by argument reduction and the rational approximation of the Cephes library: no tables and no branches, so it runs in SIMD lanes.   \[Moshier1989\]

use crate::lanes::Real;
use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Coefficients of P and Q, from the highest power; that of Q is 1.
const P: [f64; 5] = [
    -8.750_608_600_031_904e-1,
    -1.615_753_718_733_365e1,
    -7.500_855_792_314_705e1,
    -1.228_866_684_490_136_1e2,
    -6.485_021_904_942_025e1,
];
const Q: [f64; 5] = [
    2.485_846_490_142_306_4e1,
    1.650_270_098_316_988_6e2,
    4.328_810_604_912_903e2,
    4.853_903_996_359_137e2,
    1.945_506_571_482_614e2,
];
/// Quotients above this are reduced by π/4.
const REDUCED: f64 = 0.66;

/// The angle of (x, y) in (−π, π]; 0 at the origin. Absolute error of a few ε.
///
/// ```text
/// atan r = r + r z P(z)/Q(z),   z = r²                  for |r| ≤ 0.66
/// atan r = π/4 + atan ((r − 1)/(r + 1))                 for 0.66 < r ≤ 1,      with r the smaller of |x| and |y| over the larger
/// ```
#[inline(always)]
pub fn atan2<T: Real>(y: T, x: T) -> T {
    let zero = T::splat(0.0);
    let (high, low) = (x.abs(), y.abs());
    let (small, large) = (high.min(low), high.max(low));

    // the reduced quotient
    let reduces = (T::splat(REDUCED) * large).less(small);
    let over = T::select(reduces, small - large, small);
    let under = T::select(reduces, small + large, large);
    let r = over / under.max(T::splat(T::TINY));
    let offset = T::select(reduces, T::splat(FRAC_PI_4), zero);

    // its arctangent
    let z = r * r;
    let p = P[1..].iter().fold(T::splat(P[0]), |sum, c| sum * z + T::splat(*c));
    let q = Q.iter().fold(T::splat(1.0), |sum, c| sum * z + T::splat(*c));
    let angle = offset + (r + r * (z * p / q));

    // the octant
    let angle = T::select(high.less(low), T::splat(FRAC_PI_2) - angle, angle);
    let angle = T::select(x.less(zero), T::splat(PI) - angle, angle);
    T::select(y.less(zero), -angle, angle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real;

    /// Each of the three sums after the approximation, whose own error is 2e-16, rounds by at most ε π/2.
    #[test]
    fn agrees_with_the_library_arctangent_all_around() {
        for i in -2000..=2000 {
            let angle = f64::from(i) * PI / 2000.0;
            for radius in [1e-12, 0.3, 1.0, 7e9] {
                let (x, y) = (radius * real::cos(angle), radius * real::sin(angle));
                assert!(
                    (atan2(y, x) - real::atan2(y, x)).abs() < 4.0 * f64::EPSILON * PI,
                    "{angle} {radius}"
                );
            }
        }
        assert_eq!(atan2(0.0, 0.0), 0.0);
        assert_eq!(atan2(0.0, -1.0), PI);
        assert_eq!(atan2(1.0, 0.0), FRAC_PI_2);
        assert_eq!(atan2(-1.0, 0.0), -FRAC_PI_2);
    }
}
