//! Descriptions of bodies that are not filled with flesh: sheets of fabric, walls, and networks of springs.

use super::ShapeDesc;
use sinew_flesh::Fabric;

/// The mesh of a body, and what connects its nodes instead of flesh.
#[derive(Clone, Debug)]
pub struct NetworkDesc {
    /// The mesh: a surface or tets, as they would be filled with flesh.
    pub mesh: Box<ShapeDesc>,
    /// What it is made into.
    pub kind: NetworkKind,
}

/// What a mesh is made into instead of flesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NetworkKind {
    /// A sheet of fabric: nodes are the vertices of the surface, which need not be closed. The material of the body is not used.
    Cloth {
        /// Its fabric.
        fabric: Fabric,
        /// The distance that its middle keeps from itself and, halved, from others (m); none for a part of its edges.
        thickness: Option<f64>,
        /// What connects its nodes.
        elements: SheetElements,
    },
    /// A hollow wall of the body's material: nodes are the vertices of the surface.
    Shell {
        /// Its thickness (m).
        thickness: f64,
        /// What connects its nodes.
        elements: SheetElements,
    },
    /// Springs along the edges of tets: of the tet mesh, or of the cage around the surface. They have the Young's modulus of the body's material; Poisson's ratio of springs is about 1/4.
    Solid,
}

/// What connects the nodes of a sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SheetElements {
    /// Membrane triangles, and bending by curvature: as stiff as stated on any mesh.
    #[default]
    Triangles,
    /// Springs along edges (structural and shear) and across them, from one third corner to the other (bending).
    Springs,
}

impl NetworkDesc {
    /// A sheet of fabric.
    pub fn cloth(mesh: ShapeDesc, fabric: Fabric) -> NetworkDesc {
        let kind = NetworkKind::Cloth { fabric, thickness: None, elements: SheetElements::Triangles };
        NetworkDesc { mesh: Box::new(mesh), kind }
    }
}

impl NetworkKind {
    /// All parameters out of range, one sentence each.
    pub(crate) fn faults(&self) -> Vec<String> {
        let thickness = match self {
            NetworkKind::Cloth { thickness, .. } => *thickness,
            NetworkKind::Shell { thickness, .. } => Some(*thickness),
            NetworkKind::Solid => None,
        };
        let mut faults: Vec<String> = match self {
            NetworkKind::Cloth { fabric, .. } => {
                fabric.faults().iter().map(|fault| format!("fabric: {fault}")).collect()
            }
            _ => Vec::new(),
        };
        if let Some(thickness) = thickness.filter(|t| !(*t > 0.0 && t.is_finite())) {
            faults.push(format!("its thickness is {thickness} m: it must be above 0, and finite"));
        }
        faults
    }
}
