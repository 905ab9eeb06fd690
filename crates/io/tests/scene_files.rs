//! Scene files: every key works, every mistake is named with its line and the nearest right word.

use proptest::prelude::*;
use sinew_control::{Approach, BoneSelection, CueDrive, Extrapolation, Motion, SkeletonMotion};
use sinew_flesh::{Fabric, Law, Material};
use sinew_io::{Loaded, read_scene, read_scene_text, scene_keys, scene_keys_table};
use sinew_math::Vec3;
use sinew_sim::desc::{
    CageSize, Hold, Mobility, NetworkDesc, NetworkKind, Region, Sag, Shape, ShapeDesc, SheetElements,
};
use sinew_sim::{ImplicitContact, ImplicitSettings, Solver, StepOrder};
use sinew_skeleton::{DriveRule, JointKind, MassDesc};
use std::path::Path;
use tempfile::TempDir;

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

/// Uses every key there is.
const WHOLE: &str = r#"
seconds = 2.5
fps = 24
up = "z"
gravity = [0, 0, -1.62]
angles = "degrees"
preroll = 1.75

[[body]]
name = "first"
surface = "a.obj"
scale = 0.1
translate = [0, 1, 0]
cage_tets = 500
velocity = [0, 0, 1]
air_drag = 0.25
stiffness_factor = 0.5
damping_factor = 2
friction_factor = { keys = [[0, 1], [1, 0]] }
friction = 0.8
contact_stiffness = 1.5

[body.material]
name = "fat"
law = "stvk"
young = 3e3
poisson = 0.4
density = 900
damping = 0.1
stretch_limits = [0.8, 1.3]

[[body.pin]]
region = { end = "top", fraction = 0.2 }
motion = { shake = { amplitude = [0.1, 0, 0], frequency = 1.5 } }

[[body.pin]]
region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }
motion.spin = { axis = [0, 0, 2], center = [1, 0, 0], rate = 0.5 }

[[body.pin]]
region = { ball = { center = [0, 0, 0], radius = 0.5 } }
motion = { glide = { velocity = [0, 0, 1] } }

[[body.load]]
region = { nearest = [1, 2, 3] }
force = [0, 0, -5]

[[body]]
surface = "a.obj"
cage_edge = 0.05
material = "rubber"
kind = "cloth"
fabric = { name = "silk", areal_density = 0.1, stretch = 500, poisson = 0.1, bending = 1e-5, damping = 2 }
elements = "springs"
thickness = 0.002
self_contact = true

[[body]]
tets = "t.ele"
sag = "rest-shape"

[[character]]
name = "snake"
surface = "a.obj"
anchored = true
sag = "free"
velocity = [0, 0, 2]
core_stiffness = 4
core_reach = 0.5
mode = "two-way"
preroll_approach = 0.2
preroll_hold = 0.3
preroll_loop = 1
return = 0.05
max_torque = 12
motion = { loop = true, interpolation = "linear" }

[[character.bone]]
name = "tail"
joint = "revolute"
axis = [0, 0, 1]
from = [0, 0, 0]
to = [0.4, 0, 0]
radius = 0.1
density = 500
flesh = [0.2, 0.1]
limits = [-90, 45]
stop_stiffness = 10
stop_damping = 0.1
stiffness = 2
spring_rest = 20
damping = 0.3
armature = 0.01
motion_only = true

[[character.bone]]
name = "head"
parent = "tail"
joint = "universal"
axis = [0, 0, 1]
second_axis = [0, 1, 0]
offset = [0.4, 0, 0]
tip = [0.1, 0, 0]
rotation = [0, 0, 0.6, 0.8]
radius = 0.05

[[character.bone]]
name = "tongue"
parent = "head"
joint = "fixed"
from = [0.5, 0, 0]
mass = 0.2
center = [0.01, 0, 0]
inertia = [0.1, 0.2, 0.3, 0.01, 0.02, 0.03]

[[character.tie]]
bone = "head"
inside = 0.01
[[character.tie]]
near = 0.3
[[character.tie]]
bone = "tail"
nodes = [0, 1]

[[character.key]]
time = 0.5
pose = { tail = 30, head = [0, 10] }
tension = 0.5
continuity = -0.5
bias = 0.1
[[character.key]]
time = 1
pose = { tail = 0 }

[[character.cue]]
time = 0.7
bones = ["tail", "head"]
drive = "limp"
[[character.cue]]
time = 0.9
bones = ["head"]
torque = [0.1, 0.2]
[[character.cue]]
time = 1.5
bones = "roots"
drive = "motion"
[[character.goal]]
name = "lick"
bone = "tongue"
point = [0.5, 0, 0]
path = [[0, 0.5, 0, 0], [1, 0.4, 0.1, 0]]
turns = [[0, 0, 0, 0], [1, 0, 0, 1.5]]
interpolation = "linear"
loop = true
begin = 0.5
end = 2
priority = 3
reach_time = 0.2
blend = 0.15
[[character.goal]]
skin = [0.1, 0, 0]
body = "snake"
place = [0.1, 0, 0.2]
turn = [0, 0.1, 0]

[[character.pin]]
region = { nearest = [0, 0, 0] }

[[character]]
tets = "t.node"
motion = { frames = "f.csv", frame_seconds = 0.5 }
[[character.bone]]
name = "only"
joint = "revolute"
axis = [0, 1, 0]
from = [0, 0, 0]
radius = 0.1

