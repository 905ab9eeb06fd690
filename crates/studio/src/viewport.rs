//! One viewport: its camera, how the mouse moves that, and what is under the mouse.

use crate::pictures::Shown;
use crate::session::Document;
use egui::{Pos2, Rect, Vec2};
use sinew_math::Vec3;
use sinew_render::OrbitCamera;
use sinew_take::Up;

/// Tangent of half the vertical field of view of the perspective, and of the drawings without one.
const PERSPECTIVE: f64 = 0.36;
const PARALLEL: f64 = 0.02;
/// Degrees per point of the mouse.
const TURN: f64 = 0.4;

/// From where a viewport looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// From anywhere, with perspective.
    Perspective,
    /// From above.
    Top,
    /// From the front.
    Front,
    /// From the right.
    Side,
}

impl ViewKind {
    /// All of them, in the order of the four viewports.
    pub const ALL: [ViewKind; 4] = [ViewKind::Perspective, ViewKind::Top, ViewKind::Front, ViewKind::Side];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ViewKind::Perspective => "Perspective",
            ViewKind::Top => "Top",
            ViewKind::Front => "Front",
            ViewKind::Side => "Side",
        }
    }
}

/// A viewport.
#[derive(Clone, Debug)]
pub struct Viewport {
    /// From where it looks at first.
    pub kind: ViewKind,
    /// Its camera.
    pub camera: OrbitCamera,
    /// Where it is in the window (points).
    pub rect: Rect,
}

impl Viewport {
    /// A viewport that looks at the origin.
    pub fn new(kind: ViewKind) -> Viewport {
        let (azimuth, elevation, half_height) = match kind {
            ViewKind::Perspective => (30.0, 12.0, PERSPECTIVE),
            ViewKind::Top => (0.0, 90.0, PARALLEL),
            ViewKind::Front => (0.0, 0.0, PARALLEL),
            ViewKind::Side => (90.0, 0.0, PARALLEL),
        };
        let camera = OrbitCamera {
            up: Up::Y,
            target: Vec3::zeros(),
            azimuth,
            elevation,
            distance: 1.0 / half_height,
            half_height,
        };
        Viewport { kind, camera, rect: Rect::ZERO }
    }

    /// Width over height.
    pub fn aspect(&self) -> f64 {
        f64::from(self.rect.width().max(1.0)) / f64::from(self.rect.height().max(1.0))
    }

    /// Shows points of the world.
    pub fn frame(&mut self, points: impl Iterator<Item = Vec3>) {
        self.camera.frame(points);
        // the picture may be narrower than it is high
        self.camera.distance /= self.aspect().clamp(0.4, 1.0);
    }

    /// Turns the camera by a motion of the mouse (points). Drawings without perspective become perspectives from there, as in other programs.
    pub fn orbit(&mut self, by: Vec2) {
        if self.camera.half_height < PERSPECTIVE {
            self.camera.distance *= self.camera.half_height / PERSPECTIVE;
            self.camera.half_height = PERSPECTIVE;
            self.kind = ViewKind::Perspective;
        }
        self.camera.azimuth -= TURN * f64::from(by.x);
        self.camera.elevation = (self.camera.elevation + TURN * f64::from(by.y)).clamp(-90.0, 90.0);
    }

    /// Moves the camera along the picture by a motion of the mouse (points).
    pub fn pan(&mut self, by: Vec2) {
        let height = f64::from(self.rect.height().max(1.0));
        self.camera.pan([-f64::from(by.x) / height, f64::from(by.y) / height]);
    }

    /// Moves the camera towards its target by a factor.
    pub fn zoom(&mut self, factor: f64) {
        self.camera.distance = (self.camera.distance / factor.clamp(0.1, 10.0)).clamp(1e-4, 1e5);
    }

    /// Looks from one of the sides.
    pub fn look_from(&mut self, kind: ViewKind) {
        let new = Viewport::new(kind);
        let scale = self.camera.distance * self.camera.half_height;
        self.kind = kind;
        self.camera = OrbitCamera {
            up: self.camera.up,
            target: self.camera.target,
            distance: scale / new.camera.half_height,
            ..new.camera
        };
    }

    /// Where a point of the world is in the window; `None` behind the eye.
    pub fn project(&self, point: &Vec3) -> Option<Pos2> {
        let [x, y, _] = self.camera.project(point, self.aspect())?;
        let (x, y) = (0.5 + 0.5 * x as f32, 0.5 - 0.5 * y as f32);
        Some(self.rect.min + Vec2::new(x * self.rect.width(), y * self.rect.height()))
    }

