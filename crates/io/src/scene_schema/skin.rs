//! `[body.skin]` and `[character.skin]`: elastic skin that slides over muscles.

use super::{Quaternion, RegionTable, Vector, whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Elastic skin over muscles, instead of flesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkinTable {
    /// Instead of a surface file, so many rings from pole to pole and so many points around: a grid that is wrapped onto the muscles from its axis, `[32, 32]`. Lower numbers are faster; everything else is carried over.
    pub wrap: Option<[u32; 2]>,
    /// The ends of the axis of such a grid (m).
    #[schemars(extend("x-default" = "the highest and the lowest point of the muscles"))]
    pub axis: Option<[Vector; 2]>,
    /// Mass per area (kg/m²).
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0))]
    pub areal_density: Option<f64>,
    /// Stretch stiffness: force per width and strain (N/m).
    #[schemars(extend("default" = 100, "exclusiveMinimum" = 0))]
    pub stretch: Option<f64>,
    /// Poisson's ratio, from 0 to 0.5.
    #[schemars(extend("default" = 0.3))]
    pub poisson: Option<f64>,
    /// Bending stiffness: moment per width and curvature (N m).
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub bending: Option<f64>,
    /// Rate at which motion against the bones below decays (1/s).
    #[schemars(extend("default" = 4, "minimum" = 0))]
    pub damping: Option<f64>,
    /// A direction along which `weights` hold.
    pub direction: Option<Vector>,
    /// Stretch stiffness along `direction`, across it and in shear (N/m), instead of `stretch`.
    #[schemars(extend("x-default" = "by `stretch`"))]
    pub weights: Option<Vector>,
    /// Factor on lengths at rest: below 1 the skin is tight, and at 0 it would shrink to a point.
    #[schemars(extend("default" = 1, "minimum" = 0, "maximum" = 10))]
    pub rest_length: Option<f64>,
    /// Factor on curvatures at rest: at 0 it would be flat.
    #[schemars(extend("default" = 1))]
    pub rest_curvature: Option<f64>,
    /// Whether every point has the same mass, and slender triangles are softer, as in a grid of coordinates: faster where points crowd, as at the poles of `wrap`.
    #[schemars(extend("x-default" = "true with `wrap`, else false"))]
    pub even_points: Option<bool>,
    /// Pressure of the air inside the surface at rest (Pa).
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub pressure: Option<f64>,
    /// Thickness of the fat between muscles and skin (m).
    #[schemars(extend("default" = 0.01, "minimum" = 0))]
    pub fat: Option<f64>,
    /// A table (.csv) of points at rest, x,y,z,factor, that multiply the thickness of the fat; written as painted softness is.
    #[schemars(extend("format" = "path"))]
    pub fat_points: Option<String>,
    /// How fast skin that is too deep comes back out (rad/s).
    #[schemars(extend("default" = 300, "exclusiveMinimum" = 0))]
    pub return_rate: Option<f64>,
    /// Coulomb's coefficient of friction on the fat.
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub friction: Option<f64>,
    /// Whether bones feel what the skin does to the muscles on them.
    #[schemars(extend("default" = false))]
    pub feedback: Option<bool>,
    /// Connective tissue, which pulls skin towards the muscles.
    #[schemars(extend("x-default" = "none"))]
    pub bands: Option<BandsTable>,
    /// The muscles, one `[[character.skin.muscle]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub muscle: Vec<SkinMuscleTable>,
    /// Parts whose numbers are multiplied, one `[[character.skin.part]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<SkinPartTable>,
    /// Parts that are fixed to bones, one `[[character.skin.fixed]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<FixedSkinTable>,
}

/// Rubber bands from skin to muscles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BandsTable {
    /// Stiffness per area of skin (N/m per m²).
    #[schemars(extend("default" = 2000, "minimum" = 0))]
    pub stiffness: Option<f64>,
    /// Damping ratio of skin on its bands.
    #[schemars(extend("default" = 0.2, "minimum" = 0, "maximum" = 10))]
    pub damping: Option<f64>,
    /// By how much bands are longer than at rest before they pull (m).
    #[schemars(extend("default" = 0.01, "minimum" = 0))]
    pub slack: Option<f64>,
    /// Whether all skin is bound to the muscles below it, or only what `by_hand` binds.
    #[schemars(extend("default" = true))]
    pub automatic: Option<bool>,
    /// Pairs of places at rest (m): of skin, and of the muscle that it is bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_hand: Vec<[Vector; 2]>,
}

