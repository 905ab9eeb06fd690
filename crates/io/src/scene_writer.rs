//! Writes a [`Scene`] as a scene file (TOML) and the meshes (OBJ, TetGen) and motions (CSV) that it names.
//!
//! The inverse of `scene_file`, with the same types (`scene_schema`). Reading the files gives the same scene, and numbers bit for bit. A part
//! of a scene that scene files have no keys for is an error.

mod body;
mod bone;
mod character;
mod constraint;
mod edit;
mod goal;
mod mesh;
mod metaphor;
mod muscle;
mod network;
mod number;
mod obstacle;
mod performance;
mod region;
mod skin;
mod solver;

use crate::distinct_names::file_names;
use crate::scene_schema::{AngleUnit, BodyKind, BodyTable, CharacterTable, Quaternion, SceneFile, Vector};
pub use edit::edit_tables;
use mesh::MeshFiles;
pub(crate) use metaphor::metaphor_table;
use sinew_control::Motion;
use sinew_files::AtomicFile;
use sinew_math::{Rotation, Vec3};
use sinew_sim::desc::ShapeDesc;
use sinew_take::Scene;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The files of a scene, all in one folder.
#[derive(Clone, Debug)]
pub struct SceneFiles {
    /// The name of the scene file: `NAME.toml`.
    pub name: String,
    /// A comment at its top; none if empty.
    pub comment: String,
    /// The scene file.
    pub scene: SceneFile,
    /// The names and texts of the files that it names.
    pub others: Vec<(String, String)>,
}

/// Why a scene cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SceneWriteError {
    /// Scene files have no keys for a part of it.
    #[error("{0}, which scene files do not support")]
    NoKeys(String),
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// Writes a scene file and, beside it, the meshes and motions that it names; returns their paths, the scene file first. Existing files are
/// replaced. Either all files appear or none.
pub fn write_scene(scene: &Scene, path: &Path) -> Result<Vec<PathBuf>, SceneWriteError> {
    let stem = path.file_stem().map_or(scene.name.clone(), |stem| stem.to_string_lossy().into_owned());
    let mut files = SceneFiles::of(scene, &stem)?;
    if let Some(name) = path.file_name() {
        files.name = name.to_string_lossy().into_owned();
    }
    files.write(path.parent().unwrap_or(Path::new("")))
}

impl SceneFiles {
    /// The files of a scene: `NAME.toml`, a mesh for each body, and the motion of each skeleton.
    ///
    /// # Errors
    /// The first part of the scene that scene files do not support.
    pub fn of(scene: &Scene, name: &str) -> Result<SceneFiles, SceneWriteError> {
        let (scene, others) = scene_file(scene).map_err(SceneWriteError::NoKeys)?;
        Ok(SceneFiles { name: format!("{name}.toml"), comment: String::new(), scene, others })
    }

    /// The names and texts of all files, the scene file first.
    pub fn texts(&self) -> Vec<(String, String)> {
        let comment: String = self.comment.lines().map(|line| format!("# {line}\n")).collect();
        let mut texts = vec![(self.name.clone(), comment + &self.scene.to_text())];
        texts.extend(self.others.iter().cloned());
        texts
    }

    /// Writes all files into a folder, replacing existing ones; returns their paths, the scene file first. Either all files appear or none.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, SceneWriteError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| SceneWriteError::File { path, source }
        };
        let (mut paths, mut files) = (Vec::new(), Vec::new());
        for (name, text) in self.texts() {
            let path = folder.join(name);
            let mut file = AtomicFile::create(&path).map_err(at(&path))?;
            file.write_all(text.as_bytes()).map_err(at(&path))?;
            files.push(file);
            paths.push(path);
        }
        AtomicFile::commit_all(files).map_err(at(folder))?;
        Ok(paths)
    }
}

