//! A studio: a warm key light with soft shadows, a cool fill, a rim light from behind, and a bright sky that what stands close shuts out.
//!
//! ```text
//! sky at x with normal n   S = Σ_d V_d(x) max(0, n·d) / Σ_d max(0, d_y)
//! ```
//!
//! with V_d = 1 where the sky is seen along direction d, found in small maps of what each direction sees. It is found at vertices and on a grid of the
//! ground, where it is the soft shade under what stands there. The ground is not drawn; only the shade on it is.

use crate::shadow_map::DepthMap;
use rayon::prelude::*;
use sinew_math::{Vec3, real};

/// Texels along one side of the key light's map.
const KEY_MAP: usize = 320;
/// Texels to either side that a lookup averages.
const SOFTNESS: i64 = 3;
/// How much nearer to the light a surface must be to shade another, as a fraction of all that is seen: about
/// what a surface steep to the light gains over the texels of one lookup.
const DEPTH_MARGIN: f64 = 0.012;
/// Texels to either side that each of two passes blurs the shade on the ground.
const GROUND_BLUR: usize = 7;
/// Texels around what is seen, so that blurred shades end within the map.
const MARGIN: usize = 2 * GROUND_BLUR + 2;
/// Directions in which the sky is looked for, and texels along one side of each map.
const SKY_DIRECTIONS: usize = 24;
const SKY_MAP: usize = 112;
/// Places along one side of the grid on which the sky over the ground is found.
const GROUND_GRID: usize = 72;
/// How far the grid goes beyond what stands on it, as a fraction of its size.
const GROUND_REACH: f64 = 0.75;

/// The light on one moment.
pub(crate) struct Light {
    towards_fill: Vec3,
    towards_rim: Vec3,
    key: DepthMap,
    /// For each texel of the key's map how much of the light is kept from the ground, from 0 to 1.
    key_shade: Vec<f32>,
    sky: Vec<DepthMap>,
    /// How much of the sky is kept from the ground, from 0 to 1, on a grid from `ground_corner` with steps of `ground_step`.
    sky_shade: Vec<f32>,
    ground_corner: [f64; 2],
    ground_step: f64,
    size: f64,
    ground: f64,
}

/// What is known of a point of a body when it is lit.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    pub(crate) point: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) towards_eye: Vec3,
    /// How much sky it sees; 1 is a flat place under an open sky.
    pub(crate) sky: f64,
    /// Linear RGB.
    pub(crate) color: [f64; 3],
}

