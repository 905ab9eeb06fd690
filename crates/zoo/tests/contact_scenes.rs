//! Contact scenes: characters locomote by joints and friction alone, and falling bodies come to rest.

use core::f64::consts::{FRAC_PI_2, TAU};
use sinew_math::{Isometry, Vec3, nalgebra::Point3, real};
use sinew_sim::Overlap;
use sinew_sim::desc::ObstacleDesc;
use sinew_sim::implicit::{ImplicitSettings, Solver};
use sinew_take::{Frame, Player, Scene};
use sinew_zoo::find;

fn scene(name: &str) -> Scene {
    (find(name).expect("in the catalog").build)()
}

fn without_friction(mut scene: Scene) -> Scene {
    scene.world.contact.friction = 0.0;
    scene
}

/// Quantities recorded in each frame of a scene.
#[derive(Default)]
struct Seen {
    /// Displacement of the centre of mass since the start (m), the integral of momentum over mass.
    way: Vec<Vec3>,
    /// Its velocity (m/s).
    velocity: Vec<Vec3>,
    /// The height of the lowest vertex (m).
    lowest: Vec<f64>,
    /// The surface of the first body.
    surfaces: Vec<Vec<Vec3>>,
    /// Pose of the root of the first skeleton, if there is one.
    roots: Vec<Isometry>,
}

fn play(scene: &Scene) -> Seen {
    let mut player = Player::build(scene).expect("sound");
    let (mass, dt) = (player.model.mass(), 1.0 / scene.fps);
    let mut seen = Seen::default();
    let mut frame = Frame::default();
    let mut way = Vec3::zeros();
    let velocity = |player: &Player| player.state.momentum(&player.model) / mass;
    player.preroll(|_, _| {}).expect("a step");
    let mut last = velocity(&player);
    for i in 0..scene.frame_count() {
        player.advance().unwrap_or_else(|e| panic!("{}, frame {i}: {e}", scene.name));
        let now = velocity(&player);
        way += 0.5 * dt * (last + now);
        last = now;
        frame.update(&player.model, &player.state);
        let surface: Vec<Vec3> = frame.surfaces[0].iter().map(|v| Vec3::from(v.map(f64::from))).collect();
        seen.way.push(way);
        seen.velocity.push(now);
        seen.lowest.push(surface.iter().map(|v| v.y).fold(f64::INFINITY, f64::min));
        seen.surfaces.push(surface);
        seen.roots.extend(frame.bones.first().map(|bones| bones[0]));
    }
    seen
}

fn level(v: &Vec3) -> f64 {
    v.x.hypot(v.z)
}

/// Largest penetration of free flesh into the ground (m). Penalty springs of 0.35 μ/h² at a step of 2 ms yield by some millimetres under a body with few
/// contact vertices, and by v h = 6 mm more at an impact of 3 m/s.
const DIP: f64 = 0.025;

/// The arc rotates 0.8 times a second for 3.9 s with its axis 0.04 to 0.055 m above the ground: at least 2π · 3.12 · 0.04 = 0.78 m. Without friction
/// there is no horizontal force; only its velocity at the release of the root remains, some millimetres a second for six seconds.
#[test]
fn worm_rolls_by_friction_alone() {
    let rolling = play(&scene("worm-roll"));
    let end = rolling.way.last().expect("frames");
    assert!(end.x > 0.75 && end.z.abs() < 0.2, "{end:?}");
    assert!(rolling.lowest.iter().all(|y| *y > -DIP));
    // it comes to rest
    assert!(rolling.velocity.last().expect("frames").norm() < 0.05);
    let slipping = play(&without_friction(scene("worm-roll")));
    assert!(slipping.way.iter().all(|way| level(way) < 0.05));
}

/// A leap is an interval without ground contact. Three snaps move a body of 0.5 m by a good part of its length; without friction they do not.
#[test]
fn fish_leaps_and_advances_by_friction() {
    let leaping = play(&scene("fish-jump"));
    let clear = |y: &&f64| **y > 0.01;
    let in_the_air = leaping.lowest[60..].iter().filter(clear).count();
    assert!(in_the_air >= 6, "{in_the_air} frames in the air");
    let end = leaping.way.last().expect("frames");
    assert!(level(end) > 0.2, "{end:?}");
    assert!(leaping.lowest.iter().all(|y| *y > -DIP));
    let slipping = play(&without_friction(scene("fish-jump")));
    assert!(slipping.way.iter().all(|way| level(way) < 0.05));
}