/// Converts a scene to tables and the files that they name.
fn scene_file(scene: &Scene) -> Result<(SceneFile, Vec<(String, String)>), String> {
    // the top of the file
    let world = &scene.world;
    let mut file = SceneFile {
        seconds: Some(scene.seconds),
        fps: Some(scene.fps),
        gravity: Some(number::constant_vector(&world.gravity)),
        solver: solver::solver_table(&scene.solver),
        ..SceneFile::default()
    };
    if let Some(gravity) = &scene.curves.gravity {
        file.gravity = Some(number::keyed_vector(gravity).map_err(|what| format!("gravity {what}"))?);
    }
    if world.max_step.is_some() {
        return Err("the world has a largest sub-step".into());
    }

    // bodies, with and without bones
    let mut meshes = MeshFiles::default();
    let stems = file_names(world.bodies.iter().map(|body| body.name.as_str()));
    let mut preroll = 0.0f64;
    for ((i, body), stem) in world.bodies.iter().enumerate().zip(&stems) {
        let moving = body::BodyMotion::of(scene, i);
        let mesh = meshes.add_shape(stem, &body.shape)?;
        let skin = match &body.shape {
            ShapeDesc::Skin(skin) => Some(
                skin::skin_table(skin, stem, &mut meshes)
                    .map_err(|what| format!("'{}' {what}", body.name))?,
            ),
            _ => None,
        };
        let is_on_bones = match &body.shape {
            ShapeDesc::Skin(skin) => skin.rig.is_some(),
            _ => body.attachment.is_some(),
        };
        if !is_on_bones {
            let table = body::body_table(body, &moving, mesh, &world.contact);
            let table = table.map_err(|what| format!("'{}' {what}", body.name))?;
            let kind = if skin.is_some() { Some(BodyKind::Skin) } else { table.kind };
            file.body.push(BodyTable { skin, kind, ..table });
            continue;
        }
        let written = character::character_table(scene, body, &moving, mesh)
            .map_err(|what| format!("'{}' {what}", body.name))?;
        let mut table = CharacterTable { skin, ..written.table };
        if let Some(motion) = written.motion {
            table.motion = Some(meshes.add_motion(stem, motion));
        }
        preroll = preroll.max(written.preroll);
        file.character.push(table);
    }
    if let Some(rig) =
        world.rigs.iter().find(|rig| !file.character.iter().any(|c| c.name.as_ref() == Some(&rig.name)))
    {
        return Err(format!("the skeleton '{}' has no flesh", rig.name));
    }
    if preroll.to_bits() != scene.preroll.to_bits() {
        file.preroll = Some(scene.preroll);
    }

    // obstacles, contact, constraints and metaphors
    for (i, obstacle) in world.obstacles.iter().enumerate() {
        let motion = scene.obstacle_motions.get(i).unwrap_or(&Motion::Still);
        let factor = scene.curves.factors.obstacle_friction.get(i).and_then(Option::as_ref);
        let table = obstacle::obstacle_table(obstacle, &world.obstacles, (motion, factor), &mut meshes)
            .map_err(|what| format!("obstacle '{}' {what}", obstacle.name))?;
        file.obstacle.push(table);
    }
    file.contact = obstacle::contact_table(&world.contact, world.obstacles.is_empty());
    file.constraint = constraint::constraint_tables(scene)?;
    file.metaphor = metaphor::metaphor_tables(scene)?;
    file.muscle = muscle::muscle_tables(scene, &mut meshes)?;
    file.edit = edit::edit_tables(scene)?;
    if has_angles(&file) {
        file.angles = Some(AngleUnit::Radians);
    }
    check(&file)?;
    Ok((file, meshes.files))
}

/// Whether a table has an angle; angles are written in radians so that they keep every bit.
fn has_angles(file: &SceneFile) -> bool {
    let bones = file.character.iter().flat_map(|character| &character.bone);
    bones.into_iter().any(|bone| bone.limits.is_some() || bone.spring_rest.is_some())
        || file.obstacle.iter().any(|obstacle| obstacle.spin.is_some())
        || file.muscle.iter().any(|muscle| muscle.driver.is_some())
}

/// Checks the file by reading it, which finds numbers out of range.
fn check(file: &SceneFile) -> Result<(), String> {
    match SceneFile::of_text(&file.to_text()) {
        Ok(read) if read.value == *file => Ok(()),
        Ok(_) => Err("the scene has a number that is not finite".into()),
        Err(errors) => {
            let messages: Vec<String> = errors.errors.iter().map(|error| error.message.clone()).collect();
            Err(messages.join("; "))
        }
    }
}

/// The coordinates of a vector.
fn vector(v: &Vec3) -> Vector {
    [v.x, v.y, v.z]
}

/// A rotation as a quaternion (x, y, z, w); `None` for the identity.
fn quaternion(rotation: &Rotation) -> Option<Quaternion> {
    let numbers = [rotation.i, rotation.j, rotation.k, rotation.w];
    (numbers.map(f64::to_bits) != [0.0, 0.0, 0.0, 1.0].map(f64::to_bits)).then_some(numbers)
}

/// The coordinates of a vector; `None` if all are 0.
fn nonzero(v: &Vec3) -> Option<Vector> {
    (vector(v).map(f64::to_bits) != [0; 3]).then(|| vector(v))
}
