//! Finds out whether metaphors have torn or crushed a body in a step.
//!
//! Constant forces never make a step unstable, whatever their size, so that solvers accept what no body survives. A body counts as destroyed where a quarter of its elements are inverted, or where a node that a metaphor acts on is farther from its place in
//! the pose of the body than one and a half times its size.

use crate::report::StepError;
use crate::{Control, Metaphor, Model, State, StepReport};

/// The fraction of inverted elements, and the distance in sizes of the body, beyond which it counts as destroyed. Magnitudes up to 10 on a cylinder left at most a quarter of the elements of a dent inverted, and a tenth of those of other kinds; 100 inverted half of all.
const MAX_INVERTED: f64 = 0.3;
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
    let acting = acting(model, control);
    let tets: usize = model.bodies().iter().enumerate().fold(0, |sum, (i, body)| {
        sum + if acting.iter().any(|(_, own)| own.body == i) { body.tets.len() } else { 0 }
    });
    let inverted = report.max_inverted as f64 / tets.max(1) as f64;
    let (magnitude, strongest) = acting.first()?;
    if tets > 0 && inverted > MAX_INVERTED {
        let what = format!("{:.0} % of its elements are inverted", 100.0 * inverted.min(1.0));
        return Some(too_strong(model, (*magnitude, strongest), time, what));
    }
    acting.iter().find_map(|(magnitude, metaphor)| {
        let distance = metaphor.max_distance(model.node_rest(), &after.node_x);
        let sizes = distance / metaphor.size;
        (sizes.is_nan() || sizes > MAX_DISTANCE).then(|| {
            let what = format!("a part of it is {sizes:.1} times its size from where it belongs");
            too_strong(model, (*magnitude, metaphor), time, what)
        })
    })
}

/// The error of a step that diverged while metaphors acted.
pub(crate) fn blame(model: &Model, control: &Control, error: StepError) -> StepError {
    let StepError::Diverged { body, time, .. } = &error else { return error };
    let acting = acting(model, control);
    let own = acting.iter().find(|(_, metaphor)| model.bodies()[metaphor.body].name == *body);
    match own {
        Some((magnitude, metaphor)) => {
            too_strong(model, (*magnitude, metaphor), *time, "it diverged".to_owned())
        }
        None => error,
    }
}

/// The metaphors that act in a step with their larger magnitude, the strongest first.
fn acting<'a>(model: &'a Model, control: &Control) -> Vec<(f64, &'a Metaphor)> {
    let larger = |[a, b]: [f64; 2]| if a.abs() > b.abs() { a } else { b };
    let all = model.metaphors().iter().enumerate().map(|(i, own)| (larger(control.metaphor(i)), own));
    let mut acting: Vec<(f64, &Metaphor)> = all.filter(|(magnitude, _)| *magnitude != 0.0).collect();
    acting.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    acting
}

fn too_strong(model: &Model, (magnitude, metaphor): (f64, &Metaphor), time: f64, what: String) -> StepError {
    StepError::TooStrong {
        metaphor: metaphor.name.clone(),
        magnitude,
        body: model.bodies()[metaphor.body].name.clone(),
        time,
        what,
        held: None,
    }
}
