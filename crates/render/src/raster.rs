//! Triangles into pixels: the nearest surface wins, edges are smooth.
//!
//! The picture is drawn in bands of rows, each by one thread. In a band the nearest triangle is found at nine samples of every pixel; where they lie on one
//! unbroken surface the pixel is shaded once, otherwise sample by sample.

use crate::camera::Camera;
use crate::canvas::Canvas;
use rayon::prelude::*;
use sinew_math::Vec3;

/// Samples along each side of a pixel.
const SAMPLES: usize = 3;
/// Rows of pixels per band.
const BAND: usize = 16;
/// No triangle.
const NONE: u32 = u32::MAX;
/// A surface that recedes by more than this many pixels' width within a pixel is taken to be broken: steeper than 83° to the picture.
const BROKEN: f64 = 8.0;

/// What is drawn.
pub(crate) struct Triangles<'a> {
    pub(crate) points: &'a [Vec3],
    pub(crate) triangles: &'a [[u32; 3]],
    /// The surface each triangle belongs to.
    pub(crate) surface: &'a [u16],
    /// Which surfaces there are; the others are left out.
    pub(crate) is_there: &'a (dyn Fn(u16) -> bool + Sync),
}

/// A place on a triangle.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) triangle: usize,
    /// The weights of its corners in the place, sum 1.
    pub(crate) fractions: [f64; 3],
    /// Whether its outside is seen.
    pub(crate) outside: bool,
    /// Its area in the picture (pixels).
    pub(crate) area: f64,
}

/// Draws triangles over what a picture shows; `shade` gives the colour of a place, and how much of what is behind it it covers.
pub(crate) fn draw(
    canvas: &mut Canvas,
    camera: &Camera,
    drawn: &Triangles,
    shade: impl Fn(&Hit) -> ([f64; 3], f64) + Sync,
) {
    let (width, height) = (canvas.width, canvas.height);
    let scene = Projected::of(camera, drawn, width, height);
    let bins = scene.bins(drawn, height.div_ceil(BAND));
    canvas.color.par_chunks_mut(width * BAND).zip(&bins).enumerate().for_each(|(band, (rows, bin))| {
        if bin.is_empty() {
            return;
        }
        let mut samples = Band::new(width, rows.len() / width, band * BAND);
        bin.iter().for_each(|t| samples.fill(*t, scene.corners(drawn, *t)));
        let tolerance = (BROKEN * 2.0 * camera.half_height() / height as f64) as f32;
        samples.resolve(drawn, &scene, tolerance, |x, y, hits| {
            let pixel = &mut rows[y * width + x];
            let mut all = [0.0f32; 3];
            let mut covered = 0.0f32;
            for (hit, weight) in hits {
                let (color, opacity) = shade(hit);
                let weight = *weight as f32 * opacity as f32 / (SAMPLES * SAMPLES) as f32;
                (0..3).for_each(|i| all[i] += weight * color[i] as f32);
                covered += weight;
            }
            (0..3).for_each(|i| pixel[i] = (1.0 - covered) * pixel[i] + all[i]);
        });
    });
}

/// All points in the picture.
struct Projected {
    /// Samples from the left, samples from the top, and one over the distance; not a number if it is not before the eye.
    places: Vec<[f64; 3]>,
}

impl Projected {
    fn of(camera: &Camera, drawn: &Triangles, width: usize, height: usize) -> Projected {
        let (width, height) = ((width * SAMPLES) as f64, (height * SAMPLES) as f64);
        let place = |point: &Vec3| match camera.project(*point) {
            Some((x, y, distance)) => [(x + 1.0) / 2.0 * width, (1.0 - y) / 2.0 * height, 1.0 / distance],
            None => [f64::NAN; 3],
        };
        Projected { places: drawn.points.par_iter().with_min_len(2048).map(place).collect() }
    }

    fn corners(&self, drawn: &Triangles, triangle: u32) -> [[f64; 3]; 3] {
        drawn.triangles[triangle as usize].map(|v| self.places[v as usize])
    }

    /// For each band the triangles that may be seen in it, in order.
    fn bins(&self, drawn: &Triangles, count: usize) -> Vec<Vec<u32>> {
        let mut bins = vec![Vec::new(); count];
        let rows = (BAND * SAMPLES) as f64;
        for t in 0..drawn.triangles.len() as u32 {
            if !(drawn.is_there)(drawn.surface[t as usize]) {
                continue;
            }
            let corners = self.corners(drawn, t);
            if corners.iter().any(|c| c[0].is_nan()) || turn(corners[0], corners[1], corners[2]).abs() < 1e-9
            {
                continue;
            }
            let top = corners.iter().map(|c| c[1]).fold(f64::INFINITY, f64::min);
            let bottom = corners.iter().map(|c| c[1]).fold(f64::NEG_INFINITY, f64::max);
            if bottom < 0.0 {
                continue;
            }
            // casts saturate, so triangles outside of the picture end at its border
            let range = ((top / rows) as usize).min(count)..((bottom / rows) as usize + 1).min(count);
            bins[range].iter_mut().for_each(|bin| bin.push(t));
        }
        bins
    }
}

/// The samples of some rows of pixels.
struct Band {
    width: usize,
    height: usize,
    /// Rows of samples above the band.
    top: usize,
    nearness: Vec<f32>,
    triangle: Vec<u32>,
}

