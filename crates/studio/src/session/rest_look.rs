//! A scene at rest, which is shown while its flesh is being built.

use super::document::zoo_looks;
use sinew_io::OpenedScene;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_render::{Look, RenderFrame};
use sinew_sim::desc::ShapeDesc;
use sinew_take::{SurfaceInfo, Up};

/// The surfaces of the bodies of a scene as they were read; obstacles follow with the flesh.
pub struct RestLook {
    /// The surfaces.
    pub(crate) surfaces: Vec<SurfaceInfo>,
    /// Their looks.
    pub(crate) looks: Vec<Look>,
    /// Their vertices at rest.
    pub(crate) frame: RenderFrame,
    /// The axis that points up.
    pub(crate) up: Up,
}

impl RestLook {
    /// What a scene looks like before a model of it is built; of tets that takes finding their boundary.
    pub(crate) fn of(opened: &OpenedScene) -> RestLook {
        let bodies = &opened.scene.world.bodies;
        let info = |name: &str, mesh: &TriMesh| SurfaceInfo {
            name: name.to_owned(),
            triangles: mesh.triangles.clone(),
            rest: mesh.vertices.iter().map(|p| [p.x as f32, p.y as f32, p.z as f32]).collect(),
        };
        let infos: Vec<SurfaceInfo> =
            bodies.iter().map(|body| info(&body.name, &surface_of(&body.shape))).collect();
        let surfaces = opened.shown().infos(&infos);
        let looks = zoo_looks(opened, &opened.looks());
        let rest = surfaces.iter().map(|surface| surface.rest.clone()).collect();
        let frame = RenderFrame { surfaces: rest, ..RenderFrame::default() };
        RestLook { surfaces, looks, frame, up: Up::against(opened.scene.world.gravity) }
    }

    /// All vertices (m).
    pub(crate) fn points(&self) -> impl Iterator<Item = Vec3> + '_ {
        let all = self.frame.surfaces.iter().flatten();
        all.map(|p| Vec3::new(p[0].into(), p[1].into(), p[2].into()))
    }
}

fn surface_of(shape: &ShapeDesc) -> TriMesh {
    match shape {
        ShapeDesc::Surface { surface, .. } => surface.clone(),
        ShapeDesc::Tets(tets) => tets.boundary().0,
        ShapeDesc::Network(network) => surface_of(&network.mesh),
        ShapeDesc::Skin(skin) => skin.surface.clone(),
        ShapeDesc::Custom(kind) => kind.surface().clone(),
    }
}
