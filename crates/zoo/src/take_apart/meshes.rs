//! Shapes as the text of mesh files: surfaces as Wavefront OBJ, tets as TetGen's node and element files.

use sinew_mesh::{TetMesh, TriMesh};
use sinew_sim::desc::{BodyDesc, ShapeDesc};
use std::fmt::Write;

/// The file that a scene names for a body.
pub(super) fn file_name(body: &BodyDesc) -> String {
    match body.shape {
        ShapeDesc::Surface { .. } => format!("{}.obj", body.name),
        ShapeDesc::Tets(_) | ShapeDesc::Custom(_) => format!("{}.node", body.name),
    }
}

/// The files of a body's shape. Numbers read back as the same ones.
pub(super) fn write(body: &BodyDesc) -> Vec<(String, String)> {
    match &body.shape {
        ShapeDesc::Surface { surface, .. } => vec![(file_name(body), write_surface(surface))],
        ShapeDesc::Tets(tets) => {
            let [node, ele] = write_tets(tets);
            vec![(file_name(body), node), (format!("{}.ele", body.name), ele)]
        }
        ShapeDesc::Custom(_) => Vec::new(),
    }
}

/// A surface as Wavefront OBJ.
pub(super) fn write_surface(surface: &TriMesh) -> String {
    let mut page = String::new();
    // writing to a text never fails
    for v in &surface.vertices {
        let _ = writeln!(page, "v {} {} {}", v.x, v.y, v.z);
    }
    for [a, b, c] in &surface.triangles {
        let _ = writeln!(page, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    page
}

fn write_tets(tets: &TetMesh) -> [String; 2] {
    let mut node = format!("{} 3 0 0\n", tets.nodes.len());
    for (i, p) in tets.nodes.iter().enumerate() {
        let _ = writeln!(node, "{i} {} {} {}", p.x, p.y, p.z);
    }
    let mut ele = format!("{} 4 0\n", tets.tets.len());
    for (i, [a, b, c, d]) in tets.tets.iter().enumerate() {
        let _ = writeln!(ele, "{i} {a} {b} {c} {d}");
    }
    [node, ele]
}