/// Friction brings the pot to rest on the ground within its five seconds; the remaining vibration is below a millimetre at the 10 Hz or more of so small a body. Without friction
/// its horizontal velocity stays 1 m/s to round-off.
#[test]
fn pot_comes_to_rest_with_friction_and_slides_on_without() {
    let pot = play(&scene("pot"));
    let end = pot.surfaces.len() - 1;
    assert!(pot.velocity[end].norm() < 0.05, "{:?}", pot.velocity[end]);
    assert!((-0.005..0.005).contains(&pot.lowest[end]), "{}", pot.lowest[end]);
    assert!(pot.lowest.iter().all(|y| *y > -DIP));
    let slippery = play(&scene("pot-slippery"));
    assert!(slippery.velocity.iter().all(|v| (v.x - 1.0).abs() < 1e-6 && v.z.abs() < 1e-6));
    assert!((-0.005..0.02).contains(&slippery.lowest[end]), "{}", slippery.lowest[end]);
}

/// The duck stays inside all five walls, up to the penetration of soft flesh, does not leave by the open front, and is upside down at some time.
#[test]
fn duck_stays_in_the_box() {
    let scene = scene("duck-box");
    let duck = play(&scene);
    let walls = &scene.world.obstacles;
    assert_eq!(walls.len(), 5);
    let rest = &duck.surfaces[0];
    let highest = |surface: &[Vec3]| {
        (0..surface.len()).max_by(|a, b| surface[*a].y.total_cmp(&surface[*b].y)).expect("a surface")
    };
    let head = highest(rest);
    let mut upside_down = false;
    for (i, surface) in duck.surfaces.iter().enumerate() {
        let time = (i + 1) as f64 / scene.fps;
        for (wall, motion) in walls.iter().zip(&scene.obstacle_motions) {
            let wall_from_world = (motion.world_from_rest(time) * wall.pose).inverse();
            let deepest = surface
                .iter()
                .map(|v| wall.shape.probe(&(wall_from_world * Point3::from(*v)).coords).distance);
            let deepest = deepest.fold(f64::INFINITY, f64::min);
            assert!(deepest > -0.015, "{time} s: {deepest} m in '{}'", wall.name);
        }
        let middle = surface.iter().sum::<Vec3>() / surface.len() as f64;
        assert!(middle.norm() < 0.35, "{time} s: out of the box at {middle:?}");
        upside_down |= surface[head].y < middle.y - 0.02;
    }
    assert!(upside_down);
}

/// The rotation of a root about the vertical since the start (rad), including full turns.
fn heading(roots: &[Isometry]) -> f64 {
    let angle = |root: &Isometry| {
        let ahead = root.rotation * Vec3::z();
        real::atan2(ahead.x, ahead.z)
    };
    let step = |pair: &[Isometry]| {
        let by = angle(&pair[1]) - angle(&pair[0]);
        by - TAU * (by / TAU).round()
    };
    roots.windows(2).map(step).sum()
}

/// Bent by direct control and straightened by key poses it leaves the ground, and rests limp in the end.
#[test]
fn directed_fish_leaps() {
    let fish = play(&scene("fish-directed"));
    let flight = fish.lowest[55..].iter().filter(|y| **y > 0.005).count();
    assert!(flight >= 3, "{flight} frames");
    assert!(fish.velocity.last().expect("frames").norm() < 0.1);
}

/// Bent into a ring it turns over more than once and travels by a large part of its circumference, 0.7 m, upright all the way.
#[test]
fn directed_worm_rolls_as_a_ring() {
    let worm = play(&scene("worm-directed"));
    let angle = |root: &Isometry| {
        let along = root.rotation * Vec3::x();
        real::atan2(along.y, along.x)
    };
    let step = |pair: &[Isometry]| {
        let by = angle(&pair[1]) - angle(&pair[0]);
        by - TAU * (by / TAU).round()
    };
    let turned: f64 = worm.roots.windows(2).map(step).sum();
    let tilt = worm.roots.iter().map(|root| (root.rotation * Vec3::z()).y.abs()).fold(0.0, f64::max);
    let way = worm.way.last().expect("frames").x;
    assert!(turned > TAU && way < -0.5 && tilt < 0.2, "{turned} rad, {way} m, {tilt}");
}

