//! Helpers as nodes of a file: which node carries each, and where they stand in it frame by frame.
//!
//! ```text
//! world_from_helper(t) = H_h(t) T(c_h) s = world_from_parent(t) · parent_from_helper(t),   B_h = s⁻¹ T(−c_h) W
//! ```
//!
//! with c_h the centre of the helper at bind, W from bind space to the world and s the scale of the parent in the world. A helper has that
//! scale too, like the joints around it, and so none in its parent: Blender binds surfaces to bones of one scale, and what blends a joint
//! with a helper of another would be off by a part of the difference. A helper stands under the joint that its vertices follow, so
//! that its keys are small and other programs show it where it belongs; without keys it moves with that joint. The place in a parent is a
//! translation and a rotation only under a parent whose scale is the same along all axes and at all times; where the joint's is not, the
//! nearest such ancestor carries the helper.

use super::{Affine, HelperBones};
use sinew_character::{Mat4, RiggedCharacter};
use sinew_math::nalgebra::Quaternion;
use sinew_math::svd::Polar;
use sinew_math::{Mat3, Rotation, Vec3};

/// How much the scale of a parent may differ between axes and times, as a fraction: a helper of 1 m is distorted by 10 µm.
const SAME_SCALE: f64 = 1e-5;

/// The integer that stands for 1.
const WHOLE: f64 = 32767.0;

/// The nodes of the helpers of one body.
#[derive(Clone, Debug)]
pub(crate) struct HelperNodes {
    pub(crate) nodes: Vec<HelperNode>,
}

/// The node of a helper.
#[derive(Clone, Debug)]
pub(crate) struct HelperNode {
    /// The node that carries it.
    pub(crate) parent: usize,
    /// Where it stands without an animation.
    pub(crate) rest: HelperKey,
    /// Where it stands in every frame.
    pub(crate) keys: Vec<HelperKey>,
    /// B_h, as it is written.
    pub(crate) inverse_bind: [f32; 16],
}

/// A place in a parent, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HelperKey {
    pub(crate) translation: [f32; 3],
    /// x, y, z and w as normalised 16-bit integers: an angle is off by up to 6e-5, which moves a vertex 20 cm from the helper by 12 µm.
    pub(crate) rotation: [i16; 4],
}

impl HelperNodes {
    /// The nodes of helpers of a skin, where `worlds` is where all nodes of the file stand in every frame. Fails if no node can carry a helper.
    pub(crate) fn place(
        character: &RiggedCharacter,
        skin: usize,
        bones: &HelperBones,
        worlds: &[Vec<Mat4>],
    ) -> Result<HelperNodes, String> {
        let skin = &character.skins[skin];
        let rest: Vec<Mat4> = character.nodes.iter().map(|node| node.world_from_node).collect();
        let mut scales: Vec<Option<Option<f64>>> = vec![None; character.nodes.len()];
        let mut nodes = Vec::with_capacity(bones.helpers.len());
        for (h, helper) in bones.helpers.iter().enumerate() {
            // the joint, or the nearest ancestor that can carry it
            let joint = skin.joints[helper.joint];
            let mut above = Some(joint);
            let carrier = loop {
                let Some(node) = above else {
                    let label = &character.nodes[joint].label;
                    return Err(format!(
                        "'{label}' and all nodes above it are stretched over time or unevenly"
                    ));
                };
                let scale = *scales[node].get_or_insert_with(|| constant_scale(&rest, worlds, node));
                if let Some(scale) = scale {
                    break (node, scale);
                }
                above = character.nodes[node].parent;
            };

            // where it stands at rest: moved with its joint since bind
            let (parent, scale) = carrier;
            let bind = skin.bind_pose[helper.joint].try_inverse().unwrap_or_else(Mat4::identity);
            let moved = rest[joint] * bind;
            let turned = Polar::of(&linear(&moved)).quaternion().to_rotation_matrix().into_inner();
            let at = moved.transform_point(&helper.centre.into()).coords;
            let at_rest = HelperKey::of(&rest[parent], scale, &turned, &at);

            // and in every frame
            let keys = bones.maps.iter().zip(worlds).map(|(maps, world)| {
                let map = &maps[h];
                let turned: Mat3 = map.fixed_view::<3, 3>(0, 0).into_owned();
                HelperKey::of(&world[parent], scale, &turned, &(turned * helper.centre + map.column(3)))
            });
            let unscaled = Mat4::new_translation(&-helper.centre) * skin.world_from_bind;
            let inverse_bind = Mat4::new_scaling(1.0 / scale) * unscaled;
            let inverse_bind = core::array::from_fn(|entry| inverse_bind.as_slice()[entry] as f32);
            let keys = keys.collect();
            nodes.push(HelperNode { parent, rest: at_rest, keys, inverse_bind });
        }
        Ok(HelperNodes { nodes })
    }
}

impl HelperKey {
    /// The place of a rigid frame of the world in a parent that is scaled by `scale`.
    fn of(parent: &Mat4, scale: f64, turned: &Mat3, at: &Vec3) -> HelperKey {
        let undone = linear(parent).transpose() / (scale * scale);
        let shift: Vec3 = parent.fixed_view::<3, 1>(0, 3).into_owned();
        let translation = undone * (at - shift);
        let rotation = Polar::of(&(scale * undone * turned)).quaternion().coords;
        HelperKey {
            translation: [0, 1, 2].map(|axis| translation[axis] as f32),
            rotation: [0, 1, 2, 3].map(|axis| (rotation[axis] * WHOLE).round() as i16),
        }
    }

    /// The rotation as it is played.
    pub(crate) fn rotation(&self) -> Rotation {
        let [x, y, z, w] = self.rotation.map(|c| f64::from(c) / WHOLE);
        Rotation::new_normalize(Quaternion::new(w, x, y, z))
    }
}

/// The scale of a node in the world if it is the same along all axes, at rest and in all frames, without a reflection.
fn constant_scale(rest: &[Mat4], worlds: &[Vec<Mat4>], node: usize) -> Option<f64> {
    let scale = linear(&rest[node]).column(0).norm();
    let square = scale * scale;
    let is_even = |world: &Mat4| {
        let linear = linear(world);
        let gap = (linear.transpose() * linear - square * Mat3::identity()).amax();
        gap <= SAME_SCALE * square && linear.determinant() > 0.0
    };
    let all = std::iter::once(&rest[node]).chain(worlds.iter().map(|world| &world[node]));
    (scale > 0.0 && scale.is_finite() && all.into_iter().all(is_even)).then_some(scale)
}

/// The map of a matrix from where the surface was bound to the world, given W⁻¹.
pub(crate) fn affine_of(matrix: &Mat4, bind_from_world: &Mat4) -> Affine {
    (matrix * bind_from_world).fixed_view::<3, 4>(0, 0).into_owned()
}

fn linear(matrix: &Mat4) -> Mat3 {
    matrix.fixed_view::<3, 3>(0, 0).into_owned()
}
