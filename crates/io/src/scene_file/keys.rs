//! The table of every key a scene file may have.

use ScenePart::*;
use std::fmt::Write;

/// A part of a scene file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenePart {
    /// The top of the file.
    Scene,
    /// `[[body]]`
    Body,
    /// `[[character]]`
    Character,
    /// `[[character.bone]]`
    Bone,
    /// `[[character.tie]]`
    Tie,
    /// `[character.motion]`
    BoneMotion,
    /// `[[character.key]]`
    Key,
    /// `[[character.cue]]`
    Cue,
    /// `[[obstacle]]`
    Obstacle,
    /// `[contact]`
    Contact,
    /// `[[constraint]]`
    Constraint,
    /// A point that a constraint holds.
    Point,
    /// `belt` of a constraint.
    Belt,
    /// `[solver]`
    Solver,
    /// `[body.material]`
    Material,
    /// `[[body.pin]]`
    Pin,
    /// `[[body.load]]`
    Load,
    /// `region` of a pin or load.
    Region,
    /// `region.box`
    RegionBox,
    /// `region.ball`
    RegionBall,
    /// `motion` of a pin.
    Motion,
    /// `motion.shake`
    MotionShake,
    /// `motion.spin`
    MotionSpin,
    /// `motion.glide`
    MotionGlide,
}

/// A key of a scene file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SceneKey {
    /// The part it stands in.
    pub part: ScenePart,
    /// The key.
    pub name: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// What holds when it is absent.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl ScenePart {
    /// How the part is written in a scene file.
    pub fn heading(self) -> &'static str {
        match self {
            ScenePart::Scene => "the top of the file",
            ScenePart::Body => "[[body]]",
            ScenePart::Character => "[[character]]",
            ScenePart::Bone => "[[character.bone]]",
            ScenePart::Tie => "[[character.tie]]",
            ScenePart::BoneMotion => "[character.motion]",
            ScenePart::Key => "[[character.key]]",
            ScenePart::Cue => "[[character.cue]]",
            ScenePart::Obstacle => "[[obstacle]]",
            ScenePart::Contact => "[contact]",
            ScenePart::Constraint => "[[constraint]]",
            ScenePart::Point => "drag, pin or join = { … }",
            ScenePart::Belt => "belt = { … }",
            ScenePart::Solver => "[solver]",
            ScenePart::Material => "[body.material]",
            ScenePart::Pin => "[[body.pin]]",
            ScenePart::Load => "[[body.load]]",
            ScenePart::Region => "region = { … }",
            ScenePart::RegionBox => "region = { box = { … } }",
            ScenePart::RegionBall => "region = { ball = { … } }",
            ScenePart::Motion => "motion = { … }",
            ScenePart::MotionShake => "motion = { shake = { … } }",
            ScenePart::MotionSpin => "motion = { spin = { … } }",
            ScenePart::MotionGlide => "motion = { glide = { … } }",
        }
    }
}

