//! A rigged character as a scene of its own: its joints as bones, its skinned surfaces as flesh, its animation as what it does.

mod bones;
mod flesh;
mod frames;
mod glb;
mod motion;
mod watch;

pub use frames::{CharacterFrames, CharacterPart};
pub use glb::CharacterGlb;
pub use watch::{CharacterReport, CharacterWatch};

use crate::scene_file::{
    DEFAULT_CORE, DEFAULT_FPS, DEFAULT_SAG, DEFAULT_SECONDS, DEFAULT_TETS, EARTH_GRAVITY,
};
use bones::Bones;
use flesh::Flesh;
pub use motion::Capture;
use sinew_character::{CharacterPose, NodeTransform};
use sinew_control::{Approach, Beyond, HumanBone, Performance, SkeletonMotion};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_flesh::Material;
use sinew_gltf::{CharacterFile, open_character};
use sinew_math::{Isometry, Vec3};
use sinew_sim::desc::{AttachmentDesc, BodyDesc, CageSize, CoreDesc, RigDesc, Sag, ShapeDesc};
use sinew_sim::{Solver, WorldDesc};
use sinew_skeleton::Skeleton;
use sinew_take::Scene;
use std::path::Path;

/// How a character file becomes a scene.
#[derive(Clone, Debug)]
pub struct CharacterOptions {
    /// The name of its body and skeleton; the file's when nothing is said.
    pub name: Option<String>,
    /// The animation to play, by name or by its number from 0; the first when nothing is said.
    pub animation: Option<String>,
    /// A captured motion to play instead.
    pub motion: Option<Capture>,
    /// How fine the cage is.
    pub cage: CageSize,
    /// How long it takes from the bind pose to the first pose before the take (s).
    pub approach: Option<f64>,
    /// How long flesh settles in the first pose before the take (s), after coming there.
    pub hold: Option<f64>,
    /// What its flesh is made of.
    pub material: Option<Material>,
    /// How much stiffer flesh is at the bones.
    pub core: CoreDesc,
    /// Whether nodes of the cage are moved onto the middles of bones.
    pub anchored: bool,
    /// What keeps its flesh from sagging from its shape.
    pub sag: Sag,
    /// Surfaces that stay as they are skinned, by the name of their node, mesh or material.
    pub skinned: Vec<String>,
    /// Surfaces that are flesh however thin or small they are, likewise.
    pub fleshy: Vec<String>,
    /// Human bones that names do not tell, with the joint that is each.
    pub human: Vec<(HumanBone, String)>,
}

impl Default for CharacterOptions {
    fn default() -> CharacterOptions {
        CharacterOptions {
            name: None,
            animation: None,
            motion: None,
            cage: CageSize::Tets(DEFAULT_TETS),
            approach: None,
            hold: None,
            material: None,
            core: DEFAULT_CORE,
            anchored: true,
            sag: DEFAULT_SAG,
            skinned: Vec::new(),
            fleshy: Vec::new(),
            human: Vec::new(),
        }
    }
}

/// A character and the scene made of it.
pub struct CharacterScene {
    /// The file.
    pub file: CharacterFile,
    /// What is simulated.
    pub scene: Scene,
    /// The animation that is played.
    pub animation: Option<usize>,
    bones: Bones,
    /// For each bone of the built skeleton its place in the description.
    desc_of_bone: Vec<usize>,
    flesh: Flesh,
    motion: Option<SkeletonMotion>,
}

/// The way from the bind pose to the first pose, and how long flesh settles there (s).
const APPROACH: f64 = 0.6;
const HOLD: f64 = 0.8;
/// Materials are those of people, who are about this tall (m).
const PERSON: f64 = 1.7;
/// Up to this many times smaller or taller they are taken as they are.
const LIKE_A_PERSON: f64 = 3.0;

