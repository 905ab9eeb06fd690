//! Reads `[[metaphor]]` of a scene file.

use super::constraint::{body_names, known};
use super::number::read_number;
use super::section::Section;
use crate::scene_schema::{FrameChoice, MetaphorChoice, MetaphorTable};
use sinew_control::Curve;
use sinew_files::ReadError;
use sinew_math::Vec3;
use sinew_sim::WorldDesc;
use sinew_sim::desc::{FrameMethod, MetaphorDesc, MetaphorKind, WidgetDesc};

/// Reads metaphors and their magnitudes. `world` has the bodies that they may refer to.
pub(super) fn read_metaphors(
    sections: &[Section<MetaphorTable>],
    world: &WorldDesc,
) -> Result<Vec<(MetaphorDesc, Curve)>, ReadError> {
    let mut all: Vec<(MetaphorDesc, Curve)> = Vec::new();
    for section in sections {
        let name = match &section.name {
            Some(name) if all.iter().any(|(other, _)| other.name == *name) => {
                let message = format!("a metaphor above is also named `{name}`: rename one");
                return Err(section.error("name", message));
            }
            Some(name) => name.clone(),
            None => format!("metaphor-{}", all.len() + 1),
        };
        let body = known(section, "body", Some(&section.body), &body_names(world))?;
        let magnitude = match &section.table().magnitude {
            Some(number) => read_number(section, "magnitude", number)?,
            None => Curve::Constant(1.0),
        };
        let desc = MetaphorDesc {
            name,
            body,
            kind: kind_of(section.kind),
            widget: read_widget(section),
            frame: match section.frame.unwrap_or_default() {
                FrameChoice::BestFit => FrameMethod::BestFit,
                FrameChoice::Cone => FrameMethod::Cone,
            },
            leaves_net: section.net.unwrap_or(false),
        };
        all.push((desc, magnitude));
    }
    Ok(all)
}

fn kind_of(choice: MetaphorChoice) -> MetaphorKind {
    match choice {
        MetaphorChoice::Stretch => MetaphorKind::Stretch,
        MetaphorChoice::Bend => MetaphorKind::Bend,
        MetaphorChoice::Twist => MetaphorKind::Twist,
        MetaphorChoice::Push => MetaphorKind::Push,
    }
}

fn read_widget(table: &MetaphorTable) -> WidgetDesc {
    WidgetDesc {
        origin: table.origin.map(Vec3::from),
        axis: table.axis.map(Vec3::from),
        normal: table.normal.map(Vec3::from),
        near: table.near,
        far: table.far,
        radius: table.radius,
    }
}
