//! Three-point lighting with soft shadows, and ambient occlusion of a uniform sky.
//!
//! ```text
//! sky light at x with normal n   S = Σ_d V_d(x) max(0, n·d) / Σ_d max(0, d_y)
//! ```
//!
//! with V_d = 1 where the sky is visible along direction d, looked up in one small shadow map per direction. S is evaluated at vertices and on a grid
//! over the ground, where it gives the soft shadow under the bodies. The ground itself is invisible; only the shadows on it are drawn.

use crate::draft_sky::{DraftSky, SKY_DIRECTIONS, SeenSky};
use crate::shadow_map::ShadowMap;
use rayon::prelude::*;
use sinew_math::{Vec3, real};

/// Texels along one side of the key light's shadow map, also in drafts.
const KEY_MAP: usize = 320;
const DRAFT_KEY_MAP: usize = 160;
/// Texels to either side over which a shadow lookup averages, also in drafts: of the same width.
const SOFTNESS: i64 = 3;
const DRAFT_SOFTNESS: i64 = 1;
/// The shadow bias as a fraction of the scene's size: about what a surface steep to the light gains in depth over the
/// texels of one lookup.
const SHADOW_BIAS: f64 = 0.012;
/// Texels to either side over which each of two passes blurs the key shadow on the ground, also in drafts.
const GROUND_BLUR: usize = 7;
const DRAFT_GROUND_BLUR: usize = 3;
/// Texels along one side of the shadow map of a direction of the sky.
const SKY_MAP: usize = 112;
/// Points along one side of the grid of ambient occlusion on the ground.
const GROUND_GRID: usize = 72;
/// How far that grid reaches beyond the bodies, as a fraction of their size.
const GROUND_REACH: f64 = 0.75;

/// The lights on one frame, with their shadows.
pub(crate) struct Lighting {
    towards_fill: Vec3,
    towards_rim: Vec3,
    key: ShadowMap,
    /// For each texel of the key's map the fraction of its light that is kept from the ground.
    key_shadow: Vec<f32>,
    sky: Vec<ShadowMap>,
    /// The fraction of the sky that is kept from the ground, on a grid from `ground_corner` with steps of `ground_step` (m).
    sky_shadow: Vec<f32>,
    ground_corner: [f64; 2],
    ground_step: f64,
    size: f64,
    ground: f64,
    /// Texels along one side of the key's map, and to either side of a lookup.
    key_side: usize,
    softness: i64,
}

/// A surface point to be shaded.
#[derive(Clone, Copy)]
pub(crate) struct ShadingPoint {
    pub(crate) point: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) towards_eye: Vec3,
    /// The sky light at the point; 1 for a level surface under an open sky.
    pub(crate) sky: f64,
    /// Linear RGB.
    pub(crate) color: [f64; 3],
}

impl Lighting {
    /// The lighting of these triangles over a ground of this height (m); without shadows of the sky once nobody waits for it.
    pub(crate) fn build(
        points: &[Vec3],
        triangles: &[[u32; 3]],
        ground: f64,
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Lighting {
        let mut lighting = Lighting::without_sky(points, triangles, ground, (KEY_MAP, GROUND_BLUR));
        lighting.sky = (0..SKY_DIRECTIONS)
            .into_par_iter()
            .filter(|_| is_wanted())
            .map(|i| sky_map(points, triangles, i))
            .collect();
        lighting.shade_ground();
        lighting
    }

    /// The same where the sky is sampled in one more direction than for the picture before, for pictures that are seen for an instant. Returns the sky light at each of `lit` with its normals too.
    pub(crate) fn build_draft(
        (points, triangles): (&[Vec3], &[[u32; 3]]),
        ground: f64,
        (lit, normals): (&[Vec3], &[Vec3]),
        sky: &mut DraftSky,
    ) -> (Lighting, Vec<f32>) {
        let mut lighting =
            Lighting::without_sky(points, triangles, ground, (DRAFT_KEY_MAP, DRAFT_GROUND_BLUR));
        lighting.softness = DRAFT_SOFTNESS;
        let up = Vec3::y();
        sky.sample(|i| {
            let map = sky_map(points, triangles, i);
            let at_points = lit.par_iter().zip(normals).with_min_len(512);
            SeenSky {
                open: map.towards.y as f32,
                at_vertices: at_points
                    .map(|(point, normal)| visible_sky(&map, point, normal) as f32)
                    .collect(),
                on_ground: lighting.ground_points(|point| visible_sky(&map, &point, &up) as f32),
            }
        });
        let (at_points, on_ground) = sky.light();
        lighting.sky_shadow = on_ground.iter().map(|light| 1.0 - light).collect();
        (0..2).for_each(|_| box_blur(&mut lighting.sky_shadow, GROUND_GRID, 2));
        (lighting, at_points)
    }

    /// The lights and what they see of the bodies, without the sky.
    fn without_sky(
        points: &[Vec3],
        triangles: &[[u32; 3]],
        ground: f64,
        (key_side, blur): (usize, usize),
    ) -> Lighting {
        // bounds of the bodies
        let low = points.iter().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(p));
        let high = points.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(p));
        let (low, high) = if low.x.is_finite() { (low, high) } else { (Vec3::zeros(), Vec3::zeros()) };
        let size = (high - low).norm().max(1e-12);

