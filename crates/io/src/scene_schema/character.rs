//! `[[character]]`: flesh on bones.

use super::{
    BoneMotionTable, BoneTable, CueTable, GoalTable, KeyTable, KeyedNumber, LoadTable, MaterialChoice,
    MuscleTable, PinTable, SagMode, SkinTable, TieTable, Vector, whole,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Flesh on bones: written here, from a motion file, or a rigged character.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["file"] }, { "required": ["skeleton"] }, { "required": ["bone"] }],
    "allOf" = [
        { "not": { "required": ["cage_tets", "cage_edge"] } },
        { "not": { "required": ["animation", "motion"] } },
        { "not": { "required": ["surface", "tets"] } }
    ]
))]
pub struct CharacterTable {
    /// Its name in reports and outputs.
    #[schemars(extend("x-default" = "the surface's name"))]
    pub name: Option<String>,
    /// A rigged character (.glb, .gltf, .vrm, .fbx); takes can be written back into it.
    #[schemars(extend("format" = "path"))]
    pub file: Option<String>,
    /// The animation of the file to play, by name or number.
    #[schemars(extend("x-default" = "the first"))]
    pub animation: Option<String>,
    /// Surfaces of the file that are only skinned, not simulated, by the name of their node, mesh or material.
    #[schemars(extend("x-default" = "thin sheets; hard parts are rigid"))]
    pub skinned: Option<Vec<String>>,
    /// Surfaces of the file that are simulated as flesh, however thin or hard.
    pub fleshy: Option<Vec<String>>,
    /// How soft parts of the file are: factors by joint, or else by node, mesh or material: `{ Belly = 2, Hand = 0.2 }`. 0 is rigid, 1 as chosen, at most 10.
    #[schemars(extend("x-default" = "1, and 0 for hard parts"))]
    pub softness: Option<BTreeMap<String, f64>>,
    /// A channel of a vertex colour of the file that multiplies softness, such as `COLOR_0.r`: black is rigid.
    pub softness_color: Option<String>,
    /// A grey picture (.png) over the first texture coordinates that multiplies softness: black is rigid, white as chosen.
    #[schemars(extend("format" = "path"))]
    pub softness_texture: Option<String>,
    /// A table (.csv) of points at rest with their softness, which multiplies it: 0 is rigid, 1 as chosen, at most 10. The studio paints it.
    #[schemars(extend("format" = "path"))]
    pub softness_points: Option<String>,
    /// The shape in which the flesh of a character from a file rests: `artist` (as it is skinned, in every pose) or `physical` (what elasticity makes of the bind pose: joints keep their volume, and folds form).
    #[schemars(extend("default" = "artist"))]
    pub shape: Option<ShapeMode>,
    /// How much flesh in the artist's shape swings: 0 hardly, 1 as flesh does, 2 as in a cartoon.
    #[schemars(extend("default" = 1, "minimum" = 0, "maximum" = 10))]
    pub jiggle: Option<f64>,
    /// How far flesh in the artist's shape may be from its skinned place, as a fraction of its thickness.
    #[schemars(extend("default" = 0.6, "exclusiveMinimum" = 0, "maximum" = 5))]
    pub limit: Option<f64>,
    /// Whether joints of a character from a file that nothing drives stop at the ends of their range: that of the file's animations with a margin, and of people for human bones.
    #[schemars(extend("default" = true))]
    pub joint_limits: Option<bool>,
    /// How much joints of a character from a file that nothing drives are damped: 1 as those of relaxed people, 0 not at all.
    #[schemars(extend("default" = 1, "minimum" = 0, "maximum" = 100))]
    pub joint_damping: Option<f64>,
    /// Joints of the file that are human bones, for captured motion: `{ hips = "Bip01" }`.
    #[schemars(extend("x-default" = "by names or build"))]
    pub human: Option<BTreeMap<String, String>>,
    /// A .bvh file whose joints become the bones, and whose motion is played.
    #[schemars(extend("format" = "path"))]
    pub skeleton: Option<String>,
    /// Metres per unit of that file.
    #[schemars(extend("x-default" = "by the length of its legs", "exclusiveMinimum" = 0))]
    pub unit: Option<f64>,
    /// The bones, one `[[character.bone]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bone: Vec<BoneTable>,
    /// A closed surface around the bones at rest (.obj, .ply, .stl).
    #[schemars(extend("format" = "path", "x-default" = "flesh around the bones"))]
    pub surface: Option<String>,
    /// Instead, a solid of tetrahedra around the bones at rest (.node or .ele of TetGen).
    #[schemars(extend("format" = "path", "x-default" = "by `surface`"))]
    pub tets: Option<String>,
    /// Metres per unit of the surface or of the rigged file.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub scale: Option<f64>,
    /// Rotation of a character from a file after scaling, as a rotation vector (axis times angle).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub turn: Option<Vector>,
    /// Translation of the surface, or of the character from a file, after that (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub translate: Option<Vector>,
    /// Thickness of the flesh of a figure without a surface, as a factor.
    #[schemars(extend("default" = 1, "minimum" = 0.1, "maximum" = 5))]
    pub fullness: Option<f64>,
    /// Approximate number of tetrahedra in the cage.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 8000, "minimum" = 1, "maximum" = 20_000_000))]
    pub cage_tets: Option<usize>,
    /// Instead of `cage_tets`, the edge length of the cage's cubes (m).
    #[schemars(extend("x-default" = "by `cage_tets`", "exclusiveMinimum" = 0))]
    pub cage_edge: Option<f64>,
    /// The material of its flesh.
    #[schemars(extend("default" = "fat"))]
    pub material: Option<MaterialChoice>,
    /// Whether nodes of the cage are moved exactly onto the axes of bones and fixed there.
    #[schemars(extend("x-default" = "false; true with `file`"))]
    pub anchored: Option<bool>,
    /// What keeps flesh from sagging: `rest-shape` (the surface shows it under its own weight, which its stress carries), `balanced` (bones carry its weight) or `free` (nothing: it sags).
    #[schemars(extend("default" = "rest-shape"))]
    pub sag: Option<SagMode>,
    /// Stiffness of flesh at the bones, as a factor: muscle under fat.
    #[schemars(extend("default" = 8, "exclusiveMinimum" = 0, "maximum" = 1e4))]
    pub core_stiffness: Option<f64>,
    /// Distance from the bones at which that stiffness has faded, as a fraction of the thickest flesh.
    #[schemars(extend("default" = 0.6, "exclusiveMinimum" = 0, "maximum" = 1e4))]
    pub core_reach: Option<f64>,
    /// Which nodes are fixed to which bones, one `[[character.tie]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-default" = "inside the bones"))]
    pub tie: Vec<TieTable>,
    /// Elastic skin over muscles, instead of flesh: `surface` is the skin at rest.
    #[schemars(extend("x-default" = "flesh"))]
    pub skin: Option<SkinTable>,
    /// Velocity of its flesh at the start (m/s).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub velocity: Option<Vector>,
    /// Pins that hold parts of it besides its bones, one `[[character.pin]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<PinTable>,
    /// Forces on it, one `[[character.load]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<LoadTable>,
    /// Lays out biceps, triceps, forearm, deltoid, pectoral, thigh, calf and gluteus on both sides of a human figure, scaled to its flesh, with activations by name: `{ "left biceps" = 0.5 }`. Those that are not named are relaxed.
    #[schemars(extend("x-default" = "no muscles"))]
    pub human_muscles: Option<BTreeMap<String, KeyedNumber>>,
    /// Its muscles, one `[[character.muscle]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub muscle: Vec<MuscleTable>,
    /// What the stiffness of its flesh is multiplied by, from 0.001 to 1000. Damping ratios stay: it is as if `young` were multiplied.
    #[schemars(extend("default" = 1))]
    pub stiffness_factor: Option<KeyedNumber>,
    /// What its damping is multiplied by, from 0 to 1000. Well above 10, time steps are shorter.
    #[schemars(extend("default" = 1))]
    pub damping_factor: Option<KeyedNumber>,
    /// What friction of its surface is multiplied by, from 0 to 1000; where the other side of a contact has a factor too, both count.
    #[schemars(extend("default" = 1))]
    pub friction_factor: Option<KeyedNumber>,
    /// Whether its surface may collide with itself.
    #[schemars(extend("default" = false))]
    pub self_contact: Option<bool>,
    /// Coulomb's coefficient of friction of its surface. Where both sides of a contact have one, the geometric mean counts; where one has, that one.
    #[schemars(extend("x-default" = "of what it touches, or of `[contact]`", "minimum" = 0))]
    pub friction: Option<f64>,
    /// A factor on the stiffness of its contacts, times that of the other side; above 1, time steps are shorter.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub contact_stiffness: Option<f64>,
    /// Whether bones drive flesh (`one-way`), the root is dynamic and flesh pushes back (`two-way`), or all joints are limp (`ragdoll`). With goals: inverse kinematics bends the motion (`reach`); torques track
    /// it, so that joints are compliant and the root dynamic (`servo`); or joints accelerate such that goals are met as well as physics allows (`direct`).
    #[schemars(extend("default" = "one-way"))]
    pub mode: Option<DriveMode>,
    /// The motion of its joints.
    #[schemars(extend("x-default" = "that of `skeleton`"))]
    pub motion: Option<BoneMotionTable>,
    /// Instead of `motion`, key poses, one `[[character.key]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<KeyTable>,
    /// Cues: times from which joints are driven by something else, one `[[character.cue]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cue: Vec<CueTable>,
    /// Goals: where points of it are to be, one `[[character.goal]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goal: Vec<GoalTable>,
    /// The largest torque of joints driven by `servo` or `direct` (N m or N).
    #[schemars(extend("x-default" = "unbounded", "minimum" = 0, "maximum" = 1e9))]
    pub max_torque: Option<f64>,
    /// Preroll: time to move from rest to the first pose (s).
    #[schemars(extend("x-default" = "0.7 with a motion", "minimum" = 0, "maximum" = 600))]
    pub preroll_approach: Option<f64>,
    /// Preroll: time to hold the first pose while flesh settles (s).
    #[schemars(extend("default" = 0.8, "minimum" = 0, "maximum" = 600))]
    pub preroll_hold: Option<f64>,
    /// Preroll: time to play a cyclic motion after that, so that flesh swings as in every later cycle (s).
    #[schemars(extend("default" = 0, "minimum" = 0, "maximum" = 600))]
    pub preroll_loop: Option<f64>,
    /// Time constant with which a joint returns to the motion after something else drove it (s).
    #[serde(rename = "return")]
    #[schemars(extend("default" = 0.1, "minimum" = 0, "maximum" = 600))]
    pub return_time: Option<f64>,
}

/// The shape in which flesh rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeMode {
    /// As it is skinned, in every pose.
    Artist,
    /// What elasticity makes of the bind pose.
    Physical,
}

/// What drives a character from the start of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DriveMode {
    /// Bones drive flesh.
    OneWay,
    /// The root is dynamic and flesh pushes back.
    TwoWay,
    /// All joints are limp.
    Ragdoll,
    /// Joints follow the motion, bent so that goals are met.
    Reach,
    /// Torques track the motion, bent so that goals are met; the root is dynamic.
    Servo,
    /// Joints accelerate such that goals are met as well as physics allows; the root is dynamic.
    Direct,
}
