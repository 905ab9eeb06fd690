//! SIMD lanes of x86-64: SSE2, AVX2 and AVX-512.
//!
//! The types are private to this module tree and reach a caller only as the type parameter of [`Kernel::run`], after the
//! instruction set was detected; SSE2 needs no detection, every x86-64 has it. That makes their operations safe.
//!
//! `max` and `min` of these processors return the second operand if either is NaN, as [`Real`] requires.

#![expect(unsafe_code, reason = "vector instructions; each is called only after detection")]

use super::{Kernel, Lanes, Real, WideLanes};
use core::arch::x86_64::*;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// Runs a kernel compiled for SSE2.
#[inline(never)]
pub(super) fn run_sse2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<X4>()
}

/// Runs a kernel compiled for AVX2. Detection comes first: `dispatch_to` is the only caller.
#[inline(always)]
pub(super) fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx2")]
    fn compiled<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<X8>()
    }
    // SAFETY: the caller has seen that the processor has AVX2
    unsafe { compiled(kernel) }
}

/// Runs a kernel compiled for AVX-512. Detection comes first: `dispatch_to` is the only caller.
#[inline(always)]
pub(super) fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx512f")]
    fn compiled<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<X16>()
    }
    // SAFETY: the caller has seen that the processor has AVX-512F
    unsafe { compiled(kernel) }
}

macro_rules! operator {
    ($lanes:ident, $operator:ident, $method:ident, $instruction:ident) => {
        impl $operator for $lanes {
            type Output = $lanes;
            #[inline(always)]
            fn $method(self, other: $lanes) -> $lanes {
                // SAFETY: the type exists only where the processor has the instruction
                $lanes(unsafe { $instruction(self.0, other.0) })
            }
        }
    };
}