impl Light {
    /// The light on these triangles over a ground of this height (m).
    pub(crate) fn over(points: &[Vec3], triangles: &[[u32; 3]], ground: f64) -> Light {
        let low = points.iter().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(p));
        let high = points.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(p));
        let (low, high) = if low.x.is_finite() { (low, high) } else { (Vec3::zeros(), Vec3::zeros()) };
        let size = (high - low).norm().max(1e-12);
        let key = DepthMap::of(points, triangles, Vec3::new(-0.48, 0.92, 0.50).normalize(), KEY_MAP, MARGIN);
        let sky = (0..SKY_DIRECTIONS)
            .into_par_iter()
            .map(|i| DepthMap::of(points, triangles, sky_direction(i), SKY_MAP, 2))
            .collect();
        // every surface is between the light and the ground
        let mut key_shade: Vec<f32> = key.seen().map(|seen| if seen { 1.0 } else { 0.0 }).collect();
        (0..2).for_each(|_| blur(&mut key_shade, KEY_MAP, GROUND_BLUR));
        let middle = (low + high) / 2.0;
        let half = ((high - low).x.max((high - low).z) / 2.0 + GROUND_REACH * size).max(1e-12);
        let mut light = Light {
            towards_fill: Vec3::new(0.9, 0.25, 0.45).normalize(),
            towards_rim: Vec3::new(0.55, 0.5, -0.8).normalize(),
            key,
            key_shade,
            sky,
            sky_shade: Vec::new(),
            ground_corner: [middle.x - half, middle.z - half],
            ground_step: 2.0 * half / (GROUND_GRID - 1) as f64,
            size,
            ground,
        };
        light.shade_ground();
        light
    }

    /// How much of the sky points with these normals see.
    pub(crate) fn find_sky(&self, points: &[Vec3], normals: &[Vec3]) -> Vec<f32> {
        points
            .par_iter()
            .zip(normals)
            .with_min_len(512)
            .map(|(point, normal)| self.sky_at(point, normal) as f32)
            .collect()
    }

    fn sky_at(&self, point: &Vec3, normal: &Vec3) -> f64 {
        let (mut seen, mut all) = (0.0, 0.0);
        for map in &self.sky {
            all += map.towards.y;
            let facing = normal.dot(&map.towards);
            if facing > 0.0 {
                // clear of the surface itself, by the texel and a half that a lookup reaches
                let clear = point + normal * (1.5 * map.texel());
                seen += facing * map.lit_fraction(&clear, 0, 0.5 * map.texel());
            }
        }
        seen / all
    }

    fn shade_ground(&mut self) {
        let count = GROUND_GRID * GROUND_GRID;
        let shade = (0..count).into_par_iter().with_min_len(256).map(|i| {
            let (x, z) = ((i % GROUND_GRID) as f64, (i / GROUND_GRID) as f64);
            let [x, z] =
                [self.ground_corner[0] + x * self.ground_step, self.ground_corner[1] + z * self.ground_step];
            (1.0 - self.sky_at(&Vec3::new(x, self.ground, z), &Vec3::y())) as f32
        });
        self.sky_shade = shade.collect();
        (0..2).for_each(|_| blur(&mut self.sky_shade, GROUND_GRID, 2));
    }

    /// The colour (linear RGB) of a point of a body.
    pub(crate) fn on_body(&self, spot: &Spot) -> [f64; 3] {
        let Spot { point, normal, towards_eye, sky, color } = *spot;
        let towards_key = self.key.towards;
        let lit = if normal.dot(&towards_key) > -0.4 {
            self.key.lit_fraction(&(point + normal * (0.010 * self.size)), SOFTNESS, DEPTH_MARGIN * self.size)
        } else {
            0.0
        };
        let key_facing = normal.dot(&towards_key);
        // light wraps round the edge, red the farthest, as it does in soft things
        let key = WRAP.map(|wrap| ((key_facing + wrap) / (1.0 + wrap)).max(0.0) * lit);
        let fill = ((normal.dot(&self.towards_fill) + 0.3) / 1.3).max(0.0);
        let below = (0.5 - 0.5 * normal.y) * (0.35 + 0.65 * sky.min(1.0));
        let facing_eye = normal.dot(&towards_eye).clamp(0.0, 1.0);
        let grazing = 1.0 - facing_eye;
        let rim = grazing * grazing * grazing * (normal.dot(&self.towards_rim) + 0.25).max(0.0);

        let half = (towards_key + towards_eye).try_normalize(1e-12).unwrap_or(towards_key);
        let gloss = gloss(normal.dot(&half).max(0.0)) * lit;
        let sheen = grazing * grazing * grazing * grazing * sky;
        [0, 1, 2].map(|i| {
            color[i]
                * (0.86 * key[i] * WARM[i] + (0.07 * fill + 0.36 * sky) * COOL[i] + 0.12 * below * BOUNCE[i])
                + 0.13 * gloss * WARM[i]
                + (0.26 * rim + 0.05 * sheen) * COOL[i]
        })
    }

    /// The colour (linear RGB) of a point of an earlier moment, which shades nothing and is shaded by nothing.
    pub(crate) fn on_ghost(&self, spot: &Spot) -> [f64; 3] {
        let key = ((spot.normal.dot(&self.key.towards) + 0.3) / 1.3).max(0.0);
        let sky = 0.5 + 0.5 * spot.normal.y;
        [0, 1, 2].map(|i| spot.color[i] * (0.8 * key * WARM[i] + 0.5 * sky * COOL[i] + 0.1))
    }

    /// How much darker the ground is where a ray from the eye meets it, from 0 to 1.
    pub(crate) fn shade_on_ground(&self, eye: Vec3, ray: Vec3) -> f64 {
        let distance = (self.ground - eye.y) / ray.y;
        if !(ray.y < 0.0 && distance > 0.0 && distance.is_finite()) {
            return 0.0;
        }
        let point = eye + ray * distance;
        let key = between(&self.key_shade, KEY_MAP, self.key.place(&point));
        let place =
            [point.x - self.ground_corner[0], point.z - self.ground_corner[1]].map(|p| p / self.ground_step);
        // fades out before the grid ends
        let from_edge =
            place.iter().map(|p| p.min((GROUND_GRID - 1) as f64 - p)).fold(f64::INFINITY, f64::min);
        let sky = between(&self.sky_shade, GROUND_GRID, place) * smooth(from_edge / 12.0);
        1.0 - (1.0 - 0.30 * key) * (1.0 - 0.66 * sky)
    }
}

