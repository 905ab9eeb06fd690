//! Everything that may be drawn of one frame: surfaces, scalar fields on them, and overlays.

use sinew_math::Vec3;

/// Everything that may be drawn of one frame. Positions are in the world of the frame source (m), with its axis up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderFrame {
    /// The time of the frame (s).
    pub time: f64,
    /// The vertices of each surface.
    pub surfaces: Vec<Vec<[f32; 3]>>,
    /// The vertices of each surface under plain skinning; empty if unknown.
    pub skinned: Vec<Vec<[f32; 3]>>,
    /// The strain at the vertices of each surface: the largest |σ − 1| over the principal stretches σ. Empty if unknown; NaN on surfaces without strain.
    pub strain: Vec<Vec<f32>>,
    /// The nodes of the cages; empty if they are not drawn.
    pub cage: Vec<[f32; 3]>,
    /// Lines drawn on top.
    pub marks: Marks,
}

/// Lines that are drawn on top of all surfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Bones, from joint to joint (m).
    pub bones: Vec<[Vec3; 2]>,
    /// Arrows, for forces and velocities.
    pub arrows: Vec<Arrow>,
}

/// An arrow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Its tail (m).
    pub from: Vec3,
    /// Its tip (m).
    pub to: Vec3,
    /// Linear RGB.
    pub color: [f32; 3],
}

impl RenderFrame {
    /// Interpolates linearly towards a later frame, by a fraction from 0 to 1. Both must have the same surfaces and bones; arrows are those of the nearer.
    pub fn interpolate(&self, later: &RenderFrame, fraction: f64) -> RenderFrame {
        // vertices and scalars in single precision
        let single = fraction as f32;
        let points = |from: &[[f32; 3]], to: &[[f32; 3]]| -> Vec<[f32; 3]> {
            let mix = |(a, b): (&[f32; 3], &[f32; 3])| [0, 1, 2].map(|i| a[i] + single * (b[i] - a[i]));
            from.iter().zip(to).map(mix).collect()
        };
        let all = |from: &[Vec<[f32; 3]>], to: &[Vec<[f32; 3]>]| -> Vec<Vec<[f32; 3]>> {
            from.iter().zip(to).map(|(from, to)| points(from, to)).collect()
        };
        let strain = |(from, to): (&Vec<f32>, &Vec<f32>)| -> Vec<f32> {
            from.iter().zip(to).map(|(a, b)| a + single * (b - a)).collect()
        };

        // lines
        let between = |from: &Vec3, to: &Vec3| from + (to - from) * fraction;
        let bones = self.marks.bones.iter().zip(&later.marks.bones);
        let arrows = if fraction < 0.5 { &self.marks.arrows } else { &later.marks.arrows };
        RenderFrame {
            time: self.time + fraction * (later.time - self.time),
            surfaces: all(&self.surfaces, &later.surfaces),
            skinned: all(&self.skinned, &later.skinned),
            strain: self.strain.iter().zip(&later.strain).map(strain).collect(),
            cage: points(&self.cage, &later.cage),
            marks: Marks {
                bones: bones.map(|(a, b)| [between(&a[0], &b[0]), between(&a[1], &b[1])]).collect(),
                arrows: arrows.clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_way_is_the_mean_of_both_frames() {
        let at = |x: f32| RenderFrame {
            time: f64::from(x),
            surfaces: vec![vec![[x, 0.0, 0.0]]],
            strain: vec![vec![x]],
            cage: vec![[0.0, x, 0.0]],
            marks: Marks { bones: vec![[Vec3::zeros(), Vec3::x() * f64::from(x)]], arrows: Vec::new() },
            ..RenderFrame::default()
        };
        assert_eq!(at(1.0).interpolate(&at(2.0), 0.5), at(1.5));
    }
}
