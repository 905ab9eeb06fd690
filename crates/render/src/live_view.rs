//! Pictures of single frames from a camera that a hand moves, for windows.

use crate::camera::Camera;
use crate::frame_source::Scalar;
use crate::geometry::Geometry;
use crate::image::Image;
use crate::look::Look;
use crate::render_frame::RenderFrame;
use crate::renderer::{DraftMemory, Panel, PictureContent, Renderer};
use crate::view_transform::ViewTransform;
use sinew_math::Vec3;
use sinew_take::{SurfaceInfo, Up};
use std::collections::BTreeMap;

/// A camera that goes round a point and looks at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrbitCamera {
    /// The axis of the world that points up.
    pub up: Up,
    /// The point that it looks at (m), y up.
    pub target: Vec3,
    /// The angle around the vertical (degrees): 0 in front, at +z where y is up.
    pub azimuth: f64,
    /// The angle above the horizon (degrees), from −90 to 90.
    pub elevation: f64,
    /// The distance to the target (m).
    pub distance: f64,
    /// The tangent of half the vertical field of view; small for drawings without perspective.
    pub half_height: f64,
}

impl OrbitCamera {
    fn transform(&self) -> ViewTransform {
        ViewTransform::new(self.up, self.target, self.azimuth)
    }

    pub(crate) fn camera(&self, aspect: f64) -> Camera {
        Camera::around_origin(self.elevation, self.distance, self.half_height, aspect)
    }

    /// Where a point of the world is in a picture: x from −1 left to 1 right, y from −1 bottom to 1 top, and its distance in front of the eye (m). `None` behind the eye.
    pub fn project(&self, point: &Vec3, aspect: f64) -> Option<[f64; 3]> {
        self.camera(aspect).project(self.transform().point(point)).map(|(x, y, distance)| [x, y, distance])
    }

    /// The eye, and the direction from it through a point of the picture, in the world; 1 m along the view for a direction of length 1 on the axis.
    pub fn ray(&self, [x, y]: [f64; 2], aspect: f64) -> [Vec3; 2] {
        let (camera, transform) = (self.camera(aspect), self.transform());
        [transform.point_in_world(&camera.eye()), transform.direction_in_world(&camera.ray(x, y))]
    }

    /// Moves the target along the picture, by fractions of its height to the right and up.
    pub fn pan(&mut self, [right, up]: [f64; 2]) {
        let [_, middle] = self.ray([0.0, 0.0], 1.0);
        let [_, aside] = self.ray([1.0, 0.0], 1.0);
        let [_, above] = self.ray([0.0, 1.0], 1.0);
        let moved = (aside - middle) * right + (above - middle) * up;
        self.target += self.up.to_y_up(&moved) * (2.0 * self.distance);
    }

    /// Looks at points of the world from such a distance that all of them are seen.
    pub fn frame(&mut self, points: impl Iterator<Item = Vec3>) {
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for point in points.map(|point| self.up.to_y_up(&point)) {
            (low, high) = (low.inf(&point), high.sup(&point));
        }
        let size = (high - low).norm();
        if size.is_finite() {
            self.target = 0.5 * (low + high);
            self.distance = (0.6 * size).max(1e-6) / self.half_height;
        }
    }
}

/// What is drawn besides one frame, and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveOptions {
    /// The size of the picture (pixels).
    pub size: [usize; 2],
    /// The strain or softness at the end of the scale of colours; `None` draws looks.
    pub scale: Option<f64>,
    /// Draws surfaces under plain skinning, where a frame has them.
    pub skinned: bool,
    /// Whether it is seen for an instant only: it is drawn about ten times as fast, without anti-aliasing, and with the sky of the drafts before it.
    pub is_draft: bool,
    /// Which of several viewports it is, each with drafts of its own.
    pub slot: usize,
}

/// Surfaces that are drawn frame by frame.
pub struct LiveView<'a> {
    pub(crate) geometry: Geometry<'a>,
    cage: &'a [[u32; 3]],
    scalar: Scalar,
    pub(crate) ground: Option<f64>,
    pub(crate) framed_count: usize,
    /// What drafts of each viewport keep, as simulated and under plain skinning.
    drafts: BTreeMap<(usize, bool), DraftMemory>,
}

