//! Where the homes of nodes are and how they move while bones do, and node positions as elasticity sees them.
//!
//! ```text
//! s = Σ_b w_b T_b p_b,   ṡ = Σ_b w_b (v_b + ω_b × T_b p_b)                  linear blend skinning
//! R = normalised Σ_b w_b q_b,   q_b the rotation of bone b since the bind pose
//! y = X + Rᵀ (x − s),   ẏ = Rᵀ (v − ṡ − ω × (x − s)),   ω = Σ_b w_b ω_b
//! ```
//!
//! y is the node in bind space: a node at home is at its rest position X there whatever the pose, so elements that see y are without stress in every skinned shape, and the
//! forces f on y act on x as R f. Where all nodes of an element follow one bone, y is x up to the rigid motion of that bone, and nothing is approximated.

use super::Field;
use crate::home::{HomePart, Homes};
use crate::{Model, State};
use sinew_math::lanes::{Kernel, Lanes, dispatch};
use sinew_math::parallel::for_each_part;
use sinew_math::svd::Svd;
use sinew_math::{Mat3, Rotation, Vec3};

/// The homes of all nodes in one pose. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct HomePose {
    /// The bones of all rigs, the world first.
    bones: Vec<BoneMotion>,
    /// One per node; of nodes without a home it is not set.
    pub(crate) nodes: Vec<NodeHome>,
    /// What the weight of each body with homes is balanced by (m/s²), body by body.
    lifts: Vec<Vec3>,
    /// Node positions (m) and velocities (m/s) in bind space; those of nodes without a home are as they are in the world.
    pub(crate) bind_x: Vec<Vec3>,
    pub(crate) bind_v: Vec<Vec3>,
}

/// A bone in a pose.
#[derive(Clone, Copy, Debug, Default)]
struct BoneMotion {
    field: Field,
    /// The quaternion of its rotation since the bind pose.
    turn: [f64; 4],
}

/// The home of a node in a pose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeHome {
    /// s (m).
    pub(crate) place: Vec3,
    /// ṡ (m/s).
    pub(crate) velocity: Vec3,
    /// ω (rad/s).
    pub(crate) angular: Vec3,
    /// R: world from bind space.
    pub(crate) rotation: Mat3,
    /// What balances the weight of its body (m/s²).
    pub(crate) lift: Vec3,
    /// How its bones fall if nothing holds them (m/s²): see [`Field::fall`].
    pub(crate) fall: Vec3,
}

/// Nodes that one task works through.
const CHUNK: usize = 512;

impl HomePose {
    /// The homes of a state.
    pub(crate) fn of(model: &Model, fields: &[Field], state: &State) -> HomePose {
        let mut pose = HomePose::default();
        pose.update(model, fields, state);
        pose
    }

    /// Finds homes and positions in bind space.
    pub(crate) fn update(&mut self, model: &Model, fields: &[Field], state: &State) {
        self.place(model, fields);
        self.bind_x.clone_from(&state.node_x);
        self.bind_v.clone_from(&state.node_v);
        let (homes, rest, nodes) = (model.homes(), model.node_rest(), &self.nodes);
        for body in &homes.bodies {
            let range = body.nodes.clone();
            let first = range.start;
            let parts = (&mut self.bind_x[range.clone()], &mut self.bind_v[range]);
            for_each_part(parts, CHUNK, |from, (x, v)| {
                for (i, (x, v)) in x.iter_mut().zip(v).enumerate() {
                    let node = first + from + i;
                    let home = &nodes[node];
                    let off = *x - home.place;
                    *x = rest[node] + home.rotation.tr_mul(&off);
                    *v = home.rotation.tr_mul(&(*v - home.velocity - home.angular.cross(&off)));
                }
            });
        }
    }

    /// Finds where homes are, without looking at nodes.
    pub(crate) fn place(&mut self, model: &Model, fields: &[Field]) {
        // bones, and how far each has turned
        let homes = model.homes();
        self.bones.resize(fields.len(), BoneMotion::default());
        self.lifts.clear();
        for body in &homes.bodies {
            let mut turned = Mat3::zeros();
            for (bone, mass) in body.bones.clone().zip(&body.bone_mass) {
                let since = fields[bone].rotation * model.rest_rotation(bone).transpose();
                let quaternion = Rotation::from_rotation_matrix(
                    &sinew_math::nalgebra::Rotation3::from_matrix_unchecked(since),
                );
                let turn = [quaternion.w, quaternion.i, quaternion.j, quaternion.k];
                self.bones[bone] = BoneMotion { field: fields[bone], turn };
                turned += *mass * since;
            }
            // the chordal mean of the rotations of its bones: how the body as a whole has turned
            let svd = Svd::of(&turned);
            let gravity = model.gravity();
            let at_home = svd.u * svd.v.transpose() * model.home_gravity();
            let felt = body.gravity_fraction * (gravity - at_home);
            self.lifts.push(felt - gravity);
        }

        // homes
        self.nodes.resize(model.node_count(), NodeHome::default());
        for (body, lift) in homes.bodies.iter().zip(&self.lifts) {
            let first = body.nodes.start;
            let bones = &self.bones;
            for_each_part(&mut self.nodes[body.nodes.clone()], CHUNK, |from, nodes| {
                dispatch(HomeKernel { homes, bones, lift: *lift, first: first + from, nodes });
            });
        }
    }

