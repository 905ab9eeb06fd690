//! `[[body]]`: flesh without bones, cloth and springs.

use super::{
    BodyKind, FabricChoice, KeyedNumber, KeyedVector, MaterialChoice, MotionTable, RegionTable, SagMode,
    SheetElements, SkinTable, Vector, whole,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A soft body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["surface"] }, { "required": ["tets"] }],
    "allOf" = [{ "not": { "required": ["cage_tets", "cage_edge"] } }]
))]
pub struct BodyTable {
    /// Its name in reports and outputs.
    #[schemars(extend("x-default" = "the file's name"))]
    pub name: Option<String>,
    /// What its mesh is made into: flesh that fills it, a sheet of `fabric` on its surface (`cloth`), a hollow wall of its material (`shell`), springs along the edges of the tets that flesh would have (`solid`), or elastic skin on its surface (`skin`).
    #[schemars(extend("default" = "flesh"))]
    pub kind: Option<BodyKind>,
    /// A surface (.obj, .ply, .stl); flesh is built inside it. That of cloth need not be closed.
    #[schemars(extend("format" = "path"))]
    pub surface: Option<String>,
    /// A solid of tetrahedra (.node or .ele of TetGen).
    #[schemars(extend("format" = "path"))]
    pub tets: Option<String>,
    /// Metres per unit of the file.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub scale: Option<f64>,
    /// Translation after scaling (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub translate: Option<Vector>,
    /// Approximate number of tetrahedra in the cage of a surface.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 8000, "minimum" = 1, "maximum" = 20_000_000))]
    pub cage_tets: Option<usize>,
    /// Instead of `cage_tets`, the edge length of the cage's cubes (m).
    #[schemars(extend("x-default" = "by `cage_tets`", "exclusiveMinimum" = 0))]
    pub cage_edge: Option<f64>,
    /// Its material.
    #[schemars(extend("default" = "jelly"))]
    pub material: Option<MaterialChoice>,
    /// A table (.csv) of points at rest with their softness, which multiplies it: 0 is rigid, 1 as chosen, at most 10. The studio paints it.
    #[schemars(extend("format" = "path"))]
    pub softness_points: Option<String>,
    /// The fabric of cloth.
    #[schemars(extend("default" = "cotton"))]
    pub fabric: Option<FabricChoice>,
    /// What connects the vertices of cloth and shells.
    #[schemars(extend("default" = "triangles"))]
    pub elements: Option<SheetElements>,
    /// The thickness of a shell, and of cloth in contact (m).
    #[schemars(extend("x-default" = "a hundredth of the diagonal; for cloth a fifth of its edges, at most 0.4 % of the diagonal", "exclusiveMinimum" = 0))]
    pub thickness: Option<f64>,
    /// Its numbers as elastic skin, and the muscles that it slides over, with `kind = "skin"`.
    #[schemars(extend("x-default" = "none"))]
    pub skin: Option<SkinTable>,
    /// Velocity at the start (m/s).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub velocity: Option<Vector>,
    /// Pins that hold parts of it, one `[[body.pin]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<PinTable>,
    /// Forces on it, one `[[body.load]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<LoadTable>,
    /// `rest-shape` if the surface shows the body as it hangs from its pins under its own weight, `free` if it sags from there.
    #[schemars(extend("default" = "free"))]
    pub sag: Option<SagMode>,
    /// Rate at which the air slows its motion (1/s): it falls no faster than gravity divided by this, 9.81 m/s at 1. Without it, it falls freely.
    #[schemars(extend("default" = 0))]
    pub air_drag: Option<KeyedNumber>,
    /// What the stiffness of its flesh, cloth or springs is multiplied by, from 0.001 to 1000. Damping ratios stay: it is as if `young` were multiplied.
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
}

/// Nodes that are held still or move rigidly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinTable {
    /// Which nodes are held.
    pub region: RegionTable,
    /// How the held nodes move.
    #[schemars(extend("x-default" = "held still"))]
    pub motion: Option<MotionTable>,
}

/// A force on part of the surface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadTable {
    /// Which surface vertices the force is spread over.
    pub region: RegionTable,
    /// The total force (N).
    pub force: KeyedVector,
}
