//! What a graphics card needs to draw frames from a camera that a hand moves: vertices, triangles, textures, and the matrices of camera and lights.
//!
//! Everything is in axes where y is up. The lights are those of the software renderer, which turn with the camera.

use crate::geometry::Geometry;
use crate::live_view::{LiveView, OrbitCamera};
use crate::render_frame::RenderFrame;
use crate::strain_colors;
use crate::texture::Texture;
use crate::view_transform::ViewTransform;
use core::ops::Range;
use sinew_math::Vec3;
use sinew_take::Up;
use std::sync::Arc;

/// A vertex as it is uploaded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct LiveVertex {
    /// Its position (m).
    pub point: [f32; 3],
    /// Its outward normal.
    pub normal: [f32; 3],
    /// Its colour (linear RGB), and 1 if a texture multiplies it, otherwise 0.
    pub color: [f32; 4],
    /// Its texture coordinates.
    pub uv: [f32; 2],
}

/// Triangles of one surface.
#[derive(Clone, Debug)]
pub struct LivePart {
    /// Its triangles in the list of all.
    pub triangles: Range<u32>,
    /// The image on it.
    pub texture: Option<Arc<Texture>>,
    /// Its opacity seen head-on.
    pub opacity: f32,
    /// Whether it is a body or moves, and casts shadows.
    pub moves: bool,
}

/// What does not change from frame to frame.
#[derive(Clone, Debug)]
pub struct LiveTopology {
    /// All triangles.
    pub triangles: Vec<[u32; 3]>,
    /// The surfaces.
    pub parts: Vec<LivePart>,
}

/// The vertices of one frame.
#[derive(Clone, Debug)]
pub struct LiveMesh {
    /// All vertices.
    pub vertices: Vec<LiveVertex>,
    /// The height of the ground (m).
    pub ground: f32,
    /// The corners of what moves, and of everything (m).
    pub moving: [Vec3; 2],
    /// The corners of everything (m).
    pub all: [Vec3; 2],
}

/// The matrices of a camera and its lights, column by column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveMatrices {
    /// From the world to the picture: x and y from −1 to 1, depth from 0 to 1.
    pub picture: [[f32; 4]; 4],
    /// From the world to the shadow map of the key light.
    pub key: [[f32; 4]; 4],
    /// From the world to a map seen from above.
    pub above: [[f32; 4]; 4],
    /// The eye (m).
    pub eye: Vec3,
    /// The axes of the picture: right, up and towards the eye; the first two as long as half the picture at a distance of 1.
    pub axes: [Vec3; 3],
    /// Directions towards the key, the fill and the rim light.
    pub lights: [Vec3; 3],
    /// The size of what moves (m).
    pub size: f64,
}

impl LiveView<'_> {
    /// What does not change from frame to frame.
    pub fn topology(&self) -> LiveTopology {
        let Geometry { triangles, .. } = &self.geometry;
        let parts = (0..self.geometry.surface_count()).map(|surface| LivePart {
            triangles: self.geometry.triangles_of(surface),
            texture: self.geometry.texture(surface),
            opacity: self.geometry.opacity(surface.min(usize::from(u16::MAX)) as u16) as f32,
            moves: surface < self.framed_count,
        });
        LiveTopology { triangles: triangles.clone(), parts: parts.collect() }
    }

    /// The vertices of a frame, coloured by strain or softness if the end of its scale is given and the frame has it.
    pub fn mesh(&self, frame: &RenderFrame, up: Up, is_skinned: bool, scale: Option<f64>) -> LiveMesh {
        let transform = ViewTransform::new(up, Vec3::zeros(), 0.0);
        let is_skinned = is_skinned && !frame.skinned.is_empty();
        let surfaces = if is_skinned { &frame.skinned } else { &frame.surfaces };
        let posed = self.geometry.pose(surfaces, &transform);
        let strain: Vec<f32> = if is_skinned { Vec::new() } else { frame.strain.concat() };
        let scale = scale.filter(|_| strain.len() == posed.points.len());
        let looks = self.geometry.vertex_looks();
        let value =
            |i: usize| scale.map(|scale| f64::from(strain[i]) / scale).filter(|value| !value.is_nan());
        let mut vertices = Vec::with_capacity(posed.points.len());
        for (i, (point, (own, uv))) in posed.points.iter().zip(looks).enumerate() {
            let color = value(i).map_or(own, |value| {
                let [r, g, b] = strain_colors::color(value).map(|c| c as f32);
                [r, g, b, 0.0]
            });
            vertices.push(LiveVertex { point: single(point), normal: single(posed.normal(i)), color, uv });
        }

        let (moving_count, _) = self.geometry.counts_of_first(self.framed_count);
        let (moving, all) = (corners(&posed.points[..moving_count]), corners(&posed.points));
        let ground = self.ground.unwrap_or(moving[0].y) as f32;
        LiveMesh { vertices, ground, moving, all }
    }
}

