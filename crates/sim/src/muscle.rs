//! Muscles of a model: fibres in tets, or a line of action over bones.

use core::ops::Range;
use sinew_flesh::{Fibre, ForceLength};
use sinew_math::Vec3;

/// A muscle of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Muscle {
    /// Its name.
    pub name: String,
    /// Its force-length curves.
    pub curve: ForceLength,
    /// Its body, an index into [`crate::Model::bodies`]; none for a line of action.
    pub body: Option<usize>,
    /// Its fibres among those of all muscles.
    pub(crate) fibres: Range<usize>,
    /// Its line of action, if it is one.
    pub(crate) line: Option<LineOfAction>,
    /// Volume of its fibres at rest (m³); 0 for a line.
    pub volume: f64,
    /// Length at rest (m): of the line, or from end to end.
    pub length: f64,
    /// Nodes fixed to bones at either end; empty for lines and for ends that are not on bones.
    pub end_nodes: [Vec<u32>; 2],
}

/// A path over points of bones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineOfAction {
    /// For each point the bone, among those of all rigs, and the place in its frame (m).
    pub(crate) points: Vec<(usize, Vec3)>,
}

/// All muscles of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Muscles {
    pub(crate) all: Vec<Muscle>,
    /// The fibres of all of them, muscle by muscle.
    pub(crate) fibres: Vec<Fibre>,
    /// The tet of each fibre.
    pub(crate) tets: Vec<u32>,
}

impl Muscle {
    /// Cross-section on average (m²); 0 for a line.
    pub fn area(&self) -> f64 {
        if self.length > 0.0 { self.volume / self.length } else { 0.0 }
    }

    /// How many tets have fibres of it.
    pub fn tet_count(&self) -> usize {
        self.fibres.len()
    }

    /// The force of full activation at optimal length (N): largest stress times cross-section, or that of the line.
    pub fn max_force(&self) -> f64 {
        if self.line.is_some() { self.curve.max_stress } else { self.curve.max_stress * self.area() }
    }
}

impl Muscles {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether any is a line of action.
    pub(crate) fn has_lines(&self) -> bool {
        self.all.iter().any(|muscle| muscle.line.is_some())
    }
}