macro_rules! real {
    ($(#[$doc:meta])* $lanes:ident, $register:ident, $mask:ident, $splat:expr, $real:ident,
     $add:ident, $sub:ident, $mul:ident, $div:ident, $max:ident, $min:ident, $sqrt:ident,
     less($a:ident, $b:ident) $less:expr, select($mask_:ident, $yes:ident, $no:ident) $select:expr,
     abs($x:ident) $abs:expr, neg($y:ident) $neg:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $lanes($register);

        operator!($lanes, Add, add, $add);
        operator!($lanes, Sub, sub, $sub);
        operator!($lanes, Mul, mul, $mul);
        operator!($lanes, Div, div, $div);

        impl Neg for $lanes {
            type Output = $lanes;
            #[inline(always)]
            fn neg(self) -> $lanes {
                let $y = self.0;
                // SAFETY: the type exists only where the processor has the instruction
                $lanes(unsafe { $neg })
            }
        }

        // SAFETY of all blocks below: the type exists only where the processor has the instructions
        impl Real for $lanes {
            type Mask = $mask;
            const EPSILON: f64 = $real::EPSILON;
            const TINY: f64 = $real::TINY;
            const SMALL: f64 = $real::SMALL;
            const JACOBI_SWEEPS: usize = $real::JACOBI_SWEEPS;

            #[inline(always)]
            fn splat(value: f64) -> $lanes {
                $lanes(unsafe { $splat(value) })
            }
            #[inline(always)]
            fn sqrt(self) -> $lanes {
                $lanes(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn abs(self) -> $lanes {
                let $x = self.0;
                $lanes(unsafe { $abs })
            }
            #[inline(always)]
            fn max(self, other: $lanes) -> $lanes {
                $lanes(unsafe { $max(self.0, other.0) })
            }
            #[inline(always)]
            fn min(self, other: $lanes) -> $lanes {
                $lanes(unsafe { $min(self.0, other.0) })
            }
            #[inline(always)]
            fn less(self, other: $lanes) -> $mask {
                let ($a, $b) = (self.0, other.0);
                unsafe { $less }
            }
            #[inline(always)]
            fn select(mask: $mask, yes: $lanes, no: $lanes) -> $lanes {
                let ($mask_, $yes, $no) = (mask, yes.0, no.0);
                $lanes(unsafe { $select })
            }
        }
    };
}

/// What single-precision lanes share.
struct Single;

impl Single {
    const EPSILON: f64 = f32::EPSILON as f64;
    const TINY: f64 = 1e-37;
    const SMALL: f64 = 1e-18;
    const JACOBI_SWEEPS: usize = 4;
}

/// What double-precision lanes share.
struct Double;

impl Double {
    const EPSILON: f64 = <f64 as Real>::EPSILON;
    const TINY: f64 = <f64 as Real>::TINY;
    const SMALL: f64 = <f64 as Real>::SMALL;
    const JACOBI_SWEEPS: usize = <f64 as Real>::JACOBI_SWEEPS;
}

macro_rules! single_lanes {
    ($lanes:ident, $wide:ident, $width:expr, $load:ident, $store:ident, whole($from:ident) $whole:expr, transposed { $($transposed:item)* }) => {
        impl Lanes for $lanes {
            const WIDTH: usize = $width;
            type Wide = $wide;

            #[inline(always)]
            fn load(from: &[f32]) -> $lanes {
                // SAFETY: the slice is long enough, and the instruction asks for no alignment
                $lanes(unsafe { $load(from[..$width].as_ptr()) })
            }
            #[inline(always)]
            fn load_whole(from: &[i16]) -> $lanes {
                let $from = from[..$width].as_ptr();
                // SAFETY: as for loading
                $lanes(unsafe { $whole })
            }
            #[inline(always)]
            fn store(self, to: &mut [f32]) {
                // SAFETY: as for loading
                unsafe { $store(to[..$width].as_mut_ptr(), self.0) }
            }
            $($transposed)*
        }
    };
}

macro_rules! wide_lanes {
    ($lanes:ident, $width:expr, $load:ident, $store:ident, $load_single:ident, $convert:ident, transposed { $($transposed:item)* }) => {
        // SAFETY of all blocks below: the slice is long enough, the instruction asks for no alignment, and the processor has it
        impl WideLanes for $lanes {
            const WIDTH: usize = $width;

            #[inline(always)]
            fn load(from: &[f64]) -> $lanes {
                $lanes(unsafe { $load(from[..$width].as_ptr()) })
            }
            #[inline(always)]
            fn load_single(from: &[f32]) -> $lanes {
                $lanes(unsafe { $convert($load_single(from[..$width].as_ptr())) })
            }
            #[inline(always)]
            fn store(self, to: &mut [f64]) {
                unsafe { $store(to[..$width].as_mut_ptr(), self.0) }
            }
            $($transposed)*
        }
    };
}

#[inline(always)]
unsafe fn splat_x4(value: f64) -> __m128 {
    // SAFETY: called for lanes that exist only where the processor has the instruction, as all of these
    unsafe { _mm_set1_ps(value as f32) }
}

/// Four sixteen-bit numbers, widened.
#[inline(always)]
unsafe fn load_whole_x4(from: *const i16) -> __m128 {
    // SAFETY: as above, and there are four numbers
    unsafe {
        let pairs = _mm_loadl_epi64(from.cast());
        _mm_cvtepi32_ps(_mm_srai_epi32::<16>(_mm_unpacklo_epi16(pairs, pairs)))
    }
}

/// Two numbers in the lower half.
#[inline(always)]
unsafe fn load_half(from: *const f32) -> __m128 {
    // SAFETY: as above, and there are two numbers
    unsafe { _mm_castsi128_ps(_mm_loadl_epi64(from.cast())) }
}

#[inline(always)]
unsafe fn splat_x8(value: f64) -> __m256 {
    // SAFETY: as above
    unsafe { _mm256_set1_ps(value as f32) }
}

#[inline(always)]
unsafe fn splat_x16(value: f64) -> __m512 {
    // SAFETY: as above
    unsafe { _mm512_set1_ps(value as f32) }
}

real!(
    /// Four lanes in an SSE register.
    X4, __m128, __m128, splat_x4, Single,
    _mm_add_ps, _mm_sub_ps, _mm_mul_ps, _mm_div_ps, _mm_max_ps, _mm_min_ps, _mm_sqrt_ps,
    less(a, b) _mm_cmplt_ps(a, b),
    select(mask, yes, no) _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no)),
    abs(a) _mm_andnot_ps(_mm_set1_ps(-0.0), a),
    neg(a) _mm_xor_ps(_mm_set1_ps(-0.0), a)
);

single_lanes!(X4, W2, 4, _mm_loadu_ps, _mm_storeu_ps, whole(from) load_whole_x4(from), transposed {});

real!(
    /// Two double-precision lanes in an SSE register.
    W2, __m128d, __m128d, _mm_set1_pd, Double,
    _mm_add_pd, _mm_sub_pd, _mm_mul_pd, _mm_div_pd, _mm_max_pd, _mm_min_pd, _mm_sqrt_pd,
    less(a, b) _mm_cmplt_pd(a, b),
    select(mask, yes, no) _mm_or_pd(_mm_and_pd(mask, yes), _mm_andnot_pd(mask, no)),
    abs(a) _mm_andnot_pd(_mm_set1_pd(-0.0), a),
    neg(a) _mm_xor_pd(_mm_set1_pd(-0.0), a)
);

wide_lanes!(W2, 2, _mm_loadu_pd, _mm_storeu_pd, load_half, _mm_cvtps_pd, transposed {});

real!(
    /// Eight lanes in an AVX register.
    X8, __m256, __m256, splat_x8, Single,
    _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_max_ps, _mm256_min_ps, _mm256_sqrt_ps,
    less(a, b) _mm256_cmp_ps::<_CMP_LT_OQ>(a, b),
    select(mask, yes, no) _mm256_blendv_ps(no, yes, mask),
    abs(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0), a),
    neg(a) _mm256_xor_ps(_mm256_set1_ps(-0.0), a)
);

