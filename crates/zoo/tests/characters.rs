//! Sizes of all built-in characters, and their stability over ten seconds.

use sinew_control::{Extrapolation, Motion, SkeletonMotion};
use sinew_flesh::Law;
use sinew_sim::Model;
use sinew_sim::desc::{CageSize, ShapeDesc};
use sinew_skeleton::Skeleton;
use sinew_take::{Frame, Player, Scene};
use sinew_zoo::{Beam, beam, catalog, find};

/// The expected size of a character. Counts of tets and vertices are within 5 %, since cages and surfaces are built for a requested size
/// and meet it only approximately.
struct Known {
    name: &'static str,
    bones: usize,
    dof: usize,
    tets: usize,
    vertices: usize,
    /// Mass of its flesh (kg), within 2 %.
    mass: f64,
}

const fn known(
    name: &'static str,
    [bones, dof]: [usize; 2],
    [tets, vertices]: [usize; 2],
    mass: f64,
) -> Known {
    Known { name, bones, dof, tets, vertices, mass }
}

/// Where [KimPollard2011, tables III and IV] has the character, its sizes: starfish of 200, 3,400, 9,000 and 37,573 tets with 1,162
/// vertices, and a dancer of 8,619 tets, 34,362 vertices and 60 degrees of freedom.
const KNOWN: [Known; 37] = [
    known("dancer", [20, 63], [8_619, 34_362], 153.0),
    known("starfish", [16, 26], [3_400, 1_162], 1.6),
    known("starfish-coarse", [16, 26], [200, 1_162], 1.6),
    known("starfish-fine", [16, 26], [9_000, 1_162], 1.6),
    known("starfish-very-fine", [16, 26], [37_573, 1_162], 1.6),
    known("fish", [7, 10], [800, 2_000], 4.86),
    known("worm", [7, 18], [800, 1_430], 6.31),
    known("arm", [3, 2], [4_000, 5_900], 10.3),
    known("muscle-arm", [3, 1], [5_000, 4_260], 6.15),
    known("penguin", [14, 42], [4_500, 9_650], 34.4),
    known("cow", [16, 45], [7_000, 22_500], 157.0),
    known("dragon", [23, 72], [8_000, 17_200], 34.3),
    known("jelly", [0, 0], [5_000, 5_100], 5.05),
    known("jelly-torus", [0, 0], [6_000, 8_192], 8.35),
    known("cylinder", [2, 6], [5_000, 7_540], 8.72),
    known("beam", [0, 0], [1_280, 290], 4.0),
    known("worm-roll", [7, 18], [2_500, 1_430], 6.31),
    known("fish-jump", [7, 10], [800, 2_000], 4.86),
    known("starfish-turn", [16, 26], [400, 1_162], 1.6),
    known("fish-directed", [7, 10], [800, 2_000], 4.86),
    known("worm-directed", [7, 12], [2_500, 1_430], 17.7),
    known("starfish-directed", [16, 26], [400, 1_162], 1.6),
    known("starfish-cage", [16, 26], [400, 1_162], 1.6),
    known("pot", [0, 0], [1_213, 2_096], 2.45),
    known("pot-slippery", [0, 0], [1_213, 2_096], 2.45),
    known("duck-box", [0, 0], [1_208, 1_625], 1.67),
    known("dancer-stairs", [20, 63], [3_069, 8_073], 153.0),
    known("pile", [0, 0], [2_620, 800], 1.66),
    known("penguins", [28, 84], [3_014, 9_650], 34.4),
    known("cloth", [0, 0], [0, 1_369], 0.13),
    known("cloth-ball", [0, 0], [0, 1_369], 0.0567),
    known("cloth-stretch", [0, 0], [0, 961], 0.18),
    known("cloth-fold", [0, 0], [0, 961], 0.18),
    known("penguin-skin", [14, 42], [0, 1_026], 1.35),
    known("arm-skin", [3, 2], [0, 1_794], 0.34),
    known("rabbit-twist", [0, 0], [5_022, 6_467], 9.66),
    known("rabbit-flap", [0, 0], [5_022, 6_467], 9.66),
];

