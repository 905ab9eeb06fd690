//! Scanline rasterisation with a depth buffer and 3 × 3 supersampled visibility.
//!
//! The picture is drawn in bands of rows, one thread each. In a band the nearest triangle is found at nine samples of every pixel; where they lie on
//! one continuous surface the pixel is shaded once, otherwise every sample is.

use crate::camera::Camera;
use crate::canvas::Canvas;
use rayon::prelude::*;
use sinew_math::Vec3;

/// Samples along each side of a pixel.
const SAMPLES: usize = 3;
/// Rows of pixels per band.
const BAND: usize = 16;
/// The index that stands for no triangle.
const NONE: u32 = u32::MAX;
/// The order in which a pixel's samples stand for all of it: the centre, then the edges, then the corners.
const FROM_CENTRE: [usize; 9] = [4, 1, 3, 5, 7, 0, 2, 6, 8];
/// A surface that recedes by more than this many pixel widths within a pixel (steeper than 83° to the picture) counts as discontinuous.
const DISCONTINUITY: f64 = 8.0;

/// The triangles to draw.
pub(crate) struct TriangleList<'a> {
    /// Vertices in view axes (m).
    pub(crate) points: &'a [Vec3],
    pub(crate) triangles: &'a [[u32; 3]],
    /// The surface of each triangle.
    pub(crate) surface: &'a [u16],
    /// Which surfaces are drawn.
    pub(crate) is_drawn: &'a (dyn Fn(u16) -> bool + Sync),
}

/// A sample of a triangle.
#[derive(Clone, Copy)]
pub(crate) struct Fragment {
    pub(crate) triangle: usize,
    /// Perspective-correct barycentric coordinates.
    pub(crate) barycentric: [f64; 3],
    /// Whether the triangle's front faces the eye.
    pub(crate) is_front: bool,
    /// The area of the triangle in the picture (pixels).
    pub(crate) area: f64,
}

/// Draws triangles over a canvas; `shade` returns the colour (linear RGB) and opacity of a fragment. Bands that nobody waits for any more are left out.
pub(crate) fn draw(
    canvas: &mut Canvas,
    camera: &Camera,
    list: &TriangleList,
    is_wanted: &(dyn Fn() -> bool + Sync),
    shade: impl Fn(&Fragment) -> ([f64; 3], f64) + Sync,
) {
    let (width, height) = (canvas.width, canvas.height);
    let projected = Projected::of(camera, list, width, height);
    let bins = projected.bins(list, height.div_ceil(BAND));
    canvas.color.par_chunks_mut(width * BAND).zip(&bins).enumerate().for_each(|(band, (rows, bin))| {
        if bin.is_empty() || !is_wanted() {
            return;
        }
        // visibility
        let mut samples = SampleBuffer::new(width, rows.len() / width, band * BAND);
        bin.iter().for_each(|t| samples.rasterise(*t, projected.corners(list, *t)));

        // shading
        let tolerance = (DISCONTINUITY * 2.0 * camera.half_height() / height as f64) as f32;
        samples.resolve(list, &projected, tolerance, |x, y, fragments| {
            let pixel = &mut rows[y * width + x];
            let mut all = [0.0f32; 3];
            let mut covered = 0.0f32;
            for (fragment, count) in fragments {
                let (color, opacity) = shade(fragment);
                let weight = *count as f32 * opacity as f32 / (SAMPLES * SAMPLES) as f32;
                (0..3).for_each(|i| all[i] += weight * color[i] as f32);
                covered += weight;
            }
            (0..3).for_each(|i| pixel[i] = (1.0 - covered) * pixel[i] + all[i]);
        });
    });
}

/// All vertices in the picture.
struct Projected {
    /// Samples from the left, samples from the top, and the inverse of the distance (1/m); NaN behind the eye.
    points: Vec<[f64; 3]>,
}

impl Projected {
    fn of(camera: &Camera, list: &TriangleList, width: usize, height: usize) -> Projected {
        let (width, height) = ((width * SAMPLES) as f64, (height * SAMPLES) as f64);
        let project = |point: &Vec3| match camera.project(*point) {
            Some((x, y, distance)) => [(x + 1.0) / 2.0 * width, (1.0 - y) / 2.0 * height, 1.0 / distance],
            None => [f64::NAN; 3],
        };
        Projected { points: list.points.par_iter().with_min_len(2048).map(project).collect() }
    }

    fn corners(&self, list: &TriangleList, triangle: u32) -> [[f64; 3]; 3] {
        list.triangles[triangle as usize].map(|v| self.points[v as usize])
    }