impl OrbitCamera {
    /// The matrices for a picture of a mesh.
    pub fn matrices(&self, aspect: f64, mesh: &LiveMesh) -> LiveMatrices {
        // the camera
        let turned = ViewTransform::new(Up::Y, Vec3::zeros(), self.azimuth);
        let camera = self.camera(aspect);
        let [right, up, back] = camera.axes().map(|axis| turned.direction_in_world(&axis));
        let eye = self.target + turned.direction_in_world(&camera.eye());
        let (half_width, half_height) = (self.half_height * aspect, self.half_height);

        // depths of all that is drawn
        let (middle, radius) = ball(&mesh.all);
        let depth = (eye - middle).dot(&back);
        let far = (depth + 1.05 * radius).max(1e-3 * self.distance);
        let near = (depth - 1.05 * radius).max(1e-3 * far);
        let deep = far / (far - near).max(1e-9 * far);
        let row = |axis: Vec3, scale: f64| {
            [axis.x * scale, axis.y * scale, axis.z * scale, -eye.dot(&axis) * scale]
        };
        let ahead = row(-back, 1.0);
        let mut depths = ahead.map(|value| value * deep);
        depths[3] -= deep * near;
        let picture = columns([row(right, 1.0 / half_width), row(up, 1.0 / half_height), depths, ahead]);

        // the lights
        let lights = LIGHTS.map(|light| turned.direction_in_world(&Vec3::from(light).normalize()));
        let (middle, radius) = ball(&mesh.moving);
        let reach = 1.15 * radius.max(1e-9);
        LiveMatrices {
            picture,
            key: light_matrix(&lights[0], &middle, reach),
            above: light_matrix(&Vec3::y(), &middle, 1.5 * reach),
            eye,
            axes: [right * half_width, up * half_height, back],
            lights,
            size: 2.0 * radius,
        }
    }
}

/// Directions towards the key, the fill and the rim light in the axes of the camera, as in `lighting.rs`.
const LIGHTS: [[f64; 3]; 3] = [[-0.48, 0.92, 0.50], [0.9, 0.25, 0.45], [0.55, 0.5, -0.8]];

/// A parallel projection along a light, of a ball; depth grows away from the light.
fn light_matrix(towards: &Vec3, middle: &Vec3, radius: f64) -> [[f32; 4]; 4] {
    let aside = if towards.y.abs() < 0.9 { Vec3::y() } else { Vec3::x() };
    let x = aside.cross(towards).normalize();
    let y = towards.cross(&x);
    let row = |axis: &Vec3, scale: f64, offset: f64| {
        let axis = axis * (scale / radius);
        [axis.x, axis.y, axis.z, offset - axis.dot(middle)]
    };
    columns([row(&x, 1.0, 0.0), row(&y, 1.0, 0.0), row(towards, -0.5, 0.5), [0.0, 0.0, 0.0, 1.0]])
}

fn columns(rows: [[f64; 4]; 4]) -> [[f32; 4]; 4] {
    [0, 1, 2, 3].map(|column| rows.map(|row| row[column] as f32))
}

fn corners(points: &[Vec3]) -> [Vec3; 2] {
    let low = points.iter().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(p));
    let high = points.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(p));
    if low.iter().chain(&high).all(|c| c.is_finite()) { [low, high] } else { [Vec3::zeros(); 2] }
}

/// The ball around a box.
fn ball([low, high]: &[Vec3; 2]) -> (Vec3, f64) {
    (0.5 * (low + high), (0.5 * (high - low).norm()).max(1e-9))
}

fn single(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame_source::FrameSource;
    use crate::{Look, StoredFrameSource};
    use sinew_mesh::shapes;

    fn times(matrix: &[[f32; 4]; 4], point: &Vec3) -> [f64; 4] {
        let p = [point.x, point.y, point.z, 1.0];
        [0, 1, 2, 3].map(|row| (0..4).map(|column| f64::from(matrix[column][row]) * p[column]).sum())
    }

    #[test]
    fn the_matrix_of_a_camera_projects_as_it_does() {
        let mesh = shapes::cuboid([1.0, 2.0, 0.5]);
        let source = StoredFrameSource::of_meshes(std::slice::from_ref(&mesh));
        let looks = [Look::plain([0.2, 0.4, 0.6])];
        let view = LiveView::new(source.surfaces(), &looks, 1, None);
        let frame = RenderFrame {
            surfaces: vec![mesh.vertices.iter().map(single).collect()],
            ..RenderFrame::default()
        };
        let live = view.mesh(&frame, Up::Y, false, None);
        assert_eq!(live.vertices[0].color, [0.2, 0.4, 0.6, 0.0]);
        assert_eq!((live.ground, view.topology().parts[0].triangles.clone()), (-1.0, 0..12));
        for half_height in [0.4, 0.02] {
            let mut camera = OrbitCamera {
                up: Up::Y,
                target: Vec3::new(0.3, 0.2, -0.1),
                azimuth: 40.0,
                elevation: 25.0,
                distance: 3.0,
                half_height,
            };
            camera.frame(mesh.vertices.iter().copied());
            let matrices = camera.matrices(1.5, &live);
            for vertex in &mesh.vertices {
                let [x, y, _] = camera.project(vertex, 1.5).unwrap();
                let [cx, cy, cz, w] = times(&matrices.picture, vertex);
                // single precision, of distances that are 50 times the size in the narrow view
                assert!((cx / w - x).abs() < 2e-4 && (cy / w - y).abs() < 2e-4, "{x} {y}");
                assert!((0.0..=1.0).contains(&(cz / w)), "{}", cz / w);
                for light in [matrices.key, matrices.above] {
                    let [lx, ly, lz, lw] = times(&light, vertex);
                    assert!(lw == 1.0 && lx.abs() < 1.0 && ly.abs() < 1.0 && (0.0..=1.0).contains(&lz));
                }
            }
            // what is nearer to the key light has the smaller depth
            let (low, high) = (Vec3::zeros(), matrices.lights[0] * 0.2);
            assert!(times(&matrices.key, &high)[2] < times(&matrices.key, &low)[2]);
        }
    }
}
