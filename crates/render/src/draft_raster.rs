//! Rasterisation of what is seen for an instant: one sample a pixel, lit at vertices.
//!
//! Triangles of characters cover few pixels, so that colours are interpolated linearly over them in the picture. Large ones, and those of surfaces with a texture or a border, are shaded pixel by pixel once it is known what is seen
//! of them.

use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::raster::{Fragment, TriangleList, doubled_area};
use rayon::prelude::*;

/// Triangles above this area (pixels) are shaded pixel by pixel.
const LARGE: f64 = 100.0;
/// The index that stands for a pixel whose colour is known.
const DONE: u32 = u32::MAX;

/// A triangle in the picture.
struct Flat {
    /// Pixels from the left and from the top, and the inverse of the distance (1/m).
    corners: [[f32; 3]; 3],
    triangle: u32,
    is_interpolated: bool,
    /// Its rows.
    rows: [u32; 2],
}

/// Depths of pixels and the triangles that are still to be shaded there, kept from picture to picture.
#[derive(Default)]
pub(crate) struct DraftBuffers {
    /// Inverse distances (1/m): larger is nearer.
    depth: Vec<f32>,
    triangle: Vec<u32>,
}

/// How triangles look.
pub(crate) struct DraftLook<'a> {
    /// The colours of vertices (linear RGB).
    pub(crate) colors: &'a [[f32; 3]],
    /// Whether each surface looks alike between its vertices.
    pub(crate) is_smooth: &'a [bool],
    /// Whether each triangle may be seen from the eye.
    pub(crate) is_facing: &'a [bool],
}

/// Draws triangles over a canvas. `shade` returns that of a fragment of a large triangle, or of a surface that is not smooth.
pub(crate) fn draw(
    canvas: &mut Canvas,
    camera: &Camera,
    list: &TriangleList,
    look: &DraftLook,
    buffers: &mut DraftBuffers,
    shade: impl Fn(&Fragment) -> [f64; 3] + Sync,
) {
    let (width, height) = (canvas.width, canvas.height);
    let size = [width as f64, height as f64];
    let project = |point| match camera.project(point) {
        Some((x, y, distance)) => [(x + 1.0) / 2.0 * size[0], (1.0 - y) / 2.0 * size[1], 1.0 / distance],
        None => [f64::NAN; 3],
    };
    let points: Vec<[f64; 3]> = list.points.iter().map(|point| project(*point)).collect();

    // triangles in the picture
    let flat = |t: usize| {
        let surface = list.surface[t];
        let corners = list.triangles[t].map(|v| points[v as usize]);
        let [a, b, c] = corners;
        let area = 0.5 * doubled_area(a, b, c).abs();
        let is_seen = (list.is_drawn)(surface) && area > 1e-9 && corners.iter().all(|c| c[0].is_finite());
        let low = a[1].min(b[1]).min(c[1]);
        let high = a[1].max(b[1]).max(c[1]);
        // casts saturate, which clips triangles to the picture
        let rows = [(low + 0.5) as u32, ((high + 0.5) as u32).min(height as u32)];
        let is_interpolated =
            area <= LARGE && look.is_smooth.get(usize::from(surface)).is_some_and(|smooth| *smooth);
        let corners = corners.map(|corner| corner.map(|c| c as f32));
        (is_seen && rows[0] < rows[1]).then_some(Flat { corners, triangle: t as u32, is_interpolated, rows })
    };
    let all: Vec<Flat> = (0..list.triangles.len()).filter(|t| look.is_facing[*t]).filter_map(flat).collect();

    let DraftBuffers { depth, triangle } = buffers;
    depth.clear();
    depth.resize(width * height, 0.0);
    triangle.clear();
    triangle.resize(width * height, DONE);
    let rows = height.div_ceil(rayon::current_num_threads()).max(1);
    let bands = canvas.color.par_chunks_mut(width * rows);
    let bands = bands.zip(depth.par_chunks_mut(width * rows)).zip(triangle.par_chunks_mut(width * rows));
    bands.enumerate().for_each(|(index, ((pixels, depth), triangle))| {
        let mut band = Band { top: index * rows, width, pixels, depth, triangle };
        for flat in &all {
            band.rasterise(flat, list.triangles[flat.triangle as usize].map(|v| look.colors[v as usize]));
        }
        band.resolve(|triangle, pixel| {
            let corners = list.triangles[triangle as usize].map(|v| points[v as usize]);
            shade(&fragment(corners, triangle, pixel))
        });
    });
}

