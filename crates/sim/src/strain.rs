//! Strain of the flesh, as a diagnostic.

use crate::{Model, State};
use rayon::prelude::*;
use sinew_math::{Mat3, Vec3, svd::Svd};

/// Measures strain as the largest |σ − 1| over the principal stretches σ of F = D Dᵣ⁻¹, with D the current edges of a tet and Dᵣ those at rest.
pub struct StrainGauge {
    /// Dᵣ⁻¹ of each tet (1/m).
    inverse_edges: Vec<Mat3>,
    /// Volume of each tet at rest (m³).
    volume: Vec<f64>,
}

impl StrainGauge {
    /// The strain gauge of a model.
    pub fn of(model: &Model) -> StrainGauge {
        let edges = |tet: &[u32; 4]| edges(tet, model.node_rest());
        let inverse = |tet| edges(tet).try_inverse().unwrap_or_else(Mat3::zeros);
        StrainGauge {
            inverse_edges: model.tets().iter().map(inverse).collect(),
            volume: model.tets().iter().map(|tet| edges(tet).determinant().abs() / 6.0).collect(),
        }
    }

    /// The strain of every tet in a state of its model.
    pub fn tets(&self, model: &Model, state: &State) -> Vec<f64> {
        let strain = |(tet, inverse): (&[u32; 4], &Mat3)| {
            let sigma = Svd::of(&(edges(tet, &state.node_x) * inverse)).sigma;
            sigma.iter().map(|stretch| (stretch - 1.0).abs()).fold(0.0, f64::max)
        };
        model.tets().par_iter().zip(&self.inverse_edges).with_min_len(512).map(strain).collect()
    }

    /// The strain at every node: the mean of the tets around it, weighted by volume.
    pub fn nodes(&self, model: &Model, state: &State) -> Vec<f64> {
        let strains = self.tets(model, state);
        let mut sums = vec![(0.0, 0.0); model.node_count()];
        for ((tet, strain), volume) in model.tets().iter().zip(strains).zip(&self.volume) {
            for node in tet {
                let (sum, weight) = &mut sums[*node as usize];
                *sum += volume * strain;
                *weight += volume;
            }
        }
        sums.into_iter().map(|(sum, weight)| if weight > 0.0 { sum / weight } else { 0.0 }).collect()
    }
}

fn edges(tet: &[u32; 4], x: &[Vec3]) -> Mat3 {
    let [a, b, c, d] = tet.map(|node| x[node as usize]);
    Mat3::from_columns(&[b - a, c - a, d - a])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldDesc;
    use crate::desc::{BodyDesc, Sag, ShapeDesc};
    use sinew_flesh::Material;
    use sinew_math::so3;
    use sinew_mesh::shapes;

    /// A beam rotated and stretched by a fifth along its own x: σ = (1.2, 1, 1) everywhere.
    #[test]
    fn a_stretch_by_a_fifth_is_a_strain_of_a_fifth_whichever_way_it_is_turned() {
        let body = BodyDesc {
            name: "beam".into(),
            shape: ShapeDesc::Tets(shapes::beam(2, [0.4, 0.1, 0.1])),
            material: Material::named("fat").unwrap(),
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
            ..BodyDesc::default()
        };
        let world = WorldDesc { bodies: vec![body], ..WorldDesc::default() };
        let model = Model::build(&world).unwrap();
        let gauge = StrainGauge::of(&model);
        let mut state = State::at_rest(&model);
        // edges of 5 cm lose at most a few 10⁻¹⁶ m to rounding: 10⁻¹⁴ relative, slightly more in the decomposition
        assert!(gauge.nodes(&model, &state).iter().all(|strain| *strain < 1e-9));
        let rotation = so3::axis_angle(&Vec3::new(0.6, 0.0, 0.8), 1.1);
        for x in &mut state.node_x {
            *x = rotation * Vec3::new(1.2 * x.x, x.y, x.z);
        }
        assert!(gauge.nodes(&model, &state).iter().all(|strain| (strain - 0.2).abs() < 1e-9));
    }
}
