//! Sheets and worlds of them.

use sinew_flesh::Fabric;
use sinew_math::Vec3;
use sinew_mesh::{CageSize, TriMesh, shapes};
use sinew_sim::desc::{BodyDesc, NetworkDesc, NetworkKind, PinDesc, Region, ShapeDesc, SheetElements};
use sinew_sim::{Model, WorldDesc};

pub(crate) const G: f64 = 9.81;

/// A body of fabric.
pub(crate) fn cloth(surface: TriMesh, fabric: Fabric) -> BodyDesc {
    let mesh = ShapeDesc::Surface { surface, cage: CageSize::Tets(100) };
    let shape = ShapeDesc::Network(NetworkDesc::cloth(mesh, fabric));
    BodyDesc { name: "sheet".into(), shape, ..BodyDesc::default() }
}

/// The same of springs.
pub(crate) fn of_springs(mut body: BodyDesc) -> BodyDesc {
    if let ShapeDesc::Network(NetworkDesc { kind: NetworkKind::Cloth { elements, .. }, .. }) = &mut body.shape
    {
        *elements = SheetElements::Springs;
    }
    body
}

/// A sheet hung by the two corners of its side at the smallest z.
pub(crate) fn hung(side: f64, count: u32, fabric: Fabric) -> BodyDesc {
    let mut body = cloth(shapes::sheet([side, side], [count, count]), fabric);
    for x in [-0.5, 0.5] {
        let corner = Vec3::new(x * side, 0.0, -0.5 * side);
        body.pins.push(PinDesc { region: Region::Nearest(corner) });
    }
    body
}

pub(crate) fn world(bodies: Vec<BodyDesc>) -> WorldDesc {
    WorldDesc { gravity: Vec3::new(0.0, -G, 0.0), bodies, ..WorldDesc::default() }
}

pub(crate) fn model(bodies: Vec<BodyDesc>) -> Model {
    Model::build(&world(bodies)).expect("a sound world")
}