    /// For each band the triangles that overlap it, in order.
    fn bins(&self, list: &TriangleList, count: usize) -> Vec<Vec<u32>> {
        let mut bins = vec![Vec::new(); count];
        let rows = (BAND * SAMPLES) as f64;
        for t in 0..list.triangles.len() as u32 {
            if !(list.is_drawn)(list.surface[t as usize]) {
                continue;
            }
            // skip triangles behind the eye and degenerate ones
            let corners = self.corners(list, t);
            let [a, b, c] = corners;
            if corners.iter().any(|c| c[0].is_nan()) || doubled_area(a, b, c).abs() < 1e-9 {
                continue;
            }
            let top = corners.iter().map(|c| c[1]).fold(f64::INFINITY, f64::min);
            let bottom = corners.iter().map(|c| c[1]).fold(f64::NEG_INFINITY, f64::max);
            if bottom < 0.0 {
                continue;
            }
            // casts saturate, which clips triangles to the picture
            let range = ((top / rows) as usize).min(count)..((bottom / rows) as usize + 1).min(count);
            bins[range].iter_mut().for_each(|bin| bin.push(t));
        }
        bins
    }

    /// A triangle's fragment at a sample. What is linear in the picture is a quantity over its distance, so barycentric coordinates are interpolated
    /// with the inverse distances.
    fn fragment(&self, list: &TriangleList, triangle: u32, sample: [f64; 2]) -> Fragment {
        let [a, b, c] = self.corners(list, triangle);
        let area = doubled_area(a, b, c);
        let sample = [sample[0], sample[1], 0.0];
        let weights = [
            doubled_area(b, c, sample) / area,
            doubled_area(c, a, sample) / area,
            doubled_area(a, b, sample) / area,
        ];
        let scaled = [weights[0] * a[2], weights[1] * b[2], weights[2] * c[2]];
        let sum = scaled[0] + scaled[1] + scaled[2];
        Fragment {
            triangle: triangle as usize,
            barycentric: scaled.map(|weight| weight / sum),
            // rows are counted downwards, so counter-clockwise triangles have a negative area
            is_front: area < 0.0,
            area: 0.5 * area.abs() / (SAMPLES * SAMPLES) as f64,
        }
    }
}

/// The depth buffer of a band, with the triangle that is visible at each sample.
struct SampleBuffer {
    width: usize,
    height: usize,
    /// Rows of samples above the band.
    top: usize,
    /// Inverse distances (1/m): larger is nearer.
    inverse_depth: Vec<f32>,
    triangle: Vec<u32>,
}

impl SampleBuffer {
    fn new(width: usize, height: usize, top: usize) -> SampleBuffer {
        let count = width * height * SAMPLES * SAMPLES;
        let (inverse_depth, triangle) = (vec![0.0; count], vec![NONE; count]);
        SampleBuffer { width, height, top: top * SAMPLES, inverse_depth, triangle }
    }

    /// Writes a triangle where it is nearer than what the buffer holds.
    fn rasterise(&mut self, triangle: u32, [a, b, c]: [[f64; 3]; 3]) {
        let width = self.width * SAMPLES;
        let scale = 1.0 / doubled_area(a, b, c);
        let range = |i: usize, start: f64, count: usize| {
            let low = a[i].min(b[i]).min(c[i]) - start;
            let high = a[i].max(b[i]).max(c[i]) - start;
            ((low - 0.5).ceil().max(0.0) as usize).min(count)
                ..((high + 0.5).floor().max(0.0) as usize).min(count)
        };
        let xs = range(0, 0.0, width);
        // increments of the first two barycentric coordinates along a row
        let (du, dv) = ((b[1] - c[1]) * scale, (c[1] - a[1]) * scale);
        for y in range(1, self.top as f64, self.height * SAMPLES) {
            let sample = [xs.start as f64 + 0.5, (self.top + y) as f64 + 0.5, 0.0];
            let (u, v) = (doubled_area(b, c, sample) * scale, doubled_area(c, a, sample) * scale);
            for (i, x) in xs.clone().enumerate() {
                let (u, v) = (u + i as f64 * du, v + i as f64 * dv);
                let w = 1.0 - u - v;
                // the tolerance keeps neighbouring triangles watertight
                if u < -1e-9 || v < -1e-9 || w < -1e-9 {
                    continue;
                }
                let inverse_depth = (u * a[2] + v * b[2] + w * c[2]) as f32;
                let index = y * width + x;
                if inverse_depth > self.inverse_depth[index] {
                    self.inverse_depth[index] = inverse_depth;
                    self.triangle[index] = triangle;
                }
            }
        }
    }

