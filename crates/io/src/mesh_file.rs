//! Reads a mesh file (OBJ, PLY, STL, TetGen) in the format of its extension; errors name the file.

use crate::{read_obj, read_ply, read_stl, tetgen};
use sinew_files::{Loaded, ReadError, read_bytes};
use sinew_mesh::{TetMesh, TriMesh};
use std::path::Path;

/// The extensions of surface files.
pub const SURFACE_EXTENSIONS: [&str; 3] = ["obj", "ply", "stl"];
/// The extensions of tet files.
pub const TET_EXTENSIONS: [&str; 2] = ["node", "ele"];

/// A mesh of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Mesh {
    /// A surface.
    Surface(TriMesh),
    /// A solid of tets.
    Tets(TetMesh),
}

/// Reads a surface from an OBJ, PLY or STL file, whose unit is taken as metres.
pub fn read_surface(path: &Path) -> Result<Loaded<TriMesh>, ReadError> {
    let read = match extension(path).as_str() {
        "obj" => read_obj,
        "ply" => read_ply,
        "stl" => read_stl,
        "node" | "ele" => {
            let message = "this file contains tets, not a surface: use it as `tets`";
            return Err(ReadError::whole(message).within(path));
        }
        _ => return Err(unknown_extension(path, &SURFACE_EXTENSIONS)),
    };
    read(&read_bytes(path)?).map_err(|error| error.within(path))
}

/// Reads tets from a TetGen `.node` or `.ele` file and the other one beside it, whose unit is taken as metres.
pub fn read_tets(path: &Path) -> Result<Loaded<TetMesh>, ReadError> {
    match extension(path).as_str() {
        "node" | "ele" => {}
        "obj" | "ply" | "stl" => {
            let message = "this file contains a surface, not tets: use it as `surface`";
            return Err(ReadError::whole(message).within(path));
        }
        _ => return Err(unknown_extension(path, &TET_EXTENSIONS)),
    }

    // both files, whichever was given
    let [node, ele] = TET_EXTENSIONS.map(|extension| path.with_extension(extension));
    let partner_of = |error: ReadError, wanted: &Path| match wanted == path {
        true => error,
        false => {
            ReadError { message: format!("{} (needed beside {})", error.message, path.display()), ..error }
        }
    };
    let node_bytes = read_bytes(&node).map_err(|error| partner_of(error, &node))?;
    let ele_bytes = read_bytes(&ele).map_err(|error| partner_of(error, &ele))?;
    let nodes = tetgen::read_nodes(&node_bytes).map_err(|error| error.within(&node))?;
    tetgen::read_elements(&ele_bytes, nodes).map_err(|error| error.within(&ele))
}

/// Reads a surface or tets, as the extension says.
pub fn read_mesh(path: &Path) -> Result<Loaded<Mesh>, ReadError> {
    let extension = extension(path);
    if SURFACE_EXTENSIONS.contains(&extension.as_str()) {
        Ok(read_surface(path)?.map(Mesh::Surface))
    } else if TET_EXTENSIONS.contains(&extension.as_str()) {
        Ok(read_tets(path)?.map(Mesh::Tets))
    } else {
        let known: Vec<&str> = SURFACE_EXTENSIONS.into_iter().chain(TET_EXTENSIONS).collect();
        Err(unknown_extension(path, &known))
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn unknown_extension(path: &Path, known: &[&str]) -> ReadError {
    let known: Vec<String> = known.iter().map(|extension| format!(".{extension}")).collect();
    let has = match extension(path) {
        none if none.is_empty() => "the file name has no extension".to_owned(),
        other => format!(".{other} files are not supported"),
    };
    ReadError::whole(format!("{has}: convert it to one of {}", known.join(", "))).within(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tetgen::tests::{ELE, NODE};

    #[test]
    fn either_tetgen_path_finds_the_other_file_and_names_it_if_missing() {
        let folder = tempfile::tempdir().unwrap();
        let [node, ele] = ["a.1.node", "a.1.ele"].map(|name| folder.path().join(name));
        std::fs::write(&node, NODE).unwrap();
        let error = read_tets(&node).unwrap_err().to_string();
        assert!(error.contains("a.1.ele: no such file") && error.contains("needed beside"), "{error}");
        std::fs::write(&ele, ELE).unwrap();
        assert_eq!(read_tets(&node).unwrap(), read_tets(&ele).unwrap());
    }

    #[test]
    fn a_path_that_cannot_be_a_mesh_is_an_error_that_says_what_can() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("empty.obj"), "").unwrap();
        std::fs::create_dir(at("folder.obj")).unwrap();
        for (name, words) in [
            ("missing.obj", "no such file"),
            ("empty.obj", "empty"),
            ("folder.obj", "not a file"),
            ("a.fbx", ".fbx files are not supported: convert it to one of .obj, .ply, .stl"),
            ("noextension", "no extension"),
            ("a.ele", "use it as `tets`"),
        ] {
            let error = read_surface(&at(name)).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(name), "{error}");
        }
    }

    #[test]
    fn extensions_may_be_in_capitals() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("A.OBJ");
        std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
        assert!(matches!(read_mesh(&path).unwrap().value, Mesh::Surface(_)));
    }
}
