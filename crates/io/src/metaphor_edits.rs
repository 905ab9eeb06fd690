//! Edits with another magnitude of a control metaphor.

use crate::scene_schema::{CurveKey, CurveTable, EditTable, KeyedNumber, MetaphorTable};
use crate::scene_writer::metaphor_table;
use sinew_take::{Scene, SceneChange};

/// The frame from which a metaphor of a scene acts that is in effect at a frame: that of the latest edit that begins it, or 0. `None` if there is no such metaphor.
pub fn metaphor_start(scene: &Scene, name: &str, frame: usize) -> Option<usize> {
    let begins = |change: &SceneChange| matches!(change, SceneChange::Metaphor { metaphor, .. } if metaphor.name == name);
    let edits = scene.edits.iter().filter(|edit| edit.changes.iter().any(begins));
    let latest = edits.map(|edit| edit.frame(scene.fps)).filter(|start| *start < frame).max();
    let is_of_scene = || scene.world.metaphors.iter().any(|metaphor| metaphor.name == name);
    latest.or_else(|| is_of_scene().then_some(0))
}

/// Edits in which the metaphor that is in effect at a frame has its magnitude multiplied by a factor; one that the scene itself has is replaced by an edit at its start.
///
/// # Errors
/// There is no such metaphor.
pub fn scale_metaphor(
    edits: &[EditTable],
    scene: &Scene,
    (name, frame): (&str, usize),
    factor: f64,
) -> Result<Vec<EditTable>, String> {
    let start = metaphor_start(scene, name, frame)
        .ok_or_else(|| format!("there is no metaphor '{name}' at frame {frame}"))?;
    let mut scaled = edits.to_vec();
    let is_named = |own: &MetaphorTable| own.name.as_deref() == Some(name);
    let frame_of = |edit: &EditTable| (edit.time * scene.fps).round().max(0.0) as usize;
    let own = scaled.iter_mut().filter(|edit| frame_of(edit) == start).flat_map(|edit| &mut edit.metaphor);
    match own.filter(|own| is_named(own)).last() {
        Some(table) => table.magnitude = Some(scaled_number(table.magnitude.as_ref(), factor)),
        None => {
            let i = scene.world.metaphors.iter().position(|own| own.name == name);
            let found = i.and_then(|i| Some((&scene.world.metaphors[i], scene.curves.metaphors.get(i)?)));
            let (desc, magnitude) = found.ok_or_else(|| format!("metaphor '{name}' has no magnitude"))?;
            let mut table = metaphor_table(desc, magnitude)?;
            table.magnitude = Some(scaled_number(table.magnitude.as_ref(), factor));
            scaled.insert(0, EditTable { time: 0.0, metaphor: vec![table], ..EditTable::default() });
        }
    }
    Ok(scaled)
}

/// A number, 1 by default, times a factor.
fn scaled_number(number: Option<&KeyedNumber>, factor: f64) -> KeyedNumber {
    match number {
        None => KeyedNumber::Constant(factor),
        Some(KeyedNumber::Constant(value)) => KeyedNumber::Constant(value * factor),
        Some(KeyedNumber::Curve(curve)) => {
            let keys = curve.keys.iter().map(|key| scaled_key(key, factor)).collect();
            KeyedNumber::Curve(CurveTable { keys, ..curve.clone() })
        }
    }
}

fn scaled_key(key: &CurveKey, factor: f64) -> CurveKey {
    match key {
        CurveKey::Row([time, value]) => CurveKey::Row([*time, value * factor]),
        CurveKey::Table(table) => {
            let mut scaled = table.clone();
            scaled.value *= factor;
            scaled.slope = scaled.slope.map(|slope| slope * factor);
            let handle = |[time, value]: [f64; 2]| [time, value * factor];
            (scaled.left, scaled.right) = (scaled.left.map(handle), scaled.right.map(handle));
            CurveKey::Table(scaled)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SceneFile;

    #[test]
    fn values_and_handles_are_scaled_and_times_are_not() {
        let text = "[[edit]]\ntime = 0\nmetaphor = [{ name = 'm', body = 'b', kind = 'bend', magnitude = { keys = [[0, 1], { time = 1, value = 2, left = [-0.1, 3] }, { time = 2, value = -1, slope = 4 }] } }]\n";
        let edit = SceneFile::of_text(text).unwrap().value.edit.remove(0);
        let scaled = scaled_number(edit.metaphor[0].magnitude.as_ref(), 2.0);
        let expected = "[[edit]]\ntime = 0\nmetaphor = [{ name = 'm', body = 'b', kind = 'bend', magnitude = { keys = [[0, 2], { time = 1, value = 4, left = [-0.1, 6] }, { time = 2, value = -2, slope = 8 }] } }]\n";
        let expected = SceneFile::of_text(expected).unwrap().value.edit.remove(0);
        assert_eq!(Some(scaled), expected.metaphor[0].magnitude);
    }
}
