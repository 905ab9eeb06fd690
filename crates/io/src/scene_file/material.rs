//! Reads `material` and `sag` of a scene file.

use super::section::Section;
use crate::scene_schema::{ElasticLaw, MaterialChoice, SagMode};
use schemars::JsonSchema;
use serde::Deserialize;
use sinew_files::ReadError;
use sinew_flesh::{Law, Material, StretchLimits};
use sinew_sim::desc::Sag;

/// Reads the material of a body; by default the one named `default`.
pub(super) fn read_material<'a, T: JsonSchema + for<'de> Deserialize<'de>>(
    body: &Section<'a, T>,
    choice: &'a Option<MaterialChoice>,
    default: &str,
) -> Result<Material, ReadError> {
    let material = named(body, default)?;
    choice.as_ref().map_or(Ok(material), |choice| read_material_from(body, choice, material))
}

/// The material of a name.
fn named<T: JsonSchema + for<'de> Deserialize<'de>>(
    body: &Section<T>,
    name: &str,
) -> Result<Material, ReadError> {
    Material::named(name).ok_or_else(|| body.error("material", format!("there is no material `{name}`")))
}

/// Reads a material of a body: one by name, or one that differs from a named one or else from `base`.
pub(super) fn read_material_from<'a, T: JsonSchema + for<'de> Deserialize<'de>>(
    body: &Section<'a, T>,
    choice: &'a MaterialChoice,
    base: Material,
) -> Result<Material, ReadError> {
    let table = match choice {
        MaterialChoice::Named(name) => return named(body, &name.0),
        MaterialChoice::Table(table) => body.child("material", table),
    };
    let mut material = table.name.as_ref().map_or(Ok(base), |name| named(body, &name.0))?;

    // the law and its parameters
    match table.law {
        Some(ElasticLaw::Stvk) => material.law = Law::StVenantKirchhoff(StretchLimits::default()),
        Some(ElasticLaw::Corotational) => material.law = Law::Corotational,
        Some(ElasticLaw::NeoHookean) => material.law = Law::StableNeoHookean,
        None => {}
    }
    if let Some([lower, upper]) = table.stretch_limits {
        let Law::StVenantKirchhoff(limits) = &mut material.law else {
            return Err(table.error("stretch_limits", "`stretch_limits` needs law = \"stvk\""));
        };
        *limits = StretchLimits { lower, upper };
    }

    // parameters of every law
    material.young = table.young.unwrap_or(material.young);
    material.poisson = table.poisson.unwrap_or(material.poisson);
    material.density = table.density.unwrap_or(material.density);
    material.damping_ratio = table.damping.unwrap_or(material.damping_ratio);

    // is it physical?
    let faults: Vec<String> = material.faults().iter().map(ToString::to_string).collect();
    if faults.is_empty() {
        return Ok(material);
    }
    Err(body.error("material", format!("material: {}", faults.join("; "))))
}

/// Converts a key of a scene file to what keeps flesh from sagging.
pub(super) fn sag_of(mode: SagMode) -> Sag {
    match mode {
        SagMode::RestShape => Sag::RestShape,
        SagMode::Balanced => Sag::Balanced,
        SagMode::Free => Sag::Free,
    }
}