#[test]
fn every_character_has_its_expected_size() {
    assert_eq!(catalog().len(), KNOWN.len());
    for known in &KNOWN {
        let name = known.name;
        let scene = (find(name).expect("in the catalog").build)();
        assert_eq!(scene.name, name);
        assert!(scene.faults().is_empty());
        let model = Model::build(&scene.world).unwrap_or_else(|e| panic!("{name}: {e}"));
        let near = |found: usize, wanted: usize, what: &str| {
            let off = (found as f64 - wanted as f64).abs();
            assert!(off <= 0.05 * wanted as f64, "{name}: {found} {what}, known for {wanted}");
        };
        near(model.tets().len(), known.tets, "tets");
        near(model.bodies()[0].surface.vertices.len(), known.vertices, "vertices");
        let mass = model.bodies()[0].mass;
        assert!((mass / known.mass - 1.0).abs() < 0.02, "{name}: {mass} kg");
        let skeletons = || model.rigs().iter().map(|rig| &rig.skeleton);
        assert_eq!(skeletons().map(|s| s.bones().len()).sum::<usize>(), known.bones, "{name}: bones");
        assert_eq!(skeletons().map(Skeleton::v_count).sum::<usize>(), known.dof, "{name}: freedoms");

        // the flesh fills the volume enclosed by the surface; the sampled fill of border tets has an error of a few percent of their
        // small volume
        let enclosed = model.bodies()[0].surface.signed_volume();
        let filled = model.bodies()[0].volume;
        let is_sheet = model.bodies()[0].thickness().is_some();
        assert!(is_sheet || (filled / enclosed - 1.0).abs() < 0.02, "{name}: {filled} m³ in {enclosed} m³");

        // only its poles are fixed to bones
        if matches!(scene.world.bodies[0].shape, ShapeDesc::Skin(_)) {
            continue;
        }

        // every bone has nodes fixed to it, and every motion without obstacles is cyclic
        for (i, rig) in model.rigs().iter().enumerate() {
            for (b, bone) in rig.skeleton.bones().iter().enumerate() {
                let holds = |n: usize| model.bone_of_node(n).is_some_and(|(r, id)| r == i && id.index() == b);
                assert!((0..model.node_count()).any(holds), "{name}: bone '{}' holds nothing", bone.name);
            }
            // motions on the ground play once, but for two penguins who go on waddling and the dance of a dancer who is limp
            let moves = scene.performances[i].motion.is_some();
            let goes_on = ["penguins", "dancer-stairs"].contains(&name);
            let has_ground = !scene.world.obstacles.is_empty() && !goes_on;
            assert!(moves && scene.performances[i].period().is_some() != has_ground, "{name} does not move");
            assert!(scene.performances[i].fault(&rig.skeleton).is_none());
        }
    }
}

/// The first six seconds of a motion, then rest; pins do not move, so that pinned bodies only sag.
fn that_ends(mut scene: Scene) -> Scene {
    for (performance, rig) in scene.performances.iter_mut().zip(&scene.world.rigs) {
        let skeleton = Skeleton::build(&rig.skeleton.with_plain_masses()).expect("sound");
        let motion = performance.motion.take().expect("it moves");
        let period = motion.frame_count() - 1;
        let count = (6.0 / motion.frame_seconds()).round() as usize;
        let frames = (0..=count).flat_map(|i| motion.frame(i % period).to_vec()).collect();
        let ended = SkeletonMotion::build(&skeleton, motion.frame_seconds(), frames).expect("sound");
        performance.motion = Some(ended.with(motion.interpolation, Extrapolation::Hold));
    }
    scene.pin_motions.iter_mut().flatten().for_each(|motion| *motion = Motion::Still);
    scene
}

/// The same scene with a coarse cage. Mass, stiffness and large-scale motion are the same; a finer cage adds short waves, which are
/// damped most. Below this size thin fins and ears would be attached by single elements.
fn coarse(mut scene: Scene) -> Scene {
    for body in &mut scene.world.bodies {
        if let ShapeDesc::Surface { cage, .. } = &mut body.shape {
            *cage = CageSize::Tets(1_200);
        }
    }
    scene
}

/// Kinetic energy of the flesh (J).
fn kinetic(player: &Player) -> f64 {
    let speeds = player.state.node_v.iter().map(|v| v.norm_squared());
    0.5 * player.model.node_mass().iter().zip(speeds).map(|(m, v2)| m * v2).sum::<f64>()
}