[[character]]
skeleton = "m.bvh"
unit = 0.01
fullness = 0.9
sag = "balanced"
motion = { bvh = "m.bvh", unit = 0.01, first = 1, last = 2, smooth = 4 }

[contact]
friction = 0.4
stiffness = 2
bodies = false
longest_step = 0.001

[solver]
kind = "auto"
accuracy = "interactive"
tolerance = 0.002
max_newton = 7
max_inner = 70
substeps = 3
order = 2
contact = "barrier"
exact = "multipliers"
budget = 0.02

[[obstacle]]
name = "ground"
plane = [0, 0, 2]
position = [0, 0, -1]
friction = 0.9
stiffness = 4

[[obstacle]]
sphere = 0.2
density = 500
velocity = [1, 0, 0]
spin = [0, 180, 0]

[[obstacle]]
box = [1, 2, 3]
turn = [0, 90, 0]
motion = { glide = { velocity = [0, 0, 1] } }

[[obstacle]]
capsule = [1, 0.2]
rotation = [0, 1, 0, 1]
mobility = "kinematic"

[[obstacle]]
cylinder = [1, 0.3]

[[obstacle]]
hull = "a.obj"
scale = 0.5

[[obstacle]]
mesh = "a.obj"

[[obstacle]]
grid = "a.obj"
cells = 8

[[obstacle]]
heights = [0, 0, 0, 1, 1, 1]
columns = 3
spacing = 0.5

[[obstacle]]
box = [1, 1, 1]
part_of = "obstacle-2"
glass = true

[[constraint]]
name = "hand"
drag = { body = "first", surface = [0, 1, 0] }
path = [[0, 0, 1, 0], [0.5, 0, 1, 0.5]]
strengths = [[0, 1], [2, 0]]
interpolation = "linear"
loop = true
stiffness = 40
damping = 0.2

[[constraint]]
pin = { character = "snake", bone = "head", place = [0.4, 0, 0] }
place = [0.4, 0, 0.1]
motion = { glide = { velocity = [0, 0, 1] } }

[[constraint]]
join = [{ body = "a", region = { end = "top" } }, { obstacle = "obstacle-2" }]
length = 0.3
rope = true

[[constraint]]
join = [{ body = "a", inside = [0, 0, 0] }, { character = "snake", bone = "tail" }]

[[constraint]]
belt = { body = "first", center = [0, 0, 0], axis = [0, 0, 2] }
lengths = [[0, 1], [1, 0.5]]

[[constraint]]
pin = { body = "first", surface = [1, 0, 0] }
exact = true

[[metaphor]]
name = "squeeze"
body = "first"
kind = "stretch"
magnitude = -0.5
origin = [0, 0, 0]
axis = [1, 0, 0]
normal = [0, 1, 0]
near = 0.1
far = 0.5
radius = 0.4
net = true
frame = "cone"

[[muscle]]
name = "pull"
body = "first"

[[edit]]
time = 1.25
gravity = [0, 0, 1]
body = [{ name = "first", material = { young = 5e3 }, pin = [{ number = 2 }] }]
obstacle = [{ name = "ground", still = true }]
remove = ["hand"]
character = [{ name = "snake", mode = "direct", remove_goal = ["lick"], goal = [{ name = "nod", bone = "head", place = [0, 0, 1] }] }]
remove_metaphor = ["squeeze"]
activation = { pull = 0.5 }

[[edit]]
time = 2

[[edit.body]]
name = "first"

[[edit.body.pin]]
number = 1

[edit.body.pin.motion.keyed]
turns = [0, 0, { keys = [[0, 0], [1, 0.25]], interpolation = "linear", loop = true, snap = true }]
center = [0, 0, 1]

[[edit.body.pin.motion.keyed.translation]]
keys = [
    { time = 0, value = 0, slope = 1 },
    { time = 1, value = 0.1, left = [-0.2, 0], right = [0.3, 0] },
]

[[edit.body.pin.motion.keyed.translation]]
keys = [[0, 0]]

[[edit.body.pin.motion.keyed.translation]]
keys = [[0, 0]]
"#;

/// A figure of legs and a spine that nods.
const BVH: &str = "HIERARCHY
ROOT Hips
{
OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
JOINT Spine
{
OFFSET 0 10 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0 40 0
}
}
JOINT LeftUpLeg
{
OFFSET 10 -5 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0 -80 0
}
}
JOINT RightUpLeg
{
OFFSET -10 -5 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0 -80 0
}
}
}
MOTION
Frames: 3
Frame Time: 0.1
0 90 0 0 0 0 0 0 0 0 0 0 0 0 0
0 90 1 0 0 0 0 5 0 0 0 0 0 0 0
0 90 2 0 0 0 0 9 0 0 0 0 0 0 0
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.obj", OBJ);
    write("t.node", "4 3\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
    write("t.ele", "1 4\n0 0 1 3 2\n");
    write("m.bvh", BVH);
    write("fat.csv", "x,y,z,softness\n0,0.3,0,1.5\n");
    write("f.csv", "only.angle\n0.25\n0.5\n");
    write("scene.toml", WHOLE);
    folder
}

#[path = "scene_files/constraints.rs"]
mod constraints;
#[path = "scene_files/skinned.rs"]
mod skinned;
use skinned::SKINNED;

