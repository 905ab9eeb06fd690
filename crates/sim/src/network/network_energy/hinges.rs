//! Hinges of a sheet, whose angles have a common energy ([`Bending`]).

use super::super::node_sums::NodeSums;
use super::CHUNK;
use super::strains::{Rates, gather};
use sinew_flesh::network::{Bending, Hinge};
use sinew_math::columns::{Vector, dot};
use sinew_math::lanes::{Kernel, Lanes, Real, WideLanes, dispatch};
use sinew_math::parallel::for_each_part;
use sinew_math::{Mat3, Vec3};

/// Hinges per block of the kernel, a multiple of the number of lanes of every processor.
const BLOCK: usize = 8;

/// The gradients of the angles of a block of hinges: three components of four nodes.
type BlockGradients = [[[f64; BLOCK]; 3]; 4];

/// The hinges of a sheet, with workspace.
#[derive(Debug)]
pub(super) struct Hinges {
    pub(super) sums: NodeSums,
    /// θₙ − θ₀ at the reference.
    reference: Vec<f64>,
    /// θ − θ₀ with its rate, and without, in whole blocks.
    effective: Vec<f64>,
    angles: Vec<f64>,
    gradients: Vec<BlockGradients>,
    corners: Vec<Vec3>,
    /// Energies of triangles (J).
    energies: Vec<f64>,
    /// Gradients of angles at the last update.
    rows: Vec<[Vec3; 4]>,
}

/// Computes angles and their gradients, a block at a time.
struct AngleKernel<'a> {
    hinges: &'a [Hinge],
    reference: &'a [f64],
    x: &'a [Vec3],
    rates: Rates<'a>,
    /// The first block.
    first: usize,
    effective: &'a mut [[f64; BLOCK]],
    angles: &'a mut [[f64; BLOCK]],
    gradients: &'a mut [BlockGradients],
}

impl Kernel for AngleKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let AngleKernel { hinges, reference, x, rates, first, effective, angles, gradients } = self;
        for (i, own) in gradients.iter_mut().enumerate() {
            // hinges of the block, the last one again where there are no more
            let number = |lane: usize| (BLOCK * (first + i) + lane).min(hinges.len() - 1);
            let gathered = gather_block(hinges, number, x);
            let rest: [f64; BLOCK] = core::array::from_fn(|lane| hinges[number(lane)].rest_angle);

            for lane in (0..BLOCK).step_by(L::Wide::WIDTH) {
                let (angle, gradient) = Hinge::angle_and_gradients(&load_block::<L::Wide>(&gathered, lane));
                (angle - L::Wide::load(&rest[lane..])).store(&mut angles[i][lane..]);
                for (node, gradient) in own.iter_mut().zip(gradient) {
                    node.iter_mut().zip(gradient).for_each(|(own, k)| k.store(&mut own[lane..]));
                }
            }

            // what rates add
            let (before, scale) = match rates {
                Rates::SinceReference { growth } => {
                    (core::array::from_fn(|lane| angles[i][lane] - reference[number(lane)]), growth)
                }
                Rates::OfVelocities { v, viscosity } => {
                    let gathered = gather_block(hinges, number, v);
                    let mut rates = [0.0; BLOCK];
                    for lane in (0..BLOCK).step_by(L::Wide::WIDTH) {
                        let v = load_block::<L::Wide>(&gathered, lane);
                        let gradients = load_block::<L::Wide>(own, lane);
                        let rate = (0..4).fold(L::Wide::splat(0.0), |sum, n| sum + dot(gradients[n], v[n]));
                        rate.store(&mut rates[lane..]);
                    }
                    (rates, viscosity)
                }
            };
            effective[i] = core::array::from_fn(|lane| angles[i][lane] + scale * before[lane]);
        }
    }
}

/// Values at the nodes of a block of hinges.
#[inline(always)]
fn gather_block(hinges: &[Hinge], number: impl Fn(usize) -> usize, values: &[Vec3]) -> BlockGradients {
    let mut gathered = [[[0.0; BLOCK]; 3]; 4];
    for lane in 0..BLOCK {
        for (own, node) in gathered.iter_mut().zip(hinges[number(lane)].nodes) {
            let value = &values[node as usize];
            (0..3).for_each(|k| own[k][lane] = value[k]);
        }
    }
    gathered
}

/// Some lanes of a block.
#[inline(always)]
fn load_block<W: WideLanes>(block: &BlockGradients, lane: usize) -> [Vector<W>; 4] {
    core::array::from_fn(|node| core::array::from_fn(|k| W::load(&block[node][k][lane..])))
}

impl Hinges {
    pub(super) fn new(bending: &Bending, node_count: usize) -> Hinges {
        let count = bending.hinges.len();
        let blocks = count.div_ceil(BLOCK);
        let nodes = bending.hinges.iter().flat_map(|hinge| hinge.nodes);
        Hinges {
            sums: NodeSums::build(node_count, nodes),
            reference: vec![0.0; count],
            effective: vec![0.0; BLOCK * blocks],
            angles: vec![0.0; BLOCK * blocks],
            gradients: vec![[[[0.0; BLOCK]; 3]; 4]; blocks],
            corners: vec![Vec3::zeros(); 4 * count],
            energies: vec![0.0; bending.patch_count()],
            rows: Vec::new(),
        }
    }

