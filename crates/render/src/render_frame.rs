//! All that may be seen at one moment, and marks on it.

use sinew_math::Vec3;

/// All that may be seen at one moment. Positions are those of the frame (m), with its axis up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderFrame {
    /// When (s).
    pub time: f64,
    /// For each surface the positions of its vertices.
    pub surfaces: Vec<Vec<[f32; 3]>>,
    /// The same by plain skinning; empty if it is not known.
    pub skinned: Vec<Vec<[f32; 3]>>,
    /// For each surface how strained its vertices are: the largest |σ − 1| of the principal stretches σ; empty if it is not known, NaN for what has none.
    pub strain: Vec<Vec<f32>>,
    /// Positions of the cage's nodes; empty if it is not to be seen.
    pub cage: Vec<[f32; 3]>,
    /// What is drawn over all that.
    pub marks: Marks,
}

/// What is drawn over bodies, whatever is before it.
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
    /// Where it begins (m).
    pub from: Vec3,
    /// Where its tip is (m).
    pub to: Vec3,
    /// Linear RGB.
    pub color: [f32; 3],
}

impl RenderFrame {
    /// The moment a fraction of the way, from 0 to 1, to a later one. Both must have the same surfaces and bones; arrows are those of the nearer.
    pub fn towards(&self, later: &RenderFrame, fraction: f64) -> RenderFrame {
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
    fn half_way_is_in_the_middle_of_everything() {
        let at = |x: f32| RenderFrame {
            time: f64::from(x),
            surfaces: vec![vec![[x, 0.0, 0.0]]],
            strain: vec![vec![x]],
            cage: vec![[0.0, x, 0.0]],
            marks: Marks { bones: vec![[Vec3::zeros(), Vec3::x() * f64::from(x)]], arrows: Vec::new() },
            ..RenderFrame::default()
        };
        assert_eq!(at(1.0).towards(&at(2.0), 0.5), at(1.5));
    }
}
