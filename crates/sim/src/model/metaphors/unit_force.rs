//! The force of magnitude 1: what a body takes that deforms by a trial displacement, by Rayleigh's method (see [`TrialField`]), and to bring its sets there within half a second.

use super::widget::Widget;
use crate::body::Body;
use crate::body_kind::BodyKind;
use crate::desc::MetaphorKind;
use crate::metaphor::{BodyPose, Metaphor, Side, TrialField};
use crate::model::Model;
use sinew_math::Vec3;

/// Largest acceleration of the sets of sheets under magnitude 1 (m/s²): five times that of free fall. Along themselves sheets are a hundred times stiffer than across; a force that
/// strains a sheet visibly tears it away, or folds it within a millisecond.
const MAX_SHEET_ACCELERATION: f64 = 50.0;
/// ω of the oscillation whose inertial forces are added (rad/s): a cloth without any stiffness across itself reaches the displacement within half a second.
const RATE: f64 = 4.5;
/// The fraction of the limit of springs towards home that the trial displacement may use up.
const OF_HOME_LIMIT: f64 = 0.4;
/// The fraction of the trial displacement at which the energy of networks and custom bodies is evaluated: small, so that a sheet that bends does not stretch as well, which costs the fourth power of this.
const SMALL: f64 = 0.01;
/// For bodies about whose stiffness nothing is known: the acceleration of the sets (m/s²).
const DEFAULT_ACCELERATION: f64 = 50.0;

/// The force of magnitude 1 (N, for a twist N m), and the response to expect.
pub(super) fn find(model: &Model, metaphor: &Metaphor, widget: &Widget) -> Result<(f64, f64), String> {
    // the pattern of forces at rest
    let pose = BodyPose::default();
    let mut pattern = Vec::new();
    metaphor.write_forces(&metaphor.frame_on(pose, &model.node_rest), 1.0, &model.node_rest, &mut pattern);
    let body = &model.bodies[metaphor.body];
    let trials = trial_fields(metaphor, widget, body);
    let trial = trials[0];

    // a displacement that springs towards home admit
    let displaced = |node: usize| trial.at(&model.node_rest[node]);
    let mut scale = 1.0_f64;
    for node in body.nodes.clone().filter(|node| model.homes.holds(*node)) {
        let distance = displaced(node).norm();
        if distance > 0.0 {
            scale = scale.min(OF_HOME_LIMIT * model.homes.springs[node].limit / distance);
        }
    }

    // the trial field with the least force, and what brings the sets there
    let force = |trial: &TrialField, energy: f64| {
        let along = |(node, f): (u32, &Vec3)| f.dot(&trial.at(&model.node_rest[node as usize]));
        let work: f64 = metaphor.nodes.iter().zip(&pattern).map(|((node, _), f)| along((*node, f))).sum();
        if work > 0.0 { 2.0 * energy / (scale * work) } else { f64::INFINITY }
    };
    let inertial = force(&trial, inertial_energy(model, metaphor, &trial, scale));
    if !inertial.is_finite() {
        return Err(format!(
            "its forces on {} nodes cancel each other: make it wider, so that each part has nodes off its axis",
            metaphor.sets.iter().map(|set| set.nodes.len()).sum::<usize>()
        ));
    }
    let forces = trials.iter().map(|trial| Some(force(trial, energy_of(model, body, trial, scale)?)));
    let elastic = forces.reduce(|a, b| Some(a?.min(b?))).flatten();
    let unit = elastic.map_or(f64::INFINITY, |elastic| elastic + inertial);

    // sheets, and what has no energy of points
    let limit = match (elastic, body.thickness()) {
        (None, _) => DEFAULT_ACCELERATION,
        (_, Some(_)) => MAX_SHEET_ACCELERATION,
        _ => f64::INFINITY,
    };
    let nodes = metaphor.sets.iter().flat_map(|set| &set.nodes);
    let mass: f64 = nodes.map(|node| model.node_mass[*node as usize]).sum();
    let largest = limit * mass * if metaphor.kind == MetaphorKind::Twist { 0.5 * body.reach } else { 1.0 };
    let expected = if unit <= largest { scale * trial.response() } else { 0.0 };
    let unit = unit.min(largest);
    if unit > 0.0 && unit.is_finite() {
        return Ok((unit, expected));
    }
    Err(format!(
        "a force that deforms body '{}' by a visible amount is {unit} N: check its material",
        body.name
    ))
}

