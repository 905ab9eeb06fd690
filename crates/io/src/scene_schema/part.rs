//! Lists the tables of scene files with their headings, in the order of the documentation.

use super::*;
use schemars::JsonSchema;

macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident: $table:ty = $heading:literal;)*) => {
        /// A kind of table in a scene file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ScenePart {
            $($(#[$doc])* $part,)*
        }

        impl ScenePart {
            /// All of them, in the order of the documentation.
            pub const ALL: &[ScenePart] = &[$(ScenePart::$part),*];

            /// How the part is written in a scene file.
            pub fn heading(self) -> &'static str {
                match self { $(ScenePart::$part => $heading,)* }
            }

            /// The keys it may have, in the order of its type.
            pub(super) fn keys(self) -> &'static [&'static str] {
                match self { $(ScenePart::$part => field_names::<$table>(),)* }
            }

            /// The name of its type in the JSON Schema.
            pub(super) fn type_name(self) -> String {
                match self { $(ScenePart::$part => <$table>::schema_name().into_owned(),)* }
            }
        }
    };
}

parts! {
    /// The top of the file.
    Scene: SceneFile = "the top of the file";
    /// A soft body.
    Body: BodyTable = "[[body]]";
    /// Flesh on bones.
    Character: CharacterTable = "[[character]]";
    /// A bone.
    Bone: BoneTable = "[[character.bone]]";
    /// Nodes fixed to a bone.
    Tie: TieTable = "[[character.tie]]";
    /// Where joints go.
    BoneMotion: BoneMotionTable = "[character.motion]";
    /// A pose at a time.
    Key: KeyTable = "[[character.key]]";
    /// A change of what drives joints.
    Cue: CueTable = "[[character.cue]]";
    /// Where a point of a character is to be.
    Goal: GoalTable = "[[character.goal]]";
    /// A rigid thing.
    Obstacle: ObstacleTable = "[[obstacle]]";
    /// How contact is resolved.
    Contact: ContactTable = "[contact]";
    /// A constraint.
    Constraint: ConstraintTable = "[[constraint]]";
    /// A point that a constraint holds.
    Point: PointTable = "drag, pin or join = { … }";
    /// A belt.
    Belt: BeltTable = "belt = { … }";
    /// A control metaphor.
    Metaphor: MetaphorTable = "[[metaphor]]";
    /// How steps are taken.
    Solver: SolverTable = "[solver]";
    /// A change of the scene during the take.
    Edit: EditTable = "[[edit]]";
    /// A change of a body.
    BodyEdit: BodyEditTable = "[[edit.body]]";
    /// A change of the motion of a pin.
    PinEdit: PinEditTable = "[[edit.body.pin]]";
    /// A change of a character.
    CharacterEdit: CharacterEditTable = "[[edit.character]]";
    /// A change of an obstacle.
    ObstacleEdit: ObstacleEditTable = "[[edit.obstacle]]";
    /// The numbers of a material.
    Material: MaterialTable = "[body.material]";
    /// The numbers of a fabric.
    Fabric: FabricTable = "[body.fabric]";
    /// Elastic skin over muscles.
    Skin: SkinTable = "[character.skin]";
    /// Connective tissue.
    Bands: BandsTable = "[character.skin.bands]";
    /// A solid under the skin.
    SkinMuscle: SkinMuscleTable = "[[character.skin.muscle]]";
    /// What changes a muscle.
    Drive: DriveTable = "[[character.skin.muscle.drive]]";
    /// A part of the skin with other numbers.
    SkinPart: SkinPartTable = "[[character.skin.part]]";
    /// A part of the skin that is fixed to a bone.
    FixedSkin: FixedSkinTable = "[[character.skin.fixed]]";
    /// Nodes that are held.
    Pin: PinTable = "[[body.pin]]";
    /// A force.
    Load: LoadTable = "[[body.load]]";
    /// A part of a body.
    Region: RegionTable = "region = { … }";
    /// A box.
    RegionBox: BoxTable = "region = { box = { … } }";
    /// A ball.
    RegionBall: BallTable = "region = { ball = { … } }";
    /// A rigid motion.
    Motion: MotionTable = "motion = { … }";
    /// To and fro.
    MotionShake: ShakeTable = "motion = { shake = { … } }";
    /// Round an axis.
    MotionSpin: SpinTable = "motion = { spin = { … } }";
    /// Along a line.
    MotionGlide: GlideTable = "motion = { glide = { … } }";
    /// Along curves.
    MotionKeyed: KeyedMotionTable = "motion = { keyed = { … } }";
    /// A number over time.
    Curve: CurveTable = "number = { keys = … }";
    /// A key with handles.
    CurveKey: CurveKeyTable = "keys = [{ … }, …]";
    /// What contracts.
    Muscle: MuscleTable = "[[muscle]] or [[character.muscle]]";
    /// Where a muscle ends.
    MuscleEnd: MuscleEndTable = "origin or insertion = { … }";
    /// A joint that drives a muscle.
    MuscleDriver: MuscleDriverTable = "driver = { … }";
}

impl ScenePart {
    /// Finds the part whose type has this name in the JSON Schema.
    pub(crate) fn of_type(name: &str) -> Option<ScenePart> {
        ScenePart::ALL.iter().copied().find(|part| part.type_name() == name)
    }
}