impl Band {
    fn new(width: usize, height: usize, top: usize) -> Band {
        let count = width * height * SAMPLES * SAMPLES;
        Band { width, height, top: top * SAMPLES, nearness: vec![0.0; count], triangle: vec![NONE; count] }
    }

    fn fill(&mut self, triangle: u32, [a, b, c]: [[f64; 3]; 3]) {
        let width = self.width * SAMPLES;
        let scale = 1.0 / turn(a, b, c);
        let range = |i: usize, start: f64, count: usize| {
            let least = a[i].min(b[i]).min(c[i]) - start;
            let most = a[i].max(b[i]).max(c[i]) - start;
            ((least - 0.5).ceil().max(0.0) as usize).min(count)
                ..((most + 0.5).floor().max(0.0) as usize).min(count)
        };
        let xs = range(0, 0.0, width);
        // how the weights of the first two corners grow along a row
        let (du, dv) = ((b[1] - c[1]) * scale, (c[1] - a[1]) * scale);
        for y in range(1, self.top as f64, self.height * SAMPLES) {
            let sample = [xs.start as f64 + 0.5, (self.top + y) as f64 + 0.5, 0.0];
            let (u, v) = (turn(b, c, sample) * scale, turn(c, a, sample) * scale);
            for (i, x) in xs.clone().enumerate() {
                let (u, v) = (u + i as f64 * du, v + i as f64 * dv);
                let w = 1.0 - u - v;
                // a hair wider than it is, so that neighbours leave no gap between them
                if u < -1e-9 || v < -1e-9 || w < -1e-9 {
                    continue;
                }
                let near = (u * a[2] + v * b[2] + w * c[2]) as f32;
                let index = y * width + x;
                if near > self.nearness[index] {
                    self.nearness[index] = near;
                    self.triangle[index] = triangle;
                }
            }
        }
    }

    /// Calls `paint` for every pixel that is covered at all with the places to be shaded in it and the number of samples that each stands
    /// for.
    fn resolve(
        &self,
        drawn: &Triangles,
        scene: &Projected,
        tolerance: f32,
        mut paint: impl FnMut(usize, usize, &[(Hit, usize)]),
    ) {
        let width = self.width * SAMPLES;
        let mut hits: Vec<(Hit, usize)> = Vec::with_capacity(SAMPLES * SAMPLES);
        for y in 0..self.height {
            for x in 0..self.width {
                let corner = y * SAMPLES * width + x * SAMPLES;
                let samples = || (0..SAMPLES * SAMPLES).map(|i| corner + i / SAMPLES * width + i % SAMPLES);
                let (mut least, mut most, mut count) = (f32::INFINITY, 0.0f32, 0);
                let mut surface = None;
                let mut whole = true;
                for index in samples().filter(|index| self.triangle[*index] != NONE) {
                    least = least.min(self.nearness[index]);
                    most = most.max(self.nearness[index]);
                    let own = drawn.surface[self.triangle[index] as usize];
                    whole &= *surface.get_or_insert(own) == own;
                    count += 1;
                }
                if count == 0 {
                    continue;
                }
                hits.clear();
                let hit = |index: usize| {
                    let sample = [(index % width) as f64 + 0.5, (self.top + index / width) as f64 + 0.5];
                    scene.hit(drawn, self.triangle[index], sample)
                };
                if whole && most - least <= tolerance * most {
                    // the middle one, or else the covered one next to it
                    const FROM_MIDDLE: [usize; 9] = [4, 1, 3, 5, 7, 0, 2, 6, 8];
                    let places = FROM_MIDDLE.map(|i| corner + i / SAMPLES * width + i % SAMPLES);
                    let chosen = places.into_iter().find(|index| self.triangle[*index] != NONE);
                    hits.extend(chosen.map(|index| (hit(index), count)));
                } else {
                    hits.extend(
                        samples().filter(|index| self.triangle[*index] != NONE).map(|index| (hit(index), 1)),
                    );
                }
                paint(x, y, &hits);
            }
        }
    }
}

impl Projected {
    fn hit(&self, drawn: &Triangles, triangle: u32, sample: [f64; 2]) -> Hit {
        let [a, b, c] = self.corners(drawn, triangle);
        let area = turn(a, b, c);
        let sample = [sample[0], sample[1], 0.0];
        let weights = [turn(b, c, sample) / area, turn(c, a, sample) / area, turn(a, b, sample) / area];
        // what is linear in the picture is the quantity over the distance
        let fractions = [weights[0] * a[2], weights[1] * b[2], weights[2] * c[2]];
        let near = fractions[0] + fractions[1] + fractions[2];
        Hit {
            triangle: triangle as usize,
            fractions: fractions.map(|fraction| fraction / near),
            // rows are counted downwards, so what turns left goes clockwise here
            outside: area < 0.0,
            area: 0.5 * area.abs() / (SAMPLES * SAMPLES) as f64,
        }
    }
}

/// Twice the signed area of a triangle in the picture.
fn turn(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
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
            Triangles { points: &points, triangles: &indices, surface: &surface, is_there: &|_| true };
        draw(canvas, camera, &drawn, |hit| {
            ([if hit.outside { 1.0 } else { 0.5 }, hit.triangle as f64, 1.0], opacity)
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
            let scene = Projected::of(
                &camera,
                &Triangles { points: &front, triangles: &[[0, 1, 2]], surface: &[0], is_there: &|_| true },
                40,
                40,
            );
            let [a, b, c] = [scene.places[0], scene.places[1], scene.places[2]];
            let area = 0.5 * turn(a, b, c).abs() / 9.0 * opacity;
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