/// A solid under the skin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["radius"] }, { "required": ["radii"] }, { "required": ["balls"] }, { "required": ["mesh"] }]))]
pub struct SkinMuscleTable {
    /// Its name in messages.
    #[schemars(extend("x-default" = "by its place"))]
    pub name: Option<String>,
    /// The bone that carries it.
    #[schemars(extend("x-default" = "the world"))]
    pub bone: Option<String>,
    /// Its centre at rest (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub center: Option<Vector>,
    /// Its rotation at rest (x, y, z, w); its own axis is y.
    #[schemars(extend("default" = [0, 0, 0, 1]))]
    pub rotation: Option<Quaternion>,
    /// The radius of a sphere or, with `length`, of a capsule (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// The length of a capsule between the centres of its ends (m).
    #[schemars(extend("x-default" = "0, a sphere", "exclusiveMinimum" = 0))]
    pub length: Option<f64>,
    /// The radii of an ellipsoid or, with `squareness`, of a superquadric (m).
    pub radii: Option<Vector>,
    /// Squareness from pole to pole and around: 1 is round, 0.1 a box, 2 an octahedron.
    #[schemars(extend("default" = [1, 1]))]
    pub squareness: Option<[f64; 2]>,
    /// Balls that flow into each other: x, y, z and radius of each (m).
    pub balls: Option<Vec<[f64; 4]>>,
    /// Over which length they do (m).
    #[schemars(extend("x-default" = "half of the smallest radius", "exclusiveMinimum" = 0))]
    pub blend: Option<f64>,
    /// A closed mesh (.obj, .ply, .stl) in its own frame.
    #[schemars(extend("format" = "path"))]
    pub mesh: Option<String>,
    /// Cells of its distance grid along its longest side.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 64, "minimum" = 4, "maximum" = 500))]
    pub cells: Option<usize>,
    /// Factors along its axes.
    #[schemars(extend("default" = [1, 1, 1]))]
    pub scale: Option<Vector>,
    /// How much wider it becomes along its axis (1/m).
    #[schemars(extend("default" = 0))]
    pub taper: Option<f64>,
    /// How far it is twisted about its axis (rad/m).
    #[schemars(extend("default" = 0))]
    pub twist: Option<f64>,
    /// The curvature of its axis (1/m).
    #[schemars(extend("default" = 0))]
    pub bend: Option<f64>,
    /// What changes it, one `[[character.skin.muscle.drive]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drive: Vec<DriveTable>,
}

/// A number of a muscle over time, or over the angle of a joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveTable {
    /// The number: `swell` and `length` are factors, `taper`, `twist` and `bend` replace those of the muscle.
    #[schemars(extend("default" = "swell"))]
    pub number: Option<DrivenNumber>,
    /// The bone whose joint it follows.
    #[schemars(extend("x-default" = "time"))]
    pub joint: Option<String>,
    /// Time (s), or how far the joint is turned from rest (rad), and the number: a smooth curve through them, constant beyond its ends.
    pub keys: Vec<[f64; 2]>,
}

/// A number of a muscle that can be driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DrivenNumber {
    /// Thickness, at constant volume.
    Swell,
    /// Length, without keeping its volume.
    Length,
    /// Taper (1/m).
    Taper,
    /// Twist (rad/m).
    Twist,
    /// Curvature (1/m).
    Bend,
}

/// A part of the skin whose numbers are multiplied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkinPartTable {
    /// The part.
    pub region: RegionTable,
    /// Factor on its mass.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0))]
    pub mass: Option<f64>,
    /// Factor on its stretch stiffness.
    #[schemars(extend("default" = 1, "minimum" = 0))]
    pub elasticity: Option<f64>,
    /// Factor on its damping.
    #[schemars(extend("default" = 1, "minimum" = 0))]
    pub damping: Option<f64>,
    /// Factor on its lengths at rest.
    #[schemars(extend("default" = 1, "minimum" = 0))]
    pub rest_length: Option<f64>,
    /// Factor on its curvatures at rest.
    #[schemars(extend("default" = 1))]
    pub rest_curvature: Option<f64>,
    /// Factor on the thickness of its fat.
    #[schemars(extend("default" = 1, "minimum" = 0))]
    pub fat: Option<f64>,
    /// Factor on the stiffness of its bands: 0 cuts them.
    #[schemars(extend("default" = 1, "minimum" = 0))]
    pub bands: Option<f64>,
    /// Factor on the slack of its bands: 0 ties it.
    #[schemars(extend("default" = 1, "minimum" = 0))]
    pub slack: Option<f64>,
}

/// A part of the skin that is fixed to a bone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedSkinTable {
    /// The part.
    pub region: RegionTable,
    /// The bone.
    pub bone: String,
}