        // the shadow map of the key light, with so many empty texels around the bodies that blurred shadows end within it
        let towards_key = Vec3::new(-0.48, 0.92, 0.50).normalize();
        let key = ShadowMap::build(points, triangles, towards_key, key_side, 2 * blur + 2);

        // the key shadow on the ground: every surface lies between the light and the ground
        let mut key_shadow: Vec<f32> = key.covered().map(|covered| if covered { 1.0 } else { 0.0 }).collect();
        (0..2).for_each(|_| box_blur(&mut key_shadow, key_side, blur));

        // the grid of ambient occlusion on the ground
        let middle = (low + high) / 2.0;
        let half = ((high - low).x.max((high - low).z) / 2.0 + GROUND_REACH * size).max(1e-12);
        Lighting {
            towards_fill: Vec3::new(0.9, 0.25, 0.45).normalize(),
            towards_rim: Vec3::new(0.55, 0.5, -0.8).normalize(),
            key,
            key_shadow,
            sky: Vec::new(),
            sky_shadow: Vec::new(),
            ground_corner: [middle.x - half, middle.z - half],
            ground_step: 2.0 * half / (GROUND_GRID - 1) as f64,
            size,
            ground,
            key_side,
            softness: SOFTNESS,
        }
    }

    /// The sky light at points with these normals.
    pub(crate) fn sky_at_points(&self, points: &[Vec3], normals: &[Vec3]) -> Vec<f32> {
        points
            .par_iter()
            .zip(normals)
            .with_min_len(512)
            .map(|(point, normal)| self.sky_at(point, normal) as f32)
            .collect()
    }

    fn sky_at(&self, point: &Vec3, normal: &Vec3) -> f64 {
        let (mut visible, mut all) = (0.0, 0.0);
        for map in &self.sky {
            all += map.towards.y;
            visible += visible_sky(map, point, normal);
        }
        visible / all
    }

    /// Evaluates the ambient occlusion of the ground.
    fn shade_ground(&mut self) {
        self.sky_shadow = self.ground_points(|point| (1.0 - self.sky_at(&point, &Vec3::y())) as f32);
        (0..2).for_each(|_| box_blur(&mut self.sky_shadow, GROUND_GRID, 2));
    }

    /// Something at every point of the grid over the ground.
    fn ground_points(&self, at: impl Fn(Vec3) -> f32 + Sync) -> Vec<f32> {
        let points = (0..GROUND_GRID * GROUND_GRID).into_par_iter().with_min_len(256).map(|i| {
            let (x, z) = ((i % GROUND_GRID) as f64, (i / GROUND_GRID) as f64);
            let [x, z] =
                [self.ground_corner[0] + x * self.ground_step, self.ground_corner[1] + z * self.ground_step];
            at(Vec3::new(x, self.ground, z))
        });
        points.collect()
    }

    /// The colour (linear RGB) of a point of a solid surface.
    pub(crate) fn shade(&self, at: &ShadingPoint) -> [f64; 3] {
        let ShadingPoint { point, normal, towards_eye, sky, color } = *at;

        // the key light, wrapped around the terminator
        let towards_key = self.key.towards;
        let lit = if normal.dot(&towards_key) > -0.4 {
            self.key.lit_fraction(
                &(point + normal * (0.010 * self.size)),
                self.softness,
                SHADOW_BIAS * self.size,
            )
        } else {
            0.0
        };
        let key_facing = normal.dot(&towards_key);
        let key = WRAP.map(|wrap| ((key_facing + wrap) / (1.0 + wrap)).max(0.0) * lit);

        // fill, light reflected by the ground, and the rim light at grazing angles
        let fill = ((normal.dot(&self.towards_fill) + 0.3) / 1.3).max(0.0);
        let below = (0.5 - 0.5 * normal.y) * (0.35 + 0.65 * sky.min(1.0));
        let facing_eye = normal.dot(&towards_eye).clamp(0.0, 1.0);
        let grazing = 1.0 - facing_eye;
        let rim = grazing * grazing * grazing * (normal.dot(&self.towards_rim) + 0.25).max(0.0);

        // highlights: of the key light, and of the sky at grazing angles
        let half = (towards_key + towards_eye).try_normalize(1e-12).unwrap_or(towards_key);
        let specular = specular(normal.dot(&half).max(0.0)) * lit;
        let sheen = grazing * grazing * grazing * grazing * sky;
        [0, 1, 2].map(|i| {
            color[i]
                * (0.86 * key[i] * WARM[i] + (0.07 * fill + 0.36 * sky) * COOL[i] + 0.12 * below * BOUNCE[i])
                + 0.13 * specular * WARM[i]
                + (0.26 * rim + 0.05 * sheen) * COOL[i]
        })
    }

    /// The colour (linear RGB) of a point that neither casts nor receives shadows.
    pub(crate) fn shade_unshadowed(&self, at: &ShadingPoint) -> [f64; 3] {
        let key = ((at.normal.dot(&self.key.towards) + 0.3) / 1.3).max(0.0);
        let sky = 0.5 + 0.5 * at.normal.y;
        [0, 1, 2].map(|i| at.color[i] * (0.8 * key * WARM[i] + 0.5 * sky * COOL[i] + 0.1))
    }

    /// The strength of the shadow, from 0 to 1, where a ray from the eye meets the ground.
    pub(crate) fn ground_shadow(&self, eye: Vec3, ray: Vec3) -> f64 {
        let distance = (self.ground - eye.y) / ray.y;
        if !(ray.y < 0.0 && distance > 0.0 && distance.is_finite()) {
            return 0.0;
        }
        let point = eye + ray * distance;
        let key = bilinear(&self.key_shadow, self.key_side, self.key.texel_coordinates(&point));
        let position =
            [point.x - self.ground_corner[0], point.z - self.ground_corner[1]].map(|p| p / self.ground_step);
        // fade out before the grid ends
        let from_edge =
            position.iter().map(|p| p.min((GROUND_GRID - 1) as f64 - p)).fold(f64::INFINITY, f64::min);
        let sky = bilinear(&self.sky_shadow, GROUND_GRID, position) * smoothstep(from_edge / 12.0);
        1.0 - (1.0 - 0.30 * key) * (1.0 - 0.66 * sky)
    }
}

