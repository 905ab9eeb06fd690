//! Elastic skin in scene files.

use super::{error_of, folder};
use sinew_io::read_scene_text;
use sinew_sim::desc::ShapeDesc;

/// The keys of skin over muscles.
pub(crate) const SKINNED: &str = "
[[character]]
name = 'sack'
bone = [{ name = 'spine', from = [0, 0, 0], to = [0, 1, 0], radius = 0.1, joint = 'ball' }]
skin = { wrap = [8, 6], axis = [[0, 0.3, 0], [0, -0.3, 0]], areal_density = 2, stretch = 50, poisson = 0.2, bending = 1e-4, damping = 3, direction = [1, 0, 0], weights = [10, 20, 5], rest_length = 0.9, rest_curvature = 0, even_points = false, pressure = 30, fat = 0.02, fat_points = 'fat.csv', return_rate = 200, friction = 0.3, feedback = true, bands = { stiffness = 900, damping = 0.1, slack = 0.02, automatic = false, by_hand = [[[0, 0.3, 0], [0, 0.2, 0]]] }, part = [{ region = { end = 'top' }, mass = 2, elasticity = 0.5, damping = 2, rest_length = 0.9, rest_curvature = 0.5, fat = 1.5, bands = 0.5, slack = 0 }], muscle = [{ name = 'a', center = [0, 0.1, 0], rotation = [0, 0, 0, 1], radii = [0.1, 0.2, 0.1], squareness = [0.8, 1], scale = [1, 1, 1.2], taper = 0.1, twist = 0.2, bend = 0.3, drive = [{ number = 'swell', keys = [[0, 1], [1, 1.2]] }] }, { radius = 0.1, length = 0.2 }, { balls = [[0, 0, 0, 0.1], [0.1, 0, 0, 0.1]], blend = 0.05 }, { mesh = 'a.obj', cells = 8 }] }

[[character]]
name = 'limb'
surface = 'a.obj'
bone = [{ name = 'bone 1', from = [0, 0, 0], to = [1, 0, 0], radius = 0.1, joint = 'ball' }]
skin = { muscle = [{ bone = 'bone 1', radius = 0.1, drive = [{ joint = 'bone 1', keys = [[0, 1]] }] }], fixed = [{ region = { end = 'left' }, bone = 'bone 1' }] }
";

#[test]
fn skin_is_read_with_its_muscles_and_numbers() {
    let folder = folder();
    let scene = read_scene_text(SKINNED, "s", folder.path()).unwrap().value;
    let skin = |i: usize| match &scene.world.bodies[i].shape {
        ShapeDesc::Skin(skin) => skin.clone(),
        _ => panic!("a skin"),
    };
    let sack = skin(0);
    assert_eq!(
        (sack.surface.vertices.len(), sack.muscles.len(), sack.rig.as_deref()),
        (8 * 6 + 2, 4, Some("sack"))
    );
    assert_eq!((sack.fat, sack.pressure, sack.rest_length, sack.feedback), (0.02, 30.0, 0.9, true));
    assert_eq!(sack.regions[0].factors.slack, 0.0);
    assert_eq!(sack.muscles[0].solid.deformation.bend, 0.3);
    assert_eq!(sack.fat_field.points().len(), 1);
    let limb = skin(1);
    assert_eq!(limb.rig.as_deref(), Some("limb"));
    assert_eq!((limb.fixed[0].bone.as_str(), limb.muscles[0].bone.as_deref()), ("bone 1", Some("bone 1")));
    assert!(scene.world.bodies[1].attachment.is_none());
    let refused = |text: &str| error_of(text, folder.path());
    assert!(refused("[[body]]\nsurface = 'a.obj'\nskin = {}").contains("needs kind = \"skin\""));
    assert!(refused("[[body]]\nsurface = 'a.obj'\nkind = 'skin'").contains("[body.skin]"));
    let both =
        "[[body]]\nsurface = 'a.obj'\nkind = 'skin'\nskin = { wrap = [8, 8], muscle = [{ radius = 1 }] }";
    assert!(refused(both).contains("remove `surface`"), "{}", refused(both));
}
