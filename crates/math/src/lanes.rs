//! SIMD lanes with run-time dispatch: an algorithm written once over [`Real`] runs for one `f64` or for many `f32`s at once.
//!
//! [`dispatch`] detects the instruction set and runs a [`Kernel`] over the widest [`Lanes`] of the processor. The traits offer
//! only operations that IEEE 754 rounds exactly (no fused multiply-add, no reciprocal estimates), so every width on every
//! processor gives the same bits.

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use core::ops::{Add, Div, Mul, Neg, Sub};

/// The number of elements per block of the element kernels.
pub const BLOCK: usize = 16;

/// A scalar or several lanes, with selection by mask instead of branches.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// A boolean per lane.
    type Mask: Copy;

    /// The machine epsilon.
    const EPSILON: f64;
    /// A small number whose reciprocal does not overflow.
    const TINY: f64;
    /// A small number whose square does not underflow.
    const SMALL: f64;
    /// Sweeps of cyclic Jacobi rotations after which a 3×3 matrix is diagonal to [`Self::EPSILON`].
    const JACOBI_SWEEPS: usize;

    /// The same number in every lane.
    fn splat(value: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// Maximum; `other` where this is NaN.
    fn max(self, other: Self) -> Self;
    /// Minimum; `other` where this is NaN.
    fn min(self, other: Self) -> Self;
    /// Where this is less than the other.
    fn less(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is set, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

impl Real for f64 {
    type Mask = bool;
    const EPSILON: f64 = f64::EPSILON;
    const TINY: f64 = 1e-300;
    const SMALL: f64 = 1e-150;
    const JACOBI_SWEEPS: usize = 7;

    #[inline(always)]
    fn splat(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn max(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: f64) -> f64 {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn less(self, other: f64) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, yes: f64, no: f64) -> f64 {
        if mask { yes } else { no }
    }
}

/// Double-precision lanes, half as many as [`Lanes`] of the same instruction set.
pub trait WideLanes: Real {
    /// The number of lanes, a divisor of [`BLOCK`].
    const WIDTH: usize;

    /// Lanes from the front of a slice.
    ///
    /// # Panics
    /// If the slice is shorter than [`Self::WIDTH`].
    fn load(from: &[f64]) -> Self;

    /// Lanes from the front of a slice of single-precision numbers.
    ///
    /// # Panics
    /// If the slice is shorter than [`Self::WIDTH`].
    fn load_single(from: &[f32]) -> Self;

    /// Lanes to the front of a slice.
    ///
    /// # Panics
    /// If the slice is shorter than [`Self::WIDTH`].
    fn store(self, to: &mut [f64]);

    /// Gathers the first three components of row `places[lane][which]` per lane.
    ///
    /// # Panics
    /// If there are fewer than [`Self::WIDTH`] places, or no such row.
    #[inline(always)]
    fn gather_rows(rows: &[[f64; 4]], places: &[[u32; 4]], which: usize) -> [Self; 3] {
        let mut columns = [[0.0; BLOCK]; 3];
        for (lane, place) in places[..Self::WIDTH].iter().enumerate() {
            let row = &rows[place[which] as usize];
            for i in 0..3 {
                columns[i][lane] = row[i];
            }
        }
        [Self::load(&columns[0]), Self::load(&columns[1]), Self::load(&columns[2])]
    }

    /// Writes the three components of each lane and a zero to row `stride` × lane.
    ///
    /// # Panics
    /// If there are too few rows.
    #[inline(always)]
    fn to_rows(vector: [Self; 3], rows: &mut [[f64; 4]], stride: usize) {
        let mut columns = [[0.0; BLOCK]; 3];
        for i in 0..3 {
            vector[i].store(&mut columns[i]);
        }
        for lane in 0..Self::WIDTH {
            rows[stride * lane] = [columns[0][lane], columns[1][lane], columns[2][lane], 0.0];
        }
    }
}

/// Single-precision lanes.
pub trait Lanes: Real {
    /// The number of lanes, a divisor of [`BLOCK`].
    const WIDTH: usize;

    /// Double-precision lanes of the same instruction set.
    type Wide: WideLanes;

    /// Lanes from the front of a slice.
    ///
    /// # Panics
    /// If the slice is shorter than [`Self::WIDTH`].
    fn load(from: &[f32]) -> Self;

    /// Lanes from integers at the front of a slice; each is exact in single precision.
    ///
    /// # Panics
    /// If the slice is shorter than [`Self::WIDTH`].
    fn load_whole(from: &[i16]) -> Self;

    /// Lanes to the front of a slice.
    ///
    /// # Panics
    /// If the slice is shorter than [`Self::WIDTH`].
    fn store(self, to: &mut [f32]);

    /// Gathers the first three components of row `places[lane]` per lane.
    ///
    /// # Panics
    /// If there are fewer than [`Self::WIDTH`] places, or no such row.
    #[inline(always)]
    fn pick_rows(rows: &[[f32; 4]], places: &[u32]) -> [Self; 3] {
        let mut picked = [[0.0; 4]; BLOCK];
        for (lane, place) in places[..Self::WIDTH].iter().enumerate() {
            picked[lane] = rows[*place as usize];
        }
        Self::from_rows(&picked)
    }

    /// Transposes the first three components of rows into lanes, one row per lane.
    ///
    /// # Panics
    /// If there are fewer than [`Self::WIDTH`] rows.
    #[inline(always)]
    fn from_rows(rows: &[[f32; 4]]) -> [Self; 3] {
        let mut columns = [[0.0; BLOCK]; 3];
        for (lane, row) in rows[..Self::WIDTH].iter().enumerate() {
            for i in 0..3 {
                columns[i][lane] = row[i];
            }
        }
        [Self::load(&columns[0]), Self::load(&columns[1]), Self::load(&columns[2])]
    }

    /// Gathers the first three components of row `places[lane][which]` per lane.
    ///
    /// # Panics
    /// If there are fewer than [`Self::WIDTH`] places, or no such row.
    #[inline(always)]
    fn gather_rows(rows: &[[f32; 4]], places: &[[u32; 4]], which: usize) -> [Self; 3] {
        let mut picked = [[0.0; 4]; BLOCK];
        for (lane, place) in places[..Self::WIDTH].iter().enumerate() {
            picked[lane] = rows[place[which] as usize];
        }
        Self::from_rows(&picked)
    }

    /// The inverse of [`Self::from_rows`]: writes the three components of each lane and a zero to row `stride` × lane.
    ///
    /// # Panics
    /// If there are too few rows.
    #[inline(always)]
    fn to_rows(vector: [Self; 3], rows: &mut [[f32; 4]], stride: usize) {
        let mut columns = [[0.0; BLOCK]; 3];
        for i in 0..3 {
            vector[i].store(&mut columns[i]);
        }
        for lane in 0..Self::WIDTH {
            rows[stride * lane] = [columns[0][lane], columns[1][lane], columns[2][lane], 0.0];
        }
    }
}

/// A computation over lanes of whatever width the processor has.
pub trait Kernel {
    /// What it returns.
    type Output;
    /// Runs it. Must be `#[inline(always)]`, as must everything it calls in its hot loops: only what is inlined here is compiled for the
    /// instruction set that was found.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// The instruction sets that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// What every processor of the platform has: four lanes on x86-64, an array of eight elsewhere.
    Baseline,
    /// Eight lanes (x86-64 with AVX2).
    Avx2,
    /// Sixteen lanes (x86-64 with AVX-512F).
    Avx512,
}

impl InstructionSet {
    /// The widest that this processor has.
    pub fn detect() -> InstructionSet {
        Self::available().last().copied().unwrap_or(InstructionSet::Baseline)
    }

    /// All that this processor has, widest last.
    pub fn available() -> &'static [InstructionSet] {
        use InstructionSet::{Avx2, Avx512, Baseline};
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return if is_x86_feature_detected!("avx512f") {
                &[Baseline, Avx2, Avx512]
            } else {
                &[Baseline, Avx2]
            };
        }
        &[Baseline]
    }
}

/// Runs a kernel over the widest lanes that the processor has.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    dispatch_to(InstructionSet::detect(), kernel)
}

