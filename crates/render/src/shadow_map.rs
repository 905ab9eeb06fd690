//! What a far light sees of triangles: for each texel of a square across its direction, how near to it the nearest surface is.

use sinew_math::Vec3;

/// A map of depths along one direction.
pub(crate) struct DepthMap {
    /// The unit direction to the light.
    pub(crate) towards: Vec3,
    across: [Vec3; 2],
    side: usize,
    origin: [f64; 2],
    texel: f64,
    /// For each texel how far towards the light the nearest surface is (m).
    depth: Vec<f32>,
}

impl DepthMap {
    /// The map of `side` × `side` texels of these triangles; `margin` texels around them stay empty.
    pub(crate) fn of(
        points: &[Vec3],
        triangles: &[[u32; 3]],
        towards: Vec3,
        side: usize,
        margin: usize,
    ) -> DepthMap {
        let steady = if towards.y.abs() < 0.9 { Vec3::y() } else { Vec3::z() };
        let first = steady.cross(&towards).normalize();
        let across = [first, towards.cross(&first)];
        let mut places: Vec<[f64; 3]> =
            points.iter().map(|p| [p.dot(&across[0]), p.dot(&across[1]), p.dot(&towards)]).collect();
        let lows = [0, 1].map(|i| places.iter().map(|p| p[i]).fold(f64::INFINITY, f64::min));
        let highs = [0, 1].map(|i| places.iter().map(|p| p[i]).fold(f64::NEG_INFINITY, f64::max));
        let extent = (highs[0] - lows[0]).max(highs[1] - lows[1]).max(1e-12);
        let texel = if extent.is_finite() { extent / (side - 2 * margin) as f64 } else { 1.0 };
        let origin = lows.map(|low| if low.is_finite() { low - texel * margin as f64 } else { 0.0 });
        for place in &mut places {
            (0..2).for_each(|i| place[i] = (place[i] - origin[i]) / texel);
        }
        let depth = vec![f32::NEG_INFINITY; side * side];
        let mut map = DepthMap { towards, across, side, origin, texel, depth };
        triangles.iter().for_each(|triangle| map.cast(triangle.map(|v| places[v as usize])));
        map
    }

    /// The width of a texel (m).
    pub(crate) fn texel(&self) -> f64 {
        self.texel
    }

    /// For each texel whether a surface is seen there.
    pub(crate) fn seen(&self) -> impl Iterator<Item = bool> {
        self.depth.iter().map(|depth| depth.is_finite())
    }

    /// Where a point is among the centres of texels.
    pub(crate) fn place(&self, point: &Vec3) -> [f64; 2] {
        [0, 1].map(|i| (point.dot(&self.across[i]) - self.origin[i]) / self.texel - 0.5)
    }

    /// Marks what a triangle keeps the light from.
    fn cast(&mut self, [a, b, c]: [[f64; 3]; 3]) {
        let area = turn(a, b, c);
        if area.abs() < 1e-12 {
            return;
        }
        let range = |i: usize| {
            let least = a[i].min(b[i]).min(c[i]);
            let most = a[i].max(b[i]).max(c[i]);
            ((least - 0.5).ceil().max(0.0) as usize).min(self.side)
                ..((most + 0.5).floor().max(0.0) as usize).min(self.side)
        };
        let scale = 1.0 / area;
        for y in range(1) {
            for x in range(0) {
                let texel = [x as f64 + 0.5, y as f64 + 0.5, 0.0];
                let u = turn(b, c, texel) * scale;
                let v = turn(c, a, texel) * scale;
                let w = 1.0 - u - v;
                if u >= -1e-9 && v >= -1e-9 && w >= -1e-9 {
                    let depth = (u * a[2] + v * b[2] + w * c[2]) as f32;
                    let slot = &mut self.depth[y * self.side + x];
                    *slot = slot.max(depth);
                }
            }
        }
    }

    /// How much of the light reaches a point, from 0 to 1: the fraction of a window of 2 `reach` + 2 texels, sliding with the point, in which no surface
    /// is nearer to the light by more than `slack` (m).
    pub(crate) fn lit_fraction(&self, point: &Vec3, reach: i64, slack: f64) -> f64 {
        let place = self.place(point);
        let side = self.side as i64;
        let far = reach as f64 + 1.0;
        if place.iter().any(|p| !(*p > -far && *p < side as f64 + far)) {
            return 1.0;
        }
        let limit = (point.dot(&self.towards) + slack) as f32;
        let corner = place.map(f64::floor);
        let within = [place[0] - corner[0], place[1] - corner[1]];
        let weight = |d: i64, within: f64| match d {
            _ if d == -reach => 1.0 - within,
            _ if d == reach + 1 => within,
            _ => 1.0,
        };
        let mut blocked = 0.0;
        for dy in -reach..=reach + 1 {
            let y = corner[1] as i64 + dy;
            if !(0..side).contains(&y) {
                continue;
            }
            let row = weight(dy, within[1]);
            for dx in -reach..=reach + 1 {
                let x = corner[0] as i64 + dx;
                if (0..side).contains(&x) && self.depth[(y * side + x) as usize] > limit {
                    blocked += row * weight(dx, within[0]);
                }
            }
        }
        let whole = (2 * reach + 1) as f64;
        1.0 - blocked / (whole * whole)
    }
}

/// Twice the signed area of a triangle in the plane of the first two coordinates.
fn turn(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn a_ball_shades_what_is_behind_it_and_nothing_else() {
        let ball = shapes::sphere(0.5, 3);
        let towards = Vec3::new(-0.3, 1.0, 0.4).normalize();
        let map = DepthMap::of(&ball.vertices, &ball.triangles, towards, 64, 4);
        assert_eq!(map.lit_fraction(&(-towards), 1, 0.01), 0.0);
        assert_eq!(map.lit_fraction(&(towards * 0.6), 1, 0.01), 1.0);
        assert_eq!(map.lit_fraction(&(Vec3::x() * 2.0 - towards), 1, 0.01), 1.0);
        // half of the window at the edge of the shade
        let edge = map.lit_fraction(&(map.across[0] * 0.5 - towards), 2, 0.01);
        assert!(edge > 0.2 && edge < 0.8, "{edge}");
    }
}