/// The keys of a character from a file, which is alone in its scene.
const RIGGED: &str = "
muscle = [
    { name = 'pull', body = 'first', surface = 'a.obj', fibres = [1, 0, 0], stress = 2e5, optimal = 1.1, passive = 0.5, young = 2e4, poisson = 0.48, activation = { keys = [[0, 0], [1, 1]] } },
    { body = 'first', radius = 0.1, origin = { place = [0, 0, 0], radius = 0.05 }, insertion = { place = [1, 0, 0] }, own_tissue = false },
    { body = 'snake', line = true, force = 100, origin = { place = [0, 0, 0], bone = 'head' }, via = [{ place = [0.1, 0, 0], bone = 'head' }], insertion = { place = [0.2, 0, 0], bone = 'tail' }, driver = { bone = 'tail', coordinate = 1, keys = [[0, 0], [90, 1]] } },
]
[[character]]
file = 'hero.glb'
animation = 'walk'
skinned = ['hair']
fleshy = ['ears']
softness = { Belly = 2 }
softness_color = 'COLOR_0.r'
softness_texture = 'soft.png'
softness_points = 'soft.csv'
shape = 'physical'
jiggle = 0.5
limit = 0.4
joint_limits = false
joint_damping = 0.5
human = { hips = 'Bip01' }
human_muscles = { 'left biceps' = 0.5 }
";

fn error_of(text: &str, folder: &Path) -> String {
    read_scene_text(text, "scene", folder).unwrap_err().to_string()
}

/// The goals of [`WHOLE`].
fn check_goals(performance: &sinew_control::Performance) {
    assert_eq!(performance.max_torque, Some(12.0));
    let [lick, skin] = &performance.goals[..] else { panic!() };
    assert_eq!((lick.begin, lick.end, lick.priority, lick.reach_time), (0.5, 2.0, 3, 0.2));
    assert_eq!((lick.blend, skin.blend), (0.15, 0.3));
    assert_eq!(lick.place.value(0.5), Vec3::new(0.45, 0.05, 0.0));
    assert_eq!(lick.turn.as_ref().unwrap().value(1.5), Vec3::new(0.0, 0.0, 0.75));
    let place = Vec3::new(0.1, 0.0, 0.0);
    assert_eq!(skin.point, sinew_control::GoalPoint::Skin { body: "snake".into(), place });
    assert_eq!((skin.name.as_str(), skin.end, skin.priority), ("goal-2", f64::INFINITY, 1));
}

/// The cloth of [`WHOLE`].
fn check_cloth(shape: &ShapeDesc) {
    let ShapeDesc::Network(NetworkDesc { mesh, kind }) = shape else { panic!() };
    assert!(matches!(**mesh, ShapeDesc::Surface { cage: CageSize::Edge(0.05), .. }));
    let fabric = Fabric { areal_density: 0.1, stretch: 500.0, poisson: 0.1, bending: 1e-5, damping: 2.0 };
    let (thickness, elements) = (Some(0.002), SheetElements::Springs);
    assert_eq!(*kind, NetworkKind::Cloth { fabric, thickness, elements });
}

