//! What the mouse does in viewports.

use sinew_io::tables::MetaphorChoice;

/// A tool of the mouse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Selects bodies and bones.
    #[default]
    Select,
    /// Pulls flesh on a spring.
    Pull,
    /// Drags bones; joints follow by inverse kinematics.
    Reach,
    /// Drags bones; joints accelerate as physics allows.
    Direct,
    /// Stretches, bends, twists or pushes a part of a body.
    Metaphor(MetaphorChoice),
    /// Paints how soft flesh is, or how thick the fat under skin.
    Paint,
    /// Places joints in a body without bones.
    Joints,
}

impl Tool {
    /// All tools, in the order of the tool bar.
    pub const ALL: [Tool; 10] = [
        Tool::Select,
        Tool::Pull,
        Tool::Reach,
        Tool::Direct,
        Tool::Metaphor(MetaphorChoice::Stretch),
        Tool::Metaphor(MetaphorChoice::Bend),
        Tool::Metaphor(MetaphorChoice::Twist),
        Tool::Metaphor(MetaphorChoice::Push),
        Tool::Paint,
        Tool::Joints,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Select => "Select",
            Tool::Pull => "Pull",
            Tool::Reach => "Reach",
            Tool::Direct => "Direct",
            Tool::Metaphor(MetaphorChoice::Stretch) => "Stretch",
            Tool::Metaphor(MetaphorChoice::Bend) => "Bend",
            Tool::Metaphor(MetaphorChoice::Twist) => "Twist",
            Tool::Metaphor(MetaphorChoice::Push) => "Push",
            Tool::Paint => "Paint",
            Tool::Joints => "Joints",
        }
    }

    /// What it does, in a sentence.
    pub fn hint(self) -> &'static str {
        match self {
            Tool::Select => "Click a body or a bone to select it",
            Tool::Pull => "Drag flesh: it follows on a spring while time runs, and becomes an edit",
            Tool::Reach => "Drag a joint: the others bend to reach (inverse kinematics)",
            Tool::Direct => "Drag a joint: joints accelerate as physics allows, the character may fall",
            Tool::Metaphor(MetaphorChoice::Stretch) => "Click where a body is to be stretched or compressed",
            Tool::Metaphor(MetaphorChoice::Bend) => "Click where a body is to be bent",
            Tool::Metaphor(MetaphorChoice::Twist) => "Click where a body is to be twisted",
            Tool::Metaphor(MetaphorChoice::Push) => "Click where a body is to be dented",
            Tool::Paint => {
                "Drag over a surface to paint how soft the flesh below it is, or over skin how thick its fat is"
            }
            Tool::Joints => "Click into a body without bones to place joints, and build a character of it",
        }
    }

    /// The key that chooses it.
    pub fn key(self) -> egui::Key {
        match self {
            Tool::Select => egui::Key::Q,
            Tool::Pull => egui::Key::G,
            Tool::Reach => egui::Key::R,
            Tool::Direct => egui::Key::D,
            Tool::Metaphor(MetaphorChoice::Stretch) => egui::Key::Num1,
            Tool::Metaphor(MetaphorChoice::Bend) => egui::Key::Num2,
            Tool::Metaphor(MetaphorChoice::Twist) => egui::Key::Num3,
            Tool::Metaphor(MetaphorChoice::Push) => egui::Key::Num4,
            Tool::Paint => egui::Key::P,
            Tool::Joints => egui::Key::J,
        }
    }

    /// Whether joints are drawn, to be grabbed.
    pub fn shows_joints(self) -> bool {
        matches!(self, Tool::Reach | Tool::Direct)
    }
}