/// Colours of the lights (linear RGB): key, sky, and what the ground reflects.
const WARM: [f64; 3] = [1.0, 0.95, 0.88];
const COOL: [f64; 3] = [0.86, 0.93, 1.0];
const BOUNCE: [f64; 3] = [1.0, 0.96, 0.92];
/// How far diffuse light wraps around the terminator, per colour: red the farthest, as light scatters in skin.
const WRAP: [f64; 3] = [0.34, 0.22, 0.18];

/// What one of the directions of the sky sees of the bodies.
fn sky_map(points: &[Vec3], triangles: &[[u32; 3]], i: usize) -> ShadowMap {
    ShadowMap::build(points, triangles, sky_direction(i), SKY_MAP, 2)
}

/// The light from one direction of the sky: V_d(x) max(0, n·d).
fn visible_sky(map: &ShadowMap, point: &Vec3, normal: &Vec3) -> f64 {
    let facing = normal.dot(&map.towards);
    if facing > 0.0 {
        // offset from the surface itself by the texel and a half that a lookup reaches
        let offset = point + normal * (1.5 * map.texel());
        facing * map.lit_fraction(&offset, 0, 0.5 * map.texel())
    } else {
        0.0
    }
}

/// One of the directions of the sky, on a Fibonacci spiral over the upper hemisphere.
fn sky_direction(i: usize) -> Vec3 {
    let y = (i as f64 + 0.5) / SKY_DIRECTIONS as f64 * 0.84 + 0.16;
    let angle = i as f64 * 2.399_963_229_728_653;
    let radius = (1.0 - y * y).max(0.0).sqrt();
    Vec3::new(radius * real::cos(angle), y, radius * real::sin(angle))
}

