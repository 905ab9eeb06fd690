//! How a tile is lit: a warm key light with soft shadows, a cool fill, and an ambient that is brighter
//! from above.
//!
//! The key light's shadows come from a map of what it sees, looked up over a small square of the map so
//! that their edges are soft. The ground is not drawn; only the shade on it is.

use sinew_math::{Vec3, real};

/// Texels along one side of the shadow map.
const MAP: usize = 256;
/// Texels to either side that a lookup averages.
const SOFTNESS: usize = 4;
/// How much nearer to the light a surface must be to shade another, as a share of all that is seen: about
/// what a surface steep to the light gains over the texels of one lookup.
const DEPTH_MARGIN: f64 = 0.012;
/// Texels to either side that each of two passes blurs the shade on the ground.
const GROUND_BLUR: usize = 5;
/// Texels around what is seen, so that blurred shades end within the map.
const MARGIN: usize = 2 * GROUND_BLUR + 2;
/// The plain background (linear RGB). One colour, so that tiles join without a seam.
const BACKGROUND: [f64; 3] = [0.835, 0.85, 0.875];

/// The light on one moment.
pub(super) struct Light {
    towards_key: Vec3,
    across: [Vec3; 2],
    towards_fill: Vec3,
    /// For each texel how far towards the light the nearest surface is (m).
    map: Vec<f64>,
    /// For each texel how much of the light is kept from the ground, from 0 to 1.
    ground_shade: Vec<f64>,
    origin: [f64; 2],
    texel: f64,
    size: f64,
    ground: f64,
    center: Vec3,
}

