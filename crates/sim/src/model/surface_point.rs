//! Material points of surfaces, and the bones that carry nodes and points.

use super::Model;
use super::constraints::find_surface_point;
use crate::constraint::{NodeRow, sum};
use sinew_math::Vec3;
use sinew_skeleton::BoneId;

/// A material point of the surface of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Its position at rest (m).
    pub rest: Vec3,
    /// The bone that carries most of it, as index of its rig and bone; none without bones.
    pub bone: Option<(usize, BoneId)>,
    row: NodeRow,
}

impl SurfacePoint {
    /// The value at the point of a field that is given at the nodes of the model, such as their positions or velocities.
    pub fn at(&self, node_values: &[Vec3]) -> Vec3 {
        sum(&self.row, node_values)
    }
}

impl Model {
    /// The point of a body's surface nearest to a position at rest (m).
    ///
    /// # Errors
    /// If there is no such body, or its surface is far away.
    pub fn surface_point(&self, body: &str, place: &Vec3) -> Result<SurfacePoint, String> {
        let (row, rest) = find_surface_point(self, body, place)?;
        let carrier = self.main_carrier(row.iter().map(|(node, weight)| (*node as usize, *weight)));
        let rig_of = |bone: &usize| self.rigs.iter().position(|rig| rig.bones.contains(bone));
        let bone = carrier.and_then(|bone| {
            let rig = rig_of(&bone)?;
            Some((rig, BoneId((bone - self.rigs[rig].bones.start) as u32)))
        });
        Ok(SurfacePoint { rest, bone, row })
    }
}

impl Model {
    /// Calls `each` with the bones that carry a node, counted among those of all rigs from 1, and their weights, which add up to 1.
    pub(crate) fn for_each_carrier(&self, node: usize, mut each: impl FnMut(usize, f64)) {
        let fixed = self.fixed_nodes();
        if fixed.holds(node) {
            each(fixed.node_bone[node] as usize, 1.0);
        } else if self.homes().holds(node) {
            self.homes().of_node(node).iter().for_each(|part| each(part.bone as usize, part.weight));
        } else if fixed.node_reference[node] > 0 {
            each(fixed.node_reference[node] as usize, 1.0);
        }
    }

    /// The bone that carries most of a point, which is given by its nodes and their weights; counted among those of all rigs from 1.
    pub(crate) fn main_carrier(&self, row: impl Iterator<Item = (usize, f64)>) -> Option<usize> {
        let mut sums: Vec<(usize, f64)> = Vec::new();
        for (node, weight) in row {
            self.for_each_carrier(node, |bone, part| match sums.iter_mut().find(|(own, _)| *own == bone) {
                Some((_, sum)) => *sum += weight * part,
                None => sums.push((bone, weight * part)),
            });
        }
        // the first of equals, whatever the order of nodes
        sums.sort_by_key(|(bone, _)| *bone);
        let best = sums.iter().fold(None, |best: Option<&(usize, f64)>, own| match best {
            Some(other) if other.1 >= own.1 => Some(other),
            _ => Some(own),
        });
        best.map(|(bone, _)| *bone)
    }
}