/// The sum of a broad and a narrow Blinn-Phong lobe: 0.35 c¹² + c⁴⁸.
fn specular(cosine: f64) -> f64 {
    let square = cosine * cosine;
    let fourth = square * square;
    let twelfth = fourth * fourth * fourth;
    let narrow = twelfth * twelfth * twelfth * twelfth;
    0.35 * twelfth + narrow
}

/// Bilinear interpolation of a square map; 0 outside of it.
fn bilinear(map: &[f32], side: usize, position: [f64; 2]) -> f64 {
    let last = (side - 2) as f64;
    if position.iter().any(|p| !(*p >= 0.0 && *p <= last)) {
        return 0.0;
    }
    let [x, y] = position.map(|p| p.floor() as usize);
    let [u, v] = [position[0] - x as f64, position[1] - y as f64];
    let at = |x: usize, y: usize| f64::from(map[y * side + x]);
    (1.0 - v) * ((1.0 - u) * at(x, y) + u * at(x + 1, y))
        + v * ((1.0 - u) * at(x, y + 1) + u * at(x + 1, y + 1))
}

/// Smoothstep: 3t² − 2t³ with t clamped to 0…1.
pub(crate) fn smoothstep(fraction: f64) -> f64 {
    let fraction = fraction.clamp(0.0, 1.0);
    fraction * fraction * (3.0 - 2.0 * fraction)
}

/// A separable box blur over 2 `radius` + 1 texels.
fn box_blur(map: &mut [f32], side: usize, radius: usize) {
    let width = (2 * radius + 1) as f32;
    let mut sums = vec![0.0f32; side + 1];
    for (step, stride) in [(1, side), (side, 1)] {
        for line in 0..side {
            for i in 0..side {
                sums[i + 1] = sums[i] + map[line * stride + i * step];
            }
            for i in 0..side {
                let (low, high) = (i.saturating_sub(radius), (i + radius + 1).min(side));
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
    fn a_ball_shadows_the_ground_below_and_not_the_ground_afar() {
        let ball = shapes::sphere(0.5, 3);
        let light = Lighting::build(&ball.vertices, &ball.triangles, -0.5, &|| true);
        let above = |x: f64| light.ground_shadow(Vec3::new(x, 3.0, 0.0), -Vec3::y());
        assert!(above(0.0) > 0.5 && above(4.0) == 0.0, "{} {}", above(0.0), above(4.0));
        // on the side away from the key light it is darker
        assert!(above(0.55) > above(-0.55) + 0.05);
    }

    #[test]
    fn sky_light_reaches_the_top_of_a_ball_and_not_its_underside() {
        let ball = shapes::sphere(0.5, 3);
        let light = Lighting::build(&ball.vertices, &ball.triangles, -0.5, &|| true);
        let sky = light.sky_at_points(&[Vec3::y() * 0.5, Vec3::y() * -0.5], &[Vec3::y(), -Vec3::y()]);
        assert!((sky[0] - 1.0).abs() < 1e-6 && sky[1] == 0.0, "{sky:?}");
    }

    /// After a draft for each direction nothing is missing, in single precision.
    #[test]
    fn drafts_of_what_rests_have_the_light_of_a_full_picture_in_the_end() {
        let ball = shapes::sphere(0.5, 2);
        let normals: Vec<Vec3> = ball.vertices.iter().map(|p| p.normalize()).collect();
        let full = Lighting::build(&ball.vertices, &ball.triangles, -0.5, &|| true);
        let expected = full.sky_at_points(&ball.vertices, &normals);
        let mut sky = DraftSky::default();
        let caster = (ball.vertices.as_slice(), ball.triangles.as_slice());
        let mut draft = || Lighting::build_draft(caster, -0.5, (&ball.vertices, &normals), &mut sky);
        (0..SKY_DIRECTIONS - crate::draft_sky::FIRST).for_each(|_| drop(draft()));
        let (lighting, found) = draft();
        let difference = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-5, "{difference}");
        let on_ground = full.sky_shadow.iter().zip(&lighting.sky_shadow);
        assert!(on_ground.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-5);
    }
}
