//! Descriptions of control metaphors, before validation.

use sinew_math::Vec3;

/// A control metaphor: a pattern of forces on parts of a body that stretches, bends, twists or pushes it.   `[Transue2014, IV and V]`
#[derive(Clone, Debug, PartialEq)]
pub struct MetaphorDesc {
    /// Its name in reports and edits, unique among metaphors.
    pub name: String,
    /// The body's name.
    pub body: String,
    /// What it does.
    pub kind: MetaphorKind,
    /// Where it acts, at rest.
    pub widget: WidgetDesc,
    /// How the orientation of the body is found that the forces turn with.
    pub frame: FrameMethod,
    /// Whether the sum of its forces and of their torques is left as it is; otherwise both are zero, and it does not set the body in motion as a whole.
    pub leaves_net: bool,
}

/// What a metaphor does. Magnitudes below zero do the opposite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetaphorKind {
    /// Pulls two parts away from each other along the axis; below zero it compresses.
    #[default]
    Stretch,
    /// Moves two parts along the normal and the part between them the other way; forces turn with the arms from the middle to the ends.
    Bend,
    /// Turns two parts against each other about the axis.
    Twist,
    /// Moves one part along the axis. Without net force the whole body bears the reaction by its inertia: it is dented, but does not move away.
    Push,
}

/// The part of a body that a metaphor acts on, at rest. The control frame has its x along the axis and its y along the normal.
///
/// Stretch, bend and twist act on the nodes with `near` ≤ |x| ≤ `far`, those with x < 0 against those with x > 0, bend also on those with |x| ≤ `near`/2, all within `radius` of the axis. Push acts on the nodes within `radius` of the origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WidgetDesc {
    /// The origin (m); the middle of the body's bounding box if not given.
    pub origin: Option<Vec3>,
    /// The axis, of any length. If not given, along the longest side of the body's bounding box; that of a push is from the origin to the middle of the box.
    pub axis: Option<Vec3>,
    /// The direction that a bend moves both ends in, of any length; its part across the axis counts. If not given, along the shorter side of the bounding box across the axis.
    pub normal: Option<Vec3>,
    /// Distance from the origin along the axis at which both parts begin (m). If not given, a third of `far`, or without that halfway to the nearer end of the body.
    pub near: Option<f64>,
    /// Distance at which they end (m); beyond the body if not given.
    pub far: Option<f64>,
    /// Largest distance from the axis, for a push from the origin (m). Unlimited if not given, for a push a fifth of the longest side of the bounding box.
    pub radius: Option<f64>,
}

/// How the orientation of a deformed body is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameMethod {
    /// The rotation that fits most of its nodes best: parts that moved away from the others hardly count.
    #[default]
    BestFit,
    /// From the mean of the nodes in a cone about its longest direction, and one node across.   `[Transue2014, IV]`
    Cone,
}

impl MetaphorDesc {
    /// A metaphor on a whole body, without net force.
    pub fn new(name: impl Into<String>, body: impl Into<String>, kind: MetaphorKind) -> MetaphorDesc {
        MetaphorDesc {
            name: name.into(),
            body: body.into(),
            kind,
            widget: WidgetDesc::default(),
            frame: FrameMethod::default(),
            leaves_net: false,
        }
    }
}

impl MetaphorKind {
    /// All kinds with their names in scene files.
    pub const NAMED: [(&str, MetaphorKind); 4] = [
        ("stretch", MetaphorKind::Stretch),
        ("bend", MetaphorKind::Bend),
        ("twist", MetaphorKind::Twist),
        ("push", MetaphorKind::Push),
    ];

    /// Its name in scene files.
    pub fn name(self) -> &'static str {
        MetaphorKind::NAMED.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The kind of a name.
    pub fn named(name: &str) -> Option<MetaphorKind> {
        MetaphorKind::NAMED.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind)
    }
}

impl FrameMethod {
    /// All methods with their names in scene files.
    pub const NAMED: [(&str, FrameMethod); 2] =
        [("best-fit", FrameMethod::BestFit), ("cone", FrameMethod::Cone)];

    /// Its name in scene files.
    pub fn name(self) -> &'static str {
        FrameMethod::NAMED.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// The method of a name.
    pub fn named(name: &str) -> Option<FrameMethod> {
        FrameMethod::NAMED.iter().find(|(own, _)| *own == name).map(|(_, method)| *method)
    }
}
