//! Writes bodies with bones as `[[character]]`.

use super::body::{
    BodyMotion, contact_stiffness, load_tables, material_choice, pin_tables, sag_mode, self_contact,
};
use super::bone::bone_tables;
use super::mesh::MeshKeys;
use super::nonzero;
use super::performance::{WrittenMotion, apply_performance};
use super::region::region_table;
use crate::scene_schema::{CharacterTable, TieTable};
use sinew_control::Performance;
use sinew_sim::desc::{AttachmentDesc, BodyDesc, Hold, ShapeDesc, TieDesc};
use sinew_skeleton::Skeleton;
use sinew_take::Scene;

/// A character; its motion is written to a file of its own.
pub(super) struct WrittenCharacter<'a> {
    pub(super) table: CharacterTable,
    pub(super) motion: Option<WrittenMotion<'a>>,
    /// The preroll that the reader computes for it (s).
    pub(super) preroll: f64,
}

/// The table of a body that is attached to a rig.
pub(super) fn character_table<'a>(
    scene: &'a Scene,
    body: &BodyDesc,
    moving: &BodyMotion,
    mesh: MeshKeys,
) -> Result<WrittenCharacter<'a>, String> {
    // its skeleton
    let own;
    let attachment = match (&body.attachment, &body.shape) {
        (Some(attachment), _) => attachment,
        // skin says itself what is fixed to bones
        (None, ShapeDesc::Skin(skin)) => {
            own = AttachmentDesc::by_shape(skin.rig.clone().unwrap_or_default());
            &own
        }
        _ => return Err("has no bones".into()),
    };
    let is_skin = body.attachment.is_none();
    let place = scene.world.rigs.iter().position(|rig| rig.name == attachment.rig);
    let place = place.ok_or("is attached to a skeleton that does not exist")?;
    let rig = &scene.world.rigs[place];
    if rig.name != body.name {
        return Err("shares its skeleton, or the skeleton has another name".into());
    }
    if !attachment.skin_weights.is_empty() {
        return Err("has painted weights".into());
    }
    let skeleton = Skeleton::build(&rig.skeleton.with_plain_masses()).map_err(|error| error.to_string())?;

    // flesh and bones
    let contact = scene.world.contact.material(&body.name);
    let [stiffness_factor, damping_factor, friction_factor] = moving.factors()?;
    let mut table = CharacterTable {
        name: Some(body.name.clone()),
        bone: bone_tables(&rig.skeleton)?,
        surface: mesh.surface,
        tets: mesh.tets,
        cage_tets: mesh.cage_tets,
        cage_edge: mesh.cage_edge,
        material: Some(material_choice(&body.material)),
        anchored: attachment.anchored.then_some(true),
        sag: (!is_skin).then(|| sag_mode(body.sag)),
        core_stiffness: (!is_skin).then_some(attachment.core.stiffness),
        core_reach: (!is_skin).then_some(attachment.core.reach),
        tie: attachment.ties.iter().map(tie_table).collect::<Result<_, _>>()?,
        velocity: nonzero(&body.velocity),
        pin: pin_tables(&body.pins, moving.pins)?,
        load: load_tables(&body.loads, moving.forces)?,
        stiffness_factor,
        damping_factor,
        friction_factor,
        self_contact: self_contact(body, &scene.world.contact),
        friction: contact.friction,
        contact_stiffness: contact_stiffness(&contact),
        ..CharacterTable::default()
    };
    if table.tie.is_empty() {
        return Err("is not fixed to any bone".into());
    }

    // performance
    let Some(performance) = scene.performances.get(place) else {
        let still = Performance::default();
        let preroll = apply_performance(&still, scene.preroll, &skeleton, &mut table)?;
        return Ok(WrittenCharacter { table, motion: None, preroll });
    };
    let preroll = apply_performance(performance, scene.preroll, &skeleton, &mut table)?;
    let motion = performance.motion.as_ref().map(|motion| WrittenMotion::of(motion, skeleton));
    Ok(WrittenCharacter { table, motion, preroll })
}

fn tie_table(TieDesc { bone, hold }: &TieDesc) -> Result<TieTable, String> {
    let mut table = TieTable { bone: bone.clone(), ..TieTable::default() };
    match hold {
        Hold::Inside { margin } => table.inside = Some(*margin),
        Hold::Near { distance } => table.near = Some(*distance),
        Hold::Region(region) => table.region = Some(region_table(region)),
        Hold::Nodes(nodes) => table.nodes = Some(nodes.clone()),
        Hold::Painted { .. } => return Err("is fixed to its bones by painted weights".into()),
    }
    Ok(table)
}
