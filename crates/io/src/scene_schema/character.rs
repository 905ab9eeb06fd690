//! `[[character]]`: flesh on bones.

use super::{
    BoneMotionTable, BoneTable, CueTable, KeyTable, LoadTable, MaterialChoice, PinTable, SagMode, TieTable,
    Vector, whole,
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
    /// A rigged character (.glb, .gltf, .vrm); takes can be written back into it.
    #[schemars(extend("format" = "path"))]
    pub file: Option<String>,
    /// Which animation of the file is played, by name or number.
    #[schemars(extend("x-default" = "the first"))]
    pub animation: Option<String>,
    /// Surfaces of the file that stay as they are skinned, by the name of node, mesh or material.
    #[schemars(extend("x-default" = "thin and small parts"))]
    pub skinned: Option<Vec<String>>,
    /// Surfaces of the file that are flesh however thin or small they are.
    pub fleshy: Option<Vec<String>>,
    /// Joints of the file as bones of a human figure, for captured motion: `{ hips = "Bip01" }`.
    #[schemars(extend("x-default" = "by names or build"))]
    pub human: Option<BTreeMap<String, String>>,
    /// A .bvh file whose joints are the bones, with its motion.
    #[schemars(extend("format" = "path"))]
    pub skeleton: Option<String>,
    /// Metres per unit of that file.
    #[schemars(extend("x-default" = "0.0564 (CMU)", "exclusiveMinimum" = 0))]
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
    /// What one unit of the surface, or of the rigged file, is in metres.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub scale: Option<f64>,
    /// How a character from a file is turned after scaling: an axis as long as the angle.
    #[schemars(extend("default" = [0, 0, 0]))]
    pub turn: Option<Vector>,
    /// How far to move the surface, or the character from a file, after that (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub translate: Option<Vector>,
    /// How thick the flesh of a figure without a surface is.
    #[schemars(extend("default" = 1, "minimum" = 0.1, "maximum" = 5))]
    pub fullness: Option<f64>,
    /// About how many tetrahedra the cage has.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 8000, "minimum" = 1, "maximum" = 20_000_000))]
    pub cage_tets: Option<usize>,
    /// Instead, the edge of the cage's cubes (m).
    #[schemars(extend("x-default" = "by `cage_tets`", "exclusiveMinimum" = 0))]
    pub cage_edge: Option<f64>,
    /// What its flesh is made of.
    #[schemars(extend("default" = "fat"))]
    pub material: Option<MaterialChoice>,
    /// Whether nodes of the cage are moved exactly onto the middles of bones and fixed there.
    #[schemars(extend("x-default" = "false; true with `file`"))]
    pub anchored: Option<bool>,
    /// What keeps flesh from sagging from its shape: `rest-shape` (it is drawn under its own weight, which its stress carries), `balanced` (bones bear its weight) or `free` (nothing).
    #[schemars(extend("default" = "rest-shape"))]
    pub sag: Option<SagMode>,
    /// How many times as stiff it is at the bones, as muscle under fat.
    #[schemars(extend("default" = 8, "exclusiveMinimum" = 0, "maximum" = 1e4))]
    pub core_stiffness: Option<f64>,
    /// How far from the bones that has faded, as a fraction of the thickest flesh.
    #[schemars(extend("default" = 0.6, "exclusiveMinimum" = 0, "maximum" = 1e4))]
    pub core_reach: Option<f64>,
    /// Which nodes are fixed to which bones, one `[[character.tie]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-default" = "inside the bones"))]
    pub tie: Vec<TieTable>,
    /// Velocity of its flesh at the start (m/s).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub velocity: Option<Vector>,
    /// Where it is held besides its bones, one `[[character.pin]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<PinTable>,
    /// What pushes on it, one `[[character.load]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<LoadTable>,
    /// Whether its surface may collide with itself.
    #[schemars(extend("default" = false))]
    pub self_contact: Option<bool>,
    /// Bones drive flesh; the root is dynamic and flesh pushes back; or all joints are limp.
    #[schemars(extend("default" = "one-way"))]
    pub mode: Option<DriveMode>,
    /// Where its joints go.
    #[schemars(extend("x-default" = "that of `skeleton`"))]
    pub motion: Option<BoneMotionTable>,
    /// Instead, poses at times, one `[[character.key]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<KeyTable>,
    /// When joints are driven by something else, one `[[character.cue]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cue: Vec<CueTable>,
    /// Preroll: time to come from rest to the first pose (s).
    #[schemars(extend("x-default" = "0.7 with a motion", "minimum" = 0, "maximum" = 600))]
    pub preroll_approach: Option<f64>,
    /// Preroll: time to hold the first pose while flesh settles (s).
    #[schemars(extend("default" = 0.8, "minimum" = 0, "maximum" = 600))]
    pub preroll_hold: Option<f64>,
    /// Preroll: time to play a cycle after that, so that flesh swings as in every later cycle (s).
    #[schemars(extend("default" = 0, "minimum" = 0, "maximum" = 600))]
    pub preroll_loop: Option<f64>,
    /// Time in which a joint comes back to the motion after something else drove it (s).
    #[serde(rename = "return")]
    #[schemars(extend("default" = 0.1, "minimum" = 0, "maximum" = 600))]
    pub return_time: Option<f64>,
}

/// Who drives from the start of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DriveMode {
    /// Bones drive flesh.
    OneWay,
    /// The root is dynamic and flesh pushes back.
    TwoWay,
    /// All joints are limp.
    Ragdoll,
}
