//! Making a character of a mesh: joints that are clicked into it, bones between them, flesh around, and key poses.  \[Capell2004, 5.4\]

use crate::folders::write_text;
use crate::pictures::Shown;
use crate::session::Document;
use crate::viewport::{self, Viewport};
use egui::Pos2;
use sinew_io::SceneFile;
use sinew_io::tables::{BoneTable, CharacterTable, Coordinates, KeyTable};
use sinew_math::Vec3;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The radius of a bone, as a fraction of its length, and the least one, as a fraction of the body.
const RADIUS: f64 = 0.08;
const MIN_RADIUS: f64 = 0.012;

/// A joint of a character that is being built.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BuiltJoint {
    /// The name of the bone that begins there.
    pub(crate) name: String,
    /// Where it is at rest (m).
    pub(crate) place: Vec3,
    /// The joint before it.
    pub(crate) parent: Option<usize>,
}

/// A character that is being built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Builder {
    pub(crate) joints: Vec<BuiltJoint>,
    /// The joint that the next one is connected to.
    pub(crate) selected: Option<usize>,
    /// A joint that is being dragged.
    pub(crate) dragged: Option<usize>,
    /// Tets of the cage.
    pub(crate) cage_tets: usize,
    /// Key poses: a time (s), and the angles of bones about x, y and z (degrees).
    pub(crate) keys: Vec<(f64, BTreeMap<String, [f64; 3]>)>,
    /// The name of the character, and where its surface is, once it is built.
    pub(crate) built: Option<(String, PathBuf)>,
}

impl Builder {
    /// Adds a joint, connected to the selected one, and selects it.
    pub(crate) fn add(&mut self, place: Vec3) {
        let is_free = |name: &String| self.joints.iter().all(|joint| joint.name != *name);
        let name = (1..).map(|i| format!("joint {i}")).find(is_free).unwrap_or_default();
        self.joints.push(BuiltJoint { name, place, parent: self.selected });
        self.selected = Some(self.joints.len() - 1);
    }

    /// Whether a joint is another one, or connected to it by others.
    pub(crate) fn is_below(&self, joint: usize, other: usize) -> bool {
        let mut at = Some(joint);
        while let Some(i) = at {
            if i == other {
                return true;
            }
            at = self.joints[i].parent;
        }
        false
    }

    /// Removes a joint; those on it are connected to the one before it.
    pub(crate) fn remove(&mut self, index: usize) {
        let parent = self.joints[index].parent;
        self.joints.remove(index);
        let renumber = |old: usize| if old > index { old - 1 } else { old };
        for joint in &mut self.joints {
            let before = if joint.parent == Some(index) { parent } else { joint.parent };
            joint.parent = before.map(renumber);
        }
        self.selected = parent.map(renumber);
    }

    /// The bones: one from each joint that others are connected to, to the first of them.
    fn bones(&self, size: f64) -> Result<Vec<BoneTable>, String> {
        let children = |index: usize| self.joints.iter().filter(move |joint| joint.parent == Some(index));
        // the joint whose bone carries what is connected to a joint
        let carrier = |mut index: Option<usize>| {
            while let Some(i) = index {
                if children(i).next().is_some() {
                    break;
                }
                index = self.joints[i].parent;
            }
            index.map(|i| self.joints[i].name.clone())
        };
        let mut bones = Vec::new();
        let mut done = vec![false; self.joints.len()];
        // parents come first
        loop {
            let next: Vec<usize> = (0..self.joints.len())
                .filter(|i| !done[*i] && self.joints[*i].parent.is_none_or(|parent| done[parent]))
                .collect();
            if next.is_empty() {
                break;
            }
            for i in next {
                done[i] = true;
                let joint = &self.joints[i];
                let Some(first) = children(i).next() else { continue };
                let length = (first.place - joint.place).norm();
                bones.push(BoneTable {
                    name: joint.name.clone(),
                    parent: carrier(joint.parent),
                    from: Some(joint.place.into()),
                    to: Some(first.place.into()),
                    radius: Some((RADIUS * length).max(MIN_RADIUS * size)),
                    ..BoneTable::default()
                });
            }
        }
        if bones.is_empty() {
            return Err(
                "a bone needs two joints: click a second one, which is connected to the selected one".into(),
            );
        }
        Ok(bones)
    }

    /// The scene file of the character, with a surface of this name beside it.
    pub(crate) fn scene(&self, name: &str, surface: &str, size: f64) -> Result<SceneFile, String> {
        let key = |(time, pose): &(f64, BTreeMap<String, [f64; 3]>)| KeyTable {
            time: *time,
            pose: Some(
                pose.iter()
                    .map(|(bone, angles)| (bone.clone(), Coordinates::List(angles.to_vec())))
                    .collect(),
            ),
            ..KeyTable::default()
        };
        let character = CharacterTable {
            name: Some(name.to_owned()),
            surface: Some(surface.to_owned()),
            bone: self.bones(size)?,
            key: self.keys.iter().map(key).collect(),
            cage_tets: (self.cage_tets > 0).then_some(self.cage_tets),
            ..CharacterTable::default()
        };
        let seconds = self.keys.last().map_or(4.0, |(time, _)| (time + 1.0).max(4.0));
        Ok(SceneFile { seconds: Some(seconds), character: vec![character], ..SceneFile::default() })
    }

