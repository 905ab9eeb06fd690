//! Triangles into pixels: the nearest surface wins, shaded at every pixel.

use super::camera::Camera;
use super::light::to_srgb;
use sinew_math::Vec3;

/// A picture in the making, in linear light.
pub(super) struct Raster {
    width: usize,
    height: usize,
    /// One over the distance of what is drawn; 0 is nothing.
    nearness: Vec<f64>,
    color: Vec<[f32; 3]>,
}

impl Raster {
    /// A picture with nothing in it.
    pub(super) fn new(width: usize, height: usize) -> Raster {
        let count = width * height;
        Raster { width, height, nearness: vec![0.0; count], color: vec![[0.0; 3]; count] }
    }

    /// Draws a triangle; `shade` gives the colour of a point with a normal.
    pub(super) fn draw(
        &mut self,
        camera: &Camera,
        corners: [Vec3; 3],
        normals: [Vec3; 3],
        shade: impl Fn(Vec3, Vec3) -> [f64; 3],
    ) {
        let [Some(a), Some(b), Some(c)] = corners.map(|corner| camera.project(corner)) else { return };
        let on_screen = |(x, y, _): (f64, f64, f64)| {
            [(x + 1.0) / 2.0 * self.width as f64, (1.0 - y) / 2.0 * self.height as f64]
        };
        let [p, q, r] = [on_screen(a), on_screen(b), on_screen(c)];
        let nearness = [1.0 / a.2, 1.0 / b.2, 1.0 / c.2];
        let area = side(p, q, r);
        if area.abs() < 1e-12 {
            return;
        }
        let (xs, ys) = (pixels([p[0], q[0], r[0]], self.width), pixels([p[1], q[1], r[1]], self.height));
        for y in ys {
            for x in xs.clone() {
                let pixel = [x as f64 + 0.5, y as f64 + 0.5];
                let weights = [side(q, r, pixel) / area, side(r, p, pixel) / area, side(p, q, pixel) / area];
                if weights.iter().any(|w| *w < 0.0) {
                    continue;
                }
                // what is linear in the picture is the quantity over the distance
                let shares = [0, 1, 2].map(|i| weights[i] * nearness[i]);
                let near = shares[0] + shares[1] + shares[2];
                let index = y * self.width + x;
                if near <= self.nearness[index] {
                    continue;
                }
                let mix = |v: [Vec3; 3]| (v[0] * shares[0] + v[1] * shares[1] + v[2] * shares[2]) / near;
                let normal = mix(normals).try_normalize(1e-12).unwrap_or(Vec3::y());
                self.nearness[index] = near;
                self.color[index] = shade(mix(corners), normal).map(|c| c as f32);
            }
        }
    }

    /// Colours what no triangle covers; places run from −1 to 1, left to right and bottom to top.
    pub(super) fn fill_rest(&mut self, shade: impl Fn(f64, f64) -> [f64; 3]) {
        for (index, color) in
            self.color.iter_mut().enumerate().filter(|(index, _)| self.nearness[*index] == 0.0)
        {
            let (x, y) = (index % self.width, index / self.width);
            let place = |i: usize, count: usize| (i as f64 + 0.5) / count as f64 * 2.0 - 1.0;
            *color = shade(place(x, self.width), -place(y, self.height)).map(|c| c as f32);
        }
    }

    /// The picture with every `samples` × `samples` pixels made one, as sRGB bytes.
    pub(super) fn to_bytes(&self, samples: usize) -> Vec<u8> {
        let (width, height) = (self.width / samples, self.height / samples);
        let mut bytes = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0.0; 3];
                for row in 0..samples {
                    let start = (y * samples + row) * self.width + x * samples;
                    for color in &self.color[start..start + samples] {
                        (0..3).for_each(|i| sum[i] += color[i]);
                    }
                }
                bytes.extend(sum.map(|c| to_srgb(f64::from(c) / (samples * samples) as f64)));
            }
        }
        bytes
    }
}

/// Twice the signed area of a triangle in the picture.
fn side(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The pixels whose centres may lie between three places.
fn pixels(places: [f64; 3], count: usize) -> std::ops::Range<usize> {
    let least = places.iter().copied().fold(f64::INFINITY, f64::min);
    let most = places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // casts saturate, so places outside the picture end at its border
    (least.floor() as usize).min(count)..(most.ceil() as usize).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(raster: &Raster) -> usize {
        raster.nearness.iter().filter(|n| **n > 0.0).count()
    }

    #[test]
    fn the_nearer_triangle_wins_in_either_order() {
        let square = [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
        let camera = Camera::fitted(|| square.into_iter(), 1.0);
        let nearer = square.map(|p| p + (camera.eye() - p) * 0.1);
        for order in [[0, 1], [1, 0]] {
            let mut raster = Raster::new(20, 20);
            for which in order {
                let corners = [square, nearer][which];
                raster.draw(&camera, corners, [Vec3::z(); 3], |_, _| [which as f64; 3]);
            }
            assert!(covered(&raster) > 40);
            let seen = raster.color.iter().zip(&raster.nearness).filter(|(_, n)| **n > 0.0);
            assert!(seen.clone().count() > 0 && seen.into_iter().all(|(c, _)| c[0] == 1.0));
        }
    }

    #[test]
    fn triangles_behind_the_eye_or_without_area_draw_nothing() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let camera = Camera::fitted(|| corners.into_iter(), 1.0);
        let mut raster = Raster::new(20, 20);
        let behind = corners.map(|p| p + (camera.eye() - p) * 2.0);
        raster.draw(&camera, behind, [Vec3::z(); 3], |_, _| [1.0; 3]);
        raster.draw(&camera, [Vec3::zeros(); 3], [Vec3::z(); 3], |_, _| [1.0; 3]);
        assert_eq!(covered(&raster), 0);
    }
}
