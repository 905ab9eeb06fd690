//! Keys of nodes that stood elsewhere than the file's animation puts them.

use sinew_character::{ChannelPath, CharacterPose, NodeTransform, RiggedCharacter};
use sinew_math::{Mat3, Rotation, Vec3, nalgebra::Quaternion, so3};
use std::collections::BTreeSet;

/// Nodes that stand this close to where the file puts them follow the file: a fraction of the largest offset between nodes, half an
/// angle (rad), or a fraction of a scale. Single precision, in which files are stored, is a tenth of it.
const SAME: f64 = 1e-6;

/// The places of all nodes in their parents, frame by frame.
#[derive(Debug)]
pub(super) struct JointKeys {
    frames: Vec<Vec<Local>>,
    moved: BTreeSet<(usize, ChannelPath)>,
    sheared: BTreeSet<usize>,
    /// The largest offset of a node from its parent at rest.
    reach: f64,
}

/// A place as it is written.
#[derive(Clone, Copy, Debug)]
struct Local {
    translation: [f32; 3],
    /// x, y, z and w.
    rotation: [f32; 4],
    scale: [f32; 3],
}

/// A frame and what of it is new.
pub(super) struct PlayedFrame {
    /// Where nodes will stand.
    pub(super) pose: CharacterPose,
    locals: Vec<Local>,
    moved: Vec<(usize, ChannelPath)>,
    sheared: Vec<usize>,
}

impl Local {
    fn of(transform: &NodeTransform) -> Local {
        let single = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
        let turned = transform.rotation.coords;
        Local {
            translation: single(transform.translation),
            rotation: [turned.x as f32, turned.y as f32, turned.z as f32, turned.w as f32],
            scale: single(transform.scale()),
        }
    }
}

impl JointKeys {
    pub(super) fn new(character: &RiggedCharacter) -> JointKeys {
        let reach = character.nodes.iter().map(|node| node.rest.translation.norm()).fold(0.0, f64::max);
        JointKeys { frames: Vec::new(), moved: BTreeSet::new(), sheared: BTreeSet::new(), reach }
    }

    /// A frame as it will be played: as the file has it, but for nodes that stand elsewhere.
    pub(super) fn played(
        &self,
        character: &RiggedCharacter,
        of_file: CharacterPose,
        given: &CharacterPose,
    ) -> PlayedFrame {
        let mut frame = PlayedFrame {
            pose: of_file,
            locals: given.parent_from_node.iter().map(Local::of).collect(),
            moved: Vec::new(),
            sheared: Vec::new(),
        };
        for (node, given) in given.parent_from_node.iter().enumerate() {
            let place = &mut frame.pose.parent_from_node[node];
            let changes = self.changes(place, given);
            if !changes.is_empty() && !is_diagonal(&character.nodes[node].rest.stretch) {
                frame.sheared.push(node);
                continue;
            }
            for path in changes {
                frame.moved.push((node, path));
                play(&frame.locals[node], path, place);
            }
        }
        character.place(&mut frame.pose);
        frame
    }

    /// Adds a frame.
    pub(super) fn push(&mut self, frame: PlayedFrame) {
        self.moved.extend(frame.moved);
        self.sheared.extend(frame.sheared);
        self.frames.push(frame.locals);
    }

    fn changes(&self, file: &NodeTransform, given: &NodeTransform) -> Vec<ChannelPath> {
        let mut changes = Vec::new();
        let shift = (file.translation - given.translation).norm();
        if shift > SAME * (self.reach + file.translation.norm()) {
            changes.push(ChannelPath::Translation);
        }
        if (file.rotation.inverse() * given.rotation).imag().norm() > SAME {
            changes.push(ChannelPath::Rotation);
        }
        if (file.stretch - given.stretch).amax() > SAME * file.stretch.amax() {
            changes.push(ChannelPath::Scale);
        }
        changes
    }

    /// Puts nodes that are keyed anew where their keys put them, a fraction of the way from a frame to the next; their places in the world are left as they are.
    pub(super) fn play(&self, frame: usize, fraction: f64, pose: &mut CharacterPose) {
        for &(node, path) in &self.moved {
            let place = &mut pose.parent_from_node[node];
            play(&self.frames[frame][node], path, place);
            if let Some(next) = self.frames.get(frame + 1).filter(|_| fraction > 0.0) {
                let mut towards = *place;
                play(&next[node], path, &mut towards);
                place.translation = place.translation.lerp(&towards.translation, fraction);
                place.rotation = place.rotation
                    * so3::exp(&(fraction * so3::log(&(place.rotation.inverse() * towards.rotation))));
                place.stretch += fraction * (towards.stretch - place.stretch);
            }
        }
    }

    /// What is to be keyed anew: nodes and what of them.
    pub(super) fn moved(&self) -> impl Iterator<Item = (usize, ChannelPath)> {
        self.moved.iter().copied()
    }

    /// Nodes that are to be keyed anew; one may come more than once.
    pub(super) fn keyed_nodes(&self) -> impl Iterator<Item = usize> {
        self.moved.iter().map(|(node, _)| *node)
    }

    /// Nodes that stood elsewhere and have a shear, which keys cannot hold.
    pub(super) fn sheared(&self) -> impl Iterator<Item = usize> {
        self.sheared.iter().copied()
    }

    /// The keys of a node, number after number; neighbouring rotations are on the same side.
    pub(super) fn values(&self, node: usize, path: ChannelPath) -> Vec<f32> {
        let mut values: Vec<f32> = Vec::new();
        for frame in &self.frames {
            let local = &frame[node];
            match path {
                ChannelPath::Translation => values.extend(local.translation),
                ChannelPath::Scale => values.extend(local.scale),
                ChannelPath::Rotation => {
                    let last = values.len().checked_sub(4).map(|at| &values[at..]);
                    let is_opposite = last.is_some_and(|last| {
                        last.iter().zip(&local.rotation).map(|(a, b)| a * b).sum::<f32>() < 0.0
                    });
                    values.extend(local.rotation.map(|x| if is_opposite { -x } else { x }));
                }
                ChannelPath::Weights => {}
            }
        }
        values
    }
}

/// Puts a node where its keys will.
fn play(local: &Local, path: ChannelPath, place: &mut NodeTransform) {
    match path {
        ChannelPath::Translation => place.translation = Vec3::from(local.translation.map(f64::from)),
        ChannelPath::Rotation => {
            let [x, y, z, w] = local.rotation.map(f64::from);
            place.rotation = Rotation::new_normalize(Quaternion::new(w, x, y, z));
        }
        ChannelPath::Scale => {
            place.stretch = Mat3::from_diagonal(&Vec3::from(local.scale.map(f64::from)));
        }
        ChannelPath::Weights => {}
    }
}

/// Whether a stretch is along the axes, up to the round-off of taking a matrix apart.
fn is_diagonal(stretch: &Mat3) -> bool {
    (stretch - Mat3::from_diagonal(&stretch.diagonal())).amax() <= 1e-9 * stretch.amax()
}
