//! Elements with strains of their own: membrane triangles and springs.

use super::super::node_sums::NodeSums;
use super::CHUNK;
use sinew_flesh::network::{StrainElement, Tangent};
use sinew_math::parallel::for_each_part;
use sinew_math::{Mat3, Vec3};

/// How fast strains change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rates<'a> {
    /// By differences from the reference, with β/h.
    SinceReference { growth: f64 },
    /// By velocities of nodes (m/s), with β (s).
    OfVelocities { v: &'a [Vec3], viscosity: f64 },
}

/// Elements of one kind, with workspace.
#[derive(Debug)]
pub(super) struct Strains<E, const N: usize, const M: usize> {
    kind: core::marker::PhantomData<E>,
    pub(super) sums: NodeSums,
    /// sₙ
    reference: Vec<[f64; M]>,
    /// Gradients of corners, element by element (N), and energies (J).
    corners: Vec<Vec3>,
    energies: Vec<f64>,
    tangents: Vec<Tangent<N, M>>,
}

impl<E: StrainElement<N, M>, const N: usize, const M: usize> Strains<E, N, M> {
    pub(super) fn new(elements: &[E], node_count: usize) -> Self {
        let nodes = elements.iter().flat_map(|element| element.nodes().iter().copied());
        Strains {
            kind: core::marker::PhantomData,
            sums: NodeSums::build(node_count, nodes),
            reference: vec![[0.0; M]; elements.len()],
            corners: vec![Vec3::zeros(); N * elements.len()],
            energies: vec![0.0; elements.len()],
            tangents: Vec::new(),
        }
    }

    /// Computes the gradients of all corners at node positions (m); returns the energy (J).
    pub(super) fn evaluate(&mut self, elements: &[E], x: &[Vec3], rates: Rates) -> f64 {
        let reference = &self.reference;
        let corners = self.corners.as_chunks_mut::<N>().0;
        for_each_part((corners, self.energies.as_mut_slice()), CHUNK, |first, (corners, energies)| {
            for (i, (corners, energy)) in corners.iter_mut().zip(energies).enumerate() {
                let element = &elements[first + i];
                (*corners, *energy) =
                    evaluate(element, &gather(element.nodes(), x), &reference[first + i], rates);
            }
        });
        self.energies.iter().sum()
    }

    /// The gradient of a node (N).
    #[inline]
    pub(super) fn gradient_at(&self, node: usize) -> Vec3 {
        self.sums.at(node, &self.corners)
    }

    /// Sets sₙ to the strains at node positions (m).
    pub(super) fn set_reference(&mut self, elements: &[E], x: &[Vec3]) {
        for (own, element) in self.reference.iter_mut().zip(elements) {
            *own = element.strain(&gather(element.nodes(), x));
        }
    }

    /// Extrapolates sₙ through the strains at node positions (m).
    pub(super) fn extrapolate_reference(&mut self, elements: &[E], x: &[Vec3], s: f64) {
        for (own, element) in self.reference.iter_mut().zip(elements) {
            let next = element.strain(&gather(element.nodes(), x));
            *own = core::array::from_fn(|m| own[m] + s * (next[m] - own[m]));
        }
    }

    /// Computes Hessians at node positions (m), with β/h.
    pub(super) fn update(&mut self, elements: &[E], x: &[Vec3], growth: f64) {
        let reference = &self.reference;
        let zero =
            Tangent { gradients: [[Vec3::zeros(); N]; M], material: [[0.0; M]; M], geometric: [[0.0; N]; N] };
        self.tangents.resize(elements.len(), zero);
        for_each_part(self.tangents.as_mut_slice(), CHUNK, |first, tangents| {
            for (i, tangent) in tangents.iter_mut().enumerate() {
                let element = &elements[first + i];
                let x = gather(element.nodes(), x);
                let stress = element.stress(&viscous(&element.strain(&x), &reference[first + i], growth));
                *tangent = element.tangent(&x, &stress, 1.0 + growth);
            }
        });
    }

    /// The products of Hessians with displacements of their corners.
    pub(super) fn multiply(&self, elements: &[E], u: &[Vec3], corners: &mut [Vec3]) {
        let corners = corners.as_chunks_mut::<N>().0;
        for_each_part(corners, CHUNK, |first, corners| {
            for (i, corners) in corners.iter_mut().enumerate() {
                *corners = self.tangents[first + i].multiply(&gather(elements[first + i].nodes(), u));
            }
        });
    }

    /// Calls `visit` with the blocks of all Hessians.
    pub(super) fn for_each_block(&self, elements: &[E], visit: &mut dyn FnMut(u32, u32, &Mat3)) {
        for (element, tangent) in elements.iter().zip(&self.tangents) {
            let nodes = element.nodes();
            for i in 0..N {
                for j in 0..N {
                    visit(nodes[i], nodes[j], &tangent.block(i, j));
                }
            }
        }
    }
}

/// Values at the corners of an element.
#[inline]
pub(super) fn gather<const N: usize>(nodes: &[u32; N], values: &[Vec3]) -> [Vec3; N] {
    // loops, which are compiled where they stand; closures of arrays are not always
    let mut out = [Vec3::zeros(); N];
    for (out, node) in out.iter_mut().zip(nodes) {
        *out = values[*node as usize];
    }
    out
}

/// s + β/h (s − sₙ)
#[inline]
fn viscous<const M: usize>(s: &[f64; M], reference: &[f64; M], growth: f64) -> [f64; M] {
    core::array::from_fn(|m| s[m] + growth * (s[m] - reference[m]))
}

/// Gradients of the corners of an element (N), and its energy (J).
#[inline]
fn evaluate<E: StrainElement<N, M>, const N: usize, const M: usize>(
    element: &E,
    x: &[Vec3; N],
    reference: &[f64; M],
    rates: Rates,
) -> ([Vec3; N], f64) {
    let (strain, rows) = (element.strain(x), element.gradients(x));
    let dot = |a: &[f64; M], b: &[f64; M]| (0..M).map(|m| a[m] * b[m]).sum::<f64>();
    let mut energy = 0.5 * dot(&strain, &element.stress(&strain));
    let effective = match rates {
        Rates::SinceReference { growth } => {
            let change: [f64; M] = core::array::from_fn(|m| strain[m] - reference[m]);
            energy += 0.5 * growth * dot(&change, &element.stress(&change));
            viscous(&strain, reference, growth)
        }
        Rates::OfVelocities { v, viscosity } => {
            let v = gather(element.nodes(), v);
            let mut effective = strain;
            for (own, row) in effective.iter_mut().zip(&rows) {
                let mut rate = 0.0;
                for (row, v) in row.iter().zip(&v) {
                    rate += row.dot(v);
                }
                *own += viscosity * rate;
            }
            effective
        }
    };
    let stress = element.stress(&effective);
    let mut corners = [Vec3::zeros(); N];
    for (n, corner) in corners.iter_mut().enumerate() {
        for (stress, row) in stress.iter().zip(&rows) {
            *corner += *stress * row[n];
        }
    }
    (corners, energy)
}
