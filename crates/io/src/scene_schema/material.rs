//! `material` and `sag`: what flesh is made of, and what keeps it from sagging.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use sinew_flesh::Material;
use std::borrow::Cow;

/// A material by name, or by its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialChoice {
    /// One of the named materials.
    Named(MaterialName),
    /// Parameters.
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

/// The parameters of a material.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialTable {
    /// The named material that provides the parameters that are not given.
    #[schemars(extend("x-default" = "\"jelly\"; \"fat\" with bones"))]
    pub name: Option<MaterialName>,
    /// The elastic law.
    #[schemars(extend("x-default" = "of `name`"))]
    pub law: Option<ElasticLaw>,
    /// Young's modulus (Pa).
    #[schemars(extend("x-default" = "of `name`"))]
    pub young: Option<f64>,
    /// Poisson's ratio, from 0 to below 0.5.
    #[schemars(extend("x-default" = "of `name`"))]
    pub poisson: Option<f64>,
    /// Density (kg/m³).
    #[schemars(extend("x-default" = "of `name`"))]
    pub density: Option<f64>,
    /// Fraction of critical damping of the slowest vibration.
    #[schemars(extend("x-default" = "of `name`"))]
    pub damping: Option<f64>,
    /// The range of principal stretches in which `stvk` is unmodified.
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
    /// The surface shows it under its own weight, which its stress carries.
    RestShape,
    /// Bones carry its weight.
    Balanced,
    /// Nothing: it sags from that shape.
    Free,
}