impl<'a> LiveView<'a> {
    /// Prepares surfaces with their looks; the first `framed_count` of them are bodies or move, and cast shadows. The ground is a height (m).
    pub fn new(
        surfaces: &'a [SurfaceInfo],
        looks: &'a [Look],
        framed_count: usize,
        ground: Option<f64>,
    ) -> LiveView<'a> {
        let geometry = Geometry::new(surfaces, looks);
        let drafts = BTreeMap::new();
        LiveView { geometry, cage: &[], scalar: Scalar::Strain, ground, framed_count, drafts }
    }

    /// The same with cages, as indices into [`RenderFrame::cage`], and the meaning of colours.
    pub fn with_overlays(self, cage: &'a [[u32; 3]], scalar: Scalar) -> LiveView<'a> {
        LiveView { cage, scalar, ..self }
    }

    /// Draws a frame, with later ones faintly over it, the latest first. The frames must have the surfaces of the view.
    pub fn draw(
        &mut self,
        now: &RenderFrame,
        later: &[&RenderFrame],
        camera: &OrbitCamera,
        options: &LiveOptions,
    ) -> Image {
        self.draw_for(now, later, camera, options, None)
    }

    /// The same while somebody waits for it: `None` soon after nobody does. Drafts are finished.
    pub fn draw_while(
        &mut self,
        now: &RenderFrame,
        later: &[&RenderFrame],
        camera: &OrbitCamera,
        options: &LiveOptions,
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Option<Image> {
        let wanted = (!options.is_draft).then_some(is_wanted);
        let image = self.draw_for(now, later, camera, options, wanted);
        (options.is_draft || is_wanted()).then_some(image)
    }

    fn draw_for(
        &mut self,
        now: &RenderFrame,
        later: &[&RenderFrame],
        camera: &OrbitCamera,
        options: &LiveOptions,
        is_wanted: Option<&(dyn Fn() -> bool + Sync)>,
    ) -> Image {
        let transform = camera.transform();
        let [width, height] = options.size.map(|pixels| pixels.max(1));
        let lowest = || {
            let framed = now.surfaces.iter().take(self.framed_count).flatten();
            framed.map(|p| transform.single_point(p).y).fold(f64::INFINITY, f64::min)
        };
        let ground = self.ground.map_or_else(lowest, |height| transform.height(height));
        let renderer = Renderer {
            camera: camera.camera(width as f64 / height as f64),
            geometry: core::mem::take(&mut self.geometry),
            cage: self.cage,
            ground,
            moving_count: self.framed_count,
            caster_count: self.framed_count,
            scalar: self.scalar,
            strain_scale: options.scale,
            width,
            height,
            is_wanted,
        };
        let is_skinned = options.skinned && !now.skinned.is_empty();
        let panel = if is_skinned { Panel::Skinned } else { Panel::Flesh };
        let content = PictureContent { now, ghosts: Vec::new(), later: later.to_vec(), transform };
        let image = if options.is_draft {
            let memory = self.drafts.entry((options.slot, is_skinned)).or_default();
            let canvas = renderer.draw_draft(&content, panel, memory);
            let image = canvas.finish();
            memory.color = canvas.color;
            image
        } else {
            renderer.draw(&content, panel).finish()
        };
        self.geometry = renderer.geometry;
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameSource;
    use crate::StoredFrameSource;
    use sinew_mesh::shapes;

    fn camera() -> OrbitCamera {
        let target = Vec3::new(0.3, 0.2, -0.1);
        OrbitCamera { up: Up::Y, target, azimuth: 40.0, elevation: 25.0, distance: 3.0, half_height: 0.3 }
    }

    #[test]
    fn a_ray_through_a_projected_point_meets_it() {
        for up in [Up::Y, Up::Z] {
            let camera = OrbitCamera { up, ..camera() };
            let point = Vec3::new(0.1, -0.4, 0.25);
            let [x, y, distance] = camera.project(&point, 1.5).unwrap();
            let [eye, ray] = camera.ray([x, y], 1.5);
            assert!((eye + ray * distance - point).norm() < 1e-12);
        }
    }

    /// The point in the middle of a picture is at its right after the camera has moved to the left by half of the height, for a picture of that aspect.
    #[test]
    fn panning_moves_the_picture() {
        let mut camera = camera();
        let point = camera.target;
        camera.pan([-0.5, 0.0]);
        let [x, y, _] = camera.project(&point, 1.0).unwrap();
        assert!((x - 1.0).abs() < 1e-9 && y.abs() < 1e-9, "{x} {y}");
    }

    /// From far in front of a box two of its twelve triangles are seen, whichever way they are wound; of an open one all.
    #[test]
    fn triangles_of_closed_surfaces_are_seen_from_outside() {
        let mut mesh = shapes::cuboid([1.0, 2.0, 0.5]);
        for _ in 0..2 {
            let source = StoredFrameSource::of_meshes(&[mesh.clone()]);
            let geometry = Geometry::new(source.surfaces(), source.looks());
            let transform = ViewTransform::new(Up::Y, Vec3::zeros(), 0.0);
            let posed = geometry.pose(&[source.surfaces()[0].rest.clone()], &transform);
            let facing = geometry.facing(&posed, Vec3::z() * 9.0);
            assert_eq!(facing.iter().filter(|seen| **seen).count(), 2);
            mesh.triangles.iter_mut().for_each(|triangle| triangle.reverse());
        }
        mesh.triangles.pop();
        let source = StoredFrameSource::of_meshes(&[mesh]);
        let geometry = Geometry::new(source.surfaces(), source.looks());
        let transform = ViewTransform::new(Up::Y, Vec3::zeros(), 0.0);
        let posed = geometry.pose(&[source.surfaces()[0].rest.clone()], &transform);
        assert!(geometry.facing(&posed, Vec3::z() * 9.0).iter().all(|seen| *seen));
    }

    #[test]
    fn what_is_framed_is_in_the_picture_and_drawn() {
        let mesh = shapes::cuboid([1.0, 2.0, 0.5]);
        let mut camera = OrbitCamera { target: Vec3::new(9.0, 9.0, 9.0), ..camera() };
        camera.frame(mesh.vertices.iter().copied());
        for vertex in &mesh.vertices {
            let [x, y, _] = camera.project(vertex, 1.0).unwrap();
            assert!(x.abs() < 1.0 && y.abs() < 1.0);
        }
        let source = StoredFrameSource::of_meshes(&[mesh]);
        let mut view = LiveView::new(source.surfaces(), source.looks(), 1, None);
        let mut frame = RenderFrame::default();
        source
            .visit(&[0.0], &mut |found| {
                frame = found;
                Ok(())
            })
            .unwrap();
        let options = LiveOptions { size: [60, 40], scale: None, skinned: false, is_draft: false, slot: 0 };
        let image = view.draw(&frame, &[], &camera, &options);
        let pixel = |x: usize, y: usize| &image.bytes[3 * (y * 60 + x)..][..3];
        assert_ne!(pixel(30, 20), pixel(1, 1));
        // the same again
        assert_eq!(view.draw(&frame, &[], &camera, &options), image);
    }
}
