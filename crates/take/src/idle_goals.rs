//! Goals that no drive of their character looks at.

use crate::{Scene, SceneChange};
use sinew_control::{CueDrive, DriveMode, Performance};

impl Scene {
    /// The goals of skeletons that neither cues nor edits ever drive towards goals, each with the name of its skeleton: they have no effect.
    pub fn idle_goals(&self) -> Vec<(String, String)> {
        let mut idle = Vec::new();
        for (rig, performance) in self.world.rigs.iter().zip(&self.performances) {
            let changes = || self.edits.iter().flat_map(|edit| &edit.changes);
            let drives = |change: &SceneChange| matches!(change, SceneChange::Drive { rig: own, mode } if *own == rig.name && heeds_goals(*mode));
            if has_cue_for_goals(performance) || changes().any(drives) {
                continue;
            }
            let later = changes().filter_map(|change| match change {
                SceneChange::Goal { rig: own, goal } if *own == rig.name => Some(goal),
                _ => None,
            });
            let named =
                performance.goals.iter().chain(later).map(|goal| (rig.name.clone(), goal.name.clone()));
            idle.extend(named);
        }
        idle.dedup();
        idle
    }
}

fn has_cue_for_goals(performance: &Performance) -> bool {
    let heeds = |drive: &CueDrive| matches!(drive, CueDrive::Reach | CueDrive::Servo | CueDrive::Direct);
    performance.cues.iter().any(|cue| heeds(&cue.drive))
}

fn heeds_goals(mode: DriveMode) -> bool {
    matches!(mode, DriveMode::Reach | DriveMode::Servo | DriveMode::Direct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SceneEdit;
    use sinew_control::{Extrapolation, Goal, Interpolation, Key, Keyframes};
    use sinew_math::Vec3;
    use sinew_sim::desc::RigDesc;
    use sinew_skeleton::BoneId;

    /// A goal of a two-way coupled character has no effect until an edit or a cue lets it reach for goals.
    #[test]
    fn goals_are_idle_until_a_drive_heeds_them() {
        let keys = vec![Key::at(0.0, Vec3::zeros())];
        let place = Keyframes::build(keys, Interpolation::Linear, Extrapolation::Hold).expect("a key");
        let goal = Goal::of_bone("wave", BoneId(0), place);
        let mut scene = Scene::default();
        scene.world.rigs.push(RigDesc { name: "star".into(), ..RigDesc::default() });
        scene.performances.push(Performance::default());
        assert!(scene.idle_goals().is_empty());
        let change = SceneChange::Goal { rig: "star".into(), goal };
        scene.edits.push(SceneEdit { time: 0.5, changes: vec![change] });
        assert_eq!(scene.idle_goals(), [("star".to_owned(), "wave".to_owned())]);
        let mut driven = scene.clone();
        driven.performances[0].set_drive_mode(DriveMode::Servo);
        assert!(driven.idle_goals().is_empty());
        let drive = SceneChange::Drive { rig: "star".into(), mode: DriveMode::Direct };
        scene.edits.push(SceneEdit { time: 1.0, changes: vec![drive] });
        assert!(scene.idle_goals().is_empty());
    }
}
