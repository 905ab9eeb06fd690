//! Writes bodies without bones as `[[body]]`.

use super::mesh::MeshKeys;
use super::network::with_kind;
use super::nonzero;
use super::number::{constant_vector, keyed_number, keyed_vector};
use super::region::{motion_table, region_table};
use crate::scene_schema::{
    BodyTable, ElasticLaw, KeyedNumber, LoadTable, MaterialChoice, MaterialName, MaterialTable, PinTable,
    SagMode,
};
use sinew_control::{Curve, Factor, Motion, VectorCurve};
use sinew_flesh::{Law, Material, StretchLimits};
use sinew_sim::contact::ContactMaterial;
use sinew_sim::desc::{BodyDesc, ContactDesc, LoadDesc, PinDesc, Sag};
use sinew_take::Scene;

/// What of a body changes over time.
pub(super) struct BodyMotion<'a> {
    /// Motions of its pins.
    pub(super) pins: &'a [Motion],
    /// Curves of its loads.
    pub(super) forces: &'a [Option<VectorCurve>],
    /// The curve of its air drag.
    pub(super) air_drag: Option<&'a Curve>,
    /// The curves of its factors, in the order of [`Factor::ALL`].
    factors: [Option<&'a Curve>; 3],
}

impl<'a> BodyMotion<'a> {
    /// That of body `i` of a scene.
    pub(super) fn of(scene: &'a Scene, i: usize) -> BodyMotion<'a> {
        BodyMotion {
            pins: scene.pin_motions.get(i).map_or(&[], Vec::as_slice),
            forces: scene.curves.loads.get(i).map_or(&[], Vec::as_slice),
            air_drag: scene.curves.air_drag.get(i).and_then(Option::as_ref),
            factors: Factor::ALL.map(|factor| scene.curves.factors.of(factor).get(i)?.as_ref()),
        }
    }

    /// Its factors, in the order of [`Factor::ALL`].
    pub(super) fn factors(&self) -> Result<[Option<KeyedNumber>; 3], &'static str> {
        let [stiffness, damping, friction] = self.factors.map(|curve| curve.map(keyed_number).transpose());
        Ok([stiffness?, damping?, friction?])
    }
}

pub(super) fn body_table(
    body: &BodyDesc,
    moving: &BodyMotion,
    mesh: MeshKeys,
    contact: &ContactDesc,
) -> Result<BodyTable, &'static str> {
    let material = contact.material(&body.name);
    let [stiffness_factor, damping_factor, friction_factor] = moving.factors()?;
    let table = BodyTable {
        name: Some(body.name.clone()),
        surface: mesh.surface,
        tets: mesh.tets,
        cage_tets: mesh.cage_tets,
        cage_edge: mesh.cage_edge,
        material: Some(material_choice(&body.material)),
        velocity: nonzero(&body.velocity),
        pin: pin_tables(&body.pins, moving.pins)?,
        load: load_tables(&body.loads, moving.forces)?,
        sag: (body.sag != Sag::Free).then(|| sag_mode(body.sag)),
        air_drag: match moving.air_drag {
            Some(curve) => Some(keyed_number(curve)?),
            None => (body.air_drag > 0.0).then_some(body.air_drag.into()),
        },
        stiffness_factor,
        damping_factor,
        friction_factor,
        self_contact: self_contact(body, contact),
        friction: material.friction,
        contact_stiffness: contact_stiffness(&material),
        ..BodyTable::default()
    };
    Ok(with_kind(table, &body.shape))
}

/// `self_contact` of a body; absent if it is false.
pub(super) fn self_contact(body: &BodyDesc, contact: &ContactDesc) -> Option<bool> {
    contact.self_contact.contains(&body.name).then_some(true)
}

/// `contact_stiffness` of a body; absent if it is 1.
pub(super) fn contact_stiffness(material: &ContactMaterial) -> Option<f64> {
    (material.stiffness != 1.0).then_some(material.stiffness)
}

pub(super) fn pin_tables(pins: &[PinDesc], motions: &[Motion]) -> Result<Vec<PinTable>, &'static str> {
    let motions = motions.iter().chain(core::iter::repeat(&Motion::Still));
    let table = |(pin, motion): (&PinDesc, &Motion)| {
        Ok(PinTable { region: region_table(&pin.region), motion: motion_table(motion)? })
    };
    pins.iter().zip(motions).map(table).collect()
}

/// The tables of loads with their curves.
pub(super) fn load_tables(
    loads: &[LoadDesc],
    forces: &[Option<VectorCurve>],
) -> Result<Vec<LoadTable>, &'static str> {
    let forces = forces.iter().chain(core::iter::repeat(&None));
    let table = |(load, force): (&LoadDesc, &Option<VectorCurve>)| {
        let force = match force {
            Some(curve) => keyed_vector(curve)?,
            None => constant_vector(&load.force),
        };
        Ok(LoadTable { region: region_table(&load.region), force })
    };
    loads.iter().zip(forces).map(table).collect()
}

/// A material by its name if it has one, else by its parameters.
pub(super) fn material_choice(material: &Material) -> MaterialChoice {
    if let Some((name, _)) = Material::NAMED.iter().find(|(_, named)| named == material) {
        return MaterialChoice::Named(MaterialName((*name).to_owned()));
    }
    let (law, stretch_limits) = match material.law {
        Law::StVenantKirchhoff(StretchLimits { lower, upper }) => (ElasticLaw::Stvk, Some([lower, upper])),
        Law::Corotational => (ElasticLaw::Corotational, None),
        Law::StableNeoHookean => (ElasticLaw::NeoHookean, None),
    };
    MaterialChoice::Table(MaterialTable {
        name: None,
        law: Some(law),
        young: Some(material.young),
        poisson: Some(material.poisson),
        density: Some(material.density),
        damping: Some(material.damping_ratio),
        stretch_limits,
    })
}

pub(super) fn sag_mode(sag: Sag) -> SagMode {
    match sag {
        Sag::RestShape => SagMode::RestShape,
        Sag::Balanced => SagMode::Balanced,
        Sag::Free => SagMode::Free,
    }
}