    /// The eye and the direction through a place of the window.
    pub fn ray(&self, at: Pos2) -> [Vec3; 2] {
        let x = 2.0 * f64::from((at.x - self.rect.min.x) / self.rect.width().max(1.0)) - 1.0;
        let y = 1.0 - 2.0 * f64::from((at.y - self.rect.min.y) / self.rect.height().max(1.0));
        self.camera.ray([x, y], self.aspect())
    }

    /// The point on the ray through a place of the window that is as far in front of the eye as another point.
    pub fn at_depth_of(&self, at: Pos2, point: &Vec3) -> Vec3 {
        let [eye, direction] = self.ray(at);
        let [_, axis] = self.camera.ray([0.0, 0.0], self.aspect());
        let axis = axis.normalize();
        let depth = (point - eye).dot(&axis);
        eye + direction * (depth / direction.dot(&axis).max(1e-9))
    }
}

/// A point of a surface under the mouse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceHit {
    /// The body, by its index in the model.
    pub body: usize,
    /// The point now (m).
    pub point: Vec3,
    /// The same point at rest (m).
    pub rest: Vec3,
    /// The normal of the surface now.
    pub normal: Vec3,
    /// The triangle of the body's surface, and the weights of its corners.
    pub triangle: usize,
    /// Weights of the corners.
    pub weights: [f64; 3],
}

/// A bone under the mouse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneHit {
    /// The rig, by its index in the model.
    pub rig: usize,
    /// The bone, by its index in the skeleton.
    pub bone: usize,
    /// How far from the mouse it is (points).
    pub distance: f32,
}

/// The first surface of a body that a ray meets.
pub fn pick_surface(shown: &Shown, ray: [Vec3; 2]) -> Option<SurfaceHit> {
    let mut best: Option<(f64, SurfaceHit)> = None;
    each_hit(shown, ray, |distance, hit| {
        if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
            best = Some((distance, hit));
        }
    });
    best.map(|(_, hit)| hit)
}

/// Calls a function with every place where a ray meets the surface of a body, and the distance to it as a multiple of its direction.
fn each_hit(shown: &Shown, [eye, direction]: [Vec3; 2], mut found: impl FnMut(f64, SurfaceHit)) {
    let Some(document) = &shown.document else { return };
    let bodies = document.model.bodies().iter().zip(&shown.surfaces.surfaces).enumerate();
    for (body, (mesh, positions)) in bodies.map(|(i, (body, positions))| (i, (&body.surface, positions))) {
        let at = |v: u32| positions.get(v as usize).map(|p| Vec3::new(p[0].into(), p[1].into(), p[2].into()));
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            let [Some(a), Some(b), Some(c)] = corners.map(at) else { continue };
            let Some((distance, weights)) = meet([eye, direction], [a, b, c]) else { continue };
            let rest = corners.map(|v| mesh.vertices[v as usize]);
            let rest = rest[0] * weights[0] + rest[1] * weights[1] + rest[2] * weights[2];
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or(-direction);
            let point = eye + direction * distance;
            found(distance, SurfaceHit { body, point, rest, normal, triangle, weights });
        }
    }
}

/// All surfaces of bodies that a ray meets, the nearest first.
pub fn pick_through(shown: &Shown, ray: [Vec3; 2]) -> Vec<SurfaceHit> {
    let mut hits: Vec<(f64, SurfaceHit)> = Vec::new();
    each_hit(shown, ray, |distance, hit| hits.push((distance, hit)));
    hits.sort_by(|a, b| a.0.total_cmp(&b.0));
    hits.into_iter().map(|(_, hit)| hit).collect()
}

