//! `kind`, `fabric` and `elements` of a body: what a mesh is made into instead of flesh.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use sinew_flesh::Fabric;
use std::borrow::Cow;

/// What the mesh of a body is made into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyKind {
    /// Flesh that fills it.
    #[default]
    Flesh,
    /// A sheet of fabric on its surface, which need not be closed.
    Cloth,
    /// A hollow wall of its material on its surface.
    Shell,
    /// Springs along the edges of the tets that flesh would have.
    Solid,
    /// Elastic skin that slides over muscles: see `skin`.
    Skin,
}

/// What connects the vertices of cloth and shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SheetElements {
    /// Membrane triangles and curvature: as stiff as stated on any mesh.
    Triangles,
    /// Springs along edges and across them.
    Springs,
}

/// A fabric by name, or by its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FabricChoice {
    /// One of the named fabrics.
    Named(FabricName),
    /// Parameters.
    Table(FabricTable),
}

/// The name of a fabric, one of [`Fabric::NAMED`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FabricName(pub String);

impl JsonSchema for FabricName {
    fn schema_name() -> Cow<'static, str> {
        "FabricName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Fabric::NAMED.map(|(name, _)| name) })
    }
}

/// The parameters of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricTable {
    /// The named fabric that provides the parameters that are not given.
    #[schemars(extend("default" = "cotton"))]
    pub name: Option<FabricName>,
    /// Mass per area (kg/m²).
    #[schemars(extend("x-default" = "of `name`"))]
    pub areal_density: Option<f64>,
    /// Stretch stiffness: force per width and strain (N/m).
    #[schemars(extend("x-default" = "of `name`"))]
    pub stretch: Option<f64>,
    /// Poisson's ratio, from 0 to 0.5.
    #[schemars(extend("x-default" = "of `name`"))]
    pub poisson: Option<f64>,
    /// Bending stiffness: moment per width and curvature (N m).
    #[schemars(extend("x-default" = "of `name`"))]
    pub bending: Option<f64>,
    /// Rate at which motion beside rigid motion decays (1/s).
    #[schemars(extend("x-default" = "of `name`"))]
    pub damping: Option<f64>,
}
