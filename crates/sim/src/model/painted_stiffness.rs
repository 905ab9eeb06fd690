//! The stiffness of elements where softness is painted on a body.

use crate::body::Shape;
use crate::desc::BodyDesc;
use sinew_math::Vec3;

/// The least softness that counts: what is painted rigid is 20 times as stiff as its material, which halves explicit steps about twice.
const MIN_SOFTNESS: f64 = 0.05;
/// The largest.
const MAX_SOFTNESS: f64 = 10.0;

/// For each tet what Young's modulus is multiplied by, 1/s with s the softness at its middle; empty where nothing is painted.
pub(super) fn painted_stiffness(desc: &BodyDesc, shape: &Shape) -> Vec<f64> {
    if desc.softness.is_empty() {
        return Vec::new();
    }
    let middle = |tet: &[u32; 4]| tet.iter().map(|node| shape.mesh.nodes[*node as usize]).sum::<Vec3>() / 4.0;
    let middles: Vec<Vec3> = shape.mesh.tets.iter().map(middle).collect();
    let softness = desc.softness.at(&middles);
    softness.iter().map(|s| 1.0 / f64::from(*s).clamp(MIN_SOFTNESS, MAX_SOFTNESS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use crate::WorldDesc;
    use crate::desc::{CageSize, ShapeDesc};
    use sinew_mesh::{PointField, shapes};

    fn bar(softness: PointField) -> Model {
        let shape =
            ShapeDesc::Surface { surface: shapes::cuboid([1.0, 0.2, 0.2]), cage: CageSize::Tets(400) };
        let body = BodyDesc { shape, softness, ..BodyDesc::default() };
        Model::build(&WorldDesc { bodies: vec![body], ..WorldDesc::default() }).unwrap()
    }

    /// The largest stable step is that of the stiffest element, and goes with the inverse root of its stiffness.
    #[test]
    fn stiffness_is_the_inverse_of_what_is_painted_there() {
        let step = |softness: f32| bar(PointField::new([(Vec3::zeros(), softness)])).stable_step().seconds;
        let plain = bar(PointField::default());
        assert_eq!(step(1.0), plain.stable_step().seconds);
        // moduli are multiplied once more, in single precision
        assert!((2.0 * step(0.25) / step(1.0) - 1.0).abs() < 1e-5);
        assert!((0.5 * step(4.0) / step(1.0) - 1.0).abs() < 1e-5);
        // what is painted rigid, or beyond all bounds, stays finite
        let extreme = bar(PointField::new([(-Vec3::x(), 0.0), (Vec3::x(), 1e30)]));
        assert!(extreme.elements().stiffness().all(|k| k.is_finite() && k >= 0.0));
    }

    #[test]
    fn a_part_that_is_painted_stiff_is_stiff_and_the_other_is_not() {
        let half = PointField::new([(Vec3::new(-0.5, 0.0, 0.0), 0.1), (Vec3::new(0.5, 0.0, 0.0), 1.0)]);
        let (plain, painted) = (bar(PointField::default()), bar(half));
        assert!(painted.stable_step().seconds < 0.5 * plain.stable_step().seconds);
        assert!(painted.stable_step().seconds > 0.3 * plain.stable_step().seconds);
    }
}