    /// Computes the gradients of all corners at node positions (m); returns the energy (J).
    pub(super) fn evaluate(&mut self, bending: &Bending, x: &[Vec3], rates: Rates) -> f64 {
        let Hinges { reference, effective, angles, gradients, corners, energies, .. } = self;

        // angles, and what their rates add
        let (hinges, reference) = (bending.hinges.as_slice(), reference.as_slice());
        let blocks = (effective.as_chunks_mut::<BLOCK>().0, angles.as_chunks_mut::<BLOCK>().0);
        let all = (blocks.0, (blocks.1, gradients.as_mut_slice()));
        for_each_part(all, CHUNK / BLOCK, |first, (effective, (angles, gradients))| {
            dispatch(AngleKernel { hinges, reference, x, rates, first, effective, angles, gradients });
        });

        // moments
        let (effective, gradients) = (&*effective, &*gradients);
        for_each_part(corners.as_chunks_mut::<4>().0, CHUNK, |first, corners| {
            for (i, corners) in corners.iter_mut().enumerate() {
                let moment = bending.moment(first + i, effective);
                let (block, lane) = (&gradients[(first + i) / BLOCK], (first + i) % BLOCK);
                for (corner, gradient) in corners.iter_mut().zip(block) {
                    *corner = Vec3::from(gradient.map(|k| moment * k[lane]));
                }
            }
        });

        // the energy
        let growth = if let Rates::SinceReference { growth } = rates { growth } else { 0.0 };
        let angles = &*angles;
        for_each_part(energies.as_mut_slice(), CHUNK, |first, energies| {
            for (i, energy) in energies.iter_mut().enumerate() {
                *energy = bending.patch_energy(first + i, |hinge| angles[hinge]);
                if growth > 0.0 {
                    let change = |hinge: usize| angles[hinge] - reference[hinge];
                    *energy += growth * bending.patch_energy(first + i, change);
                }
            }
        });
        energies.iter().sum()
    }

    /// The gradient of a node (N).
    #[inline]
    pub(super) fn gradient_at(&self, node: usize) -> Vec3 {
        self.sums.at(node, &self.corners)
    }

    /// Sets θₙ to the angles at node positions (m).
    pub(super) fn set_reference(&mut self, bending: &Bending, x: &[Vec3]) {
        for (own, hinge) in self.reference.iter_mut().zip(&bending.hinges) {
            *own = Hinge::angle(&gather(&hinge.nodes, x)) - hinge.rest_angle;
        }
    }

    /// Extrapolates θₙ through the angles at node positions (m).
    pub(super) fn extrapolate_reference(&mut self, bending: &Bending, x: &[Vec3], s: f64) {
        for (own, hinge) in self.reference.iter_mut().zip(&bending.hinges) {
            let next = Hinge::angle(&gather(&hinge.nodes, x)) - hinge.rest_angle;
            *own += s * (next - *own);
        }
    }

    /// Computes J at node positions (m).
    pub(super) fn update(&mut self, bending: &Bending, x: &[Vec3]) {
        self.rows.resize(bending.hinges.len(), [Vec3::zeros(); 4]);
        for (row, hinge) in self.rows.iter_mut().zip(&bending.hinges) {
            *row = Hinge::gradients(&gather(&hinge.nodes, x));
        }
    }

    /// Corners of Jᵀ D J u, with D scaled by 1 + β/h.
    pub(super) fn multiply(
        &self,
        bending: &Bending,
        (u, growth): (&[Vec3], f64),
        changes: &mut [f64],
        corners: &mut [Vec3],
    ) {
        let rows = &self.rows;
        for_each_part(&mut *changes, CHUNK, |first, changes| {
            for (i, change) in changes.iter_mut().enumerate() {
                let u = gather(&bending.hinges[first + i].nodes, u);
                *change = growth * (0..4).map(|n| rows[first + i][n].dot(&u[n])).sum::<f64>();
            }
        });
        let changes = &*changes;
        for_each_part(corners.as_chunks_mut::<4>().0, CHUNK, |first, corners| {
            for (i, corners) in corners.iter_mut().enumerate() {
                let moment = bending.moment(first + i, changes);
                *corners = rows[first + i].map(|row| moment * row);
            }
        });
    }

    /// Calls `visit` with the blocks of Jᵀ D J.
    pub(super) fn for_each_block(
        &self,
        bending: &Bending,
        growth: f64,
        visit: &mut dyn FnMut(u32, u32, &Mat3),
    ) {
        bending.for_each_coupling(|i, j, stiffness| {
            let [first, second] = [i, j].map(|hinge| bending.hinges[hinge].nodes);
            for (a, left) in first.iter().zip(&self.rows[i]) {
                for (b, right) in second.iter().zip(&self.rows[j]) {
                    visit(*a, *b, &((growth * stiffness * left) * right.transpose()));
                }
            }
        });
    }
}