    /// Calls `paint` for every covered pixel with the fragments to be shaded in it and the number of samples that each stands for.
    fn resolve(
        &self,
        list: &TriangleList,
        projected: &Projected,
        tolerance: f32,
        mut paint: impl FnMut(usize, usize, &[(Fragment, usize)]),
    ) {
        let width = self.width * SAMPLES;
        let mut fragments: Vec<(Fragment, usize)> = Vec::with_capacity(SAMPLES * SAMPLES);
        for y in 0..self.height {
            for x in 0..self.width {
                // the covered samples of the pixel
                let corner = y * SAMPLES * width + x * SAMPLES;
                let sample = |i: usize| corner + i / SAMPLES * width + i % SAMPLES;
                let is_covered = |index: &usize| self.triangle[*index] != NONE;
                let covered = || (0..SAMPLES * SAMPLES).map(sample).filter(is_covered);
                let count = covered().count();
                if count == 0 {
                    continue;
                }

                // one fragment for all of them, or one for each
                fragments.clear();
                let fragment = |index: usize| {
                    let place = [(index % width) as f64 + 0.5, (self.top + index / width) as f64 + 0.5];
                    projected.fragment(list, self.triangle[index], place)
                };
                if self.is_continuous(list, covered(), tolerance) {
                    let chosen = FROM_CENTRE.map(sample).into_iter().find(is_covered);
                    fragments.extend(chosen.map(|index| (fragment(index), count)));
                } else {
                    fragments.extend(covered().map(|index| (fragment(index), 1)));
                }
                paint(x, y, &fragments);
            }
        }
    }

    /// Whether samples lie on one surface without a jump in depth.
    fn is_continuous(
        &self,
        list: &TriangleList,
        samples: impl Iterator<Item = usize>,
        tolerance: f32,
    ) -> bool {
        let (mut low, mut high) = (f32::INFINITY, 0.0f32);
        let mut surface = None;
        let mut is_one_surface = true;
        for index in samples {
            low = low.min(self.inverse_depth[index]);
            high = high.max(self.inverse_depth[index]);
            let own = list.surface[self.triangle[index] as usize];
            is_one_surface &= *surface.get_or_insert(own) == own;
        }
        is_one_surface && high - low <= tolerance * high
    }
}

/// Twice the signed area of a triangle, in the plane of the first two coordinates (the edge function).
pub(crate) fn doubled_area(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw_each(canvas: &mut Canvas, camera: &Camera, triangles: &[[Vec3; 3]], opacity: f64) {
        let points: Vec<Vec3> = triangles.concat();
        let indices: Vec<[u32; 3]> =
            (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let surface: Vec<u16> = (0..triangles.len() as u16).collect();
        let drawn =
            TriangleList { points: &points, triangles: &indices, surface: &surface, is_drawn: &|_| true };
        draw(canvas, camera, &drawn, &|| true, |fragment| {
            ([if fragment.is_front { 1.0 } else { 0.5 }, fragment.triangle as f64, 1.0], opacity)
        });
    }

    const FRONT: [[f64; 3]; 3] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];

    #[test]
    fn the_nearer_triangle_wins_in_either_order() {
        let front = FRONT.map(Vec3::from);
        let camera = Camera::fitted(|| front.into_iter(), 1.0, 0.0, 1.0);
        let nearer = front.map(|p| p + (camera.eye() - p) * 0.1);
        for (order, winner) in [([front, nearer], 1.0), ([nearer, front], 0.0)] {
            let mut canvas = Canvas::filled(20, 20, |_, _| [0.0; 3]);
            draw_each(&mut canvas, &camera, &order, 1.0);
            let full: Vec<_> = canvas.color.iter().filter(|c| c[2] > 0.999).collect();
            assert!(full.len() > 40 && full.iter().all(|c| (c[1] - winner).abs() < 1e-6));
            // both face the eye
            assert!(full.iter().all(|c| (c[0] - 1.0).abs() < 1e-6));
        }
    }

    #[test]
    fn a_triangle_covers_its_area_and_no_more() {
        let front = FRONT.map(Vec3::from);
        let camera = Camera::fitted(|| front.into_iter(), 1.0, 0.0, 1.0);
        for opacity in [1.0, 0.25] {
            let mut canvas = Canvas::filled(40, 40, |_, _| [0.0; 3]);
            draw_each(&mut canvas, &camera, &[front], opacity);
            let covered: f32 = canvas.color.iter().map(|c| c[2]).sum();
            let projected = Projected::of(
                &camera,
                &TriangleList { points: &front, triangles: &[[0, 1, 2]], surface: &[0], is_drawn: &|_| true },
                40,
                40,
            );
            let [a, b, c] = [projected.points[0], projected.points[1], projected.points[2]];
            let area = 0.5 * doubled_area(a, b, c).abs() / 9.0 * opacity;
            // samples at the border are in or out: at most half a sample along three edges of at most 40 pixels
            assert!((f64::from(covered) - area).abs() < 0.5 / 3.0 * 120.0, "{covered} {area}");
        }
    }

    #[test]
    fn triangles_behind_the_eye_or_without_area_draw_nothing() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let camera = Camera::fitted(|| corners.into_iter(), 1.0, 15.0, 1.0);
        let mut canvas = Canvas::filled(20, 20, |_, _| [0.0; 3]);
        let behind = corners.map(|p| p + (camera.eye() - p) * 2.0);
        draw_each(&mut canvas, &camera, &[behind, [Vec3::zeros(); 3]], 1.0);
        assert!(canvas.color.iter().all(|c| *c == [0.0; 3]));
    }
}
