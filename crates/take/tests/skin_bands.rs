//! Skin that is bound anew during a take.

use sinew_flesh::Fabric;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::shapes;
use sinew_sim::desc::{
    BandsDesc, BodyDesc, ImplicitMuscleDesc, ImplicitSolid, ShapeDesc, SkinDesc, SolidShape, WorldDesc,
};
use sinew_take::{Player, Scene, SceneChange, SceneEdit};

const RADIUS: f64 = 0.2;
const FAT: f64 = 0.01;
const STIFFNESS: f64 = 1000.0;
const SLACK: f64 = 0.015;

/// Soft skin around a ball, on bands of some slack; at 2 s its bands change.
fn scene(change: SceneChange) -> Scene {
    let ball = ImplicitMuscleDesc {
        name: "ball".into(),
        bone: None,
        pose: Isometry::identity(),
        solid: ImplicitSolid::from(SolidShape::Sphere { radius: RADIUS }),
        drives: Vec::new(),
    };
    let skin = SkinDesc {
        surface: shapes::sphere(RADIUS + FAT, 2),
        fabric: Fabric { areal_density: 0.5, stretch: 1e-3, poisson: 0.0, bending: 0.0, damping: 10.0 },
        muscles: vec![ball],
        fat: FAT,
        bands: Some(bands(SLACK)),
        ..SkinDesc::default()
    };
    let body =
        BodyDesc { name: "sack".into(), shape: ShapeDesc::Skin(Box::new(skin)), ..BodyDesc::default() };
    Scene {
        world: WorldDesc { gravity: Vec3::new(0.0, -9.81, 0.0), bodies: vec![body], ..WorldDesc::default() },
        pin_motions: vec![Vec::new()],
        seconds: 4.0,
        fps: 30.0,
        edits: vec![SceneEdit { time: 2.0, changes: vec![change] }],
        ..Scene::default()
    }
}

fn bands(slack: f64) -> BandsDesc {
    BandsDesc { stiffness: STIFFNESS, slack, ..BandsDesc::default() }
}

fn changed(bands: BandsDesc) -> SceneChange {
    SceneChange::Bands { body: "sack".into(), bands }
}

/// How far the lowest point hangs below the fat at 2 s and at 4 s (m).
fn hangs(scene: &Scene) -> [f64; 2] {
    let mut player = Player::build(scene).expect("it builds");
    [2.0, 4.0].map(|time| {
        while player.state.time < time - 1e-9 {
            player.advance().expect("a frame");
        }
        player.state.node_x.iter().map(|x| -x.y).fold(0.0, f64::max) - RADIUS - FAT
    })
}

/// Skin that is tied at 2 s hangs higher at 4 s by the slack that it had, 15 mm; a tenth is for what still swings. Bands that are cut hold nothing: skin falls by decimetres.
#[test]
fn bands_hold_as_they_are_bound_at_the_time() {
    let [loose, tied] = hangs(&scene(changed(bands(0.0))));
    assert!((loose - tied - SLACK).abs() < 0.1 * SLACK, "{loose} {tied}");
    let [_, cut] = hangs(&scene(changed(BandsDesc { stiffness: 0.0, ..bands(0.0) })));
    assert!(cut > 0.5, "{cut}");
}

/// Where only the lowest point is bound, by hand, it stays within centimetres with what hangs on it, while the others, which bands would hold within millimetres, fall by decimetres on average.
#[test]
fn a_band_by_hand_holds_its_point_alone() {
    let lowest = Vec3::new(0.0, -RADIUS - FAT, 0.0);
    let by_hand = vec![[lowest, Vec3::new(0.0, -RADIUS, 0.0)]];
    let own = BandsDesc { automatic: false, by_hand, ..bands(0.0) };
    let mut player = Player::build(&scene(changed(own))).expect("it builds");
    let rest = player.model.node_rest().to_vec();
    let far = |node: usize| (rest[node] - lowest).norm();
    let bound = (0..rest.len()).min_by(|a, b| far(*a).total_cmp(&far(*b))).expect("nodes");
    while player.state.time < 4.0 - 1e-9 {
        player.advance().expect("a frame");
    }
    let height = |node: usize| player.state.node_x[node].y;
    assert!((height(bound) - lowest.y).abs() < 0.05, "{}", height(bound));
    let others = (0..rest.len()).filter(|node| *node != bound && rest[*node].y < -0.05);
    let falls: Vec<f64> = others.map(|node| rest[node].y - height(node)).collect();
    let mean = falls.iter().sum::<f64>() / falls.len() as f64;
    assert!(mean > 0.1, "{mean}");
}

#[test]
fn only_skin_has_bands() {
    let change = SceneChange::Bands { body: "sack".into(), bands: bands(0.0) };
    let mut scene = scene(change);
    scene.world.bodies[0].shape =
        ShapeDesc::Surface { surface: shapes::sphere(0.2, 2), cage: sinew_sim::desc::CageSize::Tets(50) };
    let error = Player::build(&scene).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("'sack' is no skin over muscles"), "{error}");
}
