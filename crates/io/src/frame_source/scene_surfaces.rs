//! What is drawn of a scene: surfaces with their looks, and overlays, at any of its states.

use crate::OpenedScene;
use sinew_character::ShownSurfaces;
use sinew_render::{
    Look, ModelOverlays, ObstacleInfo, ObstacleSurfaces, Overlays, PictureError, RenderFrame, Scalar,
};
use sinew_sim::{Model, State};
use sinew_take::{Frame, SurfaceInfo, Up};

/// What is drawn of a scene.
pub struct SceneSurfaces<'a> {
    model: &'a Model,
    shown: ShownSurfaces<'a>,
    overlays: Overlays,
    pub(super) model_overlays: ModelOverlays<'a>,
    /// The surfaces of bodies, then of obstacles.
    pub surfaces: Vec<SurfaceInfo>,
    /// The look of each surface.
    pub looks: Vec<Look>,
    obstacles: ObstacleSurfaces,
    body_count: usize,
    /// How soft every vertex of each body is, if that is drawn.
    softness: Option<Vec<Vec<f32>>>,
    /// The surfaces that a camera follows; empty for all that move.
    pub(super) followed: Vec<usize>,
}

impl<'a> SceneSurfaces<'a> {
    /// A model and the scene that it was built from.
    pub fn build(
        model: &'a Model,
        opened: &'a OpenedScene,
        overlays: Overlays,
    ) -> Result<SceneSurfaces<'a>, PictureError> {
        // overlays; characters have skinning weights of their own
        let skinned = overlays.skinned && !opened.other_parts().bodies.is_empty();
        let model_overlays = ModelOverlays::build(model, Overlays { skinned, ..overlays })?;

        // surfaces of the bodies, then of the obstacles
        let shown = opened.shown();
        let bodies: Vec<SurfaceInfo> = model.bodies().iter().map(SurfaceInfo::of).collect();
        let (mut surfaces, mut looks) = (shown.infos(&bodies), opened.looks());
        let body_count = surfaces.len();
        let obstacles = obstacle_surfaces(model);
        surfaces.extend(obstacles.infos());
        looks.extend(obstacles.looks());
        Ok(SceneSurfaces {
            model,
            shown,
            overlays,
            model_overlays,
            surfaces,
            looks,
            body_count,
            softness: overlays.softness.then(|| opened.softness(model)),
            followed: opened.character_surfaces(),
            obstacles,
        })
    }

    /// How many surfaces, from the first, are bodies or move.
    pub fn framed_count(&self) -> usize {
        self.body_count + self.obstacles.moving_count()
    }

    /// How many surfaces, from the first, are bodies.
    pub fn body_count(&self) -> usize {
        self.body_count
    }

    /// The height of the floor above the origin (m), if there is one.
    pub fn ground(&self) -> Option<f64> {
        self.obstacles.ground
    }

    /// Boundary triangles of the cages, as indices into [`RenderFrame::cage`]; empty if they are not drawn.
    pub fn cage(&self) -> &[[u32; 3]] {
        self.model_overlays.cage()
    }

    /// What the numbers in [`RenderFrame::strain`] are.
    pub fn scalar(&self) -> Scalar {
        if self.softness.is_some() { Scalar::Softness } else { Scalar::Strain }
    }

    /// The axis that points up.
    pub fn up(&self) -> Up {
        Up::against(self.model.gravity())
    }

    /// Draws other numbers than the softness of the scene, one per vertex of each body, while they are being painted.
    pub fn show_painted(&mut self, painted: &[Vec<f32>]) {
        self.softness = Some(painted.to_vec());
    }

    /// Lets the longest arrow stand for the largest contact force of all states that this was called with.
    pub fn scale_forces(&mut self, state: &State) {
        self.model_overlays.scale_forces(state);
    }

    /// The surfaces of a frame, without overlays.
    pub fn surfaces_of(&self, frame: &Frame) -> RenderFrame {
        let mut surfaces = self.shown.positions(frame);
        surfaces.extend(self.obstacles.vertices(|i| frame.obstacles.get(i).map(|obstacle| obstacle.pose)));
        RenderFrame { time: frame.time, surfaces, ..RenderFrame::default() }
    }

    /// Everything that is drawn of a state.
    pub fn render_frame(&self, state: &State) -> RenderFrame {
        let mut frame = Frame::default();
        frame.update(self.model, state);
        self.render_frame_of(state, &frame, &frame)
    }

    /// Everything that is drawn of a state, whose frame is given, with other surfaces than its own: skin over flesh.
    pub fn render_frame_of(&self, state: &State, frame: &Frame, drawn: &Frame) -> RenderFrame {
        let mut render_frame = RenderFrame { time: frame.time, ..RenderFrame::default() };
        self.model_overlays.add_to(&mut render_frame, state, frame);

        // surfaces of rigged files in place of their flesh
        render_frame.surfaces = self.shown.positions(drawn);
        if let Some(softness) = &self.softness {
            render_frame.strain.clone_from(softness);
        }
        render_frame.strain = self.shown.values(render_frame.strain);
        if self.overlays.skinned {
            render_frame.skinned = self.shown.skinned(frame, &render_frame.skinned);
        }

        // obstacles have no strain, and are not skinned
        let vertices = self.obstacles.vertices(|i| state.obstacles.get(i).map(|obstacle| obstacle.pose));
        if self.overlays.strain || self.overlays.softness {
            render_frame.strain.extend(vertices.iter().map(|points| vec![f32::NAN; points.len()]));
        }
        if self.overlays.skinned {
            render_frame.skinned.extend(vertices.iter().cloned());
        }
        render_frame.surfaces.extend(vertices);
        render_frame
    }
}

fn obstacle_surfaces(model: &Model) -> ObstacleSurfaces {
    let infos = model.obstacles().iter().enumerate().map(|(i, obstacle)| ObstacleInfo {
        name: &obstacle.name,
        surface: &obstacle.surface,
        start: obstacle.start.pose,
        moves: model.obstacle_moves(i),
        is_glass: obstacle.is_glass,
    });
    ObstacleSurfaces::of(infos, Up::against(model.gravity()))
}
