//! A hand that grabs flesh or a bone and drags it: the edits that its motion amounts to.

use sinew_io::EditTable;
use sinew_io::tables::{
    CharacterEditTable, ConstraintTable, Curve, CurveKey, CurveKind, CurveTable, DriveMode, GoalTable,
    KeyedMotionTable, KeyedNumber, MotionTable, ObstacleEditTable, PointTable,
};
use sinew_math::Vec3;

/// What a hand grabs, where and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Hand {
    /// The last frame before it.
    pub frame: usize,
    /// What it grabs.
    pub target: HandTarget,
    /// Where that is (m).
    pub place: Vec3,
}

/// What can be grabbed.
#[derive(Clone, Debug, PartialEq)]
pub enum HandTarget {
    /// A point of the surface of a body, pulled by a spring.
    Flesh {
        /// The name of the body.
        body: String,
        /// The point at rest (m).
        rest: Vec3,
    },
    /// An obstacle, which moves as the hand does.
    Obstacle {
        /// Its name.
        name: String,
    },
    /// A point of a bone, which joints bring to the hand.
    Bone {
        /// The name of the skeleton.
        character: String,
        /// The name of the bone.
        bone: String,
        /// The point at rest (m).
        rest: Vec3,
        /// How joints move: by inverse kinematics, or by direct control.
        drive: DriveMode,
    },
}

/// The motion of a hand.
#[derive(Clone, Debug)]
pub(super) struct HandMotion {
    hand: Hand,
    name: String,
    fps: f64,
    /// Seconds and places.
    path: Vec<[f64; 4]>,
}

impl HandMotion {
    /// A hand that has just grabbed; its name differs from all that edits have.
    pub(super) fn begin(hand: Hand, fps: f64, edits: &[EditTable]) -> HandMotion {
        let text: Vec<String> = edits.iter().map(EditTable::to_line).collect();
        let is_free = |name: &String| !text.iter().any(|line| line.contains(&format!("\"{name}\"")));
        let name = (1..).map(|i| format!("hand {i}")).find(is_free).unwrap_or_default();
        let path = vec![row(hand.frame as f64 / fps, &hand.place)];
        HandMotion { hand, name, fps, path }
    }

    /// The frame at which it grabbed.
    pub(super) fn frame(&self) -> usize {
        self.hand.frame
    }

    /// Lets it be at a place at a frame, straight from where it was before.
    pub(super) fn move_to(&mut self, frame: usize, place: &Vec3) {
        self.path.push(row(frame as f64 / self.fps, place));
    }

    /// The edits of its motion so far; with its release at a frame, if that is given.
    pub(super) fn edits(&self, released: Option<usize>) -> Vec<EditTable> {
        let begin = EditTable { time: self.path[0][0], ..EditTable::default() };
        let end = released.map(|frame| EditTable { time: frame as f64 / self.fps, ..EditTable::default() });
        let name = Some(self.name.clone());
        let (path, interpolation) = (Some(self.path.clone()), Some(Curve::Linear));
        match &self.hand.target {
            HandTarget::Flesh { body, rest } => {
                let point = PointTable {
                    body: Some(body.clone()),
                    surface: Some((*rest).into()),
                    ..PointTable::default()
                };
                let drag = ConstraintTable {
                    name,
                    drag: Some(point),
                    path,
                    interpolation,
                    ..ConstraintTable::default()
                };
                let begin = EditTable { constraint: vec![drag], ..begin };
                let end = end.map(|end| EditTable { remove: vec![self.name.clone()], ..end });
                std::iter::once(begin).chain(end).collect()
            }
            HandTarget::Obstacle { name } => {
                let curve = |i: usize| {
                    let keys = self.path.iter().map(|row| CurveKey::Row([row[0], row[1 + i]])).collect();
                    let interpolation = Some(CurveKind::Linear);
                    KeyedNumber::Curve(CurveTable { keys, interpolation, ..CurveTable::default() })
                };
                let keyed = KeyedMotionTable {
                    translation: Some([0, 1, 2].map(curve)),
                    ..KeyedMotionTable::default()
                };
                let motion = Some(MotionTable { keyed: Some(keyed), ..MotionTable::default() });
                let own = ObstacleEditTable { name: name.clone(), ..ObstacleEditTable::default() };
                let still = ObstacleEditTable { still: Some(true), ..own.clone() };
                let begin = EditTable { obstacle: vec![ObstacleEditTable { motion, ..own }], ..begin };
                let end = end.map(|end| EditTable { obstacle: vec![still], ..end });
                std::iter::once(begin).chain(end).collect()
            }
            HandTarget::Bone { character, bone, rest, drive } => {
                let goal = GoalTable {
                    name,
                    bone: Some(bone.clone()),
                    point: Some((*rest).into()),
                    path,
                    interpolation,
                    ..GoalTable::default()
                };
                let of = |goal: Vec<GoalTable>, remove_goal: Vec<String>, mode: Option<DriveMode>| {
                    vec![CharacterEditTable { name: character.clone(), mode, goal, remove_goal }]
                };
                let begin = EditTable { character: of(vec![goal], Vec::new(), Some(*drive)), ..begin };
                let end = end
                    .map(|end| EditTable { character: of(Vec::new(), vec![self.name.clone()], None), ..end });
                std::iter::once(begin).chain(end).collect()
            }
        }
    }
}

fn row(time: f64, place: &Vec3) -> [f64; 4] {
    [time, place.x, place.y, place.z]
}
