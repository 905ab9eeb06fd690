//! From a rigged character to flesh that joins any scene: its joints become bones, its skinned surfaces become a body, its animation a
//! performance.

use crate::bones::Bones;
use crate::flesh::Flesh;
use crate::jiggle::{FleshInMotion, Softness};
use crate::joint_axes::align_joints;
use crate::joint_limits::limit_joints;
use crate::motion;
use crate::names::distinct_name;
use crate::rigid_skin::RigidSkin;
use crate::softness::find_softness;
use crate::{
    CharacterBinding, CharacterError, CharacterOptions, FaultyPart, FleshShape, JointOptions, RiggedCharacter,
};
use sinew_control::{Approach, BoneMap, Performance, SkeletonMotion};
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_sim::desc::{AttachmentDesc, BodyDesc, CoreDesc, RigDesc, ShapeDesc};
use sinew_skeleton::{BoneId, Skeleton};
use sinew_take::Scene;
use std::sync::Arc;

/// The way from the bind pose to the first pose, and how long flesh settles there (s).
const APPROACH: f64 = 0.6;
const HOLD: f64 = 0.8;
/// The same where flesh is at home in every pose: what gravity changes there needs some swings.
const SKINNED_HOLD: f64 = 0.4;
/// Materials are those of people, who are about this tall (m).
const PERSON: f64 = 1.7;
/// Up to this ratio of sizes the materials of people are used as they are.
const LIKE_A_PERSON: f64 = 3.0;

/// A character made of flesh, ready to join a scene. Its parts may be changed before it does.
#[derive(Clone, Debug)]
pub struct Character {
    /// Its flesh.
    pub body: BodyDesc,
    /// Its skeleton.
    pub rig: RigDesc,
    /// What its joints do.
    pub performance: Performance,
    /// How long it must run before the take begins (s).
    pub preroll: f64,
    /// The length of its motion (s); `None` if it has none.
    pub seconds: Option<f64>,
    /// How soft each vertex of its flesh is, in the order of the body's surface: 1 as chosen, more is softer, 0 is rigid; from 0 to
    /// [`MAX_SOFTNESS`](crate::MAX_SOFTNESS).
    pub softness: Vec<f32>,
    /// The names of parts that stay rigid: those that one bone carries, those that are hard by their names, and those without weights.
    pub rigid_parts: Vec<String>,
    /// What was chosen or left out on the way, one sentence each.
    pub notes: Vec<String>,
    binding: CharacterBinding,
}

