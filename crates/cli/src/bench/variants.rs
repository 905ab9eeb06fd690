//! `sinew bench variants`: whether the same character moves the same however its file is stored and its take is stepped.
//!
//! Frame rates, units, axes, names and keys are changed in memory; every variant is played and compared with the original at common times, vertex by vertex.

mod comparison;
mod played;
mod rewrite;
mod row;
mod variant;

use super::character_folder::{catch, files_in, is_motion};
use super::write_report;
use crate::failure::Failure;
use crate::interrupt::{self, FrameLoop};
use crate::outputs::{atomic_file, plan_files};
use clap::Args;
use comparison::Reference;
use played::Performer;
use row::Row;
use sinew_files::Replace;
use sinew_io::{CaptureFile, CharacterChoice, is_character_file, open_source};
use std::path::{Path, PathBuf};
use variant::{Against, Change, REFERENCE_RATE, Variant};

/// Compare every rigged character in a folder with itself: at other frame rates, in other units, axes and names, with few keys, and faster.
///
/// What is compared is explained in docs/characters.md.
#[derive(Args)]
pub(super) struct Variants {
    /// The folder with characters (.glb, .gltf, .vrm, .fbx) and motions (.bvh, .fbx).
    folder: PathBuf,

    /// Write the rows as JSON, with a description of the machine.
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,

    /// The longest take (s); longer motions are cut.
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    max_seconds: f64,

    /// Compare only takes with this text in the name of their file or animation, in upper or lower case.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Compare only variants with this text in their name.
    #[arg(long, value_name = "TEXT")]
    variant: Option<String>,

    /// Also replace files that Sinew did not write.
    #[arg(long)]
    force: bool,
}

/// A take that is compared with its variants.
struct Take {
    file: String,
    name: String,
    performer: Performer,
}

impl Variants {
    pub(super) fn run(self) -> Result<(), Failure> {
        // the output, checked before any work is done
        let replace = if self.force { Replace::Any } else { Replace::Ours };
        plan_files(&self.json, replace)?;
        let file = self.json.as_deref().map(atomic_file).transpose()?;
        if !(self.max_seconds > 0.0 && self.max_seconds.is_finite()) {
            return Err(Failure::input(format!("--max-seconds {}: give seconds above 0", self.max_seconds)));
        }

        // take after take
        let files = files_in(&self.folder)?;
        let captured: Vec<PathBuf> = files.iter().filter(|file| is_motion(file)).cloned().collect();
        let mut rows = Vec::new();
        say!("{}", Row::HEAD);
        for path in files.iter().filter(|file| is_character_file(file)) {
            // a file that cannot be read is for `bench characters` to tell
            let Ok(takes) = catch(|| takes(path, &captured)) else { continue };
            for take in takes.iter().filter(|take| wants(&self.only, &[&take.file, &take.name])) {
                self.compare_all(take, &mut rows)?;
            }
        }
        if rows.is_empty() {
            return Err(Failure::input(format!(
                "{}: there is nothing to compare: give a folder with .glb, .gltf, .vrm or .fbx files, and texts that occur in names",
                self.folder.display()
            )));
        }

        // what differs
        say!("{}", row::verdict(&rows));
        write_report(file, super::values(&rows)?)
    }

    /// Compares a take with each of its variants.
    fn compare_all(&self, take: &Take, rows: &mut Vec<Row>) -> Result<(), Failure> {
        let wanted: Vec<(Variant, Against)> = Variant::all(take.performer.animation.is_some())
            .into_iter()
            .filter(|(variant, against)| wants(&self.variant, &[&variant.name(*against)]))
            .collect();
        // what variants are compared with, played when it is needed
        let mut references: Vec<(Change, Result<Reference, String>)> = Vec::new();
        for (variant, against) in wanted {
            // between takes an interrupt ends the program at once, within one it is noticed at the next frame
            let frame_loop = FrameLoop::replaying();
            let change = if against == Against::Itself { variant.change } else { Change::Nothing };
            if !references.iter().any(|(known, _)| *known == change) {
                let reference = Variant { change, fps: REFERENCE_RATE };
                let played =
                    catch(|| Reference::play(&take.performer, reference, self.max_seconds, &frame_loop));
                references.push((change, played));
            }
            let found = references.iter().find(|(known, _)| *known == change);
            let result = match found.map(|(_, reference)| reference) {
                Some(Ok(reference)) => {
                    let compared = (variant, against);
                    catch(|| reference.compare(&take.performer, compared, self.max_seconds, &frame_loop))
                }
                Some(Err(error)) => Err(error.clone()),
                None => continue,
            };
            if interrupt::signal() != 0 {
                return Err(Failure::from(sinew_take::Stopped));
            }
            let row = Row {
                file: take.file.clone(),
                animation: take.name.clone(),
                variant: variant.name(against),
                ..Row::of(result, Variant::bar(against))
            };
            say!("{row}");
            rows.push(row);
        }
        Ok(())
    }
}

/// Whether one of some names has a text in it, in upper or lower case.
fn wants(text: &Option<String>, names: &[&str]) -> bool {
    let Some(text) = text.as_ref().map(|text| text.to_lowercase()) else { return true };
    names.iter().any(|name| name.to_lowercase().contains(&text))
}

/// The takes of a file: its animations, and every captured motion if it is a humanoid.
fn takes(path: &Path, captured: &[PathBuf]) -> Result<Vec<Take>, String> {
    let opened = open_source(path, &CharacterChoice::default()).map_err(|error| error.to_string())?.value;
    let character = opened.characters.first().ok_or("the file has no character")?;
    let rigged = &character.file.rigged;
    let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let take = |name: String, animation, motion| Take {
        file: name_of(path),
        name,
        performer: Performer { rigged: rigged.clone(), animation, motion },
    };
    let named = |index: usize| rigged.animations[index].name.clone().unwrap_or_else(|| index.to_string());
    let mut takes: Vec<Take> =
        (0..rigged.animations.len()).map(|index| take(named(index), Some(index), None)).collect();
    if character.binding.is_humanoid() {
        for file in captured.iter().filter(|file| *file != path) {
            let motion = CaptureFile::of(file).read().map_err(|error| error.to_string())?.value;
            takes.push(take(name_of(file), None, Some(motion)));
        }
    }
    Ok(takes)
}
