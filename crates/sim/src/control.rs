//! What is asked of one step.

use crate::Model;
use sinew_math::{Isometry, Rotation, nalgebra};

/// What is asked of one step: where pins go and how strongly loads push.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// One path per pin of the model. Pins beyond the end of the list stay where they are at rest.
    pub pins: Vec<PinPath>,
    /// One factor per load of the model. Loads beyond the end of the list act in full.
    pub load_scales: Vec<f64>,
}

/// How a pin moves during a step: rigidly, from one pose to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinPath {
    /// Where the rest pose is at the start of the step.
    pub from: Isometry,
    /// Where the rest pose is at the end of the step.
    pub to: Isometry,
}

impl Default for PinPath {
    fn default() -> Self {
        PinPath { from: Isometry::identity(), to: Isometry::identity() }
    }
}

impl PinPath {
    /// The pose after a share of the step, between 0 and 1. Rotations go along the chord of the quaternions, brought back
    /// to unit length: over the small angle of a step that is a steady turn.
    pub fn pose(&self, share: f64) -> Isometry {
        let shift = self.from.translation.vector.lerp(&self.to.translation.vector, share);
        let (a, b) = (self.from.rotation.coords, self.to.rotation.coords);
        let b = if a.dot(&b) < 0.0 { -b } else { b };
        let turn = Rotation::new_normalize(nalgebra::Quaternion::from(a.lerp(&b, share)));
        Isometry::from_parts(shift.into(), turn)
    }
}

impl Control {
    /// The path of pin `i`.
    pub(crate) fn pin(&self, i: usize) -> PinPath {
        self.pins.get(i).copied().unwrap_or_default()
    }

    /// The factor of load `i`.
    pub(crate) fn load_scale(&self, i: usize) -> f64 {
        self.load_scales.get(i).copied().unwrap_or(1.0)
    }

    /// The control that holds every pin of a model still and lets every load act in full.
    pub fn still(model: &Model) -> Control {
        Control {
            pins: vec![PinPath::default(); model.pins.len()],
            load_scales: vec![1.0; model.loads.len()],
        }
    }
}
