//! The contact law of soft surfaces in a sub-step: springs and dampers as strong as all contacts together may be.
//!
//! A contact of stiffness k on the combination g = Σ cₙ xₙ of nodes, with S = Σ |cₙ|, is no stiffer than springs k S |cₙ| at the nodes by themselves:
//!
//! ```text
//! k |Σ cₙ xₙ|² ≤ k S Σ |cₙ| |xₙ|²        (Cauchy-Schwarz)
//! ```
//!
//! so that all contacts together are stable if Σ k S |cₙ| ≤ K mₙ/h² at each node. Contacts of nodes beyond that limit are softened, by the ratio at the worst of their nodes.

use super::super::pair_contact::PairContact;
use crate::contact_surface::{ContactSurface, SoftContact};
use crate::friction_anchor::SoftPair;
use sinew_contact::{PairMaterial, Penalty};

/// The law of all contacts of a sub-step.
#[derive(Clone, Debug, Default)]
pub(super) struct PairLaw {
    /// The time step that springs are computed for (s).
    step: f64,
    /// Damping factor relative to the default.
    damping: f64,
    /// Σ k S |cₙ| of each node (N/m), which is reset for the nodes of the last contacts.
    load: Vec<f64>,
    loaded: Vec<u32>,
}

/// Soft contacts use this fraction of what contact may use of the stability limit; contact with obstacles may use as much.
const SHARED: f64 = 0.5;
/// Additional damping of surfaces in units of m/h, where sub-steps are short enough that elasticity leaves room for it.
const FAST_DAMPING: f64 = 0.45;
/// The full range of a contact is recovered in this time (s), not faster: overlaps open without a kick.
const RECOVERY_TIME: f64 = 0.02;
/// The spring force saturates at this many times the range.
const SATURATION: f64 = 2.0;

impl PairLaw {
    /// Reserves memory for all nodes, so that later steps do not allocate.
    pub(super) fn make_room(&mut self, surface: &ContactSurface) {
        self.load.resize(surface.node_count(), 0.0);
        self.loaded.reserve(surface.node_count());
    }

    /// Sums what the contacts of a sub-step of `h` (s) do to their nodes.
    pub(super) fn begin<'a>(
        &mut self,
        surface: &ContactSurface,
        contacts: impl Iterator<Item = &'a PairContact>,
        h: f64,
    ) {
        // springs at the stability limit of a short sub-step, whose slack is used for damping
        self.step = h.min(surface.step);
        let slack = 1.0 - (self.step / surface.step) * (self.step / surface.step);
        self.damping = 1.0 + FAST_DAMPING * slack / Penalty::STRENGTH.damping;

        // loads of nodes
        self.loaded.drain(..).for_each(|node| self.load[node as usize] = 0.0);
        for contact in contacts {
            let stiffness = self.stiffness(surface, contact);
            let (load, loaded) = (&mut self.load, &mut self.loaded);
            let sum: f64 = combination(surface, contact).map(|(_, weight)| weight.abs()).sum();
            for (node, weight) in combination(surface, contact) {
                if load[node] == 0.0 {
                    loaded.push(node as u32);
                }
                load[node] += stiffness * sum * weight.abs();
            }
        }
    }

    /// The law of one of these contacts.
    pub(super) fn of(&self, surface: &ContactSurface, contact: &PairContact) -> Penalty {
        let Some(soft) = &surface.soft else { return Penalty::stable(0.0, self.step, 0.0, 0.0) };
        let limit = SHARED * Penalty::STRENGTH.stiffness * surface.max_stiffness / (self.step * self.step);
        let borne = |(node, _): (usize, f64)| {
            let (load, limit) = (self.load[node], limit * soft.node_mass[node]);
            if load > limit { limit / load } else { 1.0 }
        };
        let fraction = combination(surface, contact).map(borne).fold(1.0, f64::min);
        let stiffness = fraction * self.stiffness(surface, contact);

        // damping as that of a point mass with this stiffness
        let strength = Penalty::STRENGTH;
        let material = material_of(surface, contact);
        let factor = surface.desc.stiffness * material.stiffness;
        let mass = stiffness * self.step * self.step / (strength.stiffness * factor);
        let damping = strength.damping * factor.sqrt() * self.damping * mass / self.step;
        let range = range_of(soft, contact);
        Penalty {
            stiffness,
            damping,
            friction: material.friction,
            max_depth: SATURATION * range,
            recovery_speed: range / RECOVERY_TIME,
        }
    }

    /// The stiffness of a contact by itself (N/m): half of what a sample may have, since triangles bear as much; that of edges from their effective mass 1/Σ c²/m, since few meet.
    fn stiffness(&self, surface: &ContactSurface, contact: &PairContact) -> f64 {
        let Some(soft) = &surface.soft else { return 0.0 };
        let mass = match contact.pair {
            SoftPair::VertexTriangle { vertex, .. } => soft.sample_mass[vertex as usize],
            SoftPair::Edges { .. } => {
                let give: f64 = combination(surface, contact).map(|(n, c)| c * c / soft.node_mass[n]).sum();
                if give > 0.0 { 1.0 / give } else { 0.0 }
            }
        };
        let factor = surface.desc.stiffness * material_of(surface, contact).stiffness;
        0.5 * SHARED * Penalty::STRENGTH.stiffness * factor * mass / (self.step * self.step)
    }
}

/// The nodes of a contact with their weights cₙ; a node that carries several points comes several times.
fn combination<'a>(
    surface: &'a ContactSurface,
    contact: &'a PairContact,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let points = contact.points.into_iter().zip(contact.weights);
    points.flat_map(|(point, weight)| surface.row(point as usize).map(move |(n, w)| (n, weight * w)))
}

/// Friction and stiffness of the surfaces of a contact.
fn material_of<'a>(surface: &'a ContactSurface, contact: &PairContact) -> &'a PairMaterial {
    surface.materials.of_points(contact.points[0], contact.points[3])
}

fn range_of(soft: &SoftContact, contact: &PairContact) -> f64 {
    match contact.pair {
        SoftPair::VertexTriangle { triangle, .. } => soft.pairs.range(triangle),
        SoftPair::Edges { edges: [a, b] } => soft.pairs.edge_range(a).min(soft.pairs.edge_range(b)),
    }
}
