//! Shadow mapping for a directional light, with percentage-closer filtering.
//!
//! The map holds, for each texel of a square across the light's direction, how far towards the light the first surface is.

use crate::raster::doubled_area;
use sinew_math::Vec3;

/// A map of depths along one direction.
pub(crate) struct ShadowMap {
    /// The unit direction to the light.
    pub(crate) towards: Vec3,
    across: [Vec3; 2],
    side: usize,
    origin: [f64; 2],
    texel: f64,
    /// For each texel how far towards the light the first surface is (m); −∞ where there is none.
    depth: Vec<f32>,
}

impl ShadowMap {
    /// The map of `side` × `side` texels of these triangles; `margin` texels around them stay empty.
    pub(crate) fn build(
        points: &[Vec3],
        triangles: &[[u32; 3]],
        towards: Vec3,
        side: usize,
        margin: usize,
    ) -> ShadowMap {
        // an orthonormal frame of the light
        let steady = if towards.y.abs() < 0.9 { Vec3::y() } else { Vec3::z() };
        let first = steady.cross(&towards).normalize();
        let across = [first, towards.cross(&first)];
        let mut projected: Vec<[f64; 3]> =
            points.iter().map(|p| [p.dot(&across[0]), p.dot(&across[1]), p.dot(&towards)]).collect();

        // a square around all points
        let lows = [0, 1].map(|i| projected.iter().map(|p| p[i]).fold(f64::INFINITY, f64::min));
        let highs = [0, 1].map(|i| projected.iter().map(|p| p[i]).fold(f64::NEG_INFINITY, f64::max));
        let extent = (highs[0] - lows[0]).max(highs[1] - lows[1]).max(1e-12);
        let texel = if extent.is_finite() { extent / (side - 2 * margin) as f64 } else { 1.0 };
        let origin = lows.map(|low| if low.is_finite() { low - texel * margin as f64 } else { 0.0 });
        for point in &mut projected {
            (0..2).for_each(|i| point[i] = (point[i] - origin[i]) / texel);
        }

        let depth = vec![f32::NEG_INFINITY; side * side];
        let mut map = ShadowMap { towards, across, side, origin, texel, depth };
        triangles.iter().for_each(|triangle| map.rasterise(triangle.map(|v| projected[v as usize])));
        map
    }

    /// The width of a texel (m).
    pub(crate) fn texel(&self) -> f64 {
        self.texel
    }

    /// For each texel whether the light meets a surface there.
    pub(crate) fn covered(&self) -> impl Iterator<Item = bool> {
        self.depth.iter().map(|depth| depth.is_finite())
    }

    /// The coordinates of a point in texels; whole numbers are centres of texels.
    pub(crate) fn texel_coordinates(&self, point: &Vec3) -> [f64; 2] {
        [0, 1].map(|i| (point.dot(&self.across[i]) - self.origin[i]) / self.texel - 0.5)
    }

    /// Writes the depth of a triangle where it is nearer to the light than what the map holds.
    fn rasterise(&mut self, [a, b, c]: [[f64; 3]; 3]) {
        // most triangles lie between the centres of texels; casts saturate
        let range = |i: usize| {
            let low = a[i].min(b[i]).min(c[i]) - 0.5;
            let high = a[i].max(b[i]).max(c[i]) + 0.5;
            let first = low as usize;
            first + usize::from((first as f64) < low)..(high as usize).min(self.side)
        };
        let (columns, rows) = (range(0), range(1));
        let area = doubled_area(a, b, c);
        if columns.is_empty() || rows.is_empty() || area.abs() < 1e-12 {
            return;
        }
        let scale = 1.0 / area;
        for y in rows {
            for x in columns.clone() {
                let texel = [x as f64 + 0.5, y as f64 + 0.5, 0.0];
                let u = doubled_area(b, c, texel) * scale;
                let v = doubled_area(c, a, texel) * scale;
                let w = 1.0 - u - v;
                if u >= -1e-9 && v >= -1e-9 && w >= -1e-9 {
                    let depth = (u * a[2] + v * b[2] + w * c[2]) as f32;
                    let slot = &mut self.depth[y * self.side + x];
                    *slot = slot.max(depth);
                }
            }
        }
    }

    /// The fraction of the light that reaches a point, from 0 to 1: the part of a window of 2 `radius` + 2 texels, weighted bilinearly around the
    /// point, in which no surface is nearer to the light by more than `bias` (m).
    pub(crate) fn lit_fraction(&self, point: &Vec3, radius: i64, bias: f64) -> f64 {
        // outside of the map nothing blocks the light
        let position = self.texel_coordinates(point);
        let side = self.side as i64;
        let reach = radius as f64 + 1.0;
        if position.iter().any(|p| !(*p > -reach && *p < side as f64 + reach)) {
            return 1.0;
        }

        // the weights of the outermost texels change as the window moves with the point
        let limit = (point.dot(&self.towards) + bias) as f32;
        let corner = position.map(f64::floor);
        let offset = [position[0] - corner[0], position[1] - corner[1]];
        let weight = |d: i64, offset: f64| match d {
            _ if d == -radius => 1.0 - offset,
            _ if d == radius + 1 => offset,
            _ => 1.0,
        };

        // the weighted number of texels that block the light
        let mut blocked = 0.0;
        for dy in -radius..=radius + 1 {
            let y = corner[1] as i64 + dy;
            if !(0..side).contains(&y) {
                continue;
            }
            let row = weight(dy, offset[1]);
            for dx in -radius..=radius + 1 {
                let x = corner[0] as i64 + dx;
                if (0..side).contains(&x) && self.depth[(y * side + x) as usize] > limit {
                    blocked += row * weight(dx, offset[0]);
                }
            }
        }
        let window = (2 * radius + 1) as f64;
        1.0 - blocked / (window * window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn a_ball_shadows_what_is_behind_it_and_nothing_else() {
        let ball = shapes::sphere(0.5, 3);
        let towards = Vec3::new(-0.3, 1.0, 0.4).normalize();
        let map = ShadowMap::build(&ball.vertices, &ball.triangles, towards, 64, 4);
        assert_eq!(map.lit_fraction(&(-towards), 1, 0.01), 0.0);
        assert_eq!(map.lit_fraction(&(towards * 0.6), 1, 0.01), 1.0);
        assert_eq!(map.lit_fraction(&(Vec3::x() * 2.0 - towards), 1, 0.01), 1.0);
        // half of the window at the edge of the shadow
        let edge = map.lit_fraction(&(map.across[0] * 0.5 - towards), 2, 0.01);
        assert!(edge > 0.2 && edge < 0.8, "{edge}");
    }
}
