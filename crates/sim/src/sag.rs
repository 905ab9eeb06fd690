//! Sag prevention: rest shapes, and gravity compensation by bones.
//!
//! A rest shape carries weight by stress. The residual, or all of the weight, may be balanced by bones: each free node is then subject to a follower force that rotates with its reference bone,
//! and the bone to the opposite force at the same point. Both are conservative, and the bind pose is in equilibrium.

use crate::body::Body;
use crate::desc::Sag;
use crate::rest_shape::DrawnShape;
use crate::rig::{FixedNodes, Rig};
use sinew_flesh::ElementDesc;
use sinew_math::Vec3;
use sinew_mesh::DisjointSets;

/// All bodies of a world as drawn.
pub(crate) struct Drawn<'a> {
    pub(crate) gravity: &'a Vec3,
    pub(crate) node_x: &'a [Vec3],
    pub(crate) node_mass: &'a [f64],
    /// 0 for fixed nodes.
    pub(crate) node_inverse_mass: &'a [f64],
    pub(crate) elements: &'a [ElementDesc],
    pub(crate) fixed_nodes: &'a FixedNodes,
    pub(crate) rigs: &'a [Rig],
}

/// Sag prevention of all nodes.
pub(crate) struct Support {
    /// Stress-free node positions (m).
    pub(crate) node_unstressed: Vec<Vec3>,
    /// Gravity compensation by bones at each node, as an acceleration in the frame of its bone (m/s²); empty if there is none.
    pub(crate) node_lift: Vec<Vec3>,
}

/// Negligible sag (m), which is not compensated.
const UNSEEN: f64 = 1e-5;

impl Drawn<'_> {
    /// Computes what the sag setting of each body requires, and stores the reports in the bodies.
    pub(crate) fn support(&self, bodies: &mut [Body]) -> Support {
        let mut support = Support { node_unstressed: self.node_x.to_vec(), node_lift: Vec::new() };
        for body in bodies {
            match body.sag {
                Sag::Free => {}
                Sag::Balanced => {
                    for node in body.nodes.clone() {
                        self.lift(node, -self.gravity, &mut support.node_lift);
                    }
                }
                Sag::RestShape => self.find_rest_shape(body, &mut support),
            }
        }
        support
    }

    fn find_rest_shape(&self, body: &mut Body, support: &mut Support) {
        // the body as drawn, with its own node numbers
        let nodes = body.nodes.clone();
        let first = nodes.start as u32;
        let elements: Vec<ElementDesc> = self.elements[body.tets.clone()]
            .iter()
            .map(|element| ElementDesc { nodes: element.nodes.map(|node| node - first), ..*element })
            .collect();
        let weight: Vec<Vec3> = nodes.clone().map(|node| self.node_mass[node] * self.gravity).collect();
        let mut is_held: Vec<bool> = nodes.clone().map(|node| self.node_inverse_mass[node] == 0.0).collect();
        let loose = give_up_loose_parts(&elements, &mut is_held);
        if loose > 0 {
            body.notes.push(format!(
                "{loose} of its {} nodes are connected to no bone or pin and fall: they get no rest shape",
                nodes.len()
            ));
        }

        // the rest shape
        let drawn = DrawnShape {
            node_x: &self.node_x[nodes.clone()],
            node_weight: &weight,
            is_held: &is_held,
            elements: &elements,
        };
        let found = drawn.find_rest_shape();
        support.node_unstressed[nodes.clone()].copy_from_slice(&found.node_x);
        let report = body.rest_shape.insert(found.report);
        if report.carried == 1.0 && report.farthest <= UNSEEN {
            return;
        }

        // bones balance the residual
        let carried = 100.0 * report.carried;
        let mut has_bones = false;
        for (node, left) in nodes.zip(&found.node_left) {
            if self.fixed_nodes.node_reference[node] > 0 && *left != Vec3::zeros() {
                has_bones = true;
                self.lift(node, -left / self.node_mass[node], &mut support.node_lift);
            }
        }
        if has_bones {
            // the bind pose is in equilibrium
            (report.farthest, report.mean) = (0.0, 0.0);
        }
        if report.carried == 1.0 {
            return;
        }

        // tell the user that the flesh is too soft
        body.notes.push(if has_bones {
            format!(
                "its flesh is too soft to carry its own weight in the drawn shape: stress carries {carried:.0} % of it, bones balance the rest by forces that rotate with them; a stiffer material carries more"
            )
        } else {
            format!(
                "it is too soft to carry its own weight in the drawn shape: stress carries {carried:.0} % of it, and it sags by about {:.1} mm under the rest; a stiffer material carries more",
                1e3 * report.farthest
            )
        });
    }

    /// Balances a node by its bone with a force per mass (m/s²), given in world axes at rest.
    fn lift(&self, node: usize, lift: Vec3, node_lift: &mut Vec<Vec3>) {
        let bone = self.fixed_nodes.node_reference[node] as usize;
        let Some(rig) = self.rigs.iter().find(|rig| rig.bones.contains(&bone)) else { return };
        if self.node_inverse_mass[node] > 0.0 {
            node_lift.resize(self.node_x.len(), Vec3::zeros());
            node_lift[node] = rig.rest_frames[bone - rig.bones.start].rotation.tr_mul(&lift);
        }
    }
}

