//! Descriptions of elastic skin that slides over muscles on bones.

use super::Region;
use sinew_contact::{Deformation, ImplicitSolid};
use sinew_flesh::Fabric;
use sinew_flesh::network::Anisotropy;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{PointField, TriMesh};

/// An elastic surface over a layer of muscles.                                    \[TurnerThalmann1993\]
#[derive(Clone, Debug)]
pub struct SkinDesc {
    /// The surface at rest; its nodes are its vertices, those at one place counted once.
    pub surface: TriMesh,
    /// Mass, stretch and bending stiffness per area, and the rate at which motion against the bones decays.
    pub fabric: Fabric,
    /// Weights along two directions, instead of the fabric's stretch stiffness.
    pub anisotropy: Option<Anisotropy>,
    /// Factor on lengths at rest: below 1 the skin is tight, and at 0 it would shrink to a point.
    pub rest_length: f64,
    /// Factor on curvatures at rest: at 0 it would be flat.
    pub rest_curvature: f64,
    /// Whether every point has the same mass, and slender triangles are as soft as equilateral ones: as in a grid of material coordinates, whose points crowd at its poles. Steps are then as long as those of the mean triangle.
    pub even_points: bool,
    /// Pressure inside the surface at rest (Pa).
    pub pressure: f64,
    /// The skeleton that carries the muscles.
    pub rig: Option<String>,
    /// The solids that it slides over.
    pub muscles: Vec<ImplicitMuscleDesc>,
    /// Thickness of the fat between muscles and skin (m).
    pub fat: f64,
    /// What the thickness is multiplied by over the surface at rest; 1 where it is known nowhere.
    pub fat_field: PointField,
    /// How fast skin that is too deep comes back: the frequency ω₀ of its critically damped motion (rad/s).
    pub return_rate: f64,
    /// Coulomb's coefficient of friction on the fat; implicit steps count what slides more slowly than 1 mm/s as sticking.
    pub friction: f64,
    /// Connective tissue; none for skin that slides freely.
    pub bands: Option<BandsDesc>,
    /// Parts whose numbers differ, in order: later ones multiply earlier ones.
    pub regions: Vec<SkinRegion>,
    /// Parts that are fixed to bones.
    pub fixed: Vec<FixedSkin>,
    /// Whether bones feel what the skin does to its muscles; parts that are fixed to bones are always felt.
    pub feedback: bool,
}

impl Default for SkinDesc {
    /// Thin skin without muscles or a surface, which must be set.
    fn default() -> SkinDesc {
        SkinDesc {
            surface: TriMesh::default(),
            fabric: SKIN,
            anisotropy: None,
            rest_length: 1.0,
            rest_curvature: 1.0,
            even_points: false,
            pressure: 0.0,
            rig: None,
            muscles: Vec::new(),
            fat: 0.01,
            fat_field: PointField::default(),
            return_rate: 300.0,
            friction: 0.0,
            bands: None,
            regions: Vec::new(),
            fixed: Vec::new(),
            feedback: false,
        }
    }
}

/// Skin of 1 mm with the fat that moves with it: 1 kg/m², and 100 N/m, as soft as skin is at small strains (0.1 MPa), so that it stretches visibly.
pub const SKIN: Fabric =
    Fabric { areal_density: 1.0, stretch: 100.0, poisson: 0.3, bending: 0.0, damping: 4.0 };

/// A solid of the muscle layer.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitMuscleDesc {
    /// Its name in messages.
    pub name: String,
    /// The bone that carries it; none for the world.
    pub bone: Option<String>,
    /// Its pose at rest: the transform from its frame to the world.
    pub pose: Isometry,
    /// Its shape, and how it is deformed at rest.
    pub solid: ImplicitSolid,
    /// What deforms it.
    pub drives: Vec<ImplicitMuscleDrive>,
}

