//! Elastic skin over muscles on bones.                                                       \[TurnerThalmann1993\]
//!
//! Skin is a sheet ([`crate::network`]) with air inside, kept at least the thickness of the fat outside of a layer of solids and pulled towards it by bands. `muscle_layer` moves the solids with bones, `skin_energy` evaluates all
//! forces in time stepping. The layer leads and skin follows: bones feel it only if they are asked to.

mod fat_friction;
mod muscle_layer;
mod over_flesh;
mod skin_energy;
mod wrap;

pub use over_flesh::{FleshSkin, FleshSkinOptions};
pub use wrap::wrap_skin;

use crate::body::BuiltSkin;
use crate::body_kind::{CustomKind, KindParts};
use crate::desc::{DriveSource, ImplicitMuscleDesc, SkinDesc, SkinFactors};
use crate::network::{Network, Sheet, SheetPoints};
use crate::node_energy::NodeEnergy;
use crate::rig::RestRig;
use muscle_layer::{Drive, Joint, Muscle, MuscleLayer};
use sinew_flesh::network::Pressure;
use sinew_math::spatial::Frame;
use sinew_math::{Rotation, Vec3};
use skin_energy::SkinEnergy;
use std::sync::Arc;

/// A skin as the kind of a body.
#[derive(Clone, Debug)]
struct SkinBody(Arc<Skin>);

/// What a skin is made of.
#[derive(Clone, Debug)]
struct Skin {
    network: Arc<Network>,
    air: Option<Pressure>,
    layer: MuscleLayer,
    /// Per node: mass (kg), thickness of fat (m), rate of damping (1/s), and the bone that it is damped against.
    mass: Vec<f64>,
    fat: Vec<f64>,
    damping: Vec<f64>,
    node_bone: Vec<u32>,
    bands: Vec<Band>,
    /// ω₀ (rad/s)
    return_rate: f64,
    friction: f64,
    feedback: bool,
    /// How far from the fat a point may be and still be seen in a step (m).
    reach: f64,
}

/// A band from a node to a point of a muscle.
#[derive(Clone, Copy, Debug)]
struct Band {
    node: u32,
    muscle: u32,
    /// The point of the muscle before it is deformed (m).
    undeformed: Vec3,
    /// x₀ (m)
    length: f64,
    /// k_s (N/m)
    stiffness: f64,
    /// k_d (N s/m)
    damping: f64,
}

/// Where contact of a step is looked for, as a fraction of the diagonal.
const REACH: f64 = 0.03;

/// Builds a skin over the bones of a world.
pub(crate) fn build(desc: &SkinDesc, rigs: &[RestRig]) -> Result<BuiltSkin, Vec<String>> {
    let faults = desc.faults();
    if !faults.is_empty() {
        return Err(faults);
    }
    let rig = match &desc.rig {
        None => None,
        Some(name) => match rigs.iter().find(|rig| rig.desc.name == *name) {
            None => return Err(vec![format!("its skin is on skeleton '{name}', which does not exist")]),
            found => found,
        },
    };

    // the sheet, with numbers at its nodes
    let (sheet, points, factors) = sheet_of(desc)?;
    let (network, parts) = sheet.build_network(&desc.surface)?;

    let air = air_of(desc, &network, &parts)?;

    // the layer, and what of it is nearest at rest
    let mut layer = MuscleLayer::new(muscles(desc, rig)?);
    let rest = rest_frames(rigs);
    layer.place(&rest, 0.0, 0.0);
    let below = points.iter().map(|x| layer.nearest(x, f64::INFINITY));
    let below: Vec<_> = below.collect();
    let node_bone: Vec<u32> =
        below.iter().map(|near| near.map_or(0, |near| layer.bone(near.muscle))).collect();
    let field = desc.fat_field.at(&points);
    let fat = factors.iter().zip(field).map(|(f, field)| desc.fat * f.fat * f64::from(field)).collect();
    let fixed = fixed_nodes(desc, rig, &points)?;
    let area = node_areas(&network, points.len());
    let bands = bands(desc, &layer, (&points, &parts.point_mass), (&area, &factors))?;

    let (low, high) = desc.surface.bounds().unwrap_or_default();
    let frequency = frequency(parts.max_frequency, (&bands, air.as_ref()), (&points, &parts.point_mass));
    let carriers = node_bone.clone();
    let skin = Skin {
        network,
        air,
        mass: parts.point_mass.clone(),
        fat,
        damping: factors.iter().map(|f| desc.fabric.damping * f.damping).collect(),
        node_bone,
        bands,
        layer,
        return_rate: desc.return_rate,
        friction: desc.friction,
        feedback: desc.feedback,
        reach: REACH * (high - low).norm(),
    };
    let kind = Arc::new(SkinBody(Arc::new(skin)));
    Ok(BuiltSkin { parts: KindParts { max_frequency: frequency, kind, ..parts }, fixed, carriers })
}

