//! Writes the files beside a scene file: surfaces as Wavefront OBJ, tets as TetGen's `.node` and `.ele`, motions as tables of frames (CSV).
//!
//! Numbers are written in the fewest digits that read back bit for bit.

use super::performance::WrittenMotion;
use crate::motion_frames::motion_frames_text;
use crate::scene_schema::BoneMotionTable;
use sinew_mesh::{PointField, TetMesh, TriMesh};
use sinew_sim::desc::{CageSize, ShapeDesc};
use std::collections::HashSet;
use std::fmt::Write;

/// The files that a scene names.
#[derive(Default)]
pub(super) struct MeshFiles {
    /// Their names and texts.
    pub(super) files: Vec<(String, String)>,
    taken: HashSet<String>,
}

/// The keys of a table that name a mesh.
#[derive(Default)]
pub(super) struct MeshKeys {
    pub(super) surface: Option<String>,
    pub(super) tets: Option<String>,
    pub(super) cage_tets: Option<usize>,
    pub(super) cage_edge: Option<f64>,
}

impl MeshFiles {
    /// Adds the shape of a body, in files whose names begin with `stem`.
    pub(super) fn add_shape(&mut self, stem: &str, shape: &ShapeDesc) -> Result<MeshKeys, String> {
        Ok(match shape {
            ShapeDesc::Surface { surface, cage } => {
                let (cage_tets, cage_edge) = match cage {
                    CageSize::Tets(tets) => (Some(*tets), None),
                    CageSize::Edge(edge) => (None, Some(*edge)),
                };
                let surface = Some(self.add_surface(stem, surface));
                MeshKeys { surface, cage_tets, cage_edge, ..MeshKeys::default() }
            }
            ShapeDesc::Tets(mesh) => {
                let stem = self.free_stem(stem);
                let [node, ele] = tet_texts(mesh);
                self.files.push((format!("{stem}.node"), node));
                self.files.push((format!("{stem}.ele"), ele));
                MeshKeys { tets: Some(format!("{stem}.node")), ..MeshKeys::default() }
            }
            ShapeDesc::Network(network) => return self.add_shape(stem, &network.mesh),
            ShapeDesc::Skin(skin) => {
                let surface = Some(self.add_surface(stem, &skin.surface));
                MeshKeys { surface, ..MeshKeys::default() }
            }
            ShapeDesc::Custom(_) => return Err(format!("the body '{stem}' is of a custom kind")),
        })
    }

    /// Adds a surface and returns the name of its file.
    pub(super) fn add_surface(&mut self, stem: &str, surface: &TriMesh) -> String {
        let name = format!("{}.obj", self.free_stem(stem));
        self.files.push((name.clone(), surface_text(surface)));
        name
    }

    /// Adds what is painted at points, and returns the name of its file.
    pub(super) fn add_points(&mut self, stem: &str, field: &PointField) -> String {
        let name = format!("{}.csv", self.free_stem(stem));
        let mut text = String::from("x,y,z,factor\n");
        for (place, factor) in field.points() {
            // writing to a string never fails
            let _ = writeln!(text, "{},{},{},{factor}", place.x, place.y, place.z);
        }
        self.files.push((name.clone(), text));
        name
    }

    /// Adds a motion and returns the table that names its file.
    pub(super) fn add_motion(&mut self, stem: &str, motion: WrittenMotion) -> BoneMotionTable {
        let name = format!("{}.csv", self.free_stem(&format!("{stem}-motion")));
        self.files.push((name.clone(), motion_frames_text(motion.motion, &motion.skeleton)));
        BoneMotionTable { frames: Some(name), ..motion.table }
    }

    /// A unique file stem; upper and lower case count as equal.
    fn free_stem(&mut self, stem: &str) -> String {
        let mut free = stem.to_owned();
        for number in 2.. {
            if self.taken.insert(free.to_lowercase()) {
                break;
            }
            free = format!("{stem}-{number}");
        }
        free
    }
}

fn surface_text(surface: &TriMesh) -> String {
    let mut text = String::new();
    // writing to a string never fails
    for v in &surface.vertices {
        let _ = writeln!(text, "v {} {} {}", v.x, v.y, v.z);
    }
    for [a, b, c] in &surface.triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text
}

fn tet_texts(mesh: &TetMesh) -> [String; 2] {
    let mut node = format!("{} 3 0 0\n", mesh.nodes.len());
    for (i, p) in mesh.nodes.iter().enumerate() {
        let _ = writeln!(node, "{i} {} {} {}", p.x, p.y, p.z);
    }
    let mut ele = format!("{} 4 0\n", mesh.tets.len());
    for (i, [a, b, c, d]) in mesh.tets.iter().enumerate() {
        let _ = writeln!(ele, "{i} {a} {b} {c} {d}");
    }
    [node, ele]
}