/// A parameter of a muscle over time or a joint angle.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitMuscleDrive {
    /// What changes.
    pub parameter: MuscleParameter,
    /// What it follows.
    pub source: DriveSource,
    /// Pairs of time (s) or angle (rad) and value, in increasing order: a monotone cubic runs through them, constant beyond its ends.
    pub keys: Vec<[f64; 2]>,
}

/// A parameter of the deformation of a muscle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MuscleParameter {
    /// A factor on its thickness, at constant volume: it becomes shorter by the square.
    Swell,
    /// A factor on its length, without keeping its volume.
    Length,
    /// Taper along its axis (1/m).
    Taper,
    /// Twist about its axis (rad/m).
    Twist,
    /// Curvature of its axis (1/m).
    Bend,
}

/// What a muscle follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveSource {
    /// The time of the take.
    Time,
    /// How far the joint of a bone is turned from rest.
    JointAngle {
        /// The bone.
        bone: String,
    },
}

impl MuscleParameter {
    /// All parameters with their names in scene files.
    pub const NAMED: [(&str, MuscleParameter); 5] = [
        ("swell", MuscleParameter::Swell),
        ("length", MuscleParameter::Length),
        ("taper", MuscleParameter::Taper),
        ("twist", MuscleParameter::Twist),
        ("bend", MuscleParameter::Bend),
    ];

    /// Applies a value to a deformation.
    pub(crate) fn apply(self, value: f64, to: &mut Deformation) {
        match self {
            MuscleParameter::Swell => to.scale.component_mul_assign(&Deformation::swollen(value).scale),
            MuscleParameter::Length => to.scale.y *= value,
            MuscleParameter::Taper => to.taper = value,
            MuscleParameter::Twist => to.twist = value,
            MuscleParameter::Bend => to.bend = value,
        }
    }
}

/// Connective tissue: rubber bands from skin to muscle that pull when they are longer than their slack.   \[TurnerThalmann1993, eq. 7\]
#[derive(Clone, Debug, PartialEq)]
pub struct BandsDesc {
    /// Stiffness per area of skin (N/m per m²).
    pub stiffness: f64,
    /// Damping ratio of a point of skin on its band.
    pub damping_ratio: f64,
    /// By how much a band is longer than it is at rest before it pulls (m).
    pub slack: f64,
    /// Whether every point of skin is bound to the nearest point of the muscles at rest, or only those of `by_hand`.
    pub automatic: bool,
    /// Bands from points of skin to points of the muscles near places at rest (m), instead of the nearest ones.
    pub by_hand: Vec<[Vec3; 2]>,
}

impl Default for BandsDesc {
    fn default() -> BandsDesc {
        BandsDesc { stiffness: 2000.0, damping_ratio: 0.2, slack: 0.01, automatic: true, by_hand: Vec::new() }
    }
}

/// What the numbers of a part of the skin are multiplied by.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinRegion {
    /// The part.
    pub region: Region,
    /// The factors.
    pub factors: SkinFactors,
}

/// Factors on the numbers of skin at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinFactors {
    /// On the mass.
    pub mass: f64,
    /// On the stretch stiffness.
    pub elasticity: f64,
    /// On damping against the bones.
    pub damping: f64,
    /// On lengths at rest.
    pub rest_length: f64,
    /// On curvatures at rest.
    pub rest_curvature: f64,
    /// On the thickness of fat.
    pub fat: f64,
    /// On the stiffness of bands: 0 for none.
    pub bands: f64,
    /// On the slack of bands: 0 where the skin is tied.
    pub slack: f64,
}

impl SkinFactors {
    /// As it is.
    pub const NONE: SkinFactors = SkinFactors {
        mass: 1.0,
        elasticity: 1.0,
        damping: 1.0,
        rest_length: 1.0,
        rest_curvature: 1.0,
        fat: 1.0,
        bands: 1.0,
        slack: 1.0,
    };

    /// Both, one after the other.
    #[must_use]
    pub fn times(&self, other: &SkinFactors) -> SkinFactors {
        SkinFactors {
            mass: self.mass * other.mass,
            elasticity: self.elasticity * other.elasticity,
            damping: self.damping * other.damping,
            rest_length: self.rest_length * other.rest_length,
            rest_curvature: self.rest_curvature * other.rest_curvature,
            fat: self.fat * other.fat,
            bands: self.bands * other.bands,
            slack: self.slack * other.slack,
        }
    }

