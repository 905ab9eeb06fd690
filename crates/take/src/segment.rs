//! Segments of a take with edits: the scene between one edit and the next, with its model and its controller.

use crate::{PlayError, Scene};
use sinew_control::Script;
use sinew_sim::{Model, Solver};
use std::sync::Arc;

/// What a take is simulated with from the frame of an edit on.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The frame of the edit, from which the first step is taken.
    pub(crate) first_frame: usize,
    /// The model, that of the segment before if only motions differ.
    pub(crate) model: Arc<Model>,
    /// The controller and the solver.
    pub(crate) played: (Script, Solver),
    /// What edits up to here change of the world that the model is built from, as text.
    world_changes: String,
    /// Whether contact parameters differ from those before, so that friction begins anew.
    pub(crate) renews_contact: bool,
}

/// The controller of a scene without its edits.
pub(crate) fn script_of(scene: &Scene) -> Script {
    Script {
        pin_motions: scene.pin_motions.iter().flatten().cloned().collect(),
        curves: scene.curves.clone(),
        performances: scene.performances.clone(),
        obstacle_motions: scene.obstacle_motions.clone(),
        constraint_motions: scene.constraint_motions.clone(),
        ..Script::default()
    }
}

/// Builds the segments that the edits of a scene begin, in the order of their frames. Edits at the same frame make one segment. Segments that are `known` of the same scene give their models where the
/// edits up to there change its world in the same way: a path that grows from frame to frame needs no other one.
pub(crate) fn build_segments(
    scene: &Scene,
    model: &Arc<Model>,
    known: &[Segment],
) -> Result<Vec<Segment>, PlayError> {
    let mut world_changes = String::new();
    let mut segments: Vec<Segment> = Vec::new();
    let mut edited = Scene { edits: Vec::new(), ..scene.clone() };
    let (mut script, mut latest) = (script_of(scene), model.clone());
    for edits in scene.edit_groups() {
        // the scene from here on
        let (contact, bare) = (edited.world.contact.clone(), bare_joints(&edited));
        for edit in &edits {
            edit.apply(&mut edited).map_err(PlayError::Scene)?;
        }
        let faults = edited.faults();
        if !faults.is_empty() {
            return Err(PlayError::Scene(faults.join("\n")));
        }

        // its model, unless only motions differ, and its controller
        let changes_world = edits.iter().flat_map(|edit| &edit.changes).any(|change| change.is_of_world());
        edits.iter().flat_map(|edit| &edit.changes).for_each(|change| change.write_world(&mut world_changes));
        if changes_world || bare_joints(&edited) != bare {
            latest = match known.iter().find(|segment| segment.world_changes == world_changes) {
                Some(segment) => segment.model.clone(),
                None => Arc::new(model.revise(&edited.world)?),
            };
        }
        check_performances(&edited, model)?;
        let first_frame = edits.first().map_or(0, |edit| edit.frame(scene.fps));
        script.replace_motions(
            first_frame as f64 / scene.fps,
            edited.pin_motions.iter().flatten().cloned().collect(),
            edited.obstacle_motions.clone(),
        );
        script.performances.clone_from(&edited.performances);
        script.constraint_motions.clone_from(&edited.constraint_motions);
        script.curves.clone_from(&edited.curves);
        segments.push(Segment {
            first_frame,
            model: latest.clone(),
            played: (script.clone(), edited.solver),
            world_changes: world_changes.clone(),
            renews_contact: contact != edited.world.contact,
        });
    }
    Ok(segments)
}

/// The number of joints that have nothing of their own.
fn bare_joints(scene: &Scene) -> usize {
    let bones = scene.world.rigs.iter().flat_map(|rig| &rig.skeleton.bones);
    bones.filter(|bone| bone.joint.dofs.is_empty()).count()
}

/// Checks that performances fit the skeletons of a model.
pub(crate) fn check_performances(scene: &Scene, model: &Model) -> Result<(), PlayError> {
    for (i, (rig, performance)) in model.rigs().iter().zip(&scene.performances).enumerate() {
        if let Some(fault) = performance.fault_in(model, i) {
            return Err(PlayError::Scene(format!("skeleton '{}': {fault}", rig.name)));
        }
    }
    Ok(())
}