impl CharacterScene {
    /// Opens a character file and makes a scene of it.
    pub fn open(path: &Path, options: &CharacterOptions) -> Result<Loaded<CharacterScene>, ReadErrors> {
        let read = open_character(path)?;
        let stem = path.file_stem().map_or("character".into(), |stem| stem.to_string_lossy().into_owned());
        let name = options.name.clone().unwrap_or(stem);
        let mut notes = read.notes;
        let scene = CharacterScene::build(read.value, &name, options, &mut notes).map_err(|error| {
            ReadErrors::from(if error.file.is_none() { error.within(path) } else { error })
        })?;
        Ok(Loaded { value: scene, notes })
    }

    fn build(
        file: CharacterFile,
        name: &str,
        options: &CharacterOptions,
        notes: &mut Vec<String>,
    ) -> Result<CharacterScene, ReadError> {
        let flesh = Flesh::find(&file.rigged, options)?;
        if flesh.surface.triangles.is_empty() {
            let message = "the file has no skinned surface: give a rigged character, or its mesh alone as .obj, .ply or .stl";
            return Err(ReadError::whole(message));
        }
        let mut bones = Bones::build(&file.rigged, &flesh);
        notes.extend(flesh.notes.iter().cloned());
        if bones.left_out > 0 {
            notes.push(format!(
                "{} joints carry no vertices, nor do those below them: they are no bones",
                bones.left_out
            ));
        }
        let animation = file
            .rigged
            .find_animation(options.animation.as_deref())
            .map_err(|error| ReadError::whole(error.message))?;
        if let Some(animation) = animation {
            motion::check_length(&file.rigged, &bones, animation)?;
            motion::free_shifting_joints(&file.rigged, &mut bones, animation, flesh.size);
        }
        let skeleton = Skeleton::build(&bones.desc.with_plain_masses())
            .map_err(|error| ReadError::whole(format!("its joints make no skeleton: {error}")))?;
        let human = motion::human_bones(&file.rigged, &bones, &skeleton, &options.human)?;
        bones.harden(&human, &skeleton);
        let motion = match (&options.motion, animation) {
            (Some(capture), _) => {
                let (motion, found) = motion::of_capture(capture, &human, &skeleton)?;
                notes.extend(found);
                Some(motion)
            }
            (None, Some(animation)) => {
                let motion = motion::of_animation(&file.rigged, &bones, &skeleton, animation);
                Some(motion.map_err(|error| ReadError::whole(format!("its animation: {error}")))?)
            }
            (None, None) => {
                notes.push(
                    "the file has no animation: it keeps still; give a motion with --motion FILE.bvh"
                        .to_owned(),
                );
                None
            }
        };
        let material = fitting_material(options.material, &flesh.extent, notes);
        let hold = options.hold.unwrap_or(HOLD);
        let default_approach = if hold > 0.0 && motion.is_some() { APPROACH } else { 0.0 };
        let approach = options.approach.unwrap_or(default_approach);
        let mut performance = Performance::of(motion.clone());
        if approach > 0.0 {
            performance.approach = Some(Approach { begin: -(approach + hold), end: -hold });
        }
        let by_shape = AttachmentDesc::by_shape(name);
        let attachment = AttachmentDesc {
            ties: by_shape.ties.iter().cloned().chain(bones.ends(&human, &skeleton)).collect(),
            core: options.core,
            anchored: options.anchored,
            skin_weights: flesh.weights(&file.rigged, &bones.of_node),
            ..by_shape
        };
        let body = BodyDesc {
            name: name.to_owned(),
            shape: ShapeDesc::Surface { surface: flesh.surface.clone(), cage: options.cage },
            material,
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: Some(attachment),
            sag: options.sag,
        };
        let rig = RigDesc { name: name.to_owned(), skeleton: bones.desc.clone() };
        let seconds = motion.as_ref().map_or(DEFAULT_SECONDS, SkeletonMotion::seconds);
        let scene = Scene {
            name: format!("{name}_flesh"),
            world: WorldDesc {
                gravity: -Vec3::y() * EARTH_GRAVITY,
                bodies: vec![body],
                rigs: vec![rig],
                ..WorldDesc::default()
            },
            pin_motions: vec![Vec::new()],
            performances: vec![performance],
            obstacle_motions: Vec::new(),
            constraint_motions: Vec::new(),
            solver: Solver::default(),
            preroll: approach + hold,
            seconds: if seconds > 0.0 { seconds } else { DEFAULT_SECONDS },
            fps: DEFAULT_FPS,
        };
        let desc_of_bone = (0..skeleton.bones().len())
            .map(|i| skeleton.desc_of_bone(sinew_skeleton::BoneId(i as u32)))
            .collect();
        let animation = if options.motion.is_some() { None } else { animation };
        Ok(CharacterScene { file, scene, animation, bones, desc_of_bone, flesh, motion })
    }