/// Its centre asked for a leap and a turn: it leaves the ground and lands turned, the right way up.
#[test]
fn directed_starfish_leaps_and_turns() {
    let star = play(&scene("starfish-directed"));
    let flight = star.lowest[40..].iter().filter(|y| **y > 0.005).count();
    let turned = heading(&star.roots).to_degrees();
    let up = star.roots.last().expect("frames").rotation * Vec3::y();
    assert!(flight >= 3 && turned.abs() > 20.0 && up.y > 0.9, "{flight} {turned} {up:?}");
}

/// It leaves the ground, lands rotated by a quarter turn or more, and lies the right way up.
#[test]
fn starfish_turns_in_the_air() {
    let turning = play(&scene("starfish-turn"));
    assert!(turning.lowest[50..].iter().filter(|y| **y > 0.005).count() >= 3);
    let turned = heading(&turning.roots);
    assert!(turned.abs() > FRAC_PI_2, "{} degrees", turned.to_degrees());
    let up = turning.roots.last().expect("frames").rotation * Vec3::y();
    assert!(up.y > 0.9, "{up:?}");
    assert!(turning.lowest.iter().all(|y| *y > -DIP));
}

/// Until its third leap the starfish stays under the cage; then the cage lies upside down beside it. While it is trapped no vertex penetrates the glass, 10 mm thick, by
/// more than `DIP`.
#[test]
fn starfish_overturns_the_cage() {
    let scene = scene("starfish-cage");
    let mut player = Player::build(&scene).expect("sound");
    player.preroll(|_, _| {}).expect("a step");
    let mut frame = Frame::default();
    let mut seen = Vec::new();
    for _ in 0..scene.frame_count() {
        player.advance().expect("a step");
        frame.update(&player.model, &player.state);
        let cage = frame.obstacles[1].pose;
        let in_cage = |p: &[f32; 3]| (cage.inverse() * Point3::from(Vec3::from(p.map(f64::from)))).coords;
        let most = frame.surfaces[0].iter().map(in_cage).fold(Vec3::zeros(), |most, p| most.sup(&p.abs()));
        let highest = frame.surfaces[0].iter().map(|p| in_cage(p).y).fold(f64::NEG_INFINITY, f64::max);
        seen.push((frame.bones[0][0].translation.vector, cage, most, highest));
    }
    let trapped = 3.2 * scene.fps;
    for (middle, cage, most, highest) in &seen[..trapped as usize] {
        assert!((cage.rotation * Vec3::y()).y > 0.9, "the cage stands");
        assert!(most.x.max(most.z) < 0.18 + DIP && *highest < -0.005 + DIP, "{most:?} {highest}");
        assert!(middle.y > 0.0);
    }
    let (middle, cage, ..) = seen.last().expect("frames");
    assert!((cage.rotation * Vec3::y()).y < -0.9, "the cage lies upside down");
    assert!(level(&(middle - cage.translation.vector)) > 0.2, "{middle:?} {cage:?}");
    // it lies on its lid, 10 mm thick, to a millimetre
    assert!((cage.translation.vector.y - 0.005).abs() < 1e-3, "{cage:?}");
}

/// The largest penetration of the dancer into herself and into the floor within two seconds, and her size (m).
fn dancer_overlap(collides_with_itself: bool, solver: Solver) -> (Overlap, f64) {
    let mut scene = scene("dancer");
    scene.solver = solver;
    scene.world.obstacles.push(ObstacleDesc::ground(-0.003));
    if collides_with_itself {
        scene.world.contact.self_contact.push("dancer".into());
    }
    scene.seconds = 2.0;
    let mut player = Player::build(&scene).expect("sound");
    player.preroll(|_, _| {}).expect("a step");
    let (low, high) = player.model.bodies()[0].surface.bounds().expect("a surface");
    let size = (high - low).max();
    let mut most = Overlap::default();
    for frame in 0..scene.frame_count() {
        player.advance().expect("a step");
        if frame % 10 == 9 {
            let Overlap { surfaces, obstacles } = Overlap::of(&player.model, &player.state);
            most =
                Overlap { surfaces: most.surfaces.max(surfaces), obstacles: most.obstacles.max(obstacles) };
        }
    }
    (most, size)
}