const WARM: [f64; 3] = [1.0, 0.95, 0.88];
const COOL: [f64; 3] = [0.86, 0.93, 1.0];
const BOUNCE: [f64; 3] = [1.0, 0.96, 0.92];
const WRAP: [f64; 3] = [0.34, 0.22, 0.18];

/// A direction of the sky: spread evenly over the upper half of a sphere by the golden angle.
fn sky_direction(i: usize) -> Vec3 {
    let y = (i as f64 + 0.5) / SKY_DIRECTIONS as f64 * 0.84 + 0.16;
    let angle = i as f64 * 2.399_963_229_728_653;
    let radius = (1.0 - y * y).max(0.0).sqrt();
    Vec3::new(radius * real::cos(angle), y, radius * real::sin(angle))
}

/// A broad highlight and a narrower one: c¹² and c⁴⁸.
fn gloss(cosine: f64) -> f64 {
    let square = cosine * cosine;
    let fourth = square * square;
    let twelfth = fourth * fourth * fourth;
    let narrow = twelfth * twelfth * twelfth * twelfth;
    0.35 * twelfth + narrow
}

/// A value between the four around a place; 0 outside.
fn between(map: &[f32], side: usize, place: [f64; 2]) -> f64 {
    let last = (side - 2) as f64;
    if place.iter().any(|p| !(*p >= 0.0 && *p <= last)) {
        return 0.0;
    }
    let [x, y] = place.map(|p| p.floor() as usize);
    let [u, v] = [place[0] - x as f64, place[1] - y as f64];
    let at = |x: usize, y: usize| f64::from(map[y * side + x]);
    (1.0 - v) * ((1.0 - u) * at(x, y) + u * at(x + 1, y))
        + v * ((1.0 - u) * at(x, y + 1) + u * at(x + 1, y + 1))
}

/// A fraction from 0 to 1, eased at both ends.
pub(crate) fn smooth(fraction: f64) -> f64 {
    let fraction = fraction.clamp(0.0, 1.0);
    fraction * fraction * (3.0 - 2.0 * fraction)
}

/// Replaces every texel by the mean of its row's neighbours and then of its column's.
fn blur(map: &mut [f32], side: usize, reach: usize) {
    let width = (2 * reach + 1) as f32;
    let mut sums = vec![0.0f32; side + 1];
    for (step, stride) in [(1, side), (side, 1)] {
        for line in 0..side {
            for i in 0..side {
                sums[i + 1] = sums[i] + map[line * stride + i * step];
            }
            for i in 0..side {
                let (low, high) = (i.saturating_sub(reach), (i + reach + 1).min(side));
                map[line * stride + i * step] = (sums[high] - sums[low]) / width;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn a_ball_shades_the_ground_below_and_not_the_ground_afar() {
        let ball = shapes::sphere(0.5, 3);
        let light = Light::over(&ball.vertices, &ball.triangles, -0.5);
        let above = |x: f64| light.shade_on_ground(Vec3::new(x, 3.0, 0.0), -Vec3::y());
        assert!(above(0.0) > 0.5 && above(4.0) == 0.0, "{} {}", above(0.0), above(4.0));
        // on the side away from the key light it is darker
        assert!(above(0.55) > above(-0.55) + 0.05);
    }

    #[test]
    fn the_top_of_a_ball_sees_the_sky_and_its_underside_does_not() {
        let ball = shapes::sphere(0.5, 3);
        let light = Light::over(&ball.vertices, &ball.triangles, -0.5);
        let sky = light.find_sky(&[Vec3::y() * 0.5, Vec3::y() * -0.5], &[Vec3::y(), -Vec3::y()]);
        assert!((sky[0] - 1.0).abs() < 1e-6 && sky[1] == 0.0, "{sky:?}");
    }
}