/// Where a ray meets a triangle: the multiple of its direction, and the weights of the corners (Möller and Trumbore).
pub fn meet([eye, direction]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> Option<(f64, [f64; 3])> {
    let (e1, e2) = (b - a, c - a);
    let p = direction.cross(&e2);
    let determinant = e1.dot(&p);
    if determinant.abs() < 1e-300 {
        return None;
    }
    let from = (eye - a) / determinant;
    let u = from.dot(&p);
    let q = from.cross(&e1);
    let v = direction.dot(&q);
    let distance = e2.dot(&q);
    let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0;
    inside.then_some((distance, [1.0 - u - v, u, v]))
}

/// The first obstacle that a ray meets, and where (m).
pub fn pick_obstacle(shown: &Shown, [eye, direction]: [Vec3; 2]) -> Option<(usize, Vec3)> {
    let mut best: Option<(f64, usize)> = None;
    for (i, obstacle) in shown.surfaces.obstacles.iter().enumerate() {
        let back = obstacle.pose.inverse();
        let ray = [back.transform_point(&eye.into()).coords, back.rotation * direction];
        for triangle in &obstacle.surface.triangles {
            let corners = triangle.map(|v| obstacle.surface.vertices[v as usize]);
            let hit = meet(ray, corners).map(|(distance, _)| distance);
            if let Some(distance) = hit.filter(|hit| best.is_none_or(|(nearest, _)| *hit < nearest)) {
                best = Some((distance, i));
            }
        }
    }
    best.map(|(distance, i)| (i, eye + direction * distance))
}

/// The joint of a bone at a frame (m).
pub fn joint_place(shown: &Shown, rig: usize, bone: usize) -> Option<Vec3> {
    shown.surfaces.bones.get(rig)?.get(bone).map(|pose| pose.translation.vector)
}

/// The bone whose joint is nearest to a place of a viewport, within a distance (points).
pub fn pick_bone(shown: &Shown, viewport: &Viewport, at: Pos2, within: f32) -> Option<BoneHit> {
    let mut best: Option<BoneHit> = None;
    for (rig, bones) in shown.surfaces.bones.iter().enumerate() {
        for (bone, pose) in bones.iter().enumerate() {
            let Some(place) = viewport.project(&pose.translation.vector) else { continue };
            let distance = place.distance(at);
            if distance <= within && best.is_none_or(|best| distance < best.distance) {
                best = Some(BoneHit { rig, bone, distance });
            }
        }
    }
    best
}

/// All points of the surfaces of a frame that a camera should see; of one body, if it is given.
pub fn points_of<'a>(shown: &'a Shown, body: Option<usize>) -> impl Iterator<Item = Vec3> + 'a {
    let surfaces = shown.surfaces.surfaces.iter().enumerate();
    let chosen = surfaces.filter(move |(i, _)| body.is_none_or(|body| body == *i));
    chosen.flat_map(|(_, points)| points.iter().map(|p| Vec3::new(p[0].into(), p[1].into(), p[2].into())))
}

/// The same of a scene at rest.
pub fn rest_points(document: &Document) -> impl Iterator<Item = Vec3> + '_ {
    document.model.bodies().iter().flat_map(|body| body.surface.vertices.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewport() -> Viewport {
        let rect = Rect::from_min_size(Pos2::new(40.0, 20.0), Vec2::new(600.0, 400.0));
        Viewport { rect, ..Viewport::new(ViewKind::Perspective) }
    }

    #[test]
    fn a_ray_through_a_projected_point_passes_it() {
        let mut viewport = viewport();
        viewport.frame([Vec3::zeros(), Vec3::new(1.0, 2.0, 0.5)].into_iter());
        let point = Vec3::new(0.2, 1.1, 0.3);
        let at = viewport.project(&point).unwrap();
        assert!(viewport.rect.contains(at));
        // positions in the window are single precision: 1e-7 of 600 points
        assert!((viewport.at_depth_of(at, &point) - point).norm() < 1e-5);
    }

    #[test]
    fn a_ray_meets_the_triangle_it_passes_through() {
        let triangle = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let ray = [Vec3::new(0.25, 0.25, 2.0), -Vec3::z()];
        let (distance, weights) = meet(ray, triangle).unwrap();
        assert!((distance - 2.0).abs() < 1e-12);
        assert!((weights[1] - 0.25).abs() < 1e-12 && (weights[2] - 0.25).abs() < 1e-12);
        assert!(meet([Vec3::new(0.9, 0.9, 2.0), -Vec3::z()], triangle).is_none());
        assert!(meet([Vec3::new(0.25, 0.25, 2.0), Vec3::z()], triangle).is_none());
    }

    #[test]
    fn turning_a_drawing_keeps_its_size() {
        let mut viewport = Viewport { rect: viewport().rect, ..Viewport::new(ViewKind::Front) };
        viewport.frame([-Vec3::repeat(1.0), Vec3::repeat(1.0)].into_iter());
        let before = viewport.camera.distance * viewport.camera.half_height;
        viewport.orbit(Vec2::new(10.0, 0.0));
        let after = viewport.camera.distance * viewport.camera.half_height;
        assert!((before - after).abs() < 1e-12 * before);
        assert_eq!(viewport.kind, ViewKind::Perspective);
    }
}
