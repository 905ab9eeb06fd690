//! Softness that is painted as a table of points.

use sinew_io::read_scene_text;
use sinew_math::Vec3;

/// Painted points soften the body that they name, and all bodies if they name none.
#[test]
fn softness_is_read_from_points() {
    let folder = tempfile::tempdir().unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    std::fs::write(folder.path().join("a.obj"), tetrahedron).unwrap();
    let error = |scene: &str| read_scene_text(scene, "s", folder.path()).unwrap_err().to_string();
    let scene = "[[body]]\nsurface = 'a.obj'\nsoftness_points = 'soft.csv'\n";
    let write = |text: &str| std::fs::write(folder.path().join("soft.csv"), text).unwrap();
    for table in ["x,y,z,softness\n0,0,0,0.5\n", "0,0,0,0.5,a\n0,0,0,2,b\n"] {
        write(table);
        let read = read_scene_text(scene, "s", folder.path()).unwrap().value;
        assert_eq!(read.world.bodies[0].softness.at(&[Vec3::x()]), [0.5]);
    }
    write("0,0,0,2,b\n");
    assert!(error(scene).contains("none of 'a'"));
    write("0,0,0\n");
    assert!(error(scene).contains("is no point"));
}
