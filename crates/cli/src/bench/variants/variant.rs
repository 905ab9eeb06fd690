//! The variants of a take: what is changed, against what it is compared, and how.

use super::rewrite;
use sinew_character::{CharacterOptions, EARTH_GRAVITY, Placement, RiggedCharacter};
use sinew_math::{Rotation, Vec3};

/// Frames per second of what variants are compared with: the default of takes.
pub(super) const REFERENCE_RATE: usize = 60;
/// Keys per second of an animation with few keys.
const SPARSE_KEYS: f64 = 5.0;
/// How many times as fast an animation is played.
pub(super) const FASTER: usize = 4;

/// How a character or its take is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// Not at all.
    Nothing,
    /// All lengths of the file, by a factor.
    Unit(f64),
    /// The file's data has z up, below a root that turns it to y.
    StoredZUp,
    /// The scene has z up: the character is turned, and so is gravity.
    SceneZUp,
    /// The root of the file is turned by 90°, gravity is not: the character lies.
    Lying,
    /// Names of joints are noise.
    Names,
    /// The animation has five keys per second.
    SparseKeys,
    /// The animation is played four times as fast.
    Faster,
}

/// A change, played at a number of frames per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variant {
    pub(super) change: Change,
    pub(super) fps: usize,
}

/// What a variant is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Against {
    /// The unchanged take, vertex by vertex at common times.
    Original,
    /// The same change at the default frame rate, likewise.
    Itself,
    /// The unchanged take, by how vertices are displaced from their skinned places: other accelerations or another gravity act on the flesh, which swings otherwise.
    OriginalSwing,
}

/// The largest distance of a variant that is the same take (% of size).
const SAME: f64 = 1.0;

impl Change {
    /// What is printed.
    fn name(self) -> String {
        match self {
            Change::Nothing => String::new(),
            Change::Unit(s) => format!("scaled by {s}"),
            Change::StoredZUp => "stored z-up".into(),
            Change::SceneZUp => "scene z-up".into(),
            Change::Lying => "root turned z-up".into(),
            Change::Names => "names of noise".into(),
            Change::SparseKeys => "5 keys/s".into(),
            Change::Faster => format!("{FASTER} × as fast"),
        }
    }

    /// The changed file.
    pub(super) fn rewrite(self, rigged: &RiggedCharacter, animation: Option<usize>) -> RiggedCharacter {
        let animation = animation.unwrap_or(usize::MAX);
        match self {
            Change::Nothing | Change::SceneZUp => rigged.clone(),
            Change::Unit(s) => rewrite::scaled(rigged, s),
            Change::StoredZUp => rewrite::turned_below_root(rigged, &z_from_y()),
            Change::Lying => rewrite::with_root(rigged, &z_from_y()),
            Change::Names => rewrite::renamed(rigged),
            Change::SparseKeys => rewrite::with_sparse_keys(rigged, animation, SPARSE_KEYS),
            Change::Faster => rewrite::faster(rigged, animation, FASTER as f64),
        }
    }

    /// How the scene is made; returns gravity.
    pub(super) fn place(self, options: &mut CharacterOptions) -> Vec3 {
        if self == Change::SceneZUp {
            options.placement = Placement { rotation: z_from_y(), ..Placement::default() };
            return -Vec3::z() * EARTH_GRAVITY;
        }
        -Vec3::y() * EARTH_GRAVITY
    }

    /// A vertex of the changed take as one of the original.
    pub(super) fn undo(self, point: Vec3) -> Vec3 {
        match self {
            Change::Unit(s) => point / s,
            Change::SceneZUp | Change::Lying => z_from_y().inverse() * point,
            _ => point,
        }
    }

    /// Whether it needs an animation of the file: the keys of captured motions are not in it, and a captured motion makes a character that lies stand up.
    fn needs_animation(self) -> bool {
        matches!(self, Change::SparseKeys | Change::Faster | Change::Lying)
    }

    /// How many times as fast the take goes.
    pub(super) fn speed(self) -> usize {
        if self == Change::Faster { FASTER } else { 1 }
    }
}