single_lanes!(
    X8, W4, 8, _mm256_loadu_ps, _mm256_storeu_ps,
    whole(from) _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(from.cast()))),
    transposed {
        #[inline(always)]
        fn pick_rows(rows: &[[f32; 4]], places: &[u32]) -> [X8; 3] {
            let p = &places[..8];
            let last = u32::try_from(rows.len()).map_or(i32::MAX, |len| len as i32) - 1;
            // SAFETY: all places are compared with the last row at once, as unsigned numbers, before any row is looked up
            unsafe {
                let last = _mm256_set1_epi32(last);
                let largest = _mm256_max_epu32(_mm256_loadu_si256(p.as_ptr().cast()), last);
                assert!(!rows.is_empty() && _mm256_movemask_epi8(_mm256_cmpeq_epi32(largest, last)) == -1);
                transpose([
                    rows.get_unchecked(p[0] as usize), rows.get_unchecked(p[1] as usize),
                    rows.get_unchecked(p[2] as usize), rows.get_unchecked(p[3] as usize),
                    rows.get_unchecked(p[4] as usize), rows.get_unchecked(p[5] as usize),
                    rows.get_unchecked(p[6] as usize), rows.get_unchecked(p[7] as usize),
                ])
            }
        }

        #[inline(always)]
        fn from_rows(rows: &[[f32; 4]]) -> [X8; 3] {
            let rows = &rows[..8];
            transpose([&rows[0], &rows[1], &rows[2], &rows[3], &rows[4], &rows[5], &rows[6], &rows[7]])
        }

        #[inline(always)]
        fn gather_rows(rows: &[[f32; 4]], places: &[[u32; 4]], which: usize) -> [X8; 3] {
            let p = &places[..8];
            transpose([
                &rows[p[0][which] as usize], &rows[p[1][which] as usize],
                &rows[p[2][which] as usize], &rows[p[3][which] as usize],
                &rows[p[4][which] as usize], &rows[p[5][which] as usize],
                &rows[p[6][which] as usize], &rows[p[7][which] as usize],
            ])
        }

        #[inline(always)]
        fn to_rows(vector: [X8; 3], rows: &mut [[f32; 4]], stride: usize) {
            let [x, y, z] = vector;
            assert!(rows.len() > 7 * stride);
            unsafe {
                let zero = _mm256_setzero_ps();
                let (xy_lo, xy_hi) = (_mm256_unpacklo_ps(x.0, y.0), _mm256_unpackhi_ps(x.0, y.0));
                let (zw_lo, zw_hi) = (_mm256_unpacklo_ps(z.0, zero), _mm256_unpackhi_ps(z.0, zero));
                let r0 = _mm256_shuffle_ps::<0b01_00_01_00>(xy_lo, zw_lo);
                let r1 = _mm256_shuffle_ps::<0b11_10_11_10>(xy_lo, zw_lo);
                let r2 = _mm256_shuffle_ps::<0b01_00_01_00>(xy_hi, zw_hi);
                let r3 = _mm256_shuffle_ps::<0b11_10_11_10>(xy_hi, zw_hi);
                _mm_storeu_ps(rows[0].as_mut_ptr(), _mm256_castps256_ps128(r0));
                _mm_storeu_ps(rows[stride].as_mut_ptr(), _mm256_castps256_ps128(r1));
                _mm_storeu_ps(rows[2 * stride].as_mut_ptr(), _mm256_castps256_ps128(r2));
                _mm_storeu_ps(rows[3 * stride].as_mut_ptr(), _mm256_castps256_ps128(r3));
                _mm_storeu_ps(rows[4 * stride].as_mut_ptr(), _mm256_extractf128_ps::<1>(r0));
                _mm_storeu_ps(rows[5 * stride].as_mut_ptr(), _mm256_extractf128_ps::<1>(r1));
                _mm_storeu_ps(rows[6 * stride].as_mut_ptr(), _mm256_extractf128_ps::<1>(r2));
                _mm_storeu_ps(rows[7 * stride].as_mut_ptr(), _mm256_extractf128_ps::<1>(r3));
            }
        }
    }
);