/// The sheet of a skin, its nodes and the factors there.
fn sheet_of(desc: &SkinDesc) -> Result<(Sheet, Vec<Vec3>, Vec<SkinFactors>), Vec<String>> {
    let mut sheet = Sheet {
        fabric: desc.fabric,
        elements: crate::desc::SheetElements::Triangles,
        thickness: None,
        points: SheetPoints::default(),
    };
    let points = sheet.nodes(&desc.surface)?;
    let factors = factors_at(desc, &points);
    let of = |number: fn(&SkinFactors) -> f64| factors.iter().map(number).collect::<Vec<f64>>();
    let mut mass = of(|f| f.mass);
    if desc.even_points {
        mass.iter_mut().zip(sheet.even_masses(&desc.surface)?).for_each(|(mass, even)| *mass *= even);
    }
    sheet.points = SheetPoints {
        mass,
        is_even: desc.even_points,
        stretch: of(|f| f.elasticity),
        length: factors.iter().map(|f| desc.rest_length * f.rest_length).collect(),
        curvature: factors.iter().map(|f| desc.rest_curvature * f.rest_curvature).collect(),
        anisotropy: desc.anisotropy,
    };
    Ok((sheet, points, factors))
}

/// The air in a skin, if it has any.
fn air_of(desc: &SkinDesc, network: &Network, parts: &KindParts) -> Result<Option<Pressure>, Vec<String>> {
    if desc.pressure == 0.0 {
        return Ok(None);
    }
    let triangles: Vec<[u32; 3]> = network.membranes.iter().map(|membrane| membrane.nodes).collect();
    let air = Pressure::build(&triangles, &parts.points, desc.pressure);
    air.map(Some).ok_or_else(|| {
        let what = "it has pressure inside, but its surface encloses no volume: close it, with triangles facing outwards";
        vec![what.to_owned()]
    })
}

/// The frequency of a skin whose sheet has a frequency of its own (rad/s): bands and air make it stiffer.
fn frequency(own: f64, (bands, air): (&[Band], Option<&Pressure>), (points, mass): (&[Vec3], &[f64])) -> f64 {
    let band = bands.iter().map(|band| {
        let inverse = 1.0 / mass[band.node as usize];
        let rate = band.damping * inverse;
        band.stiffness * inverse + rate * rate
    });
    let breath = air.map_or(0.0, |air| {
        let mut push = vec![Vec3::zeros(); points.len()];
        air.add_area(points, 1.0, &mut push);
        air.stiffness(points) * push.iter().zip(mass).map(|(a, m)| a.norm_squared() / m).sum::<f64>()
    });
    (own * own + band.fold(0.0, f64::max) + breath).sqrt()
}

/// The factors at points at rest.
fn factors_at(desc: &SkinDesc, points: &[Vec3]) -> Vec<SkinFactors> {
    let mut factors = vec![SkinFactors::NONE; points.len()];
    for part in &desc.regions {
        for node in part.region.select(points, points) {
            factors[node as usize] = factors[node as usize].times(&part.factors);
        }
    }
    factors
}

/// Rest poses of all bones, the world first.
fn rest_frames(rigs: &[RestRig]) -> Vec<Frame> {
    core::iter::once(Frame::default()).chain(rigs.iter().flat_map(|rig| rig.frames().to_vec())).collect()
}

