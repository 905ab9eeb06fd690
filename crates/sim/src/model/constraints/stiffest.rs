//! Stability limit of constraint stiffnesses in explicit steps.
//!
//! Springs kᵢ with Jacobian rows Jᵢ add Jᵀ K J to the stiffness of the world. As for contact (see `contact_surface.rs`), the largest eigenvalue of M⁻¹ Jᵀ K J is bounded by
//! the row sums of K J M⁻¹ Jᵀ. With vᵢc the square root of the inverse effective mass of carrier c at row i, |J M⁻¹ Jᵀ|ᵢⱼ ≤ Σ vᵢc vⱼc, and
//!
//! ```text
//! μᵢ = 1 / Σ_c vᵢc Σⱼ vⱼc,      kᵢ = κ μᵢ/h²:      h² λ ≤ κ
//!
//! node:              v = |φ|/√m
//! bone, obstacle:    v² = largest eigenvalue of 1/m + [d]ᵀ I⁻¹ [d],    d the vector from its centre of mass
//! belt:              v = 2 |Σ φ g|/√m for its length;   each segment adds a spring of T/|p| ≤ k ℓ/(2 |p|)
//! ```
//!
//! Joints only increase the effective mass of bones. Masses of nodes fixed to bones are included in the bones as well, and are halved on both sides. The bound covers belts that bend twice as sharply as at rest
//! or whose curve is twice as long as the belt; the energy check detects divergence beyond that.

use super::Model;
use crate::constraint::{Anchor, Constraint, Hold, NodeRow, belt, combined, sum};
use sinew_math::spatial::cross_matrix;
use sinew_math::{Mat3, Vec3};
use std::collections::BTreeMap;

/// κ and γ: the same values as for contact, see `sinew_contact::Penalty`.
pub(crate) const KAPPA: f64 = 0.35;
pub(crate) const GAMMA: f64 = 0.15;

/// What carries a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carrier {
    Node(u32),
    Bone { rig: usize, bone: usize },
    Obstacle(usize),
}

/// A row of J: its constraint, an upper bound of its stiffness relative to that of the constraint, and vᵢc.
struct Row {
    constraint: usize,
    factor: f64,
    ease: Vec<(Carrier, f64)>,
}

/// Effective mass μ of each constraint (kg): the minimum over its rows, relative to its stiffness.
pub(crate) fn masses(model: &Model, constraints: &[Constraint]) -> Vec<f64> {
    let rows: Vec<Row> = constraints.iter().enumerate().flat_map(|(i, one)| rows_of(model, i, one)).collect();
    let mut sums: BTreeMap<Carrier, f64> = BTreeMap::new();
    for (carrier, ease) in rows.iter().flat_map(|row| &row.ease) {
        *sums.entry(*carrier).or_default() += ease;
    }
    let mut masses = vec![f64::INFINITY; constraints.len()];
    for row in &rows {
        let load: f64 = row.ease.iter().map(|(carrier, ease)| ease * sums[carrier]).sum();
        let mass = if load > 0.0 { 1.0 / load } else { f64::INFINITY };
        masses[row.constraint] = masses[row.constraint].min(mass / row.factor);
    }
    masses
}

fn rows_of(model: &Model, constraint: usize, one: &Constraint) -> Vec<Row> {
    match &one.hold {
        Hold::Place { anchor, .. } => vec![Row { constraint, factor: 1.0, ease: ease(model, anchor) }],
        Hold::Between(ends) => {
            let both = ends.iter().flat_map(|end| ease(model, end)).collect();
            vec![Row { constraint, factor: 1.0, ease: both }]
        }
        Hold::Exact { row, .. } => vec![Row { constraint, factor: 1.0, ease: node_ease(model, row) }],
        Hold::Around(points) => {
            let rest: Vec<Vec3> = points.iter().map(|row| sum(row, &model.node_rest)).collect();
            let whole = belt::length(&rest);
            let mut sides: Vec<Row> = Vec::new();
            let mut gradients: BTreeMap<u32, Vec3> = BTreeMap::new();
            for (i, row) in points.iter().enumerate() {
                let next = &points[(i + 1) % points.len()];
                let apart: NodeRow = combined(&[(next, 1.0), (row, -1.0)]);
                let factor = 0.5 * whole / belt::side(&rest, i).norm().max(f64::MIN_POSITIVE);
                sides.push(Row { constraint, factor, ease: node_ease(model, &apart) });
                let gradient = belt::length_gradient(&rest, i);
                row.iter()
                    .for_each(|(node, weight)| *gradients.entry(*node).or_default() += *weight * gradient);
            }
            let along: NodeRow =
                gradients.iter().map(|(node, gradient)| (*node, 2.0 * gradient.norm())).collect();
            sides.push(Row { constraint, factor: 1.0, ease: node_ease(model, &along) });
            sides
        }
    }
}

fn node_ease(model: &Model, row: &[(u32, f64)]) -> Vec<(Carrier, f64)> {
    let one = |(node, weight): &(u32, f64)| {
        let place = *node as usize;
        let is_fixed = model.fixed_nodes.holds(place);
        // pinned nodes of the body have zero inverse mass
        let shared = if is_fixed { 2.0 } else { 1.0 };
        let gives = model.is_carried(place) || model.node_inverse_mass[place] > 0.0;
        gives.then(|| (Carrier::Node(*node), weight.abs() * (shared / model.node_mass[place]).sqrt()))
    };
    row.iter().filter_map(one).collect()
}

fn ease(model: &Model, anchor: &Anchor) -> Vec<(Carrier, f64)> {
    match anchor {
        Anchor::Nodes(row) => node_ease(model, row),
        Anchor::Bone { rig, bone, place } => {
            let own = &model.rigs[*rig].skeleton.bones()[*bone].mass;
            let whole = model.rigs[*rig].skeleton.bones().iter().map(|bone| bone.mass.mass).sum();
            let ease = rigid_ease(own.mass, &own.tensor, &(place - own.center), whole);
            vec![(Carrier::Bone { rig: *rig, bone: *bone }, (2.0 * ease).sqrt())]
        }
        Anchor::Obstacle { obstacle, place } => {
            let Some(solid) = &model.obstacles[*obstacle].solid else { return Vec::new() };
            let ease = rigid_ease(solid.mass, &solid.inertia, &(place - solid.center), solid.mass);
            vec![(Carrier::Obstacle(*obstacle), ease.sqrt())]
        }
    }
}

/// The largest eigenvalue of `1/m + [d]ᵀ I⁻¹ [d]` (1/kg); a bone without mass or inertia of its own moves with others, and the mass of the whole rig is used.
fn rigid_ease(mass: f64, tensor: &Mat3, arm: &Vec3, whole: f64) -> f64 {
    let arm = cross_matrix(arm);
    let turning = tensor.try_inverse().map_or(Mat3::zeros(), |inverse| arm.transpose() * inverse * arm);
    let ease = 1.0 / mass + turning.symmetric_eigenvalues().max().max(0.0);
    if ease.is_finite() { ease } else { 1.0 / whole.max(f64::MIN_POSITIVE) }
}