real!(
    /// Sixteen lanes in an AVX-512 register.
    X16, __m512, __mmask16, splat_x16, Single,
    _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps, _mm512_max_ps, _mm512_min_ps, _mm512_sqrt_ps,
    less(a, b) _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b),
    select(mask, yes, no) _mm512_mask_blend_ps(mask, no, yes),
    abs(a) _mm512_abs_ps(a),
    neg(a) _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(i32::MIN)))
);

single_lanes!(
    X16, W8, 16, _mm512_loadu_ps, _mm512_storeu_ps,
    whole(from) _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(from.cast()))),
    transposed {}
);

real!(
    /// Four double-precision lanes in an AVX register.
    W4, __m256d, __m256d, _mm256_set1_pd, Double,
    _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd, _mm256_div_pd, _mm256_max_pd, _mm256_min_pd, _mm256_sqrt_pd,
    less(a, b) _mm256_cmp_pd::<_CMP_LT_OQ>(a, b),
    select(mask, yes, no) _mm256_blendv_pd(no, yes, mask),
    abs(a) _mm256_andnot_pd(_mm256_set1_pd(-0.0), a),
    neg(a) _mm256_xor_pd(_mm256_set1_pd(-0.0), a)
);

wide_lanes!(
    W4, 4, _mm256_loadu_pd, _mm256_storeu_pd, _mm_loadu_ps, _mm256_cvtps_pd,
    transposed {
        #[inline(always)]
        fn gather_rows(rows: &[[f64; 4]], places: &[[u32; 4]], which: usize) -> [W4; 3] {
            let p = &places[..4];
            let row = |lane: usize| unsafe { _mm256_loadu_pd(rows[p[lane][which] as usize].as_ptr()) };
            let (r0, r1, r2, r3) = (row(0), row(1), row(2), row(3));
            unsafe {
                let (xz01, y01) = (_mm256_unpacklo_pd(r0, r1), _mm256_unpackhi_pd(r0, r1));
                let (xz23, y23) = (_mm256_unpacklo_pd(r2, r3), _mm256_unpackhi_pd(r2, r3));
                [
                    W4(_mm256_permute2f128_pd::<0x20>(xz01, xz23)),
                    W4(_mm256_permute2f128_pd::<0x20>(y01, y23)),
                    W4(_mm256_permute2f128_pd::<0x31>(xz01, xz23)),
                ]
            }
        }

        #[inline(always)]
        fn to_rows(vector: [W4; 3], rows: &mut [[f64; 4]], stride: usize) {
            let [x, y, z] = vector;
            assert!(rows.len() > 3 * stride);
            unsafe {
                let zero = _mm256_setzero_pd();
                let (xy02, xy13) = (_mm256_unpacklo_pd(x.0, y.0), _mm256_unpackhi_pd(x.0, y.0));
                let (zw02, zw13) = (_mm256_unpacklo_pd(z.0, zero), _mm256_unpackhi_pd(z.0, zero));
                _mm256_storeu_pd(rows[0].as_mut_ptr(), _mm256_permute2f128_pd::<0x20>(xy02, zw02));
                _mm256_storeu_pd(rows[stride].as_mut_ptr(), _mm256_permute2f128_pd::<0x20>(xy13, zw13));
                _mm256_storeu_pd(rows[2 * stride].as_mut_ptr(), _mm256_permute2f128_pd::<0x31>(xy02, zw02));
                _mm256_storeu_pd(rows[3 * stride].as_mut_ptr(), _mm256_permute2f128_pd::<0x31>(xy13, zw13));
            }
        }
    }
);