fn muscles(desc: &SkinDesc, rig: Option<&RestRig>) -> Result<Vec<Muscle>, Vec<String>> {
    let mut faults = Vec::new();
    let mut find = |muscle: &ImplicitMuscleDesc, name: &str| {
        let found = rig.and_then(|rig| Some((rig, rig.find_bone(name)?)));
        if found.is_none() {
            faults.push(format!(
                "muscle '{}' is on bone '{name}', which its skeleton does not have",
                muscle.name
            ));
        }
        found
    };
    let mut muscles = Vec::new();
    for muscle in &desc.muscles {
        let pose = Frame::from(&muscle.pose);
        let (bone, world_from_bone) = match &muscle.bone {
            None => (0, Frame::default()),
            Some(name) => match find(muscle, name) {
                Some((rig, bone)) => ((rig.bones.start + bone) as u32, rig.frames()[bone]),
                None => continue,
            },
        };
        let rotation = world_from_bone.rotation.transpose() * pose.rotation;
        let bone_from_solid = Frame { rotation, origin: world_from_bone.point_back(&pose.origin) };
        let mut drives = Vec::new();
        for drive in &muscle.drives {
            let joint = match &drive.source {
                DriveSource::Time => None,
                DriveSource::JointAngle { bone } => {
                    let Some((rig, bone)) = find(muscle, bone) else { continue };
                    Some(joint_of(rig, bone))
                }
            };
            drives.push(Drive { parameter: drive.parameter, joint, keys: drive.keys.clone() });
        }
        muscles.push(Muscle { bone, bone_from_solid, solid: muscle.solid.clone(), drives });
    }
    if faults.is_empty() { Ok(muscles) } else { Err(faults) }
}

/// The joint of a bone, with its rotation at rest.
fn joint_of(rig: &RestRig, bone: usize) -> Joint {
    let parent = rig.parent(bone);
    let own = rig.frames()[bone].rotation;
    let base = parent.map_or(sinew_math::Mat3::identity(), |parent| rig.frames()[parent].rotation);
    let rest: Rotation = Frame { rotation: base.transpose() * own, origin: Vec3::zeros() }.quaternion();
    let parent = parent.map_or(0, |parent| (rig.bones.start + parent) as u32);
    Joint { bone: (rig.bones.start + bone) as u32, parent, rest }
}

fn fixed_nodes(
    desc: &SkinDesc,
    rig: Option<&RestRig>,
    points: &[Vec3],
) -> Result<Vec<(u32, usize)>, Vec<String>> {
    let mut bone_of = vec![None; points.len()];
    for part in &desc.fixed {
        let bone = rig.and_then(|rig| rig.find_bone(&part.bone)).ok_or_else(|| {
            vec![format!(
                "a part of its skin is fixed to bone '{}', which its skeleton does not have",
                part.bone
            )]
        })?;
        for node in part.region.select(points, points) {
            bone_of[node as usize].get_or_insert(bone);
        }
    }
    let held = bone_of.iter().enumerate().filter_map(|(node, bone)| Some((node as u32, (*bone)?)));
    Ok(held.collect())
}

/// The area of skin at each node (m²).
fn node_areas(network: &Network, count: usize) -> Vec<f64> {
    let mut area = vec![0.0; count];
    for membrane in &network.membranes {
        membrane.nodes.iter().for_each(|node| area[*node as usize] += membrane.area / 3.0);
    }
    area
}

fn bands(
    desc: &SkinDesc,
    layer: &MuscleLayer,
    (points, mass): (&[Vec3], &[f64]),
    (area, factors): (&[f64], &[SkinFactors]),
) -> Result<Vec<Band>, Vec<String>> {
    let Some(own) = &desc.bands else { return Ok(Vec::new()) };
    if layer.is_empty() {
        return Err(vec!["its skin has bands, but no muscles that they could be bound to: add some".into()]);
    }
    // where each node is bound, automatically below itself
    let mut target: Vec<Option<Vec3>> = points.iter().map(|x| own.automatic.then_some(*x)).collect();
    for [from, to] in &own.by_hand {
        let distance = |x: &Vec3| (x - from).norm_squared();
        let nearest =
            (0..points.len()).min_by(|a, b| distance(&points[*a]).total_cmp(&distance(&points[*b])));
        if let Some(node) = nearest {
            target[node] = Some(*to);
        }
    }
    let band = |(node, target): (usize, &Option<Vec3>)| {
        let near = layer.nearest(target.as_ref()?, f64::INFINITY)?;
        let stiffness = own.stiffness * area[node] * factors[node].bands;
        (stiffness > 0.0).then(|| Band {
            node: node as u32,
            muscle: near.muscle,
            undeformed: layer.undeformed(near.muscle, &near.point),
            length: (points[node] - near.point).norm() + own.slack * factors[node].slack,
            stiffness,
            damping: 2.0 * own.damping_ratio * (stiffness * mass[node]).sqrt(),
        })
    };
    Ok(target.iter().enumerate().filter_map(band).collect())
}

