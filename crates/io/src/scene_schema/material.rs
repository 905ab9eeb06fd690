//! `material`: what flesh is made of, and what keeps it from sagging.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use sinew_flesh::Material;
use std::borrow::Cow;

/// A material by name, or by its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialChoice {
    /// One of the named materials.
    Named(MaterialName),
    /// Numbers of its own.
    Table(MaterialTable),
}

/// The name of a material, one of [`Material::NAMED`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MaterialName(pub String);

impl JsonSchema for MaterialName {
    fn schema_name() -> Cow<'static, str> {
        "MaterialName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Material::NAMED.map(|(name, _)| name) })
    }
}

/// The numbers of a material.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialTable {
    /// The named material whose numbers hold where none are given.
    #[schemars(extend("x-default" = "\"jelly\"; \"fat\" with bones"))]
    pub name: Option<MaterialName>,
    /// How stress follows strain.
    #[schemars(extend("x-default" = "of `name`"))]
    pub law: Option<ElasticLaw>,
    /// Young's modulus (Pa).
    #[schemars(extend("x-default" = "of `name`"))]
    pub young: Option<f64>,
    /// Poisson's ratio, from 0 to below 0.5.
    #[schemars(extend("x-default" = "of `name`"))]
    pub poisson: Option<f64>,
    /// Mass per volume (kg/m³).
    #[schemars(extend("x-default" = "of `name`"))]
    pub density: Option<f64>,
    /// Fraction of critical damping of the slowest vibration.
    #[schemars(extend("x-default" = "of `name`"))]
    pub damping: Option<f64>,
    /// The principal stretches between which `stvk` holds unchanged.
    #[schemars(title = "[lower, upper]", extend("default" = [0.75, 1.4]))]
    pub stretch_limits: Option<[f64; 2]>,
}

/// How stress follows strain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElasticLaw {
    /// St. Venant-Kirchhoff, continued beyond its stretch limits.
    Stvk,
    /// Linear elasticity in the rotated frame of each element.
    Corotational,
    /// Stable neo-Hookean.
    NeoHookean,
}

/// What keeps flesh from sagging from the shape it is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SagMode {
    /// The shape is drawn under its own weight, which its stress carries.
    RestShape,
    /// Bones bear its weight.
    Balanced,
    /// Nothing: it sags from that shape.
    Free,
}
