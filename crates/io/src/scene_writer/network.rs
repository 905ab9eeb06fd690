//! Writes what the mesh of a body is made into: `kind`, `fabric`, `elements` and `thickness`.

use crate::scene_schema::{self as schema, BodyKind, BodyTable, FabricChoice, FabricName, FabricTable};
use sinew_flesh::Fabric;
use sinew_sim::desc::{NetworkDesc, NetworkKind, ShapeDesc, SheetElements};

/// A table with the keys of a kind.
pub(super) fn with_kind(table: BodyTable, shape: &ShapeDesc) -> BodyTable {
    let ShapeDesc::Network(NetworkDesc { kind, .. }) = shape else { return table };
    match kind {
        NetworkKind::Solid => BodyTable { kind: Some(BodyKind::Solid), ..table },
        NetworkKind::Shell { thickness, elements } => BodyTable {
            kind: Some(BodyKind::Shell),
            thickness: Some(*thickness),
            elements: Some(elements_of(*elements)),
            ..table
        },
        NetworkKind::Cloth { fabric, thickness, elements } => BodyTable {
            kind: Some(BodyKind::Cloth),
            fabric: Some(fabric_choice(fabric)),
            thickness: *thickness,
            elements: Some(elements_of(*elements)),
            ..table
        },
    }
}

fn elements_of(elements: SheetElements) -> schema::SheetElements {
    match elements {
        SheetElements::Triangles => schema::SheetElements::Triangles,
        SheetElements::Springs => schema::SheetElements::Springs,
    }
}

/// A fabric by its name if it has one, else by its parameters.
fn fabric_choice(fabric: &Fabric) -> FabricChoice {
    if let Some((name, _)) = Fabric::NAMED.iter().find(|(_, named)| named == fabric) {
        return FabricChoice::Named(FabricName((*name).to_owned()));
    }
    FabricChoice::Table(FabricTable {
        name: None,
        areal_density: Some(fabric.areal_density),
        stretch: Some(fabric.stretch),
        poisson: Some(fabric.poisson),
        bending: Some(fabric.bending),
        damping: Some(fabric.damping),
    })
}