const fn key(
    part: ScenePart,
    name: &'static str,
    takes: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> SceneKey {
    SceneKey { part, name, takes, default, meaning }
}

const KEYS: [SceneKey; 184] = [
    key(Scene, "seconds", "number", "5", "how long to play (s)"),
    key(Scene, "fps", "number", "60", "frames per second"),
    key(
        Scene,
        "up",
        "\"y\" or \"z\"",
        "\"y\"",
        "the axis that points up: gravity and the named ends follow it",
    ),
    key(Scene, "gravity", "[x, y, z]", "9.81 down", "acceleration of free fall (m/s²)"),
    key(Scene, "body", "list of tables", "none", "the soft bodies, one [[body]] each"),
    key(Scene, "character", "list of tables", "none", "bodies with bones, one [[character]] each"),
    key(Scene, "obstacle", "list of tables", "none", "what bodies touch, one [[obstacle]] each"),
    key(Scene, "contact", "table", "usual", "how touching is answered: [contact]"),
    key(
        Scene,
        "constraint",
        "list of tables",
        "none",
        "points that are dragged, pinned or joined, and belts, one [[constraint]] each",
    ),
    key(Scene, "solver", "table", "explicit", "how steps are taken: [solver]"),
    key(Body, "name", "text", "the file's name", "its name in reports and outputs"),
    key(
        Body,
        "surface",
        "path",
        "this or tets",
        "a closed surface (.obj, .ply, .stl); flesh is built inside it",
    ),
    key(Body, "tets", "path", "this or surface", "a solid of tets (.node or .ele of TetGen)"),
    key(Body, "scale", "number", "1", "what one unit of the file is in metres"),
    key(Body, "translate", "[x, y, z]", "[0, 0, 0]", "how far to move it after scaling (m)"),
    key(Body, "cage_tets", "whole number", "8000", "about how many tets the cage of a surface has"),
    key(Body, "cage_edge", "number", "by cage_tets", "instead, the edge of the cage's cubes (m)"),
    key(Body, "material", "name or table", "\"jelly\"", "what it is made of"),
    key(Body, "velocity", "[x, y, z]", "[0, 0, 0]", "velocity at the start (m/s)"),
    key(Body, "pin", "list of tables", "none", "where it is held, one [[body.pin]] each"),
    key(Body, "load", "list of tables", "none", "what pushes on it, one [[body.load]] each"),
    key(
        Body,
        "sag",
        "name",
        "\"free\"",
        "\"rest-shape\" if it is drawn as it hangs from its pins under its own weight, \"free\" if it sags from there",
    ),
    key(Body, "self_contact", "true or false", "false", "whether its surface may touch itself"),
    key(Character, "name", "text", "the surface's name", "its name in reports and outputs"),
    key(
        Character,
        "file",
        "path",
        "this, skeleton or bone",
        "a rigged character (.glb, .gltf, .vrm); takes can be written back into it",
    ),
    key(
        Character,
        "animation",
        "text",
        "the first",
        "which animation of the file is played, by name or number",
    ),
    key(
        Character,
        "skinned",
        "list of texts",
        "thin and small parts",
        "surfaces of the file that stay as they are skinned, by the name of node, mesh or material",
    ),
    key(
        Character,
        "fleshy",
        "list of texts",
        "none",
        "surfaces of the file that are flesh however thin or small they are",
    ),
    key(
        Character,
        "human",
        "table",
        "by names or build",
        "joints of the file as bones of a human figure, for captured motion: { hips = \"Bip01\" }",
    ),
    key(
        Character,
        "skeleton",
        "path",
        "this, file or bone",
        "a .bvh file whose joints are the bones, with its motion",
    ),
    key(Character, "unit", "number", "0.0564 (CMU)", "metres per unit of that file"),
    key(
        Character,
        "bone",
        "list of tables",
        "this, file or skeleton",
        "the bones, one [[character.bone]] each",
    ),
    key(
        Character,
        "surface",
        "path",
        "flesh around the bones",
        "a closed surface around the bones at rest (.obj, .ply, .stl)",
    ),
    key(
        Character,
        "scale",
        "number",
        "1",
        "what one unit of the surface, or of the rigged file, is in metres",
    ),
    key(
        Character,
        "turn",
        "[x, y, z]",
        "[0, 0, 0]",
        "how a character from a file is turned after scaling: an axis as long as the angle (degrees)",
    ),
    key(
        Character,
        "translate",
        "[x, y, z]",
        "[0, 0, 0]",
        "how far to move the surface, or the character from a file, after that (m)",
    ),
    key(Character, "fullness", "number", "1", "how thick the flesh of a figure without a surface is"),
    key(Character, "cage_tets", "whole number", "8000", "about how many tets the cage has"),
    key(Character, "cage_edge", "number", "by cage_tets", "instead, the edge of the cage's cubes (m)"),
    key(Character, "material", "name or table", "\"fat\"", "what its flesh is made of"),
    key(
        Character,
        "anchored",
        "true or false",
        "false; true with file",
        "whether nodes of the cage are moved exactly onto the middles of bones and fixed there",
    ),
    key(
        Character,
        "sag",
        "name",
        "\"rest-shape\"",
        "what keeps flesh from sagging from its shape: \"rest-shape\" (it is drawn under its own weight, which its stress carries), \"balanced\" (bones bear its weight) or \"free\" (nothing)",
    ),
    key(
        Character,
        "balanced",
        "true or false",
        "by sag",
        "what earlier scenes say for sag = \"balanced\" or \"free\"",
    ),
    key(
        Character,
        "core_stiffness",
        "number",
        "8",
        "how many times as stiff it is at the bones, as muscle under fat",
    ),
    key(
        Character,
        "core_reach",
        "number",
        "0.6",
        "how far from the bones that has faded, as a fraction of the thickest flesh",
    ),
    key(
        Character,
        "tie",
        "list of tables",
        "inside the bones",
        "which nodes are fixed to which bones, one [[character.tie]] each",
    ),
    key(Character, "load", "list of tables", "none", "what pushes on it, one [[character.load]] each"),
    key(Character, "self_contact", "true or false", "false", "whether its surface may touch itself"),
    key(
        Character,
        "mode",
        "\"one-way\", \"two-way\" or \"ragdoll\"",
        "\"one-way\"",
        "bones lead flesh; the root is free and flesh pushes back; all joints are limp",
    ),
    key(Character, "motion", "table", "that of skeleton", "where its joints go"),
    key(Character, "key", "list of tables", "none", "instead, postures at times, one [[character.key]] each"),
    key(Character, "cue", "list of tables", "none", "when joints change hands, one [[character.cue]] each"),
    key(
        Character,
        "run_up",
        "number",
        "0.7 with a motion",
        "time before the take to come from rest to the first pose (s)",
    ),
    key(
        Character,
        "settle",
        "number",
        "0.8",
        "time before the take to hold the first pose while flesh settles (s)",
    ),
    key(
        Character,
        "return",
        "number",
        "0.1",
        "time in which a joint comes back to the motion after something else drove it (s)",
    ),
    key(Bone, "name", "text", "needed", "its name"),
    key(Bone, "parent", "text", "the world", "the bone it hangs from"),
    key(Bone, "from", "[x, y, z]", "needed", "where it begins, and its joint stands, at rest (m)"),
    key(Bone, "to", "[x, y, z]", "from", "where it ends at rest (m)"),
    key(Bone, "radius", "number", "no shape, no mass", "its radius (m)"),
    key(Bone, "density", "number", "1200", "its mass per volume (kg/m³)"),
    key(
        Bone,
        "flesh",
        "number or [from, to]",
        "none",
        "radius of the flesh drawn around it when there is no surface (m)",
    ),
    key(
        Bone,
        "joint",
        "\"fixed\", \"revolute\", \"prismatic\", \"cylindrical\", \"universal\", \"ball\", \"planar\" or \"free\"",
        "\"ball\"; \"free\" for a root",
        "how it moves against its parent",
    ),
    key(Bone, "axis", "[x, y, z]", "needed by some joints", "the joint's axis at rest, or a plane's normal"),
    key(Bone, "second_axis", "[x, y, z]", "needed by universal", "its second axis"),
    key(Bone, "limits", "[lower, upper]", "none", "limits of every coordinate of the joint (degrees, or m)"),
    key(Bone, "stop_stiffness", "number", "0", "stiffness of the stops at the limits (N m/rad or N/m)"),
    key(Bone, "stop_damping", "number", "0", "damping of the stops (N m s/rad or N s/m)"),
    key(Bone, "stiffness", "number", "0", "stiffness of the joint's spring (N m/rad or N/m)"),
    key(Bone, "damping", "number", "0", "damping of the joint (N m s/rad or N s/m)"),
    key(Bone, "armature", "number", "0", "inertia of a rotor in the joint (kg m² or kg)"),
    key(
        Bone,
        "motion_only",
        "true or false",
        "false",
        "whether only a motion may drive the joint, so that it may carry no mass",
    ),
    key(Tie, "bone", "text", "every bone", "the bone"),
    key(Tie, "inside", "number", "one of four", "nodes inside the bone's shape grown by so much (m)"),
    key(Tie, "near", "number", "one of four", "nodes within a distance of the bone's axis (m)"),
    key(Tie, "region", "table", "one of four", "nodes in a region"),
    key(Tie, "nodes", "list of whole numbers", "one of four", "these nodes of the cage"),
    key(
        BoneMotion,
        "bvh",
        "path",
        "the character's own",
        "a .bvh file; its motion is carried over by the names of bones",
    ),
    key(BoneMotion, "unit", "number", "0.0564 (CMU)", "metres per unit of that file"),
    key(BoneMotion, "first", "whole number", "0", "the first frame that is played"),
    key(BoneMotion, "last", "whole number", "the last", "the last frame that is played"),
    key(BoneMotion, "loop", "true or false", "false", "whether it starts again after the last frame"),
    key(
        BoneMotion,
        "smooth",
        "number",
        "8; not for keys",
        "vibrations faster than this are taken for jitter and smoothed away (Hz); 0 to keep all",
    ),
    key(
        BoneMotion,
        "interpolation",
        "\"kochanek-bartels\", \"b-spline\", \"linear\" or \"step\"",
        "\"b-spline\"; \"kochanek-bartels\" for keys",
        "the curve between frames or keys",
    ),
    key(Key, "time", "number", "needed", "when (s)"),
    key(
        Key,
        "pose",
        "table",
        "as before",
        "bones and their coordinates: { neck = [0, 0, 20] } (degrees, or m)",
    ),
    key(Key, "tension", "number", "0", "how tightly the curve passes, from -1 to 1"),
    key(Key, "continuity", "number", "0", "how smoothly it passes, from -1 to 1"),
    key(Key, "bias", "number", "0", "which neighbour it leans to, from -1 to 1"),
    key(Cue, "time", "number", "needed", "from when (s)"),
    key(Cue, "bones", "list of texts", "all", "whose joints"),
    key(Cue, "drive", "\"motion\" or \"limp\"", "this or torque", "what drives them from then on"),
    key(Cue, "torque", "list of numbers", "this or drive", "a torque on the joint of one bone (N m or N)"),
    key(Obstacle, "name", "text", "obstacle-1, …", "its name in reports and pictures"),
    key(Obstacle, "plane", "[x, y, z]", "one of nine", "everything behind a plane with this normal"),
    key(Obstacle, "sphere", "number", "one of nine", "a ball of this radius (m)"),
    key(Obstacle, "box", "[x, y, z]", "one of nine", "a box with these sides (m)"),
    key(
        Obstacle,
        "capsule",
        "[length, radius]",
        "one of nine",
        "a capsule along y; the length is without its round ends (m)",
    ),
    key(Obstacle, "cylinder", "[length, radius]", "one of nine", "a cylinder along y (m)"),
    key(Obstacle, "hull", "path", "one of nine", "the convex hull of a surface (.obj, .ply, .stl)"),
    key(
        Obstacle,
        "mesh",
        "path",
        "one of nine",
        "a surface; closed ones are solid, open ones are felt on their front",
    ),
    key(
        Obstacle,
        "grid",
        "path",
        "one of nine",
        "a closed surface as distances on a grid, coarser and faster than mesh",
    ),
    key(
        Obstacle,
        "heights",
        "list of numbers",
        "one of nine",
        "heights of ground along y, row by row in x (m)",
    ),
    key(Obstacle, "columns", "whole number", "needed by heights", "how many heights a row has"),
    key(Obstacle, "spacing", "number", "needed by heights", "how far apart they are (m)"),
    key(Obstacle, "cells", "whole number", "48", "cells of a grid along its longest side"),
    key(Obstacle, "scale", "number", "1", "what one unit of the file is in metres"),
    key(Obstacle, "position", "[x, y, z]", "[0, 0, 0]", "where its origin is (m)"),
    key(
        Obstacle,
        "turn",
        "[x, y, z]",
        "[0, 0, 0]",
        "how it is turned: an axis as long as the angle (degrees)",
    ),
    key(Obstacle, "motion", "table", "it stays", "how it moves"),
    key(
        Obstacle,
        "density",
        "number",
        "it is not free",
        "mass per volume of one that moves by itself (kg/m³)",
    ),
    key(Obstacle, "velocity", "[x, y, z]", "[0, 0, 0]", "velocity of a free one at the start (m/s)"),
    key(
        Obstacle,
        "spin",
        "[x, y, z]",
        "[0, 0, 0]",
        "angular velocity of a free one at the start (degrees per second)",
    ),
    key(Obstacle, "friction", "number", "of [contact]", "coefficient of friction against it"),
    key(
        Obstacle,
        "stiffness",
        "number",
        "1",
        "how many times as stiff as usual touching it is; above 1 steps are shorter",
    ),
    key(
        Obstacle,
        "part_of",
        "text",
        "it is a whole",
        "the obstacle above that it is a part of and moves with; a free one fills it with its density",
    ),
    key(Obstacle, "glass", "true or false", "false", "whether pictures see through it"),
    key(Contact, "friction", "number", "0.6", "coefficient of friction"),
    key(
        Contact,
        "stiffness",
        "number",
        "1",
        "how many times as stiff as usual touching is; above 1 steps are shorter",
    ),
    key(
        Contact,
        "response",
        "\"penalty\", \"projection\" or \"impulse\"",
        "\"penalty\"",
        "springs; the deepest point of each cell put back at once; velocities turned round",
    ),
    key(Contact, "restitution", "number", "0", "fraction of the velocity that an impulse turns round"),
    key(Contact, "bodies", "true or false", "true with obstacles", "whether bodies touch each other"),
    key(Contact, "longest_step", "number", "0.002", "no sub-step is longer where something may touch (s)"),
    key(Constraint, "name", "text", "constraint-1, …", "its name in reports"),
    key(Constraint, "drag", "table", "one of four", "a point that is pulled softly"),
    key(Constraint, "pin", "table", "one of four", "a point that is held as stiffly as the step allows"),
    key(
        Constraint,
        "join",
        "list of two tables",
        "one of four",
        "two points that are held at a distance from each other",
    ),
    key(Constraint, "belt", "table", "one of four", "a belt around a body"),
    key(
        Constraint,
        "place",
        "[x, y, z]",
        "where the point is at rest",
        "where a point is dragged to or held (m)",
    ),
    key(
        Constraint,
        "path",
        "list of [seconds, x, y, z]",
        "it stays",
        "where a point is dragged to or held, at times (m)",
    ),
    key(Constraint, "motion", "table", "it stays", "instead, how its place moves"),
    key(
        Constraint,
        "length",
        "number",
        "as at rest",
        "distance of joined points, or length of a belt without tension (m)",
    ),
    key(
        Constraint,
        "lengths",
        "list of [seconds, fraction]",
        "1",
        "that length at times, in parts of it: below 1 a belt is tightened",
    ),
    key(Constraint, "rope", "true or false", "false", "whether a join pulls but never pushes"),
    key(
        Constraint,
        "strengths",
        "list of [seconds, fraction]",
        "1",
        "how strong it is at times, from 0, let go, to 1",
    ),
    key(
        Constraint,
        "interpolation",
        "\"kochanek-bartels\", \"b-spline\", \"linear\" or \"step\"",
        "\"kochanek-bartels\"",
        "the curve between times",
    ),
    key(Constraint, "loop", "true or false", "false", "whether all starts again after the last time"),
    key(
        Constraint,
        "stiffness",
        "number",
        "by mass and step",
        "its stiffness (N/m); above what the step allows, steps are shorter",
    ),
    key(Constraint, "damping", "number", "0.5 of drags, 0.127", "fraction of critical damping"),
    key(Point, "body", "text", "one of three", "the body that the point belongs to"),
    key(
        Point,
        "surface",
        "[x, y, z]",
        "one of three with body",
        "the point of its surface nearest to this place at rest (m)",
    ),
    key(
        Point,
        "inside",
        "[x, y, z]",
        "one of three with body",
        "the point of its flesh at this place at rest (m)",
    ),
    key(
        Point,
        "region",
        "table",
        "one of three with body",
        "the middle of all points of its surface in a region, pulled alike",
    ),
    key(Point, "character", "text", "one of three", "the character whose bone the point belongs to"),
    key(Point, "bone", "text", "needed with character", "the bone"),
    key(Point, "obstacle", "text", "one of three", "the obstacle that the point belongs to"),
    key(
        Point,
        "place",
        "[x, y, z]",
        "its own origin",
        "where the point of a bone or an obstacle is at rest (m)",
    ),
    key(Belt, "body", "text", "needed", "the body"),
    key(Belt, "center", "[x, y, z]", "needed", "a point of the plane that the belt lies in at rest (m)"),
    key(Belt, "axis", "[x, y, z]", "needed", "the normal of that plane"),
    key(
        Solver,
        "kind",
        "\"explicit\", \"implicit\" or \"auto\"",
        "\"explicit\"",
        "many small steps that keep energy; one stable step per frame that damps; whichever costs less",
    ),
    key(
        Solver,
        "accuracy",
        "\"interactive\" or \"accurate\"",
        "\"accurate\"",
        "implicit steps are solved to a thousandth or to a hundred-thousandth",
    ),
    key(Solver, "substeps", "whole number", "1", "implicit steps per frame; more damp motion less"),
    key(
        Solver,
        "order",
        "1 or 2",
        "1",
        "implicit steps that damp all that swings, or steps of two solves that keep swings of ten frames or more",
    ),
    key(
        Solver,
        "budget",
        "number",
        "none",
        "seconds that solving an implicit step may take; the best state found is kept, and runs are no longer alike",
    ),
    key(Material, "name", "text", "\"jelly\"", "the named material whose numbers hold where none are given"),
    key(
        Material,
        "law",
        "\"stvk\", \"corotational\" or \"neo-hookean\"",
        "of name",
        "how stress follows strain",
    ),
    key(Material, "young", "number", "of name", "Young's modulus (Pa)"),
    key(Material, "poisson", "number", "of name", "Poisson's ratio, from 0 to below 0.5"),
    key(Material, "density", "number", "of name", "mass per volume (kg/m³)"),
    key(Material, "damping", "number", "of name", "fraction of critical damping of the slowest vibration"),
    key(
        Material,
        "stretch_limits",
        "[lower, upper]",
        "[0.75, 1.4]",
        "the stretches between which stvk holds unchanged",
    ),
    key(Pin, "region", "table", "needed", "which nodes are held"),
    key(Pin, "motion", "table", "held still", "how what is held moves"),
    key(Load, "region", "table", "needed", "which surface vertices share the force"),
    key(Load, "force", "[x, y, z]", "needed", "the whole force (N)"),
    key(
        Region,
        "end",
        "\"top\", \"bottom\", \"left\", \"right\", \"front\", \"back\" or [x, y, z]",
        "one of four",
        "the far end of the body along a direction",
    ),
    key(
        Region,
        "fraction",
        "number",
        "0.1",
        "how much of the body's extent belongs to the end, above 0 and at most 1",
    ),
    key(Region, "box", "table", "one of four", "all points in a box with sides along the axes"),
    key(Region, "ball", "table", "one of four", "all points in a ball"),
    key(Region, "nearest", "[x, y, z]", "one of four", "the single point nearest to a place (m)"),
    key(RegionBox, "min", "[x, y, z]", "needed", "smallest coordinates (m)"),
    key(RegionBox, "max", "[x, y, z]", "needed", "largest coordinates (m)"),
    key(RegionBall, "center", "[x, y, z]", "needed", "its centre (m)"),
    key(RegionBall, "radius", "number", "needed", "its radius (m)"),
    key(Motion, "shake", "table", "one of three", "to and fro about the start"),
    key(Motion, "spin", "table", "one of three", "round an axis at a steady rate"),
    key(Motion, "glide", "table", "one of three", "along a straight line"),
    key(MotionShake, "amplitude", "[x, y, z]", "needed", "largest displacement (m)"),
    key(MotionShake, "frequency", "number", "needed", "swings per second (Hz)"),
    key(MotionSpin, "axis", "[x, y, z]", "needed", "the axis; its length does not matter"),
    key(MotionSpin, "center", "[x, y, z]", "[0, 0, 0]", "a point on the axis (m)"),
    key(MotionSpin, "rate", "number", "needed", "turns per second (Hz)"),
    key(MotionGlide, "velocity", "[x, y, z]", "needed", "its velocity (m/s)"),
];

/// Every key of a scene file, part by part.
pub fn scene_keys() -> impl Iterator<Item = SceneKey> {
    KEYS.into_iter()
}

/// The table of every key, as Markdown.
pub fn scene_keys_table() -> String {
    let mut text = String::new();
    let mut part = None;
    for key in scene_keys() {
        if part != Some(key.part) {
            let gap = if part.is_some() { "\n" } else { "" };
            let heading = match key.part {
                Scene => "Top of the file".to_owned(),
                other => format!("`{}`", other.heading()),
            };
            let columns = "| key | takes | default | meaning |\n| --- | --- | --- | --- |";
            let _ = writeln!(text, "{gap}### {heading}\n\n{columns}");
            part = Some(key.part);
        }
        let SceneKey { name, takes, default, meaning, .. } = key;
        let _ = writeln!(text, "| `{name}` | {takes} | {default} | {meaning} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_has_a_key_twice_and_parts_stand_together() {
        let keys: Vec<SceneKey> = scene_keys().collect();
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].iter().any(|k| (k.part, k.name) == (key.part, key.name)), "{key:?}");
        }
        let headings = scene_keys_table().matches("###").count();
        assert_eq!(headings, 24);
    }
}