impl CustomKind for SkinBody {
    fn energy(&self) -> Option<Box<dyn NodeEnergy + Send + Sync>> {
        Some(Box::new(SkinEnergy::new(self.0.clone())))
    }

    fn takes_factors(&self) -> bool {
        true
    }

    fn thickness(&self) -> Option<f64> {
        self.0.network.thickness
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::{BandsDesc, ImplicitSolid, SolidShape};
    use sinew_math::Isometry;
    use sinew_math::sparse::Row;
    use sinew_mesh::shapes;

    /// A sphere of skin with air in it, partly deep in the fat of a ball and partly on taut bands.
    fn energy() -> (Box<dyn NodeEnergy + Send + Sync>, Vec<Vec3>) {
        let ball = ImplicitMuscleDesc {
            name: "ball".into(),
            bone: None,
            pose: Isometry::translation(0.01, 0.0, 0.0),
            solid: ImplicitSolid::from(SolidShape::Sphere { radius: 0.09 }),
            drives: Vec::new(),
        };
        let desc = SkinDesc {
            surface: shapes::sphere(0.1, 1),
            pressure: 200.0,
            muscles: vec![ball],
            fat: 0.01,
            rest_length: 0.9,
            bands: Some(BandsDesc { slack: 0.001, ..BandsDesc::default() }),
            ..SkinDesc::default()
        };
        let built = build(&desc, &[]).unwrap_or_else(|faults| panic!("{faults:?}"));
        let mut energy = built.parts.kind.energy().expect("an energy");
        energy.see_bones(&[Frame::default()]);
        energy.begin_step(&built.parts.points, 0.02);
        let moved =
            |(i, x): (usize, &Vec3)| 1.03 * x + 0.003 * Vec3::new((i % 3) as f64 - 1.0, (i % 2) as f64, 0.4);
        let x = built.parts.points.iter().enumerate().map(moved).collect();
        (energy, x)
    }

    /// Central differences over 1e-6 m of lengths of 0.1 m: 1e-8 of the scale, with bands and fat one-sided but once differentiable. The Hessian is that of the gradient where everything it keeps is: it leaves out −p ∂²V and the
    /// curvature of the ball under the fat, so that only its symmetry and sign are checked.
    #[test]
    fn the_gradient_of_skin_is_the_slope_of_its_energy() {
        let (mut energy, x) = energy();
        let count = x.len();
        let mut own = vec![Vec3::zeros(); count];
        energy.evaluate(&x, &mut own);
        let scale = own.iter().map(Vec3::norm).sum::<f64>();
        let mut value = |x: &[Vec3]| energy.evaluate(x, &mut vec![Vec3::zeros(); count]);
        for i in 0..3 * count {
            let (mut ahead, mut back) = (x.clone(), x.clone());
            ahead[i / 3][i % 3] += 1e-6;
            back[i / 3][i % 3] -= 1e-6;
            let derivative = (value(&ahead) - value(&back)) / 2e-6;
            assert!(
                (derivative - own[i / 3][i % 3]).abs() < 1e-5 * scale,
                "{i}: {derivative} {}",
                own[i / 3][i % 3]
            );
        }
    }

    /// uᵀ H w = wᵀ H u and uᵀ H u ≥ 0, to single precision.
    #[test]
    fn the_hessian_of_skin_is_symmetric_and_positive() {
        let (mut energy, x) = energy();
        energy.update(&x);
        let rows = |salt: usize| -> Vec<Row> {
            let number = |i: usize| ((i * 7919 + salt * 104_729) % 1000) as f32 / 500.0 - 1.0;
            (0..x.len())
                .map(|i| core::array::from_fn(|k| if k < 3 { number(3 * i + k) } else { 0.0 }))
                .collect()
        };
        let product = |u: &[Row]| {
            let mut out = vec![Row::default(); u.len()];
            energy.multiply(u, &mut out);
            out
        };
        let dot = |a: &[Row], b: &[Row]| -> f64 {
            a.iter().zip(b).flat_map(|(a, b)| (0..3).map(|k| f64::from(a[k]) * f64::from(b[k]))).sum()
        };
        let (u, w) = (rows(1), rows(2));
        let (hu, hw) = (product(&u), product(&w));
        let scale = dot(&u, &hu) + dot(&w, &hw);
        assert!(dot(&u, &hu) > 0.0 && dot(&w, &hw) > 0.0);
        assert!((dot(&w, &hu) - dot(&u, &hw)).abs() < 1e-4 * scale);
    }
}