    /// What the springs of free nodes towards home hold (J).
    pub(crate) fn spring_energy(&self, model: &Model, state: &State) -> f64 {
        let homes = model.homes();
        let nodes = homes.bodies.iter().flat_map(|body| body.nodes.clone());
        let free = nodes.filter(|node| model.node_inverse_mass()[*node] > 0.0);
        let energy = |node: usize| {
            let off = state.node_x[node] - self.nodes[node].place;
            model.node_mass()[node] * homes.springs[node].energy(&off)
        };
        free.map(energy).sum()
    }

    /// The kinetic energy (J) that free nodes may have by moving with their homes, as these moved in the last sub-step, and by swinging about them at ten times ω L.
    pub(crate) fn kinetic_allowance(&self, model: &Model) -> f64 {
        const SWINGS: f64 = 10.0;
        let nodes = model.homes().bodies.iter().flat_map(|body| body.nodes.clone());
        let free = nodes.filter(|node| model.node_inverse_mass()[*node] > 0.0);
        let energy = |node: usize| {
            let spring = &model.homes().springs[node];
            let swing = SWINGS * SWINGS * spring.stiffness * spring.limit * spring.limit;
            model.node_mass()[node] * (self.nodes[node].velocity.norm_squared() + swing)
        };
        free.map(energy).sum()
    }

    /// The power of what balances the weight of free nodes, on their motion relative to their bones (W): it has no potential, as it turns with the body.
    pub(crate) fn lift_power(&self, model: &Model, state: &State) -> f64 {
        let mut power = 0.0;
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            if model.node_inverse_mass()[node] > 0.0 {
                let home = &self.nodes[node];
                let carried = home.velocity + home.angular.cross(&(state.node_x[node] - home.place));
                power += model.node_mass()[node] * home.lift.dot(&(state.node_v[node] - carried));
            }
        }
        power
    }

    /// Where skinning puts a point.
    #[inline(always)]
    pub(crate) fn skinned(&self, parts: &[HomePart]) -> Vec3 {
        parts.iter().fold(Vec3::zeros(), |sum, part| {
            let field = &self.bones[part.bone as usize].field;
            sum + part.weight * (field.rotation * part.place + field.origin)
        })
    }
}

/// Finds the homes of nodes from `first` on.
struct HomeKernel<'a> {
    homes: &'a Homes,
    bones: &'a [BoneMotion],
    lift: Vec3,
    first: usize,
    nodes: &'a mut [NodeHome],
}

impl Kernel for HomeKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let HomeKernel { homes, bones, lift, first, nodes } = self;
        for (i, node) in nodes.iter_mut().enumerate() {
            let parts = homes.of_node(first + i);
            let Some(leader) = parts.first().map(|part| bones[part.bone as usize].turn) else { continue };
            let mut home = NodeHome { lift, ..NodeHome::default() };
            let mut quaternion = [0.0; 4];
            for part in parts {
                let BoneMotion { field, turn } = &bones[part.bone as usize];
                let at = field.rotation * part.place + field.origin;
                home.place += part.weight * at;
                home.velocity += part.weight * field.at(&at);
                home.angular += part.weight * field.angular;
                home.fall = field.fall;
                // of the two quaternions of a rotation the one nearer to that of the first bone
                let along: f64 = (0..4).map(|k| turn[k] * leader[k]).sum();
                let weight = if along < 0.0 { -part.weight } else { part.weight };
                (0..4).for_each(|k| quaternion[k] += weight * turn[k]);
            }
            home.rotation = rotation_matrix(quaternion);
            *node = home;
        }
    }
}

/// The rotation of a quaternion of any length but 0, whose rotation is the identity.
#[inline(always)]
fn rotation_matrix([w, x, y, z]: [f64; 4]) -> Mat3 {
    let squared = w * w + x * x + y * y + z * z;
    let s = if squared > 0.0 { 2.0 / squared } else { 0.0 };
    Mat3::new(
        1.0 - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
        s * (x * y + w * z),
        1.0 - s * (x * x + z * z),
        s * (y * z - w * x),
        s * (x * z - w * y),
        s * (y * z + w * x),
        1.0 - s * (x * x + y * y),
    )
}
