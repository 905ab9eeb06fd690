//! Descriptions of muscles, before validation.

use sinew_flesh::ForceLength;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// A muscle: it contracts as far as the control of a step activates it.
#[derive(Clone, Debug)]
pub struct MuscleDesc {
    /// Its name in reports and curves, unique among muscles.
    pub name: String,
    /// What it is made of.
    pub kind: MuscleKind,
    /// Its force-length curves. The largest stress of a line is a force (N).
    pub curve: ForceLength,
}

/// What a muscle is made of.
#[derive(Clone, Debug)]
pub enum MuscleKind {
    /// Fibres in the tets of a body: it bulges, and pulls where flesh hangs on bones.
    Flesh(Box<FleshMuscleDesc>),
    /// A line from bone to bone, which pulls on bones only.
    Line(LineMuscleDesc),
}

/// Fibres in the tets of a body.
#[derive(Clone, Debug)]
pub struct FleshMuscleDesc {
    /// The body's name.
    pub body: String,
    /// Which part of the body is muscle.
    pub volume: MuscleVolume,
    /// Origin and insertion; none for a mesh or a whole body, whose ends are then those of its longest direction.
    pub ends: Option<[MuscleEnd; 2]>,
    /// How fibres run.
    pub fibres: FibreField,
    /// What its tets are made of apart from fibres; none for the material of the body.
    pub tissue: Option<MuscleTissue>,
}

/// The part of a body that is muscle, at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum MuscleVolume {
    /// All of it.
    Body,
    /// Inside a surface.
    Mesh(TriMesh),
    /// An ellipsoid of revolution from the origin to the insertion, of this largest radius (m).
    Spindle(f64),
}

/// Where a muscle begins or ends.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleEnd {
    /// The place at rest (m).
    pub place: Vec3,
    /// Nodes within this distance belong to the end (m), and always the nearest one; a tenth of the muscle's length if not given.
    pub radius: Option<f64>,
    /// The bone that these nodes are fixed to; none where they are not.
    pub bone: Option<String>,
}

/// How fibres run at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FibreField {
    /// Along the gradient of a harmonic potential from the origin to the insertion.
    #[default]
    Harmonic,
    /// All in one direction, of any length.
    Along(Vec3),
}

/// The material of muscle apart from fibres: what of a body's material differs in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleTissue {
    /// Young's modulus (Pa).
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
}

impl Default for MuscleTissue {
    /// Relaxed muscle. It is stiffer against compression than the named material, because nothing else keeps the volume of what contracts: it loses about 2 (1 − 2ν) of the strain that it contracts by, half a percent at a quarter.
    fn default() -> MuscleTissue {
        MuscleTissue { young: 10e3, poisson: 0.495 }
    }
}

/// A line of action from bone to bone.
#[derive(Clone, Debug, PartialEq)]
pub struct LineMuscleDesc {
    /// The name of the skeleton.
    pub rig: String,
    /// Origin, via points, insertion: a bone and a place at rest (m) for each. At via points it slides without friction.
    pub points: Vec<(String, Vec3)>,
}