impl Character {
    /// Makes flesh of a rigged character.
    ///
    /// # Errors
    /// If it has no skinned surface, its joints make no skeleton, or the options name what it does not have.
    pub fn build(
        rigged: &Arc<RiggedCharacter>,
        options: &CharacterOptions,
    ) -> Result<Character, CharacterError> {
        let rigged = options.placement.place(rigged);
        let name = options.name.clone().unwrap_or_else(|| "character".into());

        // what is flesh, and the bones it hangs on
        let flesh = Flesh::find(&rigged, (&options.skinned, &options.fleshy), options.has_solid_parts)?;
        if flesh.surface.triangles.is_empty() {
            let message = "the file has no skinned surface: give a rigged character, or its mesh alone as .obj, .ply or .stl; a file with motion alone is for --motion";
            return Err(CharacterError::whole(message));
        }
        let mut notes = flesh.notes.clone();
        let softness = find_softness(&rigged, &flesh, &options.softness)?;
        let mut bones = Bones::build(&rigged, &flesh);
        if bones.left_out > 0 {
            notes.push(format!(
                "{} joints carry no vertices, nor do those below them: they are no bones",
                bones.left_out
            ));
        }
        let animation = rigged.find_animation(options.animation.as_deref())?;
        if let Some(animation) = animation {
            motion::check_length(&rigged, &bones, animation)?;
            motion::free_shifting_joints(&rigged, &mut bones, animation, flesh.size);
        }
        let skeleton = Skeleton::build(&bones.desc.with_plain_masses())
            .map_err(|error| CharacterError::whole(format!("its joints make no skeleton: {error}")))?;
        let human =
            motion::human_bones(&rigged, &bones, &skeleton, (&options.placement.rotation, &options.human))?;
        bones.harden(&human, &skeleton);
        let skeleton = fit_joints(&mut bones, (&rigged, &flesh), (&human, &skeleton), &options.joints)?;

        // what it does
        let played = Played { rigged: &rigged, bones: &bones, skeleton: &skeleton, human: &human };
        let motion = played.motion(options, animation, &mut notes)?;
        notes.extend(motion.iter().filter_map(|motion| motion.cut_note(&skeleton)));
        let (performance, preroll) = performance(options, motion.clone());

        // what takes part in the scene
        let body = match options.shape {
            FleshShape::Artist => {
                let fitted = played.fitted_motions(options, animation)?;
                let motions: Vec<&SkeletonMotion> = motion.iter().chain(&fitted).collect();
                played.skinned_body(&name, (&flesh, &softness), &motions, options)
            }
            FleshShape::Physical => {
                let material = fitting_material(options.material, &flesh.extent, &mut notes);
                played.body(&name, &flesh, material, options)
            }
        };
        let rig = RigDesc { name: name.clone(), skeleton: bones.desc.clone() };
        let seconds = motion.as_ref().map(SkeletonMotion::seconds).filter(|seconds| *seconds > 0.0);
        let animation = if options.motion.is_some() { None } else { animation };
        let desc_of_bone =
            (0..skeleton.bones().len()).map(|i| skeleton.desc_of_bone(BoneId(i as u32))).collect();
        let home =
            body.attachment.as_ref().filter(|attachment| attachment.home.is_some()).map(|attachment| {
                RigidSkin::build(&flesh.surface.vertices, &attachment.skin_weights, &skeleton)
            });
        let rigid_parts = flesh.rigid_parts.clone();
        let binding = CharacterBinding {
            name,
            body: 0,
            rig: 0,
            placement: options.placement,
            animation,
            bones,
            desc_of_bone,
            flesh,
            softness: softness.clone().into(),
            motion,
            home,
            rigged,
        };
        Ok(Character { body, rig, performance, preroll, seconds, softness, rigid_parts, notes, binding })
    }

    /// Adds the character to a scene and returns how the two belong together. Its name is made distinct from those in the scene, whose
    /// preroll becomes long enough for it.
    pub fn join(mut self, scene: &mut Scene) -> CharacterBinding {
        let world = &mut scene.world;

        // names tell bodies and rigs apart
        let name = distinct_name(&self.body.name, |name| {
            world.bodies.iter().any(|body| body.name == name) || world.rigs.iter().any(|rig| rig.name == name)
        });
        if let Some(attachment) = &mut self.body.attachment {
            attachment.rig.clone_from(&name);
        }
        self.body.name.clone_from(&name);
        self.rig.name.clone_from(&name);

        // one of each, and the indices they get
        (self.binding.body, self.binding.rig) = (world.bodies.len(), world.rigs.len());
        self.binding.name = name;
        world.bodies.push(self.body);
        world.rigs.push(self.rig);
        scene.pin_motions.resize(self.binding.body, Vec::new());
        scene.pin_motions.push(Vec::new());
        scene.performances.push(self.performance);
        scene.preroll = scene.preroll.max(self.preroll);
        self.binding
    }
}

/// Gives joints their axes, ranges and damping; returns the skeleton with those axes.
fn fit_joints(
    bones: &mut Bones,
    (rigged, flesh): (&RiggedCharacter, &Flesh),
    (human, skeleton): (&BoneMap, &Skeleton),
    options: &JointOptions,
) -> Result<Skeleton, CharacterError> {
    if options.limits {
        align_joints(bones, human, skeleton);
    }
    let skeleton = Skeleton::build(&bones.desc.with_plain_masses())
        .map_err(|error| CharacterError::whole(format!("its joints make no skeleton: {error}")))?;
    limit_joints(bones, (rigged, flesh), (human, &skeleton), options);
    Ok(skeleton)
}

/// A character with its bones, while flesh is made of it.
struct Played<'a> {
    rigged: &'a RiggedCharacter,
    bones: &'a Bones,
    skeleton: &'a Skeleton,
    human: &'a BoneMap,
}