/// Trial displacements of a metaphor: one that falls off where the widget ends, one that goes on, and those that leave one side where it is, as a head below an ear. By Rayleigh's principle the one with the least energy is the best.
fn trial_fields(metaphor: &Metaphor, widget: &Widget, body: &Body) -> Vec<TrialField> {
    let along = |set: usize| metaphor.sets.get(set).map_or(0.0, |set| widget.coordinates(&set.rest_center).x);
    let ends = match metaphor.kind {
        MetaphorKind::Bend => [along(0) - along(1), along(2) - along(1)],
        _ => [along(0), along(1)],
    };
    let joint = if metaphor.kind == MetaphorKind::Bend { along(1) } else { 0.0 };
    let radius = if metaphor.kind == MetaphorKind::Push {
        widget.radius.min(body.reach.max(1e-9))
    } else {
        widget.radius
    };
    let axis: Vec3 = widget.axes.column(0).into();
    let fall_off = TrialField {
        kind: metaphor.kind,
        origin: widget.origin + joint * axis,
        axes: widget.axes,
        ends,
        far: widget.far,
        radius,
        still: None,
    };
    if metaphor.kind == MetaphorKind::Push {
        return vec![fall_off];
    }
    let endless = f64::INFINITY;
    let goes_on = TrialField { far: endless, ..fall_off };
    let sides = [Some(Side::Left), Some(Side::Right)].map(|still| TrialField { still, ..goes_on });
    let mut trials = vec![fall_off, goes_on, sides[0], sides[1]];
    if radius.is_finite() {
        trials.extend(trials.clone().into_iter().map(|trial| TrialField { radius: endless, ..trial }));
    }
    trials
}

/// The kinetic energy of the sets as they oscillate by the trial displacement, beside their common motion (J).
fn inertial_energy(model: &Model, metaphor: &Metaphor, trial: &TrialField, scale: f64) -> f64 {
    let nodes = || metaphor.sets.iter().flat_map(|set| &set.nodes).map(|node| *node as usize);
    let mass: f64 = nodes().map(|node| model.node_mass[node]).sum();
    let displaced = |node: usize| trial.at(&model.node_rest[node]);
    let mean = nodes().map(|node| model.node_mass[node] * displaced(node)).sum::<Vec3>() / mass;
    let mean = if metaphor.kind == MetaphorKind::Push { Vec3::zeros() } else { mean };
    let squares = nodes().map(|node| model.node_mass[node] * (displaced(node) - mean).norm_squared());
    0.5 * RATE * RATE * scale * scale * squares.sum::<f64>()
}

/// The energy of a body under a fraction of a trial displacement (J); none for a body whose points have no energy.
fn energy_of(model: &Model, body: &Body, trial: &TrialField, scale: f64) -> Option<f64> {
    let rest = |node: usize| model.node_rest[node];
    match &body.kind {
        // flesh, with springs towards home
        BodyKind::Tets => {
            let (material, size) = (&body.material, body.reach);
            let density =
                |node: usize| trial.density(&rest(node), material.lame().mu, material.poisson, size);
            let mut energy = 0.0;
            for node in body.nodes.clone() {
                let mass = model.node_mass[node];
                energy += scale * scale * mass / material.density * density(node);
                if model.homes.holds(node) {
                    energy += mass * model.homes.springs[node].energy(&(scale * trial.at(&rest(node))));
                }
            }
            Some(energy)
        }

        // any other kind with an energy of points
        BodyKind::Custom(own) => {
            let mut energy = own.kind.energy()?;
            let moved: Vec<Vec3> =
                body.nodes.clone().map(|node| rest(node) + SMALL * trial.at(&rest(node))).collect();
            let found =
                energy.stored_energy(&moved) - energy.stored_energy(&model.node_rest[body.nodes.clone()]);
            Some(found.max(0.0) * (scale / SMALL) * (scale / SMALL))
        }
    }
}
