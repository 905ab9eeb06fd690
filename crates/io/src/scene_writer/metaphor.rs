//! Writes control metaphors as `[[metaphor]]`.

use super::number::keyed_number;
use super::vector;
use crate::scene_schema::{FrameChoice, KeyedNumber, MetaphorChoice, MetaphorTable};
use sinew_control::Curve;
use sinew_sim::desc::{FrameMethod, MetaphorDesc, MetaphorKind};
use sinew_take::Scene;

/// The tables of all metaphors of a scene.
pub(super) fn metaphor_tables(scene: &Scene) -> Result<Vec<MetaphorTable>, String> {
    let none = Curve::Constant(0.0);
    let table = |(i, desc): (usize, &MetaphorDesc)| {
        metaphor_table(desc, scene.curves.metaphors.get(i).unwrap_or(&none))
    };
    scene.world.metaphors.iter().enumerate().map(table).collect()
}

/// The table of a metaphor with its magnitude.
pub(crate) fn metaphor_table(desc: &MetaphorDesc, magnitude: &Curve) -> Result<MetaphorTable, String> {
    let magnitude = keyed_number(magnitude)
        .map_err(|what| format!("the magnitude of metaphor '{}' {what}", desc.name))?;
    let widget = &desc.widget;
    Ok(MetaphorTable {
        name: Some(desc.name.clone()),
        body: desc.body.clone(),
        kind: match desc.kind {
            MetaphorKind::Stretch => MetaphorChoice::Stretch,
            MetaphorKind::Bend => MetaphorChoice::Bend,
            MetaphorKind::Twist => MetaphorChoice::Twist,
            MetaphorKind::Push => MetaphorChoice::Push,
        },
        magnitude: (magnitude != KeyedNumber::Constant(1.0)).then_some(magnitude),
        origin: widget.origin.as_ref().map(vector),
        axis: widget.axis.as_ref().map(vector),
        normal: widget.normal.as_ref().map(vector),
        near: widget.near,
        far: widget.far,
        radius: widget.radius,
        net: desc.leaves_net.then_some(true),
        frame: (desc.frame == FrameMethod::Cone).then_some(FrameChoice::Cone),
    })
}
