//! Description of a character with bones: capsule bones at their rest positions, implicit primitives of flesh, and a cyclic motion.
//!
//! A scene file can express everything that is described here, so characters can be exported as ordinary files: the frame of a bone
//! is at its start with the axes of the world, its shape is a capsule, and the keys of its motion are evenly spaced.

use crate::cycle::Cycle;
use sinew_control::{Approach, Performance};
use sinew_flesh::Material;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{ImplicitSurface, Primitive, TriMesh};
use sinew_sim::Solver;
use sinew_sim::desc::{
    AttachmentDesc, BodyDesc, CageSize, CoreDesc, RigDesc, Sag, ShapeDesc, TieDesc, WorldDesc,
};
use sinew_skeleton::{BoneDesc, JointDesc, JointKind, MassDesc, Parent, Skeleton, SkeletonDesc, SolidShape};
use sinew_take::Scene;

/// Density of bones (kg/m³).
const BONE_DENSITY: f64 = 1200.0;

/// Duration of the move from the rest pose to the first pose, and time for the flesh to settle there (s).
const APPROACH: f64 = 0.6;
const SETTLE: f64 = 0.8;

/// A character: bones, the flesh around them, and its material.
pub(crate) struct CharacterDesc {
    pub(crate) name: &'static str,
    pub(crate) bones: Vec<CharacterBone>,
    pub(crate) primitives: Vec<Primitive>,
    /// Spacing of surface vertices (m).
    pub(crate) spacing: f64,
    /// Approximate number of tets of its cage.
    pub(crate) tets: usize,
    pub(crate) material: Material,
    pub(crate) core: CoreDesc,
    /// Nodes fixed to bones in addition to those inside bones.
    pub(crate) ties: Vec<TieDesc>,
    pub(crate) gravity: Vec3,
}

/// A bone in its rest pose, in world coordinates.
pub(crate) struct CharacterBone {
    pub(crate) name: String,
    pub(crate) parent: Option<String>,
    /// Position of its joint and of its end (m).
    pub(crate) ends: [Vec3; 2],
    /// Its radius (m).
    pub(crate) radius: f64,
    pub(crate) joint: JointKind,
}

/// Gravity (m/s²), y up.
pub(crate) const EARTH: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// Shorthand for a point (m) or a direction.
pub(crate) const fn at(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

/// The point mirrored at the sagittal plane.
pub(crate) fn mirrored(p: Vec3) -> Vec3 {
    at(-p.x, p.y, p.z)
}

impl CharacterDesc {
    /// Adds a bone with a parent.
    pub(crate) fn bone(
        &mut self,
        name: impl Into<String>,
        parent: &str,
        ends: [Vec3; 2],
        radius: f64,
        joint: JointKind,
    ) {
        self.bones.push(CharacterBone {
            name: name.into(),
            parent: Some(parent.to_owned()),
            ends,
            radius,
            joint,
        });
    }

    /// Adds a root bone.
    pub(crate) fn root(&mut self, name: &str, ends: [Vec3; 2], radius: f64, joint: JointKind) {
        self.bones.push(CharacterBone { name: name.to_owned(), parent: None, ends, radius, joint });
    }

    /// Adds a symmetric pair of bones: "left NAME" at positive x, "right NAME" mirrored. The parent is the bone of the same side if it is a pair too.
    pub(crate) fn pair(
        &mut self,
        name: &str,
        parent: &str,
        ends: [Vec3; 2],
        radius: f64,
        joint: impl Fn(f64) -> JointKind,
    ) {
        for (side, sign) in [("left", 1.0), ("right", -1.0)] {
            let sided = format!("{side} {parent}");
            let parent = if self.bones.iter().any(|bone| bone.name == sided) { &sided } else { parent };
            let ends = if sign > 0.0 { ends } else { ends.map(mirrored) };
            self.bone(format!("{side} {name}"), parent, ends, radius, joint(sign));
        }
    }

    /// Adds a primitive of the flesh's implicit surface.
    pub(crate) fn primitive(&mut self, primitive: Primitive) {
        self.primitives.push(primitive);
    }

    /// Builds the skeleton.
    pub(crate) fn skeleton(&self) -> SkeletonDesc {
        let place = |name: &String| self.bones.iter().position(|bone| bone.name == *name);
        let bones = self.bones.iter().map(|bone| {
            let above = bone.parent.as_ref().and_then(place);
            let [from, to] = bone.ends;
            let from_parent = from - above.map_or(Vec3::zeros(), |above| self.bones[above].ends[0]);
            BoneDesc {
                name: bone.name.clone(),
                parent: above.map_or(Parent::World, Parent::Index),
                parent_from_joint: Isometry::translation(from_parent.x, from_parent.y, from_parent.z),
                joint: JointDesc::of(bone.joint.clone()),
                mass: MassDesc::Solid {
                    shape: SolidShape::Capsule { from: Vec3::zeros(), to: to - from, radius: bone.radius },
                    density: BONE_DENSITY,
                },
            }
        });
        SkeletonDesc { bones: bones.collect() }
    }

    /// Builds the surface of the flesh. The primitives are valid, so it exists; `Model::build` would reject an empty one.
    pub(crate) fn surface(&self) -> TriMesh {
        ImplicitSurface::build(&self.primitives)
            .and_then(|implicit| implicit.surface(self.spacing))
            .unwrap_or_default()
    }

    /// Builds the scene in which the character repeats `cycle`, `seconds` (s) long.
    pub(crate) fn scene(self, cycle: &Cycle, seconds: f64) -> Scene {
        // skeleton and performance
        let skeleton = self.skeleton();
        let motion =
            Skeleton::build(&skeleton.with_plain_masses()).ok().and_then(|built| cycle.motion(&built));
        let approach = Some(Approach { begin: -(APPROACH + SETTLE), end: -SETTLE });
        let performance = Performance { approach, ..Performance::of(motion) };

        // flesh and its attachment to bones
        let name = self.name.to_owned();
        let mut attachment = AttachmentDesc { core: self.core, ..AttachmentDesc::by_shape(name.clone()) };
        attachment.ties.extend(self.ties.iter().cloned());
        let body = BodyDesc {
            name: name.clone(),
            shape: ShapeDesc::Surface { surface: self.surface(), cage: CageSize::Tets(self.tets) },
            material: self.material,
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: Some(attachment),
            sag: Sag::Free,
            ..BodyDesc::default()
        };
        Scene {
            name: name.clone(),
            world: WorldDesc {
                gravity: self.gravity,
                bodies: vec![body],
                rigs: vec![RigDesc { name, skeleton }],
                ..WorldDesc::default()
            },
            pin_motions: vec![Vec::new()],
            obstacle_motions: Vec::new(),
            constraint_motions: Vec::new(),
            curves: Default::default(),
            solver: Solver::default(),
            performances: vec![performance],
            preroll: APPROACH + SETTLE,
            seconds,
            fps: 60.0,
            edits: Vec::new(),
        }
    }
}
