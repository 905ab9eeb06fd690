//! Portable lanes: plain arrays, for processors without explicit SIMD support.

use super::{Lanes, Real, WideLanes};
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
    type Wide = W4;

    #[inline(always)]
    fn load(from: &[f32]) -> X8 {
        X8(core::array::from_fn(|i| from[..8][i]))
    }
    #[inline(always)]
    fn load_whole(from: &[i16]) -> X8 {
        X8(core::array::from_fn(|i| f32::from(from[..8][i])))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        to[..8].copy_from_slice(&self.0);
    }
}

/// Four double-precision lanes in an array.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct W4([f64; 4]);

impl W4 {
    #[inline(always)]
    fn zip(self, other: W4, f: impl Fn(f64, f64) -> f64) -> W4 {
        W4(core::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

macro_rules! wide_operator {
    ($operator:ident, $method:ident) => {
        impl $operator for W4 {
            type Output = W4;
            #[inline(always)]
            fn $method(self, other: W4) -> W4 {
                self.zip(other, |a, b| a.$method(b))
            }
        }
    };
}
wide_operator!(Add, add);
wide_operator!(Sub, sub);
wide_operator!(Mul, mul);
wide_operator!(Div, div);

impl Neg for W4 {
    type Output = W4;
    #[inline(always)]
    fn neg(self) -> W4 {
        W4(self.0.map(|a| -a))
    }
}

impl Real for W4 {
    type Mask = [bool; 4];
    const EPSILON: f64 = f64::EPSILON;
    const TINY: f64 = <f64 as Real>::TINY;
    const SMALL: f64 = <f64 as Real>::SMALL;
    const JACOBI_SWEEPS: usize = <f64 as Real>::JACOBI_SWEEPS;

    #[inline(always)]
    fn splat(value: f64) -> W4 {
        W4([value; 4])
    }
    #[inline(always)]
    fn sqrt(self) -> W4 {
        W4(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn abs(self) -> W4 {
        W4(self.0.map(f64::abs))
    }
    #[inline(always)]
    fn max(self, other: W4) -> W4 {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: W4) -> W4 {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn less(self, other: W4) -> [bool; 4] {
        core::array::from_fn(|i| self.0[i] < other.0[i])
    }
    #[inline(always)]
    fn select(mask: [bool; 4], yes: W4, no: W4) -> W4 {
        W4(core::array::from_fn(|i| if mask[i] { yes.0[i] } else { no.0[i] }))
    }
}

impl WideLanes for W4 {
    const WIDTH: usize = 4;

    #[inline(always)]
    fn load(from: &[f64]) -> W4 {
        W4(core::array::from_fn(|i| from[..4][i]))
    }
    #[inline(always)]
    fn load_single(from: &[f32]) -> W4 {
        W4(core::array::from_fn(|i| f64::from(from[..4][i])))
    }
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        to[..4].copy_from_slice(&self.0);
    }
}