/// Simulates each for ten seconds: six of its motion, four to come to rest.
///
/// Joints come to rest within a few τ = 0.15 s. Then the lowest mode has the damping ratio ζ ≥ 0.08 of its material and, by f ≈ √(μ/ρ)/(4 h), a
/// frequency of 1.5 Hz or more: its energy decays as exp(−4π ζ f t), in 3.5 s to 0.005 of its initial value, which is at most the peak. Pinned bodies start by falling
/// into their sag and have all ten seconds, so ζ = 0.05 at 1 Hz is enough, and so is the drag of the air on cloth, 1/s or exp(−10) of its energy. The beam, with ζ = 0.02, vibrates at 2.3 Hz.
#[test]
fn every_character_is_stable_for_ten_seconds_and_comes_to_rest() {
    let has_obstacles =
        |name: &str| !(find(name).expect("in the catalog").build)().world.obstacles.is_empty();
    let names = KNOWN.iter().map(|known| known.name);
    // contact scenes have their own tests
    for name in names.filter(|name| !name.starts_with("starfish-") && !has_obstacles(name)) {
        let scene = match name {
            "beam" => beam(Beam { cubes_across: 2, law: Law::Corotational, damping_ratio: 0.02 }),
            _ => coarse((find(name).expect("in the catalog").build)()),
        };
        let scene = that_ends(scene);
        let mut player = Player::build(&Scene { seconds: 10.0, ..scene }).expect("sound");
        let mut peak = 0.0f64;
        for frame in 0..600 {
            player.advance().unwrap_or_else(|e| panic!("{name}, frame {frame}: {e}"));
            peak = peak.max(kinetic(&player));
        }
        let all = player.state.node_x.iter().chain(&player.state.node_v);
        assert!(all.flat_map(|v| v.iter()).all(|x| x.is_finite()), "{name}");
        let (rest, inverted) = (kinetic(&player), player.summary.max_inverted);
        assert!(rest < 0.005 * peak, "{name}: {rest} J are left of {peak} J");
        assert_eq!(player.summary.retries, 0, "{name} needs smaller steps than predicted");
        // folds at joints may invert a few elements for a short time, not whole parts
        let tets = player.model.tets().len();
        assert!(inverted <= tets / 25, "{name}: {inverted} of {tets} tets inverted");
    }
}

/// The flesh of the dancer moves visibly relative to the bones, by centimetres, in the default cage; a coarser one moves farther. The belly is 0.32 m in front of
/// the spine: more than 0.25 m of motion would look torn off, and a part that comes loose moves farther than that.
#[test]
fn flesh_of_the_dancer_jiggles_visibly() {
    let scene = (find("dancer").expect("in the catalog").build)();
    let mut player = Player::build(&scene).expect("sound");

    // a vertex of belly, arm and thigh, with its bone and the least motion
    let points = [
        ("spine", [0.0, 1.0, 0.3], 0.03),
        ("left upper arm", [0.25, 1.15, -0.02], 0.008),
        ("left thigh", [0.27, 0.74, 0.0], 0.008),
    ];
    let surface = &player.model.bodies()[0].surface;
    let nearest = |p: [f64; 3]| {
        let far = |v: &sinew_math::Vec3| (v - sinew_math::Vec3::from(p)).norm();
        let order = |a: &usize, b: &usize| far(&surface.vertices[*a]).total_cmp(&far(&surface.vertices[*b]));
        (0..surface.vertices.len()).min_by(order).expect("a surface")
    };
    let vertices = points.map(|(_, p, _)| nearest(p));
    let skeleton = &player.model.rigs()[0].skeleton;
    let bones = points.map(|(bone, ..)| skeleton.find_bone(bone).expect("a bone").index());

    // their positions in the frames of the bones over four seconds
    let mut frame = Frame::default();
    let mut seen = [const { Vec::new() }; 3];
    for _ in 0..240 {
        player.advance().expect("a step");
        frame.update(&player.model, &player.state);
        for k in 0..3 {
            let [x, y, z] = frame.surfaces[0][vertices[k]].map(f64::from);
            seen[k].push(frame.bones[0][bones[k]].inverse() * sinew_math::nalgebra::Point3::new(x, y, z));
        }
    }

    // the largest extent of each
    for ((bone, _, least), seen) in points.iter().zip(&seen) {
        let span = |axis: usize| {
            let low = seen.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
            seen.iter().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max) - low
        };
        let widest = (0..3).map(span).fold(0.0, f64::max);
        assert!((*least..0.25).contains(&widest), "{bone}: {widest} m");
    }
}