impl Variant {
    /// All variants of a take, with what they are compared with.
    pub(super) fn all(plays_animation: bool) -> Vec<(Variant, Against)> {
        let of = |change: Change, fps: usize, against: Against| (Variant { change, fps }, against);
        let rates = [24, 30, 120, 240, 960].map(|fps| of(Change::Nothing, fps, Against::Original));
        let changes =
            [Change::Unit(0.01), Change::Unit(100.0), Change::StoredZUp, Change::SceneZUp, Change::Names];
        let changes = changes.map(|change| of(change, REFERENCE_RATE, Against::Original));
        let others = [
            of(Change::Lying, REFERENCE_RATE, Against::OriginalSwing),
            of(Change::SparseKeys, REFERENCE_RATE, Against::OriginalSwing),
            of(Change::SparseKeys, 24, Against::Itself),
            of(Change::SparseKeys, 240, Against::Itself),
            // frame by frame the same poses
            of(Change::Faster, FASTER * REFERENCE_RATE, Against::OriginalSwing),
            of(Change::Faster, 24, Against::Itself),
            of(Change::Faster, 240, Against::Itself),
        ];
        let wanted = |(variant, _): &(Variant, Against)| plays_animation || !variant.change.needs_animation();
        rates.into_iter().chain(changes).chain(others).filter(wanted).collect()
    }

    /// The largest distance that a comparison may have (% of size); none where other accelerations act, which is another motion of the flesh.
    pub(super) fn bar(against: Against) -> f64 {
        match against {
            Against::Original | Against::Itself => SAME,
            Against::OriginalSwing => f64::INFINITY,
        }
    }

    /// What is printed.
    pub(super) fn name(self, against: Against) -> String {
        let (change, fps) = (self.change.name(), self.fps);
        match against {
            Against::OriginalSwing => format!("{change}, swing"),
            Against::Itself => format!("{change}, {fps} fps"),
            Against::Original if change.is_empty() => format!("{fps} fps"),
            Against::Original => change,
        }
    }
}

/// The rotation that takes y, up in glTF, to z.
fn z_from_y() -> Rotation {
    Rotation::from_axis_angle(&Vec3::x_axis(), core::f64::consts::FRAC_PI_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_character::SurfaceId;
    use sinew_gltf::{CharacterFile, CharacterLook, read_character};

    /// A rigged bar of the glTF corpus, whose animation has keys every half second and lasts for two.
    fn bar() -> RiggedCharacter {
        let bytes = include_bytes!("../../../../gltf/tests/corpus/bar_plain.glb");
        RiggedCharacter::clone(&read_character(bytes.to_vec()).unwrap().value.rigged)
    }

    fn vertices(rigged: &RiggedCharacter, time: f64) -> Vec<Vec3> {
        let pose = rigged.pose_at(0, time).unwrap();
        let shown: Vec<SurfaceId> = rigged.surfaces().collect();
        shown.iter().flat_map(|surface| rigged.world_vertices(*surface, &pose).unwrap()).collect()
    }

    /// Single precision of a body of a metre, a few products in a row; keys are compared where the sparse ones are.
    #[test]
    fn rewritten_files_are_skinned_alike() {
        let bar = bar();
        let changes = [
            Change::Unit(0.01),
            Change::Unit(100.0),
            Change::StoredZUp,
            Change::Lying,
            Change::Names,
            Change::SparseKeys,
            Change::Faster,
        ];
        for change in changes {
            let changed = change.rewrite(&bar, Some(0));
            let read = CharacterFile::of_rigged(&changed, &CharacterLook::default()).unwrap().value.rigged;
            for time in [0.0, 0.2, 0.4, 0.8] {
                let here = vertices(&read, time / change.speed() as f64);
                let there = vertices(&bar, time);
                assert_eq!(here.len(), there.len());
                for (here, there) in here.iter().zip(&there) {
                    let gap = (change.undo(*here) - there).norm();
                    assert!(gap < 1e-5, "{change:?} at {time} s: {gap}");
                }
            }
        }
    }

    #[test]
    fn names_of_noise_differ_and_variants_are_told_apart() {
        let renamed = Change::Names.rewrite(&bar(), Some(0));
        let joints = renamed.nodes.iter().filter(|node| node.mesh.is_none());
        let names: std::collections::BTreeSet<_> = joints.clone().map(|node| node.name.clone()).collect();
        assert_eq!(names.len(), joints.count());
        let all = Variant::all(true);
        let names: std::collections::BTreeSet<String> =
            all.iter().map(|(variant, against)| variant.name(*against)).collect();
        assert_eq!(names.len(), all.len());
        assert!(Variant::all(false).len() < all.len());
    }
}
