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

const KEYS: [SceneKey; 45] = [
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
    key(Scene, "body", "list of tables", "needed", "the soft bodies, one [[body]] each"),
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
    key(Material, "damping", "number", "of name", "share of critical damping of the slowest vibration"),
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
        "share",
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
        assert_eq!(headings, 12);
    }
}
