//! ∂P/∂F of sixteen elements, times V w (J): all 45 numbers for any law, or as few as a law needs.

use crate::law::stable_neo_hookean;
use crate::law::tangent::TANGENT;
use sinew_math::columns::Columns;
use sinew_math::lanes::{BLOCK, Lanes};

/// What multiplies changes of deformation gradients.
pub(super) trait Stiffness: Sync {
    /// (∂P/∂F) dF of the lanes from `first` on.
    fn product<L: Lanes>(&self, first: usize, df: &Columns<L>) -> Columns<L>;
}

/// Of any law.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct BlockTangent(pub(super) [[f32; BLOCK]; TANGENT]);

/// Of neo-Hookean elements without viscosity: F by columns and the four numbers of their law.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct NeoHookeanBlock {
    f: [[[f32; BLOCK]; 3]; 3],
    numbers: [[f32; BLOCK]; 4],
}

impl BlockTangent {
    pub(super) const ZERO: BlockTangent = BlockTangent([[0.0; BLOCK]; TANGENT]);
}

impl NeoHookeanBlock {
    pub(super) const ZERO: NeoHookeanBlock =
        NeoHookeanBlock { f: [[[0.0; BLOCK]; 3]; 3], numbers: [[0.0; BLOCK]; 4] };

    /// Sets the lanes from `first` on.
    #[inline(always)]
    pub(super) fn set<L: Lanes>(&mut self, first: usize, f: &Columns<L>, numbers: [L; 4]) {
        for j in 0..3 {
            for i in 0..3 {
                f[j][i].store(&mut self.f[j][i][first..]);
            }
        }
        for k in 0..4 {
            numbers[k].store(&mut self.numbers[k][first..]);
        }
    }
}

impl Stiffness for NeoHookeanBlock {
    #[inline(always)]
    fn product<L: Lanes>(&self, first: usize, df: &Columns<L>) -> Columns<L> {
        let mut f = *df;
        for j in 0..3 {
            for i in 0..3 {
                f[j][i] = L::load(&self.f[j][i][first..]);
            }
        }
        let mut numbers = [L::splat(0.0); 4];
        for k in 0..4 {
            numbers[k] = L::load(&self.numbers[k][first..]);
        }
        stable_neo_hookean::product(&f, numbers, df)
    }
}

impl Stiffness for BlockTangent {
    /// Row by row of the lower triangle: every entry is loaded once.
    #[inline(always)]
    fn product<L: Lanes>(&self, first: usize, df: &Columns<L>) -> Columns<L> {
        let mut dp = [[L::splat(0.0); 3]; 3];
        add_row::<L, 0>(self, first, df, &mut dp);
        add_row::<L, 1>(self, first, df, &mut dp);
        add_row::<L, 2>(self, first, df, &mut dp);
        add_row::<L, 3>(self, first, df, &mut dp);
        add_row::<L, 4>(self, first, df, &mut dp);
        add_row::<L, 5>(self, first, df, &mut dp);
        add_row::<L, 6>(self, first, df, &mut dp);
        add_row::<L, 7>(self, first, df, &mut dp);
        add_row::<L, 8>(self, first, df, &mut dp);
        dp
    }
}

/// Adds row `R` of the lower triangle and what stands opposite; with the row known to the compiler all numbers stay in registers.
#[inline(always)]
fn add_row<L: Lanes, const R: usize>(
    tangent: &BlockTangent,
    first: usize,
    df: &Columns<L>,
    dp: &mut Columns<L>,
) {
    let row = &tangent.0[R * (R + 1) / 2..];
    let own = df[R / 3][R % 3];
    let mut sum = dp[R / 3][R % 3];
    for c in 0..R {
        let entry = L::load(&row[c][first..]);
        sum = sum + entry * df[c / 3][c % 3];
        dp[c / 3][c % 3] = dp[c / 3][c % 3] + entry * own;
    }
    dp[R / 3][R % 3] = sum + L::load(&row[R][first..]) * own;
}
