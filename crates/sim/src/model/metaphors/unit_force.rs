//! The force of magnitude 1: what deforms a body by the wanted effect (see [`Effect`]), from its compliance at rest.
//!
//! ```text
//! F = r*/r(u),    (K + ω² m) u = f        f: the pattern of amplitude 1,   r: the response,   r*: the wanted one
//! ```
//!
//! A limb that is pushed along itself gives way like a column: from the second term of the expansion of equilibrium in the load λ,
//!
//! ```text
//! u(λ) = λ u + λ² u₂ + …,    (K + ω² m) u₂ = −q(u),    q(u) = −lim (f(x + ε u) + f(x − ε u) − 2 f(x))/(2 ε²)        f: elastic forces
//! r(λ) ≈ λ r(u)/(1 − λ/λ_c),    λ_c = r(u)/r(u₂)
//! ```
//!
//! is the load at which the response has no bound \[Southwell1932\]. A push of magnitude 1 stays below it; other patterns have an end of their own, as compression fades.

use super::compliance::Compliance;
use super::widget::Widget;
use crate::body::Body;
use crate::body_kind::BodyKind;
use crate::desc::MetaphorKind;
use crate::metaphor::{BodyPose, Effect, Metaphor, NodeSet};
use crate::model::Model;
use sinew_flesh::{CornerForces, Diagonalise, NodeMotion};
use sinew_math::{Mat3, Vec3};

/// Largest acceleration of the sets of sheets under magnitude 1 (m/s²): five times that of free fall. Along themselves sheets are a hundred times stiffer than across; a force that
/// strains a sheet visibly tears it away, or folds it within a millisecond.
const MAX_SHEET_ACCELERATION: f64 = 50.0;
/// For bodies about whose stiffness nothing is known: the acceleration of the sets (m/s²).
const DEFAULT_ACCELERATION: f64 = 50.0;
/// The fraction of the limit of springs towards home that the effect may use up.
const OF_HOME_LIMIT: f64 = 0.4;
/// The strain that one in fifty parts of the volume may exceed. A twist of a squat part that is held at its side shears what is beside the hold by several times the mean; from 42 % of compression on a St. Venant-Kirchhoff solid yields.
const MAX_STRAIN: f64 = 0.4;
/// The fraction of the load at which a part buckles that magnitude 1 may reach: the response is then 1/(1 ∓ 0.4), 1.7 and 0.7 times as large as that of a linear body for the two signs.
const OF_BUCKLING: f64 = 0.4;
/// The strain at which the second term of the response is measured: forces in single precision have an error of 1e-6 of a strain of 1, the second term is some tenths of a percent.
const SECOND_STRAIN: f64 = 0.01;
/// The largest displacement at which the linear response is measured, as a fraction of the size of the body.
const SMALL: f64 = 1e-4;

/// The force of magnitude 1 (N, for a twist N m), and the response to expect.
pub(super) fn find(
    model: &Model,
    compliance: Option<&mut Compliance>,
    metaphor: &Metaphor,
    widget: &Widget,
) -> Result<(f64, f64), String> {
    // sheets, and what has no energy of points
    let body = &model.bodies[metaphor.body];
    let limit = match (&compliance, body.thickness()) {
        (None, _) => DEFAULT_ACCELERATION,
        (_, Some(_)) => MAX_SHEET_ACCELERATION,
        _ => f64::INFINITY,
    };
    let nodes = metaphor.sets.iter().flat_map(|set| &set.nodes);
    let mass: f64 = nodes.map(|node| model.node_mass[*node as usize]).sum();
    let largest = limit * mass * if metaphor.kind == MetaphorKind::Twist { 0.5 * body.reach } else { 1.0 };

    // the force with the wanted response, within what springs towards home admit
    let mut unit = largest;
    let mut expected = 0.0;
    if let Some(compliance) = compliance {
        let wanted = effect(model, metaphor, widget).response();
        let Compliant { response, to_limit, strain, buckling } = respond(model, compliance, metaphor)?;
        let force = (wanted / response).min(OF_HOME_LIMIT * to_limit).min(MAX_STRAIN / strain);
        let force = force.min(OF_BUCKLING * buckling);
        if force <= largest {
            (unit, expected) = (force, force * response);
        }
    }
    if unit > 0.0 && unit.is_finite() {
        return Ok((unit, expected));
    }
    Err(format!(
        "a force that deforms body '{}' by a visible amount is {unit} N: check its material",
        body.name
    ))
}

/// What a force does to a body.
struct Compliant {
    /// The response to 1 N or 1 N m if the body stays linear.
    response: f64,
    /// The force at which a spring towards home reaches its limit.
    to_limit: f64,
    /// The strain that one in fifty parts of the volume exceeds under 1 N or 1 N m.
    strain: f64,
    /// λ_c: the force at which the response to a push has no bound.
    buckling: f64,
}

