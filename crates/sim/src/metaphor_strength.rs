//! Finds out whether metaphors have torn or crushed a body in a step.
//!
//! Constant forces never make a step unstable, whatever their size, so that solvers accept what no body survives. A body counts as destroyed where too many elements of a metaphor's own region are inverted, or where a node that a metaphor acts on is farther from its place in
//! the pose of the body than one and a half times its size.

use crate::desc::MetaphorKind;
use crate::report::StepError;
use crate::{Control, Metaphor, Model, State, StepReport};

/// The fraction of inverted elements of the region, and the distance in sizes of the body, beyond which a body counts as destroyed. An ear that buckled and came back had up to 2.6 % of its elements inverted, one that had been wrung or folded through itself 4.7 % and more (magnitudes of 6 and 9).
/// A dent is small, and crushed more than anything else: one that came on at once had 18 % and came back. Magnitudes up to 1 strain by some 15 %: a few elements that are inverted beside them have other causes.
const MAX_INVERTED: f64 = 0.04;
const MAX_INVERTED_OF_DENT: f64 = 0.3;
const MAX_DISTANCE: f64 = 1.5;

/// Whether any metaphor acts in a step.
pub(crate) fn any_acts(model: &Model, control: &Control) -> bool {
    model.metaphors().iter().enumerate().any(|(i, _)| control.metaphor(i) != [0.0; 2])
}

/// The error for a body that a step has destroyed, at its beginning.
pub(crate) fn find_destroyed(
    model: &Model,
    control: &Control,
    report: &StepReport,
    (time, after): (f64, &State),
) -> Option<StepError> {
    // the metaphor whose own region has suffered most
    let (rest, x) = (model.node_rest(), &after.node_x);
    let crushed = |(magnitude, own): (f64, &Metaphor)| {
        let is_mild = own.kind == MetaphorKind::Push || magnitude.abs() <= 1.0;
        let bound = if is_mild { MAX_INVERTED_OF_DENT } else { MAX_INVERTED };
        if report.max_inverted > 0 { own.inverted(model.tets(), rest, x) / bound } else { 0.0 }
    };
    let torn = |(_, own): (f64, &Metaphor)| own.max_distance(rest, x) / own.size;
    let (fraction, own) = worst(acting(model, control), crushed)?;
    if fraction > 1.0 {
        let inverted = own.1.inverted(model.tets(), rest, x);
        let what =
            format!("{:.0} % of the elements that '{}' acts on are inverted", 100.0 * inverted, own.1.name);
        return Some(too_strong((model, control), own, time, what));
    }
    let (sizes, own) = worst(acting(model, control), torn)?;
    (sizes.is_nan() || sizes > MAX_DISTANCE).then(|| {
        let what = format!("a part of it is {sizes:.1} times its size from where it belongs");
        too_strong((model, control), own, time, what)
    })
}

/// The metaphor with the largest measure, NaN above all; of equal ones that with the larger magnitude, then the first.
fn worst<'a>(
    acting: impl Iterator<Item = (f64, &'a Metaphor)>,
    measure: impl Fn((f64, &Metaphor)) -> f64,
) -> Option<(f64, (f64, &'a Metaphor))> {
    let measured = acting.map(|own| (measure(own), own));
    measured.reduce(|a, b| {
        let order = b.0.abs().total_cmp(&a.0.abs()).then(b.1.0.abs().total_cmp(&a.1.0.abs()));
        if order.is_gt() { b } else { a }
    })
}

/// The error of a step that diverged while metaphors acted.
pub(crate) fn blame(model: &Model, control: &Control, error: StepError) -> StepError {
    let StepError::Diverged { body, time, .. } = &error else { return error };
    let on_body = acting(model, control).filter(|(_, own)| model.bodies()[own.body].name == *body);
    match worst(on_body, |_| 0.0) {
        Some((_, own)) => too_strong((model, control), own, *time, "it diverged".to_owned()),
        None => error,
    }
}

/// The metaphors that act in a step, with their larger magnitude.
fn acting<'a>(model: &'a Model, control: &Control) -> impl Iterator<Item = (f64, &'a Metaphor)> {
    let larger = |[a, b]: [f64; 2]| if a.abs() > b.abs() { a } else { b };
    let all = model.metaphors().iter().enumerate().map(move |(i, own)| (larger(control.metaphor(i)), own));
    all.filter(|(magnitude, _)| *magnitude != 0.0)
}

fn too_strong(
    (model, control): (&Model, &Control),
    (magnitude, own): (f64, &Metaphor),
    time: f64,
    what: String,
) -> StepError {
    let others = acting(model, control).filter(|(_, other)| other.body == own.body && other.name != own.name);
    StepError::TooStrong {
        metaphor: own.name.clone(),
        magnitude,
        body: model.bodies()[own.body].name.clone(),
        time,
        beside: others.map(|(magnitude, other)| (other.name.clone(), magnitude)).collect(),
        what,
        held: None,
    }
}
