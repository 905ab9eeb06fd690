//! `sinew bench characters`: every rigged file of a folder with every motion that fits it, measured against plain skinning.
//!
//! A row is a take. A file that cannot be read or simulated is a row with its error; the run goes on.

mod measure;
mod row;
mod sheet;

use super::character_folder::{catch, files_in, is_motion};
use super::write_report;
use crate::failure::Failure;
use crate::interrupt::{self, FrameLoop};
use crate::outputs::{atomic_file, plan_files};
use clap::Args;
use measure::{Motion, Plan, measure};
use row::Row;
pub(super) use row::name_of;
use sinew_files::Replace;
use sinew_io::{CharacterChoice, is_character_file, open_source};
use sinew_sim::SolverKind;
use std::path::{Path, PathBuf};

/// Measure the flesh of every rigged character in a folder, with each of its animations; humanoids also with every captured motion there.
///
/// The table and its bars are explained in docs/characters.md.
#[derive(Args)]
pub(super) struct Characters {
    /// The folder with characters (.glb, .gltf, .vrm, .fbx) and motions (.bvh, .fbx).
    folder: PathBuf,

    /// Write the rows as JSON, with a description of the machine.
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,

    /// Draw a contact sheet of each take into this folder, with plain skinning on the left and flesh on the right.
    #[arg(long, value_name = "DIR")]
    sheet: Option<PathBuf>,

    /// The longest take (s); longer motions are cut.
    #[arg(long, value_name = "S", default_value_t = 6.0)]
    max_seconds: f64,

    /// Measure only takes with this text in the name of their file or animation, in upper or lower case.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// The solver: explicit, implicit or auto [default: as for `sinew simulate`].
    #[arg(long, value_name = "KIND", value_parser = crate::simulate::solver_kind)]
    solver: Option<SolverKind>,

    /// Also replace files that Sinew did not write.
    #[arg(long)]
    force: bool,
}

/// A character and the motions that it is measured with.
struct Cast {
    file: PathBuf,
    motions: Vec<Motion>,
}

impl Characters {
    pub(super) fn run(self) -> Result<(), Failure> {
        // outputs, checked before any work is done
        let replace = if self.force { Replace::Any } else { Replace::Ours };
        plan_files(&self.json, replace)?;
        let file = self.json.as_deref().map(atomic_file).transpose()?;
        if let Some(folder) = &self.sheet {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
        }
        if !(self.max_seconds > 0.0 && self.max_seconds.is_finite()) {
            return Err(Failure::input(format!("--max-seconds {}: give seconds above 0", self.max_seconds)));
        }

        // take after take
        let files = files_in(&self.folder)?;
        let captured: Vec<PathBuf> = files.iter().filter(|file| is_motion(file)).cloned().collect();
        let mut rows = Vec::new();
        say!("{}", Row::HEAD);
        for path in files.iter().filter(|file| is_character_file(file)) {
            match catch(|| cast(path, &captured)) {
                Ok(cast) => self.measure_all(&cast, replace, &mut rows)?,
                // nothing but a motion, which humanoids play
                Err(error) if is_motion(path) && error.contains("no skinned surface") => {}
                Err(error) => {
                    let row = Row::failed(path, "", error);
                    if self.wants(&row.file, "") {
                        say!("{row}");
                        rows.push(row);
                    }
                }
            }
        }
        if rows.is_empty() {
            return Err(Failure::input(format!(
                "{}: there is nothing to measure: give a folder with .glb, .gltf, .vrm or .fbx files",
                self.folder.display()
            )));
        }

        // what is missed
        say!("{}", row::verdict(&rows));
        write_report(file, super::values(&rows)?)
    }

    /// Whether a take was asked for.
    fn wants(&self, file: &str, animation: &str) -> bool {
        let Some(only) = self.only.as_ref().map(|only| only.to_lowercase()) else { return true };
        file.to_lowercase().contains(&only) || animation.to_lowercase().contains(&only)
    }

    /// Measures a character with each of its motions.
    fn measure_all(&self, cast: &Cast, replace: Replace, rows: &mut Vec<Row>) -> Result<(), Failure> {
        let file = row::name_of(&cast.file);
        for motion in cast.motions.iter().filter(|motion| self.wants(&file, &motion.name)) {
            // between takes an interrupt ends the program at once, within one it is noticed at the next frame
            let frame_loop = FrameLoop::replaying();
            let plan = Plan {
                max_seconds: self.max_seconds,
                solver: self.solver,
                sheet: self.sheet.as_ref().map(|folder| folder.join(sheet::file_name(&file, &motion.name))),
                replace,
            };
            let row = catch(|| measure(&cast.file, motion, &plan, &frame_loop));
            if interrupt::signal() != 0 {
                return Err(Failure::from(sinew_take::Stopped));
            }
            let row = row.unwrap_or_else(|error| Row::failed(&cast.file, &motion.name, error));
            say!("{row}");
            rows.push(row);
        }
        Ok(())
    }
}

/// The motions of a character: its animations, or none at all, and every captured one if it is a humanoid.
fn cast(path: &Path, captured: &[PathBuf]) -> Result<Cast, String> {
    let opened = open_source(path, &CharacterChoice::default()).map_err(|error| error.to_string())?.value;
    let character = opened.characters.first().ok_or("the file has no character")?;
    let animations = &character.binding.rigged.animations;
    let mut motions: Vec<Motion> = animations.iter().enumerate().map(Motion::of_animation).collect();
    if motions.is_empty() {
        motions.push(Motion::still());
    }
    if character.binding.is_humanoid() {
        motions.extend(captured.iter().filter(|file| *file != path).map(|file| Motion::captured(file)));
    }
    Ok(Cast { file: path.to_owned(), motions })
}