/// A fragment at the centre of a pixel, with perspective-correct barycentric coordinates.
fn fragment([a, b, c]: [[f64; 3]; 3], triangle: u32, [x, y]: [usize; 2]) -> Fragment {
    let sample = [x as f64 + 0.5, y as f64 + 0.5, 0.0];
    let area = doubled_area(a, b, c);
    let scaled = [
        doubled_area(b, c, sample) / area * a[2],
        doubled_area(c, a, sample) / area * b[2],
        doubled_area(a, b, sample) / area * c[2],
    ];
    let sum = scaled[0] + scaled[1] + scaled[2];
    Fragment {
        triangle: triangle as usize,
        barycentric: scaled.map(|weight| weight / sum),
        // rows are counted downwards
        is_front: area < 0.0,
        area: 0.5 * area.abs(),
    }
}

/// Rows of the picture with their depth buffer.
struct Band<'a> {
    top: usize,
    width: usize,
    pixels: &'a mut [[f32; 3]],
    /// Inverse distances (1/m): larger is nearer.
    depth: &'a mut [f32],
    /// The triangle that is still to be shaded at each pixel.
    triangle: &'a mut [u32],
}

impl Band<'_> {
    fn rasterise(&mut self, flat: &Flat, colors: [[f32; 3]; 3]) {
        let [a, b, c] = flat.corners;
        let height = self.pixels.len() / self.width;
        let rows = (flat.rows[0] as usize).max(self.top)..(flat.rows[1] as usize).min(self.top + height);
        let low = a[0].min(b[0]).min(c[0]);
        let high = a[0].max(b[0]).max(c[0]);
        let columns = (low + 0.5) as usize..((high + 0.5) as usize).min(self.width);
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        // barycentric coordinates are linear in the picture
        let scale = 1.0 / ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
        let (du, dv) = ((b[1] - c[1]) * scale, (c[1] - a[1]) * scale);
        let (eu, ev) = ((c[0] - b[0]) * scale, (a[0] - c[0]) * scale);
        for y in rows {
            let down = y as f32 + 0.5 - c[1];
            for x in columns.clone() {
                let right = x as f32 + 0.5 - c[0];
                let (u, v) = (right * du + down * eu, right * dv + down * ev);
                let w = 1.0 - u - v;
                // the tolerance keeps neighbouring triangles watertight
                if u < -1e-4 || v < -1e-4 || w < -1e-4 {
                    continue;
                }
                let index = (y - self.top) * self.width + x;
                let depth = u * a[2] + v * b[2] + w * c[2];
                if depth > self.depth[index] {
                    self.depth[index] = depth;
                    if flat.is_interpolated {
                        self.triangle[index] = DONE;
                        self.pixels[index] =
                            [0, 1, 2].map(|i| u * colors[0][i] + v * colors[1][i] + w * colors[2][i]);
                    } else {
                        self.triangle[index] = flat.triangle;
                    }
                }
            }
        }
    }

    fn resolve(&mut self, shade: impl Fn(u32, [usize; 2]) -> [f64; 3]) {
        for (index, triangle) in self.triangle.iter().enumerate().filter(|(_, triangle)| **triangle != DONE) {
            let place = [index % self.width, self.top + index / self.width];
            self.pixels[index] = shade(*triangle, place).map(|c| c as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::Vec3;

    const FRONT: [[f64; 3]; 3] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];

    /// A triangle with the colour red and one nearer to the eye with the colour blue, in either order, both small or both large.
    #[test]
    fn the_nearer_triangle_wins_in_either_order() {
        let front = FRONT.map(Vec3::from);
        let camera = Camera::fitted(|| front.into_iter(), 1.0, 0.0, 1.0);
        let nearer = front.map(|p| p + (camera.eye() - p) * 0.1);
        for side in [12, 60] {
            for is_first in [true, false] {
                let both = if is_first { [nearer, front] } else { [front, nearer] };
                let color = |t: usize| if (t == 0) == is_first { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] };
                let colors: Vec<[f32; 3]> = (0..6).map(|v| color(v / 3)).collect();
                let list = TriangleList {
                    points: &both.concat(),
                    triangles: &[[0, 1, 2], [3, 4, 5]],
                    surface: &[0, 0],
                    is_drawn: &|_| true,
                };
                let mut canvas = Canvas::filled(side, side, |_, _| [0.0; 3]);
                let shade = |fragment: &Fragment| color(fragment.triangle).map(f64::from);
                let look = DraftLook { colors: &colors, is_smooth: &[true], is_facing: &[true; 2] };
                draw(&mut canvas, &camera, &list, &look, &mut DraftBuffers::default(), shade);
                let covered: Vec<_> = canvas.color.iter().filter(|c| **c != [0.0; 3]).collect();
                assert!(covered.len() > side * side / 5, "{}", covered.len());
                // the smaller triangle behind it is hidden
                assert!(covered.iter().all(|c| c[2] > 0.999 && c[0] < 1e-3), "{covered:?}");
            }
        }
    }
}
