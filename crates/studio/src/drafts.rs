//! What is being changed and is not an edit yet: numbers of the inspector, curves, a handle of a metaphor, choices of dialogs.

use crate::gizmo::GizmoPart;
use crate::selection::Selection;
use sinew_io::EditTable;
use sinew_io::tables::MetaphorTable;
use sinew_math::Vec3;

/// Numbers of the inspector that are being changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct InspectorDraft {
    /// What is being changed, to begin anew when something else is selected.
    pub(crate) of: Option<(Selection, u64)>,
    /// Gravity (m/s²).
    pub(crate) gravity: [f64; 3],
    /// Young's modulus (kPa) and damping ratio.
    pub(crate) young: f64,
    pub(crate) damping: f64,
    pub(crate) friction: f64,
    /// The length of the take (s).
    pub(crate) seconds: f64,
    pub(crate) jiggle: f64,
    /// Where an obstacle is at the start (m).
    pub(crate) place: [f64; 3],
    pub(crate) cage_tets: usize,
    /// The text of an edit.
    pub(crate) text: String,
    pub(crate) metaphor: MetaphorTable,
    pub(crate) muscle: MuscleDraft,
    pub(crate) skin: SkinDraft,
}

/// Numbers of a muscle that are being changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct MuscleDraft {
    /// From 0 to 1.
    pub(crate) activation: f64,
    /// The largest stress (kPa), or of a line its force (N).
    pub(crate) strength: f64,
    pub(crate) optimal: f64,
    pub(crate) passive: f64,
}

/// Numbers of a skin that are being changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SkinDraft {
    /// Thickness of the fat (mm).
    pub(crate) fat: f64,
    /// Pressure inside (Pa).
    pub(crate) pressure: f64,
    /// Stretch stiffness (N/m).
    pub(crate) stretch: f64,
    /// Bending stiffness (mN m).
    pub(crate) bending: f64,
    pub(crate) rest_length: f64,
    pub(crate) friction: f64,
    /// Stiffness of bands (N/m³), 0 for none, and their slack (mm).
    pub(crate) bands: f64,
    pub(crate) slack: f64,
}

/// What is dragged in the curve editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CurvePart {
    /// The key itself.
    Key,
    /// Its left handle.
    Left,
    /// Its right handle.
    Right,
}

/// Curves that are being changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct CurveDraft {
    /// The edit and the revision that it is a copy of.
    pub(crate) of: Option<(usize, u64)>,
    pub(crate) edit: EditTable,
    /// The curve that is edited, by its index.
    pub(crate) chosen: usize,
    /// The key that is selected.
    pub(crate) key: Option<usize>,
    pub(crate) dragged: Option<(usize, CurvePart)>,
}

/// A handle of the widget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    /// The middle.
    Origin,
    /// The end of the axis: its direction, and where the part ends.
    Far,
    /// Where the part begins.
    Near,
    /// How far from the axis it reaches.
    Radius,
    /// The direction of a bend.
    Normal,
}

/// A handle that is being dragged: the metaphor as it is so far.
#[derive(Clone, Debug)]
pub(crate) struct DraggedHandle {
    pub(crate) handle: Handle,
    pub(crate) edit: usize,
    pub(crate) table: MetaphorTable,
}

/// An obstacle that the gizmo moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DraggedObstacle {
    pub(crate) index: usize,
    pub(crate) part: GizmoPart,
    /// Where it was, and where it is (m).
    pub(crate) from: Vec3,
    pub(crate) to: Vec3,
    /// Where the mouse was.
    pub(crate) mouse: egui::Pos2,
    /// Whether time runs while it is moved; otherwise it is placed anew.
    pub(crate) is_held: bool,
}

/// What is baked, and where to.
#[derive(Clone, Debug)]
pub(crate) struct BakeChoice {
    /// The file, without its ending.
    pub(crate) path: String,
    pub(crate) format: usize,
    /// The error that is allowed in a .glb, in percent of the size.
    pub(crate) error: f64,
    /// Whether skin is baked in place of the surface of flesh.
    pub(crate) has_skin: bool,
    pub(crate) replaces: bool,
}

impl Default for BakeChoice {
    fn default() -> BakeChoice {
        BakeChoice { path: "bake".into(), format: 0, error: 0.1, has_skin: false, replaces: false }
    }
}

/// What is drawn, and where to.
#[derive(Clone, Debug)]
pub(crate) struct RenderChoice {
    /// The file.
    pub(crate) path: String,
    pub(crate) size: [usize; 2],
    /// Whether plain skinning is shown beside flesh.
    pub(crate) compares: bool,
}

impl Default for RenderChoice {
    fn default() -> RenderChoice {
        RenderChoice { path: "take.gif".into(), size: [640, 480], compares: false }
    }
}