    /// Where the file's nodes stand at a time (s) when nothing but its own animation moves them.
    pub fn pose_at(&self, time: f64) -> CharacterPose {
        let Some(animation) = self.animation else { return self.file.rigged.rest_pose() };
        let seconds = self.motion.as_ref().map_or(0.0, SkeletonMotion::seconds);
        let loops = self.motion.as_ref().is_some_and(|motion| motion.beyond == Beyond::Loop) && seconds > 0.0;
        // the last frame of a cycle is its first
        let time = if loops && time > seconds { time % seconds } else { time.min(seconds) };
        self.file.rigged.pose_at(animation, time).unwrap_or_else(|| self.file.rigged.rest_pose())
    }

    /// Where the file's nodes stand when bones stand as they were simulated, in the order of the skeleton; nodes that are no bones
    /// go along with what they hang from.
    pub fn pose_of_bones(&self, time: f64, world_from_bone: &[Isometry]) -> CharacterPose {
        let mut pose = self.pose_at(time);
        let mut of_node = vec![None; self.file.rigged.nodes.len()];
        for (bone, world_from_bone) in world_from_bone.iter().enumerate() {
            let place = self.desc_of_bone[bone];
            of_node[self.bones.node[place]] =
                Some(world_from_bone.to_homogeneous() * self.bones.bone_from_node[place]);
        }
        for &node in &self.file.rigged.order {
            let parent = self.file.rigged.nodes[node].parent.map(|parent| pose.world_from_node[parent]);
            if let Some(world) = of_node[node] {
                pose.world_from_node[node] = world;
                let local = parent.and_then(|parent| parent.try_inverse()).map_or(world, |back| back * world);
                pose.parent_from_node[node] = NodeTransform::of_matrix(&local);
            } else {
                let local = pose.parent_from_node[node].matrix();
                pose.world_from_node[node] = parent.map_or(local, |parent| parent * local);
            }
        }
        pose
    }

    /// Whether bones were led by the file's animation alone at a time (s), so that its own poses are exact.
    pub fn is_prescribed_at(&self, time: f64) -> bool {
        let Some(motion) = &self.motion else { return false };
        let prescribed = self.scene.performances.iter().all(|performance| performance.cues.is_empty());
        let within = motion.beyond == Beyond::Loop || time <= motion.seconds() + 1e-9;
        self.animation.is_some() && prescribed && within
    }
}

/// The material, made stiffer or softer with the size of a giant or a dwarf, whose flesh would flow away or stand stiff. Under its own weight flesh is strained as
/// ρ g L/E; moved about in the time a person takes, as ρ L²/(E t²). The larger of both is what a person's flesh is made for.
fn fitting_material(given: Option<Material>, extent: &Vec3, notes: &mut Vec<String>) -> Material {
    if let Some(material) = given {
        return material;
    }
    let fat = Material::named("fat").unwrap_or(Material::NAMED[0].1);
    let size = extent.amax() / PERSON;
    let times = size.max(size * size);
    if (1.0 / LIKE_A_PERSON..=LIKE_A_PERSON).contains(&size) || size == 0.0 {
        return fat;
    }
    notes.push(format!(
        "the character is {:.3} m large: its flesh is {times:.3} times as stiff as a person's, so that it moves alike; \
         if the unit is wrong, correct it where the file was made",
        extent.amax()
    ));
    Material { young: fat.young * times, ..fat }
}
