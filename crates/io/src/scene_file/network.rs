//! Reads `kind` of a body: what its mesh is made into, and of which fabric.

use super::section::Section;
use crate::scene_schema::{self as schema, BodyTable, FabricChoice};
use sinew_files::ReadError;
use sinew_flesh::Fabric;
use sinew_math::Vec3;
use sinew_sim::desc::{NetworkDesc, NetworkKind, ShapeDesc, SheetElements};

/// The default thickness of a shell, as a fraction of the diagonal of its mesh.
const SHELL_THICKNESS: f64 = 0.01;

/// Checks the keys of a body that depend on its kind, and reads its fabric.
pub(super) fn read_fabric(section: &Section<BodyTable>) -> Result<Option<Fabric>, ReadError> {
    let kind = section.kind.unwrap_or_default();
    let needs = |keys: &[&'static str], kinds: &str| match section.first_of(keys) {
        Some(key) => Err(section.error(key, format!("`{key}` needs kind = {kinds}"))),
        None => Ok(()),
    };
    match kind {
        schema::BodyKind::Flesh | schema::BodyKind::Solid | schema::BodyKind::Skin => {
            needs(&["fabric"], "\"cloth\"")?;
            needs(&["elements", "thickness"], "\"cloth\" or \"shell\"")?;
        }
        schema::BodyKind::Shell => needs(&["fabric"], "\"cloth\"; a shell is made of its material")?,
        schema::BodyKind::Cloth => {}
    }

    // by name, or a table that begins with a named one
    let named = |name: &str| {
        Fabric::named(name).ok_or_else(|| section.error("fabric", format!("there is no fabric `{name}`")))
    };
    let table = match &section.table().fabric {
        None => return Ok(None),
        Some(FabricChoice::Named(name)) => return named(&name.0).map(Some),
        Some(FabricChoice::Table(table)) => table,
    };
    let base = table.name.as_ref().map_or(Ok(Fabric::default()), |name| named(&name.0))?;
    let fabric = Fabric {
        areal_density: table.areal_density.unwrap_or(base.areal_density),
        stretch: table.stretch.unwrap_or(base.stretch),
        poisson: table.poisson.unwrap_or(base.poisson),
        bending: table.bending.unwrap_or(base.bending),
        damping: table.damping.unwrap_or(base.damping),
    };
    let faults: Vec<String> = fabric.faults().iter().map(ToString::to_string).collect();
    if faults.is_empty() {
        return Ok(Some(fabric));
    }
    Err(section.error("fabric", format!("fabric: {}", faults.join("; "))))
}

/// The shape of a body of a kind. Cloth of a material instead of a fabric is a shell.
pub(super) fn shape_of_kind(
    section: &Section<BodyTable>,
    fabric: Option<Fabric>,
    mesh: ShapeDesc,
) -> ShapeDesc {
    let elements = match section.elements {
        Some(schema::SheetElements::Springs) => SheetElements::Springs,
        Some(schema::SheetElements::Triangles) | None => SheetElements::Triangles,
    };
    let has_material = section.table().material.is_some();
    let kind = match section.kind.unwrap_or_default() {
        // skin is read elsewhere
        schema::BodyKind::Flesh | schema::BodyKind::Skin => return mesh,
        schema::BodyKind::Solid => NetworkKind::Solid,
        schema::BodyKind::Cloth if fabric.is_some() || !has_material => {
            NetworkKind::Cloth { fabric: fabric.unwrap_or_default(), thickness: section.thickness, elements }
        }
        schema::BodyKind::Cloth | schema::BodyKind::Shell => {
            let thickness = section.thickness.unwrap_or_else(|| SHELL_THICKNESS * diagonal(mesh.points()));
            NetworkKind::Shell { thickness, elements }
        }
    };
    ShapeDesc::Network(NetworkDesc { mesh: Box::new(mesh), kind })
}

/// The diagonal of the box around points (m).
fn diagonal(points: &[Vec3]) -> f64 {
    let first = points.first().copied().unwrap_or_default();
    let (low, high) = points.iter().fold((first, first), |(low, high), x| (low.inf(x), high.sup(x)));
    (high - low).norm()
}