#[test]
fn every_key_reaches_the_scene() {
    let folder = folder();
    let Loaded { value: scene, notes } = read_scene(&folder.path().join("scene.toml")).unwrap();
    let sags: Vec<Sag> = scene.world.bodies.iter().map(|body| body.sag).collect();
    let last_two = [Sag::RestShape, Sag::Balanced];
    assert_eq!(sags, [&[Sag::Free, Sag::Free, Sag::RestShape, Sag::Free], &last_two[..]].concat());
    assert_eq!((scene.name.as_str(), scene.seconds, scene.fps), ("scene", 2.5, 24.0));
    assert_eq!(scene.world.gravity, Vec3::new(0.0, 0.0, -1.62));
    assert!(notes[0].starts_with("t: 1 of 1 tets"), "{:?}", notes);
    let [first, second, third, snake, solid, walker] = &scene.world.bodies[..] else { panic!() };
    assert_eq!([&first.name, &second.name, &third.name], ["first", "a", "t"]);
    let ShapeDesc::Surface { surface, cage: CageSize::Tets(500) } = &first.shape else { panic!() };
    assert_eq!(surface.vertices[1], Vec3::new(0.1, 1.0, 0.0));
    check_cloth(&second.shape);
    assert!(matches!(third.shape, ShapeDesc::Tets(_)));
    assert_eq!((first.velocity, first.air_drag), (Vec3::new(0.0, 0.0, 1.0), 0.25));
    let Law::StVenantKirchhoff(limits) = first.material.law else { panic!() };
    assert_eq!((limits.lower, limits.upper), (0.8, 1.3));
    assert_eq!((first.material.young, first.material.poisson), (3e3, 0.4));
    assert_eq!((first.material.density, first.material.damping_ratio), (900.0, 0.1));
    assert_eq!(Some(second.material), Material::named("rubber"));
    assert_eq!(Some(third.material), Material::named("jelly"));
    // with z up, the top is at +z
    assert_eq!(first.pins[0].region, Region::End { direction: Vec3::z(), fraction: 0.2 });
    assert_eq!(first.pins[1].region, Region::Box { min: Vec3::zeros(), max: Vec3::repeat(1.0) });
    assert_eq!(first.pins[2].region, Region::Ball { center: Vec3::zeros(), radius: 0.5 });
    assert_eq!(first.loads[0].region, Region::Nearest(Vec3::new(1.0, 2.0, 3.0)));
    assert_eq!(first.loads[0].force, Vec3::new(0.0, 0.0, -5.0));
    let [shake, spin, glide] = &scene.pin_motions[0][..] else { panic!() };
    assert_eq!(*shake, Motion::Shake { amplitude: Vec3::new(0.1, 0.0, 0.0), frequency: 1.5 });
    assert_eq!(*spin, Motion::Spin { axis: Vec3::new(0.0, 0.0, 2.0), center: Vec3::x(), rate: 0.5 });
    assert_eq!(*glide, Motion::Glide { velocity: Vec3::z() });
    assert!(scene.pin_motions[1].is_empty() && scene.pin_motions[2].is_empty());

    // characters
    assert_eq!([&snake.name, &solid.name, &walker.name], ["snake", "t-2", "character"]);
    assert!(matches!(solid.shape, ShapeDesc::Tets(_)));
    assert_eq!((snake.velocity, &snake.pins[0].region), (2.0 * Vec3::z(), &Region::Nearest(Vec3::zeros())));
    assert_eq!(scene.pin_motions[3], [Motion::Still]);
    let attachment = snake.attachment.as_ref().unwrap();
    assert_eq!((attachment.core.stiffness, attachment.core.reach, attachment.anchored), (4.0, 0.5, true));
    let holds = [Hold::Inside { margin: 0.01 }, Hold::Near { distance: 0.3 }, Hold::Nodes(vec![0, 1])];
    assert_eq!(
        attachment.ties.iter().map(|tie| &tie.hold).collect::<Vec<_>>(),
        holds.iter().collect::<Vec<_>>()
    );
    let [tail, head, tongue] = &scene.world.rigs[0].skeleton.bones[..] else { panic!() };
    let dof = &tail.joint.dofs[0];
    assert_eq!((dof.stiffness, dof.damping, dof.armature), (2.0, 0.3, 0.01));
    assert_eq!((dof.limit_stiffness, dof.limit_damping), (10.0, 0.1));
    assert_eq!(dof.rest, 20.0 * (core::f64::consts::PI / 180.0));
    assert!((dof.lower + core::f64::consts::FRAC_PI_2).abs() < 1e-15 && dof.upper > 0.78 && dof.upper < 0.79);
    assert_eq!(tail.joint.drive, DriveRule::MotionOnly);
    assert!(matches!(&tail.mass, MassDesc::Solid { density, .. } if *density == 500.0));
    assert_eq!(head.joint.kind, JointKind::Universal(Vec3::z(), Vec3::y()));
    assert_eq!(head.parent_from_joint.translation.vector, Vec3::new(0.4, 0.0, 0.0));
    // a quarter turn and more about z: what is ahead in the world is to the side of the bone
    assert_eq!(head.parent_from_joint.rotation.k, 0.6);
    let begin = head.parent_from_joint.rotation * tongue.parent_from_joint.translation.vector;
    assert!((begin - Vec3::new(0.1, 0.0, 0.0)).norm() < 1e-12);
    let MassDesc::Given(mass) = &tongue.mass else { panic!() };
    assert_eq!((mass.mass, mass.center, mass.tensor[(0, 2)]), (0.2, Vec3::new(0.01, 0.0, 0.0), 0.02));
    let performance = &scene.performances[0];
    assert_eq!(performance.cues.len(), 4);
    assert_eq!((performance.cues[0].time, &performance.cues[0].bones), (0.0, &BoneSelection::Roots));
    assert_eq!(performance.cues[2].drive, CueDrive::Torque(vec![0.1.into(), 0.2.into()]));
    assert_eq!(performance.cues[3].bones, BoneSelection::Roots);
    assert_eq!(performance.approach, Some(Approach { begin: -1.5, end: -1.3 }));
    assert_eq!(performance.loop_preroll, 1.0);
    assert_eq!(performance.follow.time_constant, 0.05);
    check_goals(performance);
    let motion = performance.motion.as_ref().unwrap();
    assert_eq!((motion.extrapolation, motion.seconds()), (Extrapolation::Loop, 1.0));
    // linear from 30° at 0.5 s to 0 at 1 s
    assert!((motion.sample(0.75).q[0] - 15f64.to_radians()).abs() < 1e-12);
    let frames = scene.performances[1].motion.as_ref().unwrap();
    assert_eq!((frames.frame_seconds(), frames.frame(0), frames.frame(1)), (0.5, &[0.25][..], &[0.5][..]));
    assert_eq!(scene.performances[2].motion.as_ref().map(SkeletonMotion::frame_count), Some(2));
    assert_eq!((scene.preroll, scene.world.rigs[2].skeleton.bones.len()), (1.75, 4));
}