fn respond(model: &Model, compliance: &mut Compliance, metaphor: &Metaphor) -> Result<Compliant, String> {
    // the displacement under the pattern
    let rest = &model.node_rest;
    let mut pattern = Vec::new();
    metaphor.write_forces(&metaphor.frame_on(BodyPose::default(), rest), 1.0, rest, &mut pattern);
    let forces: Vec<(u32, Vec3)> =
        metaphor.nodes.iter().zip(&pattern).map(|((node, _), force)| (*node, *force)).collect();
    let mut u = vec![Vec3::zeros(); rest.len()];
    compliance.displace(&forces, &mut u);

    // its response
    let response = linear_response(metaphor, rest, &u);
    if !(response > 0.0 && response.is_finite()) {
        return Err(format!(
            "its forces on {} nodes cancel each other: make it wider, so that each part has nodes off its axis",
            metaphor.sets.iter().map(|set| set.nodes.len()).sum::<usize>()
        ));
    }
    let body = &model.bodies[metaphor.body];
    let held = body.nodes.clone().filter(|node| model.homes.holds(*node));
    let to_limit = held.map(|node| model.homes.springs[node].limit / u[node].norm());
    let to_limit = to_limit.fold(f64::INFINITY, f64::min);
    let strain = high_strain(model, body, &u);
    let is_push = metaphor.kind == MetaphorKind::Push;
    let second = if is_push && strain > 0.0 && matches!(body.kind, BodyKind::Tets) {
        let u2 = second_term(model, compliance, body, &u, SECOND_STRAIN / strain);
        linear_response(metaphor, rest, &u2).abs()
    } else {
        0.0
    };
    Ok(Compliant { response, to_limit, strain, buckling: response / second.max(f64::MIN_POSITIVE) })
}

/// The response to a displacement, if it stays linear.
fn linear_response(metaphor: &Metaphor, rest: &[Vec3], u: &[Vec3]) -> f64 {
    let largest = u.iter().map(Vec3::norm).fold(0.0, f64::max);
    if largest == 0.0 {
        return 0.0;
    }
    let small = SMALL * metaphor.size / largest;
    let x: Vec<Vec3> = rest.iter().zip(u).map(|(rest, u)| rest + small * u).collect();
    metaphor.response(rest, &x) / small
}

/// u₂, from elastic forces at displacements of ε u and −ε u.
fn second_term(
    model: &Model,
    compliance: &mut Compliance,
    body: &Body,
    u: &[Vec3],
    epsilon: f64,
) -> Vec<Vec3> {
    let still = vec![Vec3::zeros(); u.len()];
    let mut corner_forces = CornerForces::default();
    let mut sums = vec![Vec3::zeros(); u.len()];
    for (step, weight) in [(epsilon, 1.0), (-epsilon, 1.0), (0.0, -2.0)] {
        let x: Vec<Vec3> = model.node_rest.iter().zip(u).map(|(rest, u)| rest + step * u).collect();
        corner_forces.update(model.elements(), NodeMotion { x: &x, v: &still }, Diagonalise::Selectively);
        for node in body.nodes.clone() {
            sums[node] += weight * corner_forces.on_node(model.elements(), node);
        }
    }
    let scale = 0.5 / (epsilon * epsilon);
    let forces: Vec<(u32, Vec3)> = body.nodes.clone().map(|node| (node as u32, scale * sums[node])).collect();
    let mut u2 = still;
    compliance.displace(&forces, &mut u2);
    u2
}

/// The strain that one in fifty parts of the volume of a body exceeds under a small displacement: the largest |λ| of ½ (∇u + ∇uᵀ). Bodies without tets have none.
fn high_strain(model: &Model, body: &Body, u: &[Vec3]) -> f64 {
    // strain and volume of each tet
    let own = model.tets().iter().filter(|tet| body.nodes.contains(&(tet[0] as usize)));
    let strain = |tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(|node| node as usize);
        let edges = |x: &[Vec3]| Mat3::from_columns(&[x[b] - x[a], x[c] - x[a], x[d] - x[a]]);
        let shape = edges(&model.node_rest);
        let gradient = edges(u) * shape.try_inverse()?;
        let strain = 0.5 * (gradient + gradient.transpose());
        Some((strain.symmetric_eigenvalues().amax(), shape.determinant().abs()))
    };
    let mut strains: Vec<(f64, f64)> = own.filter_map(strain).collect();

    // from the largest on, until a fiftieth of the volume has been passed
    strains.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut left = strains.iter().map(|(_, volume)| volume).sum::<f64>() / 50.0;
    let exceeded = strains.iter().find(|(_, volume)| {
        left -= volume;
        left <= 0.0
    });
    exceeded.map_or(0.0, |(strain, _)| *strain)
}

/// What magnitude 1 is to do.
fn effect(model: &Model, metaphor: &Metaphor, widget: &Widget) -> Effect {
    let body = &model.bodies[metaphor.body];
    let along = |set: usize| metaphor.sets.get(set).map_or(0.0, |set| widget.coordinates(&set.rest_center).x);
    let ends = match metaphor.kind {
        MetaphorKind::Bend => [along(0) - along(1), along(2) - along(1)],
        _ => [along(0), along(1)],
    };
    let gyration = |set: &NodeSet| {
        let nodes = set.nodes.iter().zip(&set.weights);
        let squared = |node: u32| widget.coordinates(&model.node_rest[node as usize]).yz().norm_squared();
        nodes.map(|(node, weight)| weight * squared(*node)).sum::<f64>().sqrt()
    };
    let radius = match metaphor.kind {
        MetaphorKind::Twist => metaphor.sets.iter().map(gyration).fold(0.0, f64::max),
        _ => widget.radius.min(body.reach.max(1e-9)),
    };
    Effect { kind: metaphor.kind, ends, radius }
}