    /// Writes the scene, with its surface if there is none yet, into a folder, and returns its path.
    pub(crate) fn write(&mut self, document: &Document, folder: &Path) -> Result<PathBuf, String> {
        let body = document.model.bodies().first().ok_or("there is no body to build a character of")?;
        let size = document.body_size(0);
        let (name, surface) = match &self.built {
            Some((name, surface)) => (name.clone(), surface.clone()),
            None => {
                std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
                let surface = folder.join(format!("{}.obj", body.name));
                let mut text = String::from("# surface of a character, in metres\n");
                for v in &body.surface.vertices {
                    text += &format!("v {} {} {}\n", v.x, v.y, v.z);
                }
                for [a, b, c] in &body.surface.triangles {
                    text += &format!("f {} {} {}\n", a + 1, b + 1, c + 1);
                }
                write_text(&surface, &text)?;
                (body.name.clone(), surface)
            }
        };
        let file_name =
            surface.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let scene = self.scene(&name, &file_name, size)?;
        let path = surface.with_extension("toml");
        write_text(&path, &scene.to_text())?;
        self.built = Some((name, surface));
        Ok(path)
    }

    /// Sets the angles of a bone in the pose at a time (s).
    pub(crate) fn set_key(&mut self, time: f64, bone: &str, angles: [f64; 3]) {
        let index = self.keys.partition_point(|(other, _)| *other < time - 1e-6);
        if self.keys.get(index).is_none_or(|(other, _)| (other - time).abs() > 1e-6) {
            // a pose says where all keyed bones are, so that none jumps
            let known = index.checked_sub(1).and_then(|before| self.keys.get(before));
            let pose = known.map(|(_, pose)| pose.clone()).unwrap_or_default();
            self.keys.insert(index, (time, pose));
        }
        self.keys[index].1.insert(bone.to_owned(), angles);
        for (_, pose) in &mut self.keys {
            pose.entry(bone.to_owned()).or_insert([0.0; 3]);
        }
        // the motion begins at the start
        if self.keys[0].0 > 0.0 {
            let rest = self.keys[0].1.keys().map(|bone| (bone.clone(), [0.0; 3])).collect();
            self.keys.insert(0, (0.0, rest));
        }
    }

    /// The joint at a place of a viewport, where joints are at rest.
    pub(crate) fn joint_at(&self, view: &Viewport, at: Pos2, within: f32) -> Option<usize> {
        let near =
            |joint: &BuiltJoint| view.project(&joint.place).is_some_and(|place| place.distance(at) < within);
        self.joints.iter().position(near)
    }
}

/// The middle of the flesh under the mouse, at rest: half way between the first two places where the ray meets the surface.
pub(crate) fn middle_under(shown: &Shown, view: &Viewport, at: Pos2) -> Option<Vec3> {
    let hits = viewport::pick_through(shown, view.ray(at));
    let first = hits.first()?;
    let second = hits.iter().find(|hit| hit.body == first.body && (hit.point - first.point).norm() > 1e-9)?;
    Some(0.5 * (first.rest + second.rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Builder {
        let mut builder = Builder::default();
        builder.add(Vec3::zeros());
        builder.add(Vec3::new(0.0, 1.0, 0.0));
        builder.add(Vec3::new(0.0, 2.0, 0.0));
        builder.selected = Some(1);
        builder.add(Vec3::new(1.0, 1.5, 0.0));
        builder
    }

    #[test]
    fn bones_run_from_joint_to_joint_and_hang_on_each_other() {
        let bones = tree().bones(2.0).unwrap();
        let names: Vec<(&str, Option<&str>)> =
            bones.iter().map(|bone| (bone.name.as_str(), bone.parent.as_deref())).collect();
        assert_eq!(names, [("joint 1", None), ("joint 2", Some("joint 1"))]);
        assert_eq!(bones[1].to, Some([0.0, 2.0, 0.0]));
    }

    #[test]
    fn what_is_on_a_removed_joint_hangs_on_the_one_before_it() {
        let mut builder = tree();
        builder.remove(1);
        let parents: Vec<Option<usize>> = builder.joints.iter().map(|joint| joint.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(0)]);
    }

    #[test]
    fn one_joint_is_no_bone() {
        let mut builder = Builder::default();
        assert!(builder.scene("a", "a.obj", 1.0).is_err());
        builder.add(Vec3::zeros());
        assert!(builder.scene("a", "a.obj", 1.0).unwrap_err().contains("second"));
    }

    #[test]
    fn a_key_pose_is_read_back_and_begins_at_the_start() {
        let mut builder = tree();
        builder.set_key(1.0, "joint 2", [0.0, 0.0, 40.0]);
        builder.set_key(2.0, "joint 1", [10.0, 0.0, 0.0]);
        let times: Vec<f64> = builder.keys.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, [0.0, 1.0, 2.0]);
        assert!(builder.keys.iter().all(|(_, pose)| pose.len() == 2));
        let text = builder.scene("a", "a.obj", 1.0).unwrap().to_text();
        let read = SceneFile::of_text(&text).unwrap().value;
        assert_eq!(read.character[0].key.len(), 3);
    }
}