    fn all(&self) -> [(&'static str, f64); 8] {
        [
            ("mass", self.mass),
            ("elasticity", self.elasticity),
            ("damping", self.damping),
            ("rest_length", self.rest_length),
            ("rest_curvature", self.rest_curvature),
            ("fat", self.fat),
            ("bands", self.bands),
            ("slack", self.slack),
        ]
    }
}

/// A part of the skin that is fixed to a bone.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedSkin {
    /// The part.
    pub region: Region,
    /// The bone.
    pub bone: String,
}

impl SkinDesc {
    /// All parameters out of range, one sentence each.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> =
            self.fabric.faults().iter().map(|fault| format!("fabric: {fault}")).collect();
        let mut need = |what: &str, value: f64, is_sound: bool, range: &str| {
            if !is_sound || !value.is_finite() {
                faults.push(format!("its {what} is {value}: it must be {range}"));
            }
        };
        need(
            "rest length factor",
            self.rest_length,
            (0.0..=10.0).contains(&self.rest_length),
            "from 0 to 10",
        );
        let curvature = self.rest_curvature;
        need("rest curvature factor", curvature, (-10.0..=10.0).contains(&curvature), "from -10 to 10");
        need("pressure", self.pressure, self.pressure >= 0.0, "0 Pa or more");
        need("fat", self.fat, self.fat >= 0.0, "0 m or more");
        need("return rate", self.return_rate, self.return_rate > 0.0, "above 0 rad/s");
        need("friction", self.friction, self.friction >= 0.0, "0 or more");
        if let Some(bands) = &self.bands {
            need("stiffness of bands", bands.stiffness, bands.stiffness >= 0.0, "0 N/m³ or more");
            need("slack of bands", bands.slack, bands.slack >= 0.0, "0 m or more");
            let ratio = bands.damping_ratio;
            need("damping ratio of bands", ratio, (0.0..=10.0).contains(&ratio), "from 0 to 10");
        }
        if let Some(anisotropy) = &self.anisotropy {
            for weight in anisotropy.weights {
                need("weight along a direction", weight, weight >= 0.0, "0 N/m or more");
            }
        }
        for (i, part) in self.regions.iter().enumerate() {
            faults.extend(part.region.fault().map(|fault| format!("skin region {}: {fault}", i + 1)));
            for (name, factor) in part.factors.all() {
                let is_sound =
                    if name == "mass" { factor > 0.0 } else { factor >= 0.0 || name == "rest_curvature" };
                if !(is_sound && factor.abs() < 1e6) {
                    faults.push(format!(
                        "skin region {}: `{name}` is {factor}: it must be 0 or more, and mass above 0",
                        i + 1
                    ));
                }
            }
        }
        for muscle in &self.muscles {
            let name = &muscle.name;
            faults.extend(muscle.solid.fault().map(|fault| format!("muscle '{name}': {fault}")));
            for drive in &muscle.drives {
                let finite = drive.keys.iter().flatten().all(|x| x.is_finite());
                let rises = drive.keys.windows(2).all(|pair| pair[0][0] < pair[1][0]);
                if drive.keys.is_empty() || !finite || !rises {
                    faults.push(format!("muscle '{name}': the keys of a drive must be finite and in increasing order, at least one"));
                }
                let is_factor = matches!(drive.parameter, MuscleParameter::Swell | MuscleParameter::Length);
                if is_factor && drive.keys.iter().any(|key| key[1] <= 0.0) {
                    faults.push(format!("muscle '{name}': a factor of a drive is not above 0"));
                }
            }
        }
        faults.extend(
            self.fixed
                .iter()
                .filter_map(|part| part.region.fault())
                .map(|fault| format!("fixed part: {fault}")),
        );
        faults
    }
}
