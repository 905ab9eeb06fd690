//! A recorded take as frame source.

use super::frame_source::{FrameCallback, FrameSource, PictureError};
use super::look::Look;
use super::obstacles::{Obstacles, ShownObstacle};
use super::plain_skinning::{PlainSkinning, bone_segments};
use super::render_frame::{Arrow, Marks, RenderFrame};
use crate::{OpenedScene, TakeEnding, TakeFile, Up};
use sinew_character::ShownSurfaces;
use sinew_math::{Isometry, Vec3, nalgebra::Point3};
use sinew_mesh::TetMesh;
use sinew_sim::{ContactForce, Model, State, StrainGauge, contact_forces};
use sinew_take::{Frame, SurfaceInfo};

/// What is to be seen of a take beside its surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// The outside of the cages.
    pub cage: bool,
    /// The bones.
    pub bones: bool,
    /// How strained the flesh is.
    pub strain: bool,
    /// What plain skinning would do.
    pub skinned: bool,
    /// How obstacles push on bodies, as arrows.
    pub contacts: bool,
}

/// A take that pictures are taken of.
pub struct TakeFrameSource<'a> {
    take: &'a TakeFile,
    model: &'a Model,
    shown: ShownSurfaces<'a>,
    surfaces: Vec<SurfaceInfo>,
    looks: Vec<Look>,
    cage: Vec<[u32; 3]>,
    gauge: Option<StrainGauge>,
    skinning: Skinning,
    obstacles: Obstacles,
    body_count: usize,
    /// The most that a vertex is pushed with in the take (N), if that is to be seen, and how long an arrow shows it (m).
    arrows: Option<(f64, f64)>,
    /// For each rig segments of its bones, if they are to be seen.
    bones: Vec<Vec<(usize, [Vec3; 2])>>,
}

enum Skinning {
    /// Not to be seen.
    Hidden,
    /// That of characters' own files, of other bodies by the distance to bones.
    Shown(Option<PlainSkinning>),
}

impl<'a> TakeFrameSource<'a> {
    /// A take, the model it was recorded with, and the scene of that model.
    pub fn new(
        take: &'a TakeFile,
        model: &'a Model,
        opened: &'a OpenedScene,
        overlays: Overlays,
    ) -> Result<TakeFrameSource<'a>, PictureError> {
        take.check_model(model)?;
        if take.frame_count() == 0 {
            return Err(PictureError(format!(
                "{}: holds no frames to be seen: simulate again, or go on with it with `sinew simulate --resume`",
                take.path().display()
            )));
        }
        if overlays.bones && model.rigs.is_empty() {
            return Err(PictureError("there are no bones to be seen in this scene".into()));
        }
        let skinning = match overlays.skinned {
            false => Skinning::Hidden,
            true if opened.other_parts().bodies.is_empty() => Skinning::Shown(None),
            true => Skinning::Shown(Some(PlainSkinning::of(model).ok_or_else(|| {
                PictureError(
                    "only bodies on bones can be compared with plain skinning, and this scene has a body without".into(),
                )
            })?)),
        };
        let shown = opened.shown();
        let bodies: Vec<SurfaceInfo> = model.bodies.iter().map(SurfaceInfo::of).collect();
        let mut surfaces = shown.infos(&bodies);
        let mut looks = opened.looks();
        let in_the_way = model.obstacles.iter().enumerate().map(|(i, obstacle)| ShownObstacle {
            name: &obstacle.name,
            surface: &obstacle.surface,
            start: obstacle.start.pose,
            moves: model.obstacle_moves(i),
            is_glass: obstacle.is_glass,
        });
        let obstacles = Obstacles::of(in_the_way, Up::against(model.gravity));
        let body_count = surfaces.len();
        surfaces.extend(obstacles.infos());
        looks.extend(obstacles.looks());
        let arrows = if overlays.contacts { Some(arrow_scale(take, model)?) } else { None };
        let bones = if overlays.bones { model.rigs.iter().map(bone_segments).collect() } else { Vec::new() };
        Ok(TakeFrameSource {
            take,
            model,
            shown,
            surfaces,
            looks,
            cage: if overlays.cage { boundary(model) } else { Vec::new() },
            gauge: overlays.strain.then(|| StrainGauge::of(model)),
            skinning,
            obstacles,
            body_count,
            arrows,
            bones,
        })
    }

    /// The same with other looks, one per surface; those that are missing stay as they are.
    pub fn with_looks(mut self, looks: impl IntoIterator<Item = Look>) -> TakeFrameSource<'a> {
        self.looks.iter_mut().zip(looks).for_each(|(own, look)| *own = look);
        self
    }

    fn render_frame(&self, state: &State) -> RenderFrame {
        let mut frame = Frame::default();
        frame.update(self.model, state);
        let mut render_frame = RenderFrame { time: frame.time, ..RenderFrame::default() };
        if let Some(gauge) = &self.gauge {
            render_frame.strain = self.surface_strain(&gauge.nodes(self.model, state));
        }
        if !self.cage.is_empty() {
            render_frame.cage = state.node_x.iter().map(single).collect();
        }
        render_frame.marks = Marks { bones: self.bone_lines(&frame.bones), arrows: self.push_arrows(state) };
        if let Skinning::Shown(plain) = &self.skinning {
            let bodies = plain.as_ref().map(|plain| plain.surfaces(&frame.bones)).unwrap_or_default();
            render_frame.skinned = self.shown.skinned(&frame, &bodies);
        }
        render_frame.surfaces = self.shown.positions(&frame);
        let placed = self.obstacles.place(|i| state.obstacles.get(i).map(|obstacle| obstacle.pose));
        if self.gauge.is_some() {
            render_frame.strain.extend(placed.iter().map(|points| vec![f32::NAN; points.len()]));
        }
        if !matches!(self.skinning, Skinning::Hidden) {
            render_frame.skinned.extend(placed.iter().cloned());
        }
        render_frame.surfaces.extend(placed);
        render_frame
    }

    /// What obstacles push on vertices with. A vertex that is pushed with nothing has no arrow, so their count changes from moment to moment.
    fn push_arrows(&self, state: &State) -> Vec<Arrow> {
        let Some((most, length)) = self.arrows else { return Vec::new() };
        let arrow = |push: ContactForce| {
            // the square root, so that weak ones are seen beside strong ones
            let fraction = (push.force.norm() / most).min(1.0).sqrt();
            let along = push.force.try_normalize(0.0).unwrap_or(Vec3::zeros());
            Arrow { from: push.point, to: push.point + along * (fraction * length), color: PUSH }
        };
        contact_forces(self.model, state).into_iter().map(arrow).collect()
    }

    /// Strain carried from nodes to vertices as positions are.
    fn surface_strain(&self, nodes: &[f64]) -> Vec<Vec<f32>> {
        let body = |body: &sinew_sim::Body| -> Vec<f32> {
            let own = &nodes[body.nodes.clone()];
            let vertex = |i: usize| {
                body.embedding.point(i).map(|(node, weight)| weight * own[node as usize]).sum::<f64>()
            };
            (0..body.embedding.point_count()).map(|i| vertex(i).max(0.0) as f32).collect()
        };
        let bodies: Vec<Vec<f32>> = self.model.bodies.iter().map(body).collect();
        self.shown.values(bodies)
    }

    fn bone_lines(&self, frames: &[Vec<Isometry>]) -> Vec<[Vec3; 2]> {
        let rig = |(segments, frames): (&Vec<(usize, [Vec3; 2])>, &Vec<Isometry>)| -> Vec<[Vec3; 2]> {
            let world = |bone: usize, p: Vec3| (frames[bone] * Point3::from(p)).coords;
            segments.iter().map(|(bone, ends)| ends.map(|end| world(*bone, end))).collect()
        };
        self.bones.iter().zip(frames).flat_map(rig).collect()
    }
}

