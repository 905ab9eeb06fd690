//! How far a muscle is activated: over the time of the take, and by the angle of a joint.

use crate::Curve;
use sinew_sim::{Model, State};

/// The activation of a muscle: a curve over time, times one over a joint coordinate if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleDrive {
    /// From 0 (relaxed) to 1; what is beyond is cut off.
    pub activation: Curve,
    /// The joint that drives it besides.
    pub joint: Option<JointCurve>,
}

/// A number over a joint coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct JointCurve {
    /// The name of the skeleton.
    pub rig: String,
    /// The bone that the joint moves.
    pub bone: String,
    /// Which of its coordinates, from 0.
    pub coordinate: usize,
    /// The number over that coordinate (rad or m).
    pub curve: Curve,
}

impl Default for MuscleDrive {
    /// Relaxed.
    fn default() -> MuscleDrive {
        MuscleDrive { activation: Curve::Constant(0.0), joint: None }
    }
}

impl MuscleDrive {
    /// The activations at the beginning and at the end of a step of `dt` (s) that starts in a state. Joints are taken as they are at its beginning; before the take the activation is that at its start.
    pub(crate) fn ends(&self, model: &Model, state: &State, dt: f64) -> [f64; 2] {
        let factor = self.joint.as_ref().map_or(1.0, |joint| joint.value(model, state));
        [state.time, state.time + dt]
            .map(|time| (factor * self.activation.value(time.max(0.0))).clamp(0.0, 1.0))
    }

    /// Describes what is not finite, or out of range.
    pub fn fault(&self) -> Option<String> {
        let curves = [Some(&self.activation), self.joint.as_ref().map(|joint| &joint.curve)];
        let mut keys = curves.into_iter().flatten().flat_map(Curve::key_values);
        let (_, value) = keys.find(|(_, value)| !(0.0..=1.0).contains(value))?;
        Some(format!("the activation of a muscle is {value}: give numbers from 0 to 1"))
    }
}

impl JointCurve {
    fn value(&self, model: &Model, state: &State) -> f64 {
        let found = model.rigs().iter().zip(&state.rigs).find(|(rig, _)| rig.name == self.rig);
        let coordinate = found.and_then(|(rig, own)| {
            let bone = rig.skeleton.bone(rig.skeleton.find_bone(&self.bone)?);
            own.q.get(bone.joint.q()).and_then(|q| q.get(self.coordinate)).copied()
        });
        coordinate.map_or(0.0, |coordinate| self.curve.value(coordinate))
    }
}