#[test]
fn the_solver_reaches_the_scene_and_explicit_steps_have_no_settings() {
    let folder = folder();
    let scene = read_scene(&folder.path().join("scene.toml")).unwrap().value;
    let settings = ImplicitSettings {
        tolerance: 0.002,
        max_newton: 7,
        max_inner: 70,
        substeps: 3,
        order: StepOrder::Second,
        contact: ImplicitContact::Barrier,
        exact: sinew_sim::ExactMethod::Multipliers,
        budget: Some(0.02),
    };
    assert_eq!(scene.solver, Solver::Auto(settings));
    let body = "[[body]]\nsurface = 'a.obj'\n";
    let read = |text: &str| read_scene_text(&format!("{body}{text}"), "s", folder.path());
    assert_eq!(read("").unwrap().value.solver, Solver::Explicit);
    let accurate = Solver::Implicit(ImplicitSettings::ACCURATE);
    assert_eq!(read("[solver]\nkind = 'implicit'").unwrap().value.solver, accurate);
    for (text, said) in [
        ("[solver]\naccuracy = 'accurate'", "line 4: `accuracy` needs kind"),
        ("[solver]\nkind = 'implict'", "implicit"),
        ("[solver]\nkind = 'auto'\nsubsteps = 1.5", "a whole number from 1 to 1000"),
        ("[solver]\nkind = 'auto'\norder = 3", "1 or 2"),
        ("[solver]\nkind = 'auto'\nbudget = 0", "`budget` is 0: it must be above 0"),
        ("[solver]\norder = 2", "`order` needs kind"),
        ("[solver]\ncontact = 'barrier'", "`contact` needs kind"),
        ("[solver]\nkind = 'implicit'\ncontact = 'spring'", "springs"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn every_obstacle_reaches_the_scene() {
    let folder = folder();
    let scene = read_scene(&folder.path().join("scene.toml")).unwrap().value;
    let contact = &scene.world.contact;
    assert_eq!((contact.friction, contact.stiffness, contact.longest_step), (0.4, 2.0, 0.001));
    assert_eq!((contact.between_bodies, &contact.self_contact[..]), (false, &["a".to_owned()][..]));
    let material = contact.material(&scene.world.bodies[0].name);
    assert_eq!((contact.bodies.len(), material.friction, material.stiffness), (1, Some(0.8), 1.5));
    let all = &scene.world.obstacles;
    assert_eq!(all.len(), 10);
    assert_eq!((all[0].name.as_str(), all[1].name.as_str()), ("ground", "obstacle-2"));
    assert_eq!(all[0].shape, Shape::Plane { normal: Vec3::z() });
    assert_eq!((all[0].pose.translation.vector, all[0].friction), (-Vec3::z(), Some(0.9)));
    assert_eq!((all[0].stiffness, all[0].mobility), (4.0, Mobility::Fixed));
    let Mobility::Free { density, velocity, spin } = all[1].mobility else { panic!() };
    assert_eq!((density, velocity), (500.0, Vec3::x()));
    assert!((spin.y - core::f64::consts::PI).abs() < 1e-12);
    assert_eq!(all[2].shape, Shape::Cuboid { half: Vec3::new(0.5, 1.0, 1.5) });
    assert_eq!(
        (all[2].mobility, scene.obstacle_motions[2].clone()),
        (Mobility::Kinematic, Motion::Glide { velocity: Vec3::z() })
    );
    assert!((all[2].pose.rotation * Vec3::z() - Vec3::x()).norm() < 1e-12);
    assert_eq!(all[3].shape, Shape::Capsule { half_length: 0.5, radius: 0.2 });
    assert_eq!(all[3].mobility, Mobility::Kinematic);
    assert!((all[3].pose.rotation * Vec3::z() - Vec3::x()).norm() < 1e-12);
    assert_eq!(all[4].shape, Shape::Cylinder { half_length: 0.5, radius: 0.3 });
    assert!(matches!(&all[5].shape, Shape::Convex(hull) if hull.surface().vertices.len() == 4));
    assert!(matches!(&all[6].shape, Shape::Mesh(_)) && matches!(&all[7].shape, Shape::Grid(_)));
    assert!((all[8].shape.probe(&Vec3::new(0.0, 0.5, 0.0)).distance).abs() < 1e-12);
    assert_eq!((all[9].mobility, all[9].is_glass, all[8].is_glass), (Mobility::PartOf(1), true, false));
    let read = |part: &str| {
        let text = format!(
            "[[body]]\nsurface = 'a.obj'\n[[obstacle]]\nname = 'a'\nsphere = 1\n[[obstacle]]\nsphere = 1\n{part}"
        );
        read_scene_text(&text, "s", folder.path()).unwrap_err().to_string()
    };
    for (part, said) in [
        ("part_of = 'b'", "line 8: no obstacle above is named `b`"),
        ("part_of = 'a'\ndensity = 3", "line 9: `density` and `part_of` cannot be combined"),
    ] {
        assert!(read(part).contains(said), "{}", read(part));
    }
}

/// One word makes another body of the same mesh; what does not fit it is told.
#[test]
fn the_kind_of_a_body_is_one_key() {
    let folder = folder();
    let kind_of = |keys: &str| {
        let text = format!("[[body]]\nsurface = 'a.obj'\n{keys}");
        let scene = read_scene_text(&text, "s", folder.path()).map_err(|error| error.to_string())?.value;
        match &scene.world.bodies[0].shape {
            ShapeDesc::Network(NetworkDesc { kind, .. }) => Ok(Some(*kind)),
            _ => Ok::<_, String>(None),
        }
    };
    assert_eq!(kind_of("kind = 'flesh'"), Ok(None));
    assert_eq!(kind_of("kind = 'solid'"), Ok(Some(NetworkKind::Solid)));
    let (fabric, thickness, elements) = (Fabric::default(), None, SheetElements::Triangles);
    assert_eq!(kind_of("kind = 'cloth'"), Ok(Some(NetworkKind::Cloth { fabric, thickness, elements })));
    // a hundredth of the diagonal of the unit tetrahedron, √3
    let shell = NetworkKind::Shell { thickness: 0.01 * 3f64.sqrt(), elements };
    assert_eq!(kind_of("kind = 'shell'\nmaterial = 'rubber'"), Ok(Some(shell)));
    assert_eq!(kind_of("kind = 'cloth'\nmaterial = 'rubber'"), Ok(Some(shell)));
    let refused = |keys: &str| kind_of(keys).unwrap_err();
    assert!(refused("fabric = 'silk'").contains("`fabric` needs kind = \"cloth\""));
    assert!(refused("kind = 'shell'\nfabric = 'silk'").contains("made of its material"));
    assert!(refused("thickness = 0.1").contains("`thickness` needs kind"));
    assert!(refused("kind = 'cloth'\nfabric = { stretch = -1 }").contains("stretch = -1 N/m"));
}

#[test]
fn the_whole_scene_uses_every_documented_key() {
    let table = scene_keys_table();
    for key in scene_keys() {
        assert!([WHOLE, RIGGED, SKINNED].iter().any(|text| text.contains(key.name)), "{}", key.name);
        assert!(table.contains(&format!("| `{}` |", key.name)));
    }
}

#[test]
fn an_edit_changes_what_it_says_and_keeps_the_rest() {
    let folder = folder();
    let scene = read_scene_text(WHOLE, "s", folder.path()).unwrap().value;
    let mut edited = scene.clone();
    scene.edits[0].apply(&mut edited).unwrap();
    let (before, after) = (&scene.world.bodies[0].material, &edited.world.bodies[0].material);
    assert_eq!(*after, sinew_flesh::Material { young: 5e3, ..*before });
    assert_eq!((edited.world.gravity, edited.pin_motions[0][1].clone()), (Vec3::z(), Motion::Still));
    assert_eq!(edited.world.constraints.len() + 1, scene.world.constraints.len());
    assert_eq!(scene.edits[0].frame(scene.fps), 30);
    let goals: Vec<&str> = edited.performances[0].goals.iter().map(|goal| goal.name.as_str()).collect();
    // the goal that is removed ends with the edit, and lets go over its blend
    assert_eq!(goals, ["lick", "goal-2", "nod"]);
    assert_eq!(edited.performances[0].goals[0].end, scene.edits[0].time);
    let drives: Vec<&CueDrive> = edited.performances[0].cues.iter().map(|cue| &cue.drive).take(2).collect();
    assert_eq!(drives, [&CueDrive::Direct, &CueDrive::Limp]);

    // what there is not
    for (edit, said) in [
        ("body = [{ name = 'b', air_drag = 1 }]", "line 4: the edit at 1 s: there is no body 'b'"),
        ("obstacle = [{ name = 'b', still = true }]", "there is no obstacle 'b': the scene has none"),
        ("constraint = [{ pin = { body = 'a', surface = [0, 0, 0] } }]", "needs `name`"),
        ("character = [{ name = 'a', mode = 'ragdoll' }]", "there is no skeleton 'a'"),
        ("seconds = 3", "it belongs in the top of the file"),
    ] {
        let text = format!("[[body]]\nsurface = 'a.obj'\n[[edit]]\ntime = 1\n{edit}");
        let error = error_of(&text, folder.path());
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn what_is_not_said_has_the_documented_default() {
    let folder = folder();
    let scene = read_scene_text("[[body]]\nsurface = 'a.obj'", "s", folder.path()).unwrap().value;
    assert_eq!((scene.seconds, scene.fps), (5.0, 60.0));
    assert_eq!(scene.world.gravity, Vec3::new(0.0, -9.81, 0.0));
    assert_eq!(scene.world.bodies[0].sag, Sag::Free);
    let figure =
        read_scene_text("[[character]]\nskeleton = 'm.bvh'\nunit = 0.01", "s", folder.path()).unwrap().value;
    assert_eq!(figure.world.bodies[0].sag, Sag::RestShape);
    assert!(matches!(scene.world.bodies[0].shape, ShapeDesc::Surface { cage: CageSize::Tets(8000), .. }));
    let z_up = read_scene_text("up = 'z'\n[[body]]\nsurface = 'a.obj'", "s", folder.path()).unwrap().value;
    assert_eq!(z_up.world.gravity, Vec3::new(0.0, 0.0, -9.81));
}

/// A removed key is dropped with a note where it asks for what is done anyway, as in every take recorded before, and rejected with the reason otherwise.
#[test]
fn removed_keys_are_dropped_or_rejected_with_the_reason() {
    let folder = folder();
    let read = |text: &str| {
        let text = format!("[[body]]\nsurface = 'a.obj'\n[contact]\n{text}\n");
        read_scene_text(&text, "s", folder.path())
    };
    let told = read("response = 'penalty'").unwrap().notes;
    assert!(told.contains(&"line 4: `response` has been removed and can be left out".to_owned()), "{told:?}");
    for (text, said) in [
        (
            "response = 'projection'",
            "line 4: `response` has been removed: \"projection\" and \"impulse\" gained energy",
        ),
        ("response = 3", "line 4: `response` has been removed"),
        ("restitution = 0.3", "line 4: `restitution` has been removed"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// Scenes that were written before a key got its name of today, in takes for example.
#[test]
fn old_names_are_read_with_a_note_that_gives_the_new_one() {
    let folder = folder();
    let old = "[[body]]\nsurface = 'a.obj'\n[[body.pin]]\nregion = { end = 'top', share = 0.2 }\n\
               [[character]]\nskeleton = 'm.bvh'\nunit = 0.01\nrun_up = 0.2\nsettle = 0.3\nbalanced = true\n";
    let new = old
        .replace("share", "fraction")
        .replace("run_up", "preroll_approach")
        .replace("settle", "preroll_hold")
        .replace("balanced = true", "sag = 'balanced'");
    let read = |text: &str| read_scene_text(text, "s", folder.path()).unwrap();
    let (was, is) = (read(old), read(&new));
    assert_eq!(format!("{:?}", was.value), format!("{:?}", is.value));
    assert_eq!(was.value.world.bodies[1].sag, Sag::Balanced);
    let told: Vec<&String> = was.notes.iter().filter(|note| !is.notes.contains(note)).collect();
    assert_eq!(
        told,
        [
            "line 4: `share` has been renamed to `fraction`; the old name still works",
            "line 8: `run_up` has been renamed to `preroll_approach`; the old name still works",
            "line 9: `settle` has been renamed to `preroll_hold`; the old name still works",
            "line 10: `balanced` has been renamed to `sag`; the old name still works",
        ]
    );
    assert_eq!(read(&old.replace("true", "false")).value.world.bodies[1].sag, Sag::Free);
    for (text, said) in [
        (old.replace("true", "true\nsag = 'free'"), "line 10: `sag` and `balanced` cannot be combined"),
        (old.replace("true", "3"), "line 10: `balanced` is a whole number: it takes true or false"),
        (
            old.replace("settle = 0.3", "settle = -1"),
            "line 9: `preroll_hold` is -1: it must be from 0 to 600",
        ),
    ] {
        let error = error_of(&text, folder.path());
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn all_that_is_wrong_is_told_together_in_the_order_of_lines() {
    let folder = folder();
    let text =
        "seconds = -1\n[[body]]\nsurfce = 'a.obj'\nscale = 'x'\n[[obstacle]]\nsphere = 1\nbox = [1, 1, 1]";
    let errors = read_scene_text(text, "s", folder.path()).unwrap_err();
    let lines: Vec<String> =
        errors.errors.iter().map(|e| e.to_string().split(':').next().unwrap().into()).collect();
    assert_eq!(lines, ["line 1", "line 3", "line 4", "line 7"], "{errors}");
}

#[test]
fn whole_numbers_may_be_written_with_a_point() {
    let folder = folder();
    let text = "[[body]]\nsurface = 'a.obj'\ncage_tets = 5e3";
    let scene = read_scene_text(text, "s", folder.path()).unwrap().value;
    assert!(matches!(scene.world.bodies[0].shape, ShapeDesc::Surface { cage: CageSize::Tets(5000), .. }));
}

#[test]
fn angles_are_read_in_the_unit_of_the_file() {
    let folder = folder();
    let text = "angles = 'radians'\n[[body]]\nsurface = 'a.obj'\n[[obstacle]]\nsphere = 1\ndensity = 1\nspin = [0, 1.5, 0]";
    let scene = read_scene_text(text, "s", folder.path()).unwrap().value;
    let Mobility::Free { spin, .. } = scene.world.obstacles[0].mobility else { panic!() };
    assert_eq!(spin, Vec3::new(0.0, 1.5, 0.0));
}

#[test]
fn every_key_misspelt_is_named_with_its_line_and_the_right_one() {
    let folder = folder();
    // a misspelt [[body]] leaves [body.material] without its body, which TOML itself refuses, and so for characters
    for key in scene_keys().filter(|key| key.name.len() > 3 && !["body", "character"].contains(&key.name)) {
        // drop the third letter of the key where it first stands as a key
        let wrong = format!("{}{}", &key.name[..2], &key.name[3..]);
        let find = |text: &'static str| {
            let is_key = |&(at, _): &(usize, &str)| {
                let (before, after) = (&text[..at], &text[at + key.name.len()..]);
                before.ends_with(['\n', ' ', '[', '.']) && after.starts_with([' ', ']'])
            };
            Some((text, text.match_indices(key.name).find(is_key)?.0))
        };
        let (whole, at) = find(WHOLE).or_else(|| find(RIGGED)).or_else(|| find(SKINNED)).unwrap();
        let text = format!("{}{wrong}{}", &whole[..at], &whole[at + key.name.len()..]);
        let error = error_of(&text, folder.path());
        assert!(error.contains(&format!("`{wrong}` is not a key of")), "{error}");
        assert!(error.contains(&format!("did you mean `{}`?", key.name)), "{error}");
        let line = 1 + whole[..at].matches('\n').count();
        assert!(error.starts_with(&format!("line {line}:")), "{} at {line}: {error}", key.name);
    }
}

#[test]
fn mistakes_are_told_with_what_is_accepted() {
    let folder = folder();
    for (from, to, words) in [
        ("seconds = 2.5", "seconds = 0", "line 2: `seconds` is 0: it must be above 0"),
        ("seconds = 2.5", "seconds = nan", "`seconds` is NaN"),
        ("seconds = 2.5", "seconds = '5'", "`seconds` is the text \"5\": it takes a number"),
        ("fps = 24", "fps = true", "line 3: `fps` is true"),
        ("up = \"z\"", "up = \"x\"", "must be one of \"y\", \"z\""),
        ("gravity = [0, 0, -1.62]", "gravity = [0, 0]", "has 2 numbers: it takes a list of 3 numbers"),
        ("gravity = [0, 0, -1.62]", "gravity = [0, 0, inf]", "contains inf"),
        ("gravity = [0, 0, -1.62]", "young = 5", "it belongs in [body.material]"),
        ("gravity = [0, 0, -1.62]", "colour = 5", "which has `seconds`, `fps`"),
        ("scale = 0.1", "scale = -1", "line 12: `scale` is -1: it must be above 0"),
        ("cage_tets = 500", "cage_tets = 500\ncage_edge = 1", "cannot be combined"),
        ("cage_tets = 500", "cage_tets = 1.5", "whole number"),
        ("surface = \"a.obj\"", "surface = \"b.obj\"", "b.obj: no such file"),
        ("surface = \"a.obj\"", "surface = \"b.obj\"", "(line 11 of the scene)"),
        ("surface = \"a.obj\"", "", "line 9: [[body]] needs one of `surface`, `tets`"),
        ("surface = \"a.obj\"", "surface = \"a.obj\"\ntets = \"t.ele\"", "`surface` and `tets` cannot"),
        ("tets = \"t.ele\"", "tets = \"a.obj\"", "use it as `surface`"),
        ("tets = \"t.ele\"", "tets = \"t.ele\"\ncage_edge = 1", "tets have no cage"),
        ("\"rubber\"", "\"ruber\"", "did you mean \"rubber\"?"),
        ("\"rubber\"", "7", "`material` is a whole number: it takes one of \"jelly\""),
        ("\"rubber\"", "7", "or a table: [body.material]"),
        ("law = \"stvk\"", "law = \"corotational\"", "`stretch_limits` needs law = \"stvk\""),
        ("poisson = 0.4", "poisson = 0.5", "poisson = 0.5 is outside"),
        ("stretch_limits = [0.8, 1.3]", "stretch_limits = [0.3, 1.3]", "stretch limits [0.3, 1.3]"),
        ("end = \"top\"", "end = \"tpo\"", "did you mean \"top\"?"),
        ("end = \"top\"", "end = [0, 0, 0]", "`end` is zero"),
        ("fraction = 0.2", "fraction = 1.5", "`fraction` is 1.5"),
        ("max = [1, 1, 1]", "max = [1, -1, 1]", "below `min`"),
        ("max = [1, 1, 1]", "", "line 37: region = { box = { … } } needs `max`"),
        ("radius = 0.5", "radius = 0", "`radius` is 0"),
        ("axis = [0, 0, 2]", "axis = [0, 0, 0]", "`axis` is zero"),
        ("frequency = 1.5", "frequency = -1", "`frequency` is -1"),
        ("region = { nearest = [1, 2, 3] }", "", "line 44: [[body.load]] needs `region`"),
        ("nearest = [1, 2, 3]", "nearest = [1, 2, 3], fraction = 0.5", "`fraction` needs `end`"),
        ("cage_edge = 0.05", "name = \"first\"", "a body above is also named `first`"),
        ("fps = 24", "fps = 24 24", "line 3: not valid TOML"),
    ] {
        assert!(WHOLE.contains(from), "{from}");
        let error = error_of(&WHOLE.replacen(from, to, 1), folder.path());
        assert!(error.contains(words), "{to}: {error}");
    }
    assert!(error_of("[[bdoy]]\nsurface = 'a.obj'", folder.path()).contains("did you mean `body`?"));
    assert!(error_of("", folder.path()).contains("no body"));
    assert!(error_of("body = 3", folder.path()).contains("a list of tables"));
    assert!(error_of("[body]\nsurface = 'a.obj'", folder.path()).contains("each begun with [[body]]"));
}

#[test]
fn an_error_in_a_scene_names_the_scene_file() {
    let folder = folder();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, "secnds = 3").unwrap();
    assert!(read_scene(&path).unwrap_err().to_string().contains("scene.toml, line 1: `secnds`"));
    std::fs::write(&path, b"\xff\xfe").unwrap();
    assert!(read_scene(&path).unwrap_err().to_string().contains("UTF-8"));
    assert!(read_scene(&folder.path().join("none.toml")).unwrap_err().to_string().contains("no such file"));
}

#[test]
fn deep_nesting_ends_in_an_error() {
    let folder = folder();
    error_of(&format!("gravity = {}", "[".repeat(100_000)), folder.path());
    error_of(&format!("body = {}", "{a=".repeat(100_000)), folder.path());
    error_of(&format!("[{}a]", "a.".repeat(50_000)), folder.path());
}

fn changed_scene() -> impl Strategy<Value = String> {
    let piece = (any::<prop::sample::Index>(), 0usize..30, "[ -~\n]{0,6}");
    prop::collection::vec(piece, 1..4).prop_map(|pieces| {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for (at, length, new) in pieces {
            let start = at.index(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, new.chars());
            if text.is_empty() {
                break;
            }
        }
        text.into_iter().collect()
    })
}

fn word_salad() -> impl Strategy<Value = String> {
    let mut words: Vec<&str> = scene_keys().map(|key| key.name).collect();
    words.extend([
        "=", "=", "=", "[", "]", "[[", "]]", "{", "}", ",", "\n", "\n", "1", "-2.5", "nan", "'a.obj'",
    ]);
    words.extend(["\"top\"", "[0, 1, 0]", "true", "1979-05-27", ".", "[[body]]\n", "surface = 'a.obj'\n"]);
    prop::collection::vec(prop::sample::select(words), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}", changed in changed_scene(), salad in word_salad()) {
        // the meshes stay unread: what fails on them is tested above
        let nowhere = Path::new("nowhere");
        for text in [text, changed, salad] {
            prop_assert!(read_scene_text(&text, "s", nowhere).is_err());
        }
    }
}
