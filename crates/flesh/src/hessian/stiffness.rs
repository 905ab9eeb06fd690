//! Storage of ∂P/∂F times V w (J) for sixteen elements: all 45 numbers for any law, or as few as a law needs, since products are memory-bound.

use crate::law::tangent::{TANGENT, Tangent};
use crate::law::{LaneLame, Symmetric, st_venant_kirchhoff, stable_neo_hookean};
use sinew_math::columns::Columns;
use sinew_math::lanes::{BLOCK, Lanes};

/// A linear map on changes of deformation gradients.
pub(super) trait Stiffness: Sync {
    /// (∂P/∂F) dF of the lanes from `first` on.
    fn product<L: Lanes>(&self, first: usize, df: &Columns<L>) -> Columns<L>;
}

/// Any law: all 45 numbers.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct BlockTangent([[f32; BLOCK]; TANGENT]);

/// Laws with S linear in the Green strain, viscous or not: F by columns, S, and the moduli of dS.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct StrainBlock {
    f: [[[f32; BLOCK]; 3]; 3],
    strain: StrainNumbers,
}

/// Neo-Hookean elements without viscosity: F by columns and the four coefficients of the law.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct NeoHookeanBlock {
    f: [[[f32; BLOCK]; 3]; 3],
    numbers: [[f32; BLOCK]; 4],
}

/// Viscous neo-Hookean elements: the viscous S is linear in the Green strain.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct ViscousNeoHookeanBlock {
    elastic: NeoHookeanBlock,
    strain: StrainNumbers,
}

/// S, μ and λ.
#[derive(Clone, Debug)]
struct StrainNumbers {
    stress: [[f32; BLOCK]; 6],
    mu: [f32; BLOCK],
    lambda: [f32; BLOCK],
}

impl BlockTangent {
    pub(super) const ZERO: BlockTangent = BlockTangent([[0.0; BLOCK]; TANGENT]);

    /// Sets the lanes from `first` on.
    #[inline(always)]
    pub(super) fn set<L: Lanes>(&mut self, first: usize, tangent: &Tangent<L>) {
        for k in 0..TANGENT {
            tangent[k].store(&mut self.0[k][first..]);
        }
    }
}

impl StrainBlock {
    pub(super) const ZERO: StrainBlock =
        StrainBlock { f: [[[0.0; BLOCK]; 3]; 3], strain: StrainNumbers::ZERO };

    /// Sets the lanes from `first` on.
    #[inline(always)]
    pub(super) fn set<L: Lanes>(
        &mut self,
        first: usize,
        f: &Columns<L>,
        stress: &Symmetric<L>,
        lame: LaneLame<L>,
    ) {
        store_columns(f, &mut self.f, first);
        self.strain.set(first, stress, lame);
    }
}

impl NeoHookeanBlock {
    pub(super) const ZERO: NeoHookeanBlock =
        NeoHookeanBlock { f: [[[0.0; BLOCK]; 3]; 3], numbers: [[0.0; BLOCK]; 4] };

    /// Sets the lanes from `first` on.
    #[inline(always)]
    pub(super) fn set<L: Lanes>(&mut self, first: usize, f: &Columns<L>, numbers: [L; 4]) {
        store_columns(f, &mut self.f, first);
        for k in 0..4 {
            numbers[k].store(&mut self.numbers[k][first..]);
        }
    }
}

impl ViscousNeoHookeanBlock {
    pub(super) const ZERO: ViscousNeoHookeanBlock =
        ViscousNeoHookeanBlock { elastic: NeoHookeanBlock::ZERO, strain: StrainNumbers::ZERO };

    /// Sets the lanes from `first` on: the coefficients of the law, then those of viscosity.
    #[inline(always)]
    pub(super) fn set<L: Lanes>(
        &mut self,
        first: usize,
        f: &Columns<L>,
        numbers: [L; 4],
        (stress, lame): (&Symmetric<L>, LaneLame<L>),
    ) {
        self.elastic.set(first, f, numbers);
        self.strain.set(first, stress, lame);
    }
}

impl StrainNumbers {
    const ZERO: StrainNumbers =
        StrainNumbers { stress: [[0.0; BLOCK]; 6], mu: [0.0; BLOCK], lambda: [0.0; BLOCK] };

    #[inline(always)]
    fn set<L: Lanes>(&mut self, first: usize, stress: &Symmetric<L>, lame: LaneLame<L>) {
        for k in 0..6 {
            stress[k].store(&mut self.stress[k][first..]);
        }
        lame.mu.store(&mut self.mu[first..]);
        lame.lambda.store(&mut self.lambda[first..]);
    }

    #[inline(always)]
    fn product<L: Lanes>(&self, first: usize, f: &Columns<L>, df: &Columns<L>) -> Columns<L> {
        let mut stress = [L::splat(0.0); 6];
        for k in 0..6 {
            stress[k] = L::load(&self.stress[k][first..]);
        }
        let lame = LaneLame { mu: L::load(&self.mu[first..]), lambda: L::load(&self.lambda[first..]) };
        st_venant_kirchhoff::product(f, &stress, lame, df)
    }
}

impl Stiffness for StrainBlock {
    #[inline(always)]
    fn product<L: Lanes>(&self, first: usize, df: &Columns<L>) -> Columns<L> {
        self.strain.product(first, &load_columns(&self.f, first), df)
    }
}

impl Stiffness for NeoHookeanBlock {
    #[inline(always)]
    fn product<L: Lanes>(&self, first: usize, df: &Columns<L>) -> Columns<L> {
        let mut numbers = [L::splat(0.0); 4];
        for k in 0..4 {
            numbers[k] = L::load(&self.numbers[k][first..]);
        }
        stable_neo_hookean::product(&load_columns(&self.f, first), numbers, df)
    }
}

impl Stiffness for ViscousNeoHookeanBlock {
    #[inline(always)]
    fn product<L: Lanes>(&self, first: usize, df: &Columns<L>) -> Columns<L> {
        let mut dp = self.elastic.product(first, df);
        let viscous = self.strain.product(first, &load_columns(&self.elastic.f, first), df);
        for j in 0..3 {
            for i in 0..3 {
                dp[j][i] = dp[j][i] + viscous[j][i];
            }
        }
        dp
    }
}

impl Stiffness for BlockTangent {
    /// Multiplies row by row of the lower triangle, so that every entry is loaded once.
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

/// Adds row `R` of the lower triangle and its transpose; with the row a constant all values stay in registers.
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

#[inline(always)]
fn load_columns<L: Lanes>(from: &[[[f32; BLOCK]; 3]; 3], first: usize) -> Columns<L> {
    let mut f = [[L::splat(0.0); 3]; 3];
    for j in 0..3 {
        for i in 0..3 {
            f[j][i] = L::load(&from[j][i][first..]);
        }
    }
    f
}

#[inline(always)]
fn store_columns<L: Lanes>(f: &Columns<L>, to: &mut [[[f32; BLOCK]; 3]; 3], first: usize) {
    for j in 0..3 {
        for i in 0..3 {
            f[j][i].store(&mut to[j][i][first..]);
        }
    }
}