/// The colour of arrows of what touches (linear RGB).
const PUSH: [f32; 3] = [0.9, 0.28, 0.02];
/// The longest arrow, in parts of what bodies measure.
const ARROW: f64 = 0.2;

/// The most that a vertex is pushed with in a take (N), and the length of an arrow that shows it (m).
fn arrow_scale(take: &TakeFile, model: &Model) -> Result<(f64, f64), PictureError> {
    let mut most = f64::MIN_POSITIVE;
    for state in take.states(model)? {
        let pushes = contact_forces(model, &state?);
        most = pushes.iter().map(|push| push.force.norm()).fold(most, f64::max);
    }
    let sizes = model.bodies.iter().filter_map(|body| body.surface.bounds());
    Ok((most, ARROW * sizes.map(|(low, high)| (high - low).amax()).fold(0.0, f64::max)))
}

impl FrameSource for TakeFrameSource<'_> {
    fn surfaces(&self) -> &[SurfaceInfo] {
        &self.surfaces
    }

    fn looks(&self) -> &[Look] {
        &self.looks
    }

    fn framed_count(&self) -> usize {
        self.body_count + self.obstacles.moving()
    }

    fn ground(&self) -> Option<f64> {
        self.obstacles.ground
    }

    fn cage(&self) -> &[[u32; 3]] {
        &self.cage
    }

    fn up(&self) -> Up {
        Up::against(self.model.gravity)
    }

    fn fps(&self) -> f64 {
        self.take.recipe().settings.fps
    }

    fn frame_count(&self) -> usize {
        self.take.frame_count()
    }

    fn is_cycle(&self) -> bool {
        self.take.recipe().settings.is_loop && *self.take.ending() == TakeEnding::Complete
    }

    fn show(&self, places: &[f64], see: &mut FrameCallback) -> Result<(), PictureError> {
        let mut states = self.take.states(self.model)?.enumerate();
        let mut kept: [Option<(usize, RenderFrame)>; 2] = [None, None];
        let mut find = |index: usize, slot: usize| -> Result<RenderFrame, PictureError> {
            if let Some((_, render_frame)) = kept.iter().flatten().find(|(known, _)| *known == index) {
                return Ok(render_frame.clone());
            }
            for (found, state) in states.by_ref() {
                if found == index {
                    let render_frame = self.render_frame(&state?);
                    kept[slot] = Some((index, render_frame.clone()));
                    return Ok(render_frame);
                }
            }
            Err(PictureError(format!("frame {index} is not there: was the file changed meanwhile?")))
        };
        for place in places {
            let (before, fraction) = (*place as usize, place.fract());
            let first = find(before, before % 2)?;
            see(if fraction > 0.0 {
                first.towards(&find(before + 1, (before + 1) % 2)?, fraction)
            } else {
                first
            })?;
        }
        Ok(())
    }
}

/// Triangles of the outside of all cages, in the model's nodes.
fn boundary(model: &Model) -> Vec<[u32; 3]> {
    let cages = TetMesh { nodes: model.node_rest.clone(), tets: model.tets.clone() };
    let (surface, vertex_node) = cages.boundary();
    surface.triangles.iter().map(|triangle| triangle.map(|v| vertex_node[v as usize])).collect()
}

fn single(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}