/// Runs a kernel over the lanes of one instruction set, or the next narrower one that the processor has.
#[inline]
pub fn dispatch_to<K: Kernel>(set: InstructionSet, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        match set {
            InstructionSet::Avx512 if is_x86_feature_detected!("avx512f") => x86::run_avx512(kernel),
            InstructionSet::Avx2 | InstructionSet::Avx512 if is_x86_feature_detected!("avx2") => {
                x86::run_avx2(kernel)
            }
            _ => x86::run_sse2(kernel),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // there is only one
        let _ = set;
        kernel.run::<portable::X8>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on ordinary, subnormal and non-finite numbers, lane by lane.
    struct EveryOperation;

    impl Kernel for EveryOperation {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<u32> {
            let mut bits = Vec::new();
            let numbers = [1.5, -0.0, 0.0, 3e38, -2.7, 1e-40, f32::INFINITY, f32::NAN, 0.1, -7.25, 2.0, 1e9];
            for (i, &a) in numbers.iter().enumerate() {
                for &b in &numbers {
                    let mut lanes = [a; BLOCK];
                    lanes[i % 4] = b;
                    let (x, y) = (L::load(&lanes), L::splat(f64::from(b)));
                    let picked = L::select(x.less(y), x, y);
                    for value in
                        [x + y, x - y, x * y, x / y, x.max(y), x.min(y), x.sqrt(), x.abs(), -x, picked]
                    {
                        let mut out = [0.0; BLOCK];
                        value.store(&mut out);
                        // the standard leaves sign and payload of NaN open
                        bits.extend(out[..4].iter().map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() }));
                    }
                }
            }
            bits
        }
    }

    /// The bits of every operation of double-precision lanes, lane by lane.
    struct EveryWideOperation;

    impl Kernel for EveryWideOperation {
        type Output = Vec<u64>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<u64> {
            let mut bits = Vec::new();

            // every operation on every pair
            let numbers = [1.5, -0.0, 0.0, 3e300, -2.7, 1e-320, f64::INFINITY, f64::NAN, 0.1, -7.25];
            for (i, &a) in numbers.iter().enumerate() {
                for &b in &numbers {
                    let mut lanes = [a; BLOCK];
                    lanes[i % 2] = b;
                    let (x, y) = (L::Wide::load(&lanes), L::Wide::splat(b));
                    let picked = L::Wide::select(x.less(y), x, y);
                    let single = L::Wide::load_single(&[a as f32; BLOCK]);
                    for value in [
                        x + y,
                        x - y,
                        x * y,
                        x / y,
                        x.max(y),
                        x.min(y),
                        x.sqrt(),
                        x.abs(),
                        -x,
                        picked,
                        single,
                    ] {
                        let mut out = [0.0; BLOCK];
                        value.store(&mut out);
                        bits.extend(out[..2].iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }));
                    }
                }
            }

            // rows there and back
            let rows: [[f64; 4]; BLOCK] =
                core::array::from_fn(|lane| core::array::from_fn(|i| (10 * lane + i) as f64));
            let places: [[u32; 4]; BLOCK] = core::array::from_fn(|lane| [0, 0, (BLOCK - 1 - lane) as u32, 0]);
            let mut back = [[-1.0; 4]; 3 * BLOCK];
            L::Wide::to_rows(L::Wide::gather_rows(&rows, &places, 2), &mut back, 3);
            bits.extend(back[..6].iter().flatten().map(|x| x.to_bits()));
            bits
        }
    }

    struct RowsThereAndBack;

    impl Kernel for RowsThereAndBack {
        type Output = ();

        #[inline(always)]
        fn run<L: Lanes>(self) {
            let number = |lane: usize, i: usize| (10 * lane + i) as f32;
            let rows: [[f32; 4]; BLOCK] =
                core::array::from_fn(|lane| core::array::from_fn(|i| number(lane, i)));
            let places: [[u32; 4]; BLOCK] = core::array::from_fn(|lane| [0, (BLOCK - 1 - lane) as u32, 0, 0]);
            let plain: [u32; BLOCK] = core::array::from_fn(|lane| (lane * 5 % BLOCK) as u32);

            // in order, and picked in two ways
            let (in_order, picked) = (L::from_rows(&rows), L::gather_rows(&rows, &places, 1));
            let plainly = L::pick_rows(&rows, &plain);
            for i in 0..3 {
                let (mut a, mut b, mut c) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
                in_order[i].store(&mut a);
                picked[i].store(&mut b);
                plainly[i].store(&mut c);
                for lane in 0..L::WIDTH {
                    assert_eq!(a[lane], number(lane, i));
                    assert_eq!(b[lane], number(BLOCK - 1 - lane, i));
                    assert_eq!(c[lane], number(lane * 5 % BLOCK, i));
                }
            }

            // whole numbers
            let whole: [i16; BLOCK] =
                core::array::from_fn(|lane| i16::MIN.wrapping_add((4369 * lane) as i16));
            let mut numbers = [0.0; BLOCK];
            L::load_whole(&whole).store(&mut numbers);
            (0..L::WIDTH).for_each(|lane| assert_eq!(numbers[lane], f32::from(whole[lane])));

            // back into rows
            let mut back = [[-1.0; 4]; 3 * BLOCK];
            L::to_rows(in_order, &mut back[1..], 3);
            for lane in 0..L::WIDTH {
                assert_eq!(back[3 * lane + 1], [number(lane, 0), number(lane, 1), number(lane, 2), 0.0]);
                assert_eq!(back[3 * lane], [-1.0; 4]);
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let reference = EveryOperation.run::<portable::X8>();
        for &set in InstructionSet::available() {
            assert_eq!(dispatch_to(set, EveryOperation), reference, "{set:?}");
        }
        let reference = EveryWideOperation.run::<portable::X8>();
        for &set in InstructionSet::available() {
            assert_eq!(dispatch_to(set, EveryWideOperation), reference, "{set:?}");
        }
    }

    #[test]
    fn rows_become_lanes_and_lanes_rows() {
        for &set in InstructionSet::available() {
            dispatch_to(set, RowsThereAndBack);
        }
        RowsThereAndBack.run::<portable::X8>();
    }
}
