//! A character in the words that all of the zoo is made of: bones that stand in the world, round parts of flesh, and a motion.
//!
//! Everything said here can be said in a scene file too, which is what lets characters be written out as ordinary files: the frame
//! of a bone stands at its beginning with the axes of the world, its shape is a capsule, and its motion goes through even keys.

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

/// What a bone weighs (kg/m³).
const BONE_DENSITY: f64 = 1200.0;

/// Time from the rest pose to the first pose, and how long flesh settles there (s).
const APPROACH: f64 = 0.6;
const SETTLE: f64 = 0.8;

/// A character: bones, flesh around them, what it is made of.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) bones: Vec<FigureBone>,
    pub(crate) primitives: Vec<Primitive>,
    /// Distance of surface vertices (m).
    pub(crate) spacing: f64,
    /// About how many tets its cage has.
    pub(crate) tets: usize,
    pub(crate) material: Material,
    pub(crate) core: CoreDesc,
    /// Which nodes are fixed to which bones beside those inside of bones.
    pub(crate) ties: Vec<TieDesc>,
    pub(crate) gravity: Vec3,
}

/// A bone, as it stands in the world at rest.
pub(crate) struct FigureBone {
    pub(crate) name: String,
    pub(crate) parent: Option<String>,
    /// Where its joint is, and where it ends (m).
    pub(crate) ends: [Vec3; 2],
    /// Its radius (m).
    pub(crate) radius: f64,
    pub(crate) joint: JointKind,
}

/// Free fall on Earth (m/s²), y up.
pub(crate) const EARTH: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// A point (m) or a direction.
pub(crate) const fn at(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

/// The same on the other side of the plane between left and right.
pub(crate) fn mirrored(p: Vec3) -> Vec3 {
    at(-p.x, p.y, p.z)
}

impl Figure {
    /// Adds a bone that hangs from another by a joint.
    pub(crate) fn bone(
        &mut self,
        name: impl Into<String>,
        parent: &str,
        ends: [Vec3; 2],
        radius: f64,
        joint: JointKind,
    ) {
        self.bones.push(FigureBone {
            name: name.into(),
            parent: Some(parent.to_owned()),
            ends,
            radius,
            joint,
        });
    }

    /// Adds a bone that hangs from the world.
    pub(crate) fn root(&mut self, name: &str, ends: [Vec3; 2], radius: f64, joint: JointKind) {
        self.bones.push(FigureBone { name: name.to_owned(), parent: None, ends, radius, joint });
    }

    /// Adds bones that are alike on both sides: "left NAME" at positive x, "right NAME" across. The parent is of the same side if it has sides.
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

    /// Adds a round part.
    pub(crate) fn primitive(&mut self, primitive: Primitive) {
        self.primitives.push(primitive);
    }

    /// The bones as a skeleton.
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

    /// The surface of its flesh. Its numbers are sound, so that there is one; without one the model says so.
    pub(crate) fn surface(&self) -> TriMesh {
        ImplicitSurface::build(&self.primitives)
            .and_then(|implicit| implicit.surface(self.spacing))
            .unwrap_or_default()
    }

    /// The scene in which it moves over and over as `cycle` says.
    pub(crate) fn scene(self, cycle: &Cycle, seconds: f64) -> Scene {
        let skeleton = self.skeleton();
        let motion =
            Skeleton::build(&skeleton.with_plain_masses()).ok().and_then(|built| cycle.motion(&built));
        let approach = Some(Approach { begin: -(APPROACH + SETTLE), end: -SETTLE });
        let performance = Performance { approach, ..Performance::of(motion) };
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
            solver: Solver::default(),
            performances: vec![performance],
            preroll: APPROACH + SETTLE,
            seconds,
            fps: 60.0,
        }
    }
}