impl Played<'_> {
    /// The captured motion, the animation, or none.
    fn motion(
        &self,
        options: &CharacterOptions,
        animation: Option<usize>,
        notes: &mut Vec<String>,
    ) -> Result<Option<SkeletonMotion>, CharacterError> {
        match (&options.motion, animation) {
            (Some(captured), _) => {
                let (motion, found) = captured.retargeted(self.human, self.skeleton, &options.placement)?;
                notes.extend(found);
                Ok(Some(motion))
            }
            (None, Some(animation)) => {
                let motion = motion::of_animation(self.rigged, self.bones, self.skeleton, animation);
                let faulty =
                    |error| CharacterError::of(FaultyPart::Animation, format!("its animation: {error}"));
                Ok(Some(motion.map_err(faulty)?))
            }
            (None, None) => {
                let note = "the file has no animation: it keeps still; give a motion with --motion FILE (.bvh, .fbx, .glb)";
                notes.push(note.to_owned());
                Ok(None)
            }
        }
    }

    /// The other animations that softness fits. One that shifts joints, which these bones cannot follow, is left out.
    fn fitted_motions(
        &self,
        options: &CharacterOptions,
        played: Option<usize>,
    ) -> Result<Vec<SkeletonMotion>, CharacterError> {
        let mut found = Vec::new();
        for name in &options.fitted {
            let animation = self.rigged.find_animation(Some(name))?.filter(|found| Some(*found) != played);
            let Some(animation) = animation else { continue };
            motion::check_length(self.rigged, self.bones, animation)?;
            found.extend(motion::of_animation(self.rigged, self.bones, self.skeleton, animation).ok());
        }
        Ok(found)
    }

    /// The flesh as a body whose home is the skinned shape, with a softness that fits the motions.
    fn skinned_body(
        &self,
        name: &str,
        (flesh, softness): (&Flesh, &[f32]),
        motions: &[&SkeletonMotion],
        options: &CharacterOptions,
    ) -> BodyDesc {
        let weights = flesh.weights(self.rigged, &self.bones.of_node);
        let in_motion = FleshInMotion {
            surface: &flesh.surface,
            weights: &weights,
            skeleton: self.skeleton,
            motions,
            size: flesh.extent.amax(),
            softness,
            human: self.human,
        };
        let Softness { home, material } = in_motion.choose(options.material, options.jiggle, options.limit);
        let mut body = self.body(name, flesh, material, options);
        if let Some(attachment) = &mut body.attachment {
            attachment.home = Some(home);
            attachment.core = CoreDesc::EVEN;
            attachment.anchored = false;
        }
        body
    }

    /// The flesh as a body that is attached to the bones.
    fn body(&self, name: &str, flesh: &Flesh, material: Material, options: &CharacterOptions) -> BodyDesc {
        let by_shape = AttachmentDesc::by_shape(name);
        let attachment = AttachmentDesc {
            ties: by_shape.ties.iter().cloned().chain(self.bones.ends(self.human, self.skeleton)).collect(),
            core: options.core,
            anchored: options.anchored,
            skin_weights: flesh.weights(self.rigged, &self.bones.of_node),
            ..by_shape
        };
        BodyDesc {
            name: name.to_owned(),
            shape: ShapeDesc::Surface { surface: flesh.surface.clone(), cage: options.cage },
            material,
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: Some(attachment),
            sag: options.sag,
            ..BodyDesc::default()
        }
    }
}

/// What joints do, and how long they need before the take (s).
fn performance(options: &CharacterOptions, motion: Option<SkeletonMotion>) -> (Performance, f64) {
    let is_skinned = options.shape == FleshShape::Artist;
    let hold = options.hold.unwrap_or(if is_skinned { SKINNED_HOLD } else { HOLD });
    let default_approach = if hold > 0.0 && motion.is_some() && !is_skinned { APPROACH } else { 0.0 };
    let approach = options.approach.unwrap_or(default_approach);
    let mut performance = Performance::of(motion);
    if approach > 0.0 {
        performance.approach = Some(Approach { begin: -(approach + hold), end: -hold });
    }
    (performance, approach + hold)
}

/// The material that is given, or fat whose stiffness grows with the size of giants and falls with that of dwarfs, so that it strains
/// alike. Under its own weight flesh is strained as ρ g L/E; moved about in the time a person takes, as ρ L²/(E t²). The larger of both
/// is what a person's flesh is made for.
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
