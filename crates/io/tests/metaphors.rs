//! Control metaphors in scene files.

use sinew_control::Curve;
use sinew_io::read_scene_text;

#[test]
fn a_metaphor_reaches_the_scene_with_its_magnitude() {
    let folder = tempfile::tempdir().unwrap();
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    std::fs::write(folder.path().join("a.obj"), obj).unwrap();
    let text = "[[body]]\nname = 'a'\nsurface = 'a.obj'\n[[metaphor]]\nbody = 'a'\nkind = 'twist'\nnear = 0.1\n\
        [[edit]]\ntime = 1\nmetaphor = [{ name = 'metaphor-1', body = 'a', kind = 'push', axis = [0, 1, 0], magnitude = { keys = [[1, 0], [2, 3]] } }]\n";
    let scene = read_scene_text(text, "s", folder.path()).unwrap().value;
    let own = &scene.world.metaphors[0];
    assert!(own.name == "metaphor-1" && own.widget.near == Some(0.1) && !own.leaves_net);
    assert_eq!(scene.curves.metaphors, [Curve::Constant(1.0)]);
    assert_eq!(scene.edits[0].changes.len(), 1);
    let wrong = text.replace("body = 'a'\nkind", "body = 'b'\nkind");
    let error = read_scene_text(&wrong, "s", folder.path()).unwrap_err().to_string();
    assert!(error.contains("line 5") && error.contains("there is no body \"b\""), "{error}");
}