impl Light {
    /// The light on these triangles over a ground of this height (m).
    pub(super) fn over<I: Iterator<Item = [Vec3; 3]>>(triangles: impl Fn() -> I, ground: f64) -> Light {
        let towards_key = Vec3::new(-0.30, 1.0, 0.42).normalize();
        let first = Vec3::z().cross(&towards_key).normalize();
        let across = [first, towards_key.cross(&first)];
        let corners = || triangles().flatten();
        let low = corners().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(&p));
        let high = corners().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(&p));
        let (low, high) = if low.x.is_finite() { (low, high) } else { (Vec3::zeros(), Vec3::zeros()) };
        let size = (high - low).norm().max(1e-12);
        let span = |axis: Vec3, pick: fn(f64, f64) -> f64, start: f64| {
            corners().map(|p| p.dot(&axis)).fold(start, pick)
        };
        let lows = across.map(|axis| span(axis, f64::min, f64::INFINITY));
        let highs = across.map(|axis| span(axis, f64::max, f64::NEG_INFINITY));
        let extent = (highs[0] - lows[0]).max(highs[1] - lows[1]).max(1e-12);
        let texel = if extent.is_finite() { extent / (MAP - 2 * MARGIN) as f64 } else { 1.0 };
        let origin = lows.map(|low| low - texel * MARGIN as f64);
        let towards_fill = Vec3::new(0.9, 0.25, 0.35).normalize();
        let map = vec![f64::NEG_INFINITY; MAP * MAP];
        let center = (low + high) / 2.0;
        let ground_shade = Vec::new();
        let mut light = Light {
            towards_key,
            across,
            towards_fill,
            map,
            ground_shade,
            origin,
            texel,
            size,
            ground,
            center,
        };
        triangles().for_each(|corners| light.cast(corners));
        // every surface is between the light and the ground
        light.ground_shade =
            light.map.iter().map(|depth| if depth.is_finite() { 1.0 } else { 0.0 }).collect();
        (0..2).for_each(|_| blur(&mut light.ground_shade));
        light
    }

    /// The colour (linear RGB) of a point of a body.
    pub(super) fn on_body(&self, point: Vec3, normal: Vec3, towards_eye: Vec3, color: [f64; 3]) -> [f64; 3] {
        let lit = self.lit_share(point + normal * (0.012 * self.size));
        // light that wraps a little round the edge, as it does in soft things
        let wrapped = |towards: &Vec3, wrap: f64| ((normal.dot(towards) + wrap) / (1.0 + wrap)).max(0.0);
        let key = wrapped(&self.towards_key, 0.15) * lit;
        let fill = wrapped(&self.towards_fill, 0.3);
        let sky = 0.5 + 0.5 * normal.y;
        let near_ground = ((point.y - self.ground) / (0.35 * self.size)).clamp(0.0, 1.0);
        let ambient = (0.16 + 0.26 * sky) * (0.6 + 0.4 * near_ground);

        let half = (self.towards_key + towards_eye).normalize();
        let gloss = normal.dot(&half).max(0.0).powi(48) * 0.30 * lit;
        let edge = (1.0 - normal.dot(&towards_eye).max(0.0)).powi(4) * 0.22 * sky;
        let warm = [1.0, 0.96, 0.90];
        let cool = [0.80, 0.90, 1.0];
        [0, 1, 2].map(|i| {
            color[i] * (0.80 * key * warm[i] + (0.14 * fill + ambient) * cool[i])
                + gloss * warm[i]
                + edge * cool[i]
        })
    }

    /// The colour (linear RGB) of what is behind all bodies, seen from the eye along a ray. Shades are
    /// scaled by `strength`.
    pub(super) fn on_background(&self, eye: Vec3, ray: Vec3, strength: f64) -> [f64; 3] {
        let distance = (self.ground - eye.y) / ray.y;
        if !(ray.y < 0.0 && distance > 0.0 && distance.is_finite()) {
            return BACKGROUND;
        }
        let point = eye + ray * distance;
        let shadow = self.ground_shade_at(point);
        // what stands or hangs close keeps the sky off the ground
        let from_center = Vec3::new(point.x - self.center.x, 0.0, point.z - self.center.z).norm() / self.size;
        let closed = (1.0 - from_center / 0.7).clamp(0.0, 1.0);
        let shade = 1.0 - strength * (0.36 * shadow + 0.12 * smooth(closed));
        BACKGROUND.map(|c| c * shade)
    }

    /// Marks what a triangle keeps the key light from.
    fn cast(&mut self, corners: [Vec3; 3]) {
        let places = corners.map(|p| [0, 1].map(|i| (p.dot(&self.across[i]) - self.origin[i]) / self.texel));
        let depths = corners.map(|p| p.dot(&self.towards_key));
        let [a, b, c] = places;
        let side = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        let area = side(a, b, c);
        if area.abs() < 1e-12 {
            return;
        }
        let range = |i: usize| {
            let least = places.iter().map(|p| p[i]).fold(f64::INFINITY, f64::min);
            let most = places.iter().map(|p| p[i]).fold(f64::NEG_INFINITY, f64::max);
            (least.floor() as usize).min(MAP)..(most.ceil() as usize).min(MAP)
        };
        for y in range(1) {
            for x in range(0) {
                let texel = [x as f64 + 0.5, y as f64 + 0.5];
                let weights = [side(b, c, texel) / area, side(c, a, texel) / area, side(a, b, texel) / area];
                if weights.iter().all(|w| *w >= 0.0) {
                    let depth = weights[0] * depths[0] + weights[1] * depths[1] + weights[2] * depths[2];
                    let slot = &mut self.map[y * MAP + x];
                    *slot = slot.max(depth);
                }
            }
        }
    }

    /// How much of the key light is kept from a point of the ground, between the four texels around it.
    fn ground_shade_at(&self, point: Vec3) -> f64 {
        let place = [0, 1].map(|i| (point.dot(&self.across[i]) - self.origin[i]) / self.texel - 0.5);
        let last = (MAP - 2) as f64;
        if place.iter().any(|p| !(*p >= 0.0 && *p <= last)) {
            return 0.0;
        }
        let [x, y] = place.map(|p| p.floor() as usize);
        let [u, v] = [place[0] - x as f64, place[1] - y as f64];
        let at = |x: usize, y: usize| self.ground_shade.get(y * MAP + x).copied().unwrap_or(0.0);
        (1.0 - v) * ((1.0 - u) * at(x, y) + u * at(x + 1, y))
            + v * ((1.0 - u) * at(x, y + 1) + u * at(x + 1, y + 1))
    }

    /// How much of the key light reaches a point, from 0 to 1.
    fn lit_share(&self, point: Vec3) -> f64 {
        let place = [0, 1].map(|i| (point.dot(&self.across[i]) - self.origin[i]) / self.texel - 0.5);
        let depth = point.dot(&self.towards_key);
        let reach = SOFTNESS as f64 + 1.0;
        if place.iter().any(|p| !(*p > -reach && *p < MAP as f64 + reach)) {
            return 1.0;
        }
        let corner = place.map(f64::floor);
        let within = [place[0] - corner[0], place[1] - corner[1]];
        let softness = SOFTNESS as i64;
        let (mut lit, mut all) = (0.0, 0.0);
        for dy in -softness..=softness + 1 {
            for dx in -softness..=softness + 1 {
                // a window that slides with the point, so that shades have no steps
                let weight = |d: i64, within: f64| match d {
                    _ if d == -softness => 1.0 - within,
                    _ if d == softness + 1 => within,
                    _ => 1.0,
                };
                let weight = weight(dx, within[0]) * weight(dy, within[1]);
                let (x, y) = (corner[0] as i64 + dx, corner[1] as i64 + dy);
                let size = MAP as i64;
                let blocked = (0..size).contains(&x)
                    && (0..size).contains(&y)
                    && self.map[(y * size + x) as usize] > depth + DEPTH_MARGIN * self.size;
                lit += if blocked { 0.0 } else { weight };
                all += weight;
            }
        }
        lit / all
    }
}

