//! How flesh is made of a character.

use crate::JointOptions;
use crate::{
    CapturedMotion, DEFAULT_CORE, DEFAULT_LIMIT, DEFAULT_SAG, DEFAULT_TETS, Placement, SoftnessOptions,
};
use sinew_control::HumanBone;
use sinew_flesh::Material;
use sinew_sim::desc::{CageSize, CoreDesc, Sag};

/// The shape in which the flesh of a character rests when it holds still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FleshShape {
    /// The artist's: in every pose as it is skinned. Dynamics adds what inertia, gravity and contact do.
    #[default]
    Artist,
    /// What elasticity makes of the bind pose: joints keep their volume, and folds form.
    Physical,
}

/// How a rigged character becomes flesh, bones and a performance.
#[derive(Clone, Debug)]
pub struct CharacterOptions {
    /// The name of its body and skeleton; `character` by default.
    pub name: Option<String>,
    /// The animation to play, by name or index; the first by default.
    pub animation: Option<String>,
    /// Other animations, likewise, that its softness fits too, so that it is the same whichever of them is played.
    pub fitted: Vec<String>,
    /// A captured motion to play instead.
    pub motion: Option<CapturedMotion>,
    /// Where it stands in the scene.
    pub placement: Placement,
    /// How fine the cage is.
    pub cage: CageSize,
    /// How long it takes from the bind pose to the first pose before the take (s).
    pub approach: Option<f64>,
    /// How long flesh settles in the first pose before the take (s), after the approach.
    pub hold: Option<f64>,
    /// What its flesh is made of; fat by default, stiffer or softer with the character's size.
    pub material: Option<Material>,
    /// The shape that flesh rests in.
    pub shape: FleshShape,
    /// How much flesh that rests in the skinned shape swings: 0 hardly, 1 as flesh does, 2 as in a cartoon.
    pub jiggle: f64,
    /// How far such flesh may be from its skinned place, as a fraction of its thickness.
    pub limit: f64,
    /// How much stiffer flesh is at the bones, in the physical shape.
    pub core: CoreDesc,
    /// Whether nodes of the cage are moved onto the middles of bones.
    pub anchored: bool,
    /// What keeps its flesh from sagging from its shape.
    pub sag: Sag,
    /// Surfaces that stay as they are skinned, by the name of their node, mesh or material.
    pub skinned: Vec<String>,
    /// Surfaces that become flesh however thin or hard they are, likewise.
    pub fleshy: Vec<String>,
    /// How soft parts of it are against each other.
    pub softness: SoftnessOptions,
    /// Human bones that cannot be recognised by name, with the joint that is each.
    pub human: Vec<(HumanBone, String)>,
    /// What its joints do by themselves where nothing drives them.
    pub joints: JointOptions,
    /// Whether rigid parts are part of the flesh, and rigid there, so that they weigh and collide: what a character needs that falls.
    pub has_solid_parts: bool,
}

impl Default for CharacterOptions {
    fn default() -> CharacterOptions {
        CharacterOptions {
            name: None,
            animation: None,
            fitted: Vec::new(),
            motion: None,
            placement: Placement::default(),
            cage: CageSize::Tets(DEFAULT_TETS),
            approach: None,
            hold: None,
            material: None,
            shape: FleshShape::default(),
            jiggle: 1.0,
            limit: DEFAULT_LIMIT,
            core: DEFAULT_CORE,
            anchored: true,
            sag: DEFAULT_SAG,
            skinned: Vec::new(),
            fleshy: Vec::new(),
            softness: SoftnessOptions::default(),
            human: Vec::new(),
            joints: JointOptions::default(),
            has_solid_parts: false,
        }
    }
}