real!(
    /// Eight double-precision lanes in an AVX-512 register.
    W8, __m512d, __mmask8, _mm512_set1_pd, Double,
    _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd, _mm512_div_pd, _mm512_max_pd, _mm512_min_pd, _mm512_sqrt_pd,
    less(a, b) _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b),
    select(mask, yes, no) _mm512_mask_blend_pd(mask, no, yes),
    abs(a) _mm512_abs_pd(a),
    neg(a) _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(a), _mm512_set1_epi64(i64::MIN)))
);

wide_lanes!(W8, 8, _mm512_loadu_pd, _mm512_storeu_pd, _mm256_loadu_ps, _mm512_cvtps_pd, transposed {});

/// The first three columns of eight rows. Rows i and i + 4 share a register, so that two 4×4 transposes run side by side.
#[inline(always)]
fn transpose(rows: [&[f32; 4]; 8]) -> [X8; 3] {
    let [a0, a1, a2, a3, a4, a5, a6, a7] = rows;
    // SAFETY: called for X8 only, which exists only where the processor has AVX2; each row has the four numbers that are loaded
    unsafe {
        let r0 = _mm256_insertf128_ps::<1>(
            _mm256_castps128_ps256(_mm_loadu_ps(a0.as_ptr())),
            _mm_loadu_ps(a4.as_ptr()),
        );
        let r1 = _mm256_insertf128_ps::<1>(
            _mm256_castps128_ps256(_mm_loadu_ps(a1.as_ptr())),
            _mm_loadu_ps(a5.as_ptr()),
        );
        let r2 = _mm256_insertf128_ps::<1>(
            _mm256_castps128_ps256(_mm_loadu_ps(a2.as_ptr())),
            _mm_loadu_ps(a6.as_ptr()),
        );
        let r3 = _mm256_insertf128_ps::<1>(
            _mm256_castps128_ps256(_mm_loadu_ps(a3.as_ptr())),
            _mm_loadu_ps(a7.as_ptr()),
        );
        let (xy01, zw01) = (_mm256_unpacklo_ps(r0, r1), _mm256_unpackhi_ps(r0, r1));
        let (xy23, zw23) = (_mm256_unpacklo_ps(r2, r3), _mm256_unpackhi_ps(r2, r3));
        [
            X8(_mm256_shuffle_ps::<0b01_00_01_00>(xy01, xy23)),
            X8(_mm256_shuffle_ps::<0b11_10_11_10>(xy01, xy23)),
            X8(_mm256_shuffle_ps::<0b01_00_01_00>(zw01, zw23)),
        ]
    }
}