/// A share from 0 to 1, eased at both ends.
pub(super) fn smooth(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// Replaces every texel by the mean of its row's neighbours and then of its column's.
fn blur(map: &mut [f64]) {
    let width = (2 * GROUND_BLUR + 1) as f64;
    for (step, stride) in [(1, MAP), (MAP, 1)] {
        for line in 0..MAP {
            let values: Vec<f64> = (0..MAP).map(|i| map[line * stride + i * step]).collect();
            for i in 0..MAP {
                let near = &values[i.saturating_sub(GROUND_BLUR)..(i + GROUND_BLUR + 1).min(MAP)];
                map[line * stride + i * step] = near.iter().sum::<f64>() / width;
            }
        }
    }
}

/// A linear value as an sRGB byte; the brightest tenth is rolled off rather than cut.
pub(super) fn to_srgb(linear: f64) -> u8 {
    let knee = 0.9;
    let over = linear - knee;
    let shown = if over > 0.0 { knee + 0.1 * over / (over + 0.1) } else { linear.max(0.0) };
    let encoded =
        if shown <= 0.003_130_8 { 12.92 * shown } else { 1.055 * real::pow(shown, 1.0 / 2.4) - 0.055 };
    (encoded * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn a_ball_shades_the_ground_below_and_not_the_ground_afar() {
        let ball = shapes::sphere(0.5, 3);
        let light = Light::over(|| (0..ball.triangles.len()).map(|t| ball.corners(t)), -1.0);
        // straight away from the light through the centre
        let below = -light.towards_key / light.towards_key.y;
        assert_eq!(light.lit_share(below), 0.0);
        assert!(
            light.ground_shade_at(below) > 0.999 && light.ground_shade_at(below + Vec3::x() * 2.0) == 0.0
        );
        assert_eq!(light.lit_share(below + Vec3::x() * 2.0), 1.0);
        assert_eq!(light.lit_share(light.towards_key * 0.6), 1.0);
    }

    #[test]
    fn bytes_grow_with_light_and_end_at_white() {
        let bytes: Vec<u8> = (0..300).map(|i| to_srgb(f64::from(i) / 100.0)).collect();
        assert!(bytes.is_sorted());
        assert_eq!((bytes[0], to_srgb(-1.0), to_srgb(1e9)), (0, 0, 255));
    }
}
