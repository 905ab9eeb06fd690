//! Lanes as a plain array: what every processor can do.

use super::{Lanes, Real};
use core::ops::{Add, Div, Mul, Neg, Sub};

/// Eight lanes in an array.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct X8([f32; 8]);

impl X8 {
    #[inline(always)]
    fn zip(self, other: X8, f: impl Fn(f32, f32) -> f32) -> X8 {
        X8(core::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

macro_rules! operator {
    ($operator:ident, $method:ident) => {
        impl $operator for X8 {
            type Output = X8;
            #[inline(always)]
            fn $method(self, other: X8) -> X8 {
                self.zip(other, |a, b| a.$method(b))
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Neg for X8 {
    type Output = X8;
    #[inline(always)]
    fn neg(self) -> X8 {
        X8(self.0.map(|a| -a))
    }
}

impl Real for X8 {
    type Mask = [bool; 8];
    const EPSILON: f64 = f32::EPSILON as f64;
    const TINY: f64 = 1e-37;
    const SMALL: f64 = 1e-18;
    const JACOBI_SWEEPS: usize = 4;

    #[inline(always)]
    fn splat(value: f64) -> X8 {
        X8([value as f32; 8])
    }
    #[inline(always)]
    fn sqrt(self) -> X8 {
        X8(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn abs(self) -> X8 {
        X8(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn max(self, other: X8) -> X8 {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: X8) -> X8 {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn less(self, other: X8) -> [bool; 8] {
        core::array::from_fn(|i| self.0[i] < other.0[i])
    }
    #[inline(always)]
    fn select(mask: [bool; 8], yes: X8, no: X8) -> X8 {
        X8(core::array::from_fn(|i| if mask[i] { yes.0[i] } else { no.0[i] }))
    }
}

impl Lanes for X8 {
    const WIDTH: usize = 8;

    #[inline(always)]
    fn load(from: &[f32]) -> X8 {
        X8(core::array::from_fn(|i| from[..8][i]))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        to[..8].copy_from_slice(&self.0);
    }
}