/// Marks nodes as fixed that are connected to no fixed node: they fall, and have no static equilibrium. Returns their number.
fn give_up_loose_parts(elements: &[ElementDesc], is_held: &mut [bool]) -> usize {
    let mut parts = DisjointSets::new(is_held.len());
    for element in elements {
        element.nodes[1..].iter().for_each(|node| parts.join(element.nodes[0] as usize, *node as usize));
    }
    let mut is_carried = vec![false; is_held.len()];
    for node in (0..is_held.len()).filter(|node| is_held[*node]) {
        is_carried[parts.find(node)] = true;
    }
    let loose: Vec<usize> = (0..is_held.len()).filter(|node| !is_carried[parts.find(*node)]).collect();
    loose.iter().for_each(|node| is_held[*node] = true);
    loose.len()
}

/// Adjusts the density of elements so that their mass over the stress-free shape equals that over the drawn one.
pub(crate) fn keep_masses(elements: &mut [ElementDesc], node_rest: &[Vec3], node_unstressed: &[Vec3]) {
    let volume = |x: &[Vec3], nodes: &[u32; 4]| {
        let [a, b, c, d] = nodes.map(|node| x[node as usize]);
        (b - a).cross(&(c - a)).dot(&(d - a))
    };
    for element in elements {
        let (drawn, unstressed) =
            (volume(node_rest, &element.nodes), volume(node_unstressed, &element.nodes));
        if drawn != unstressed {
            element.material.density *= drawn / unstressed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_flesh::Material;
    use sinew_mesh::shapes;

    /// Every element has the same mass over the stress-free shape as over the drawn one, to round-off.
    #[test]
    fn elements_keep_their_masses() {
        let mesh = shapes::beam(2, [0.4, 0.1, 0.1]);
        let material = Material::tissue(1e4, 0.47, 1000.0, 0.1);
        let describe = |&nodes: &[u32; 4]| ElementDesc { nodes, material, fill: 0.5, viscosity: 0.0 };
        let mut elements: Vec<ElementDesc> = mesh.tets.iter().map(describe).collect();
        let unstressed: Vec<Vec3> = mesh
            .nodes
            .iter()
            .map(|x| Vec3::new(x.x * (1.0 + x.x), 1.1 * x.y, x.z - 0.2 * x.x * x.x))
            .collect();
        keep_masses(&mut elements, &mesh.nodes, &unstressed);
        let other = sinew_mesh::TetMesh { nodes: unstressed, tets: mesh.tets.clone() };
        for (tet, element) in elements.iter().enumerate() {
            let (found, drawn) =
                (element.material.density * other.tet_volume(tet), material.density * mesh.tet_volume(tet));
            assert!((found / drawn - 1.0).abs() < 1e-12, "tet {tet}: {found} {drawn}");
        }
        assert!(elements.iter().any(|element| (element.material.density / 1000.0 - 1.0).abs() > 0.1));
    }

    /// Two separate beams, the first fixed at one node: the nodes of the second are loose.
    #[test]
    fn parts_that_nothing_holds_are_loose() {
        let mesh = shapes::beam(1, [0.4, 0.1, 0.1]);
        let material = Material::tissue(1e4, 0.47, 1000.0, 0.1);
        let count = mesh.nodes.len();
        let describe = |nodes: [u32; 4]| ElementDesc { nodes, material, fill: 1.0, viscosity: 0.0 };
        let both = mesh.tets.iter().flat_map(|tet| [*tet, tet.map(|node| node + count as u32)]);
        let elements: Vec<ElementDesc> = both.map(describe).collect();
        let mut is_held = vec![false; 2 * count];
        is_held[3] = true;
        assert_eq!(give_up_loose_parts(&elements, &mut is_held), count);
        assert!(is_held[count..].iter().all(|held| *held));
        assert_eq!(is_held[..count].iter().filter(|held| **held).count(), 1);
    }
}