/// No vertex penetrates her own flesh or the floor by more than 2 % of her height; without self-contact the penetration is more than twice as deep. The same holds for
/// implicit steps.
#[test]
fn dancer_does_not_penetrate_herself_or_the_floor() {
    let (free, _) = dancer_overlap(false, Solver::Explicit);
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::INTERACTIVE)] {
        let (with_contact, size) = dancer_overlap(true, solver);
        assert!(
            with_contact.surfaces < 0.02 * size && with_contact.obstacles < 0.02 * size,
            "{with_contact:?} of {size}"
        );
        assert!(
            free.surfaces > 2.0 * with_contact.surfaces && free.surfaces > 0.005,
            "{free:?} {with_contact:?}"
        );
    }
}

/// Two penguins meet and do not pass through each other: the axes of their bellies, of a radius of about 0.15 m, come closer than half a metre, and never closer than a radius.
#[test]
fn penguins_collide() {
    let scene = scene("penguins");
    let mut player = Player::build(&scene).expect("sound");
    let mut closest = f64::INFINITY;
    for i in 0..scene.frame_count() {
        player.advance().unwrap_or_else(|e| panic!("frame {i}: {e}"));
        let middle = |body: usize| {
            let nodes = player.model.bodies()[body].nodes.clone();
            nodes.clone().map(|node| player.state.node_x[node]).sum::<Vec3>() / nodes.len() as f64
        };
        closest = closest.min((middle(0) - middle(1)).norm());
    }
    assert!((0.15..0.5).contains(&closest), "they come as close as {closest} m");
}

/// The root mean square of the speed of all mass (m/s).
fn speed(player: &Player) -> f64 {
    (2.0 * player.state.energies(&player.model).kinetic / player.model.mass()).sqrt()
}

/// Ten creatures lie in the bowl, on each other, and only ducks still roll: nothing is below it by more than a tenth of the thickness of an arm of a starfish, 40 mm, and none has passed through another, where it would be in it by half of that. Tips of fins, thinner than contact reaches, stay in flesh that they were pressed into.
#[test]
fn creatures_pile_up_in_a_bowl() {
    let scene = scene("pile");
    let mut player = Player::build(&scene).expect("sound");
    assert_eq!(Overlap::of(&player.model, &player.state).surfaces, 0.0);
    player.play(&mut [], |_| {}).expect("a take");
    let speed = speed(&player);
    assert!(speed < 0.3, "{speed} m/s at the end");
    let (model, state) = (&player.model, &player.state);
    let overlap = Overlap::of(model, state);
    assert!(overlap.surfaces < 20e-3 && overlap.obstacles < 4e-3, "{overlap:?}");
    let highest = |body: &sinew_sim::Body| {
        body.nodes.clone().map(|node| state.node_x[node].y).fold(f64::NEG_INFINITY, f64::max)
    };
    let top = model.bodies().iter().map(highest).fold(f64::NEG_INFINITY, f64::max);
    // ten layers would be a column of a metre; all beside each other would be as high as the largest, 0.17 m
    assert!((0.12..0.4).contains(&top), "the pile is {top} m high");
}

/// The limp dancer falls down at least four steps of 0.17 m and comes to rest on the stairs, head first, with at most 2 % of her tets inverted at once and 3 % of her size in the stairs, the bars of falls. No limb of hers has passed through
/// another: they are 90 mm thick and more. She may sway at a tenth of the speed of the fall, √(2 g · 1.4 m).
#[test]
fn dancer_falls_down_the_stairs() {
    let scene = scene("dancer-stairs");
    let mut player = Player::build(&scene).expect("sound");
    let center = |player: &Player| {
        let nodes = player.state.node_x.iter().zip(player.model.node_mass());
        nodes.map(|(x, mass)| x.y * mass).sum::<f64>() / player.model.node_mass().iter().sum::<f64>()
    };
    let (start, at_start) = (center(&player), Overlap::of_vertices(&player.model, &player.state));
    player.play(&mut [], |_| {}).expect("a take");
    let fallen = start - center(&player);
    assert!(fallen > 4.0 * 0.17, "falls by {fallen} m");
    assert!(speed(&player) < 0.5, "{} m/s at the end", speed(&player));
    let inverted = player.summary.max_inverted as f64 / player.model.tets().len() as f64;
    assert!(inverted < 0.02, "{inverted} inverted");
    let now = Overlap::of_vertices(&player.model, &player.state);
    let deeper = now.iter().zip(&at_start).map(|(now, start)| now - start).fold(0.0, f64::max);
    let sunk = Overlap::in_obstacles(&player.model, &player.state);
    assert!(deeper < 0.09 && sunk < 0.03 * 1.75, "{deeper} m in herself, {sunk} m in the stairs");
}
