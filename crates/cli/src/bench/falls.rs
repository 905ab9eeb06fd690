//! `sinew bench falls`: every rigged file of a folder and every character of the zoo, dropped onto a floor and onto stairs.
//!
//! A row is a fall, simulated by a process of its own, so that its memory is its own and whatever happens to it is a row with an error.

mod fall;
mod free_roots;
mod row;
mod sheet;

use super::character_folder::files_in;
use super::write_report;
use crate::failure::Failure;
use crate::interrupt;
use crate::outputs::{atomic_file, plan_files};
use clap::Args;
use cpu_time::ProcessTime;
use fall::Fall;
use row::Row;
use sinew_files::Replace;
use sinew_io::{CharacterChoice, is_character_file, open_source};
use sinew_sim::desc::{BodyDesc, ShapeDesc, WorldDesc};
use sinew_zoo::catalog;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The longest fall and the longest time for one (s).
const MAX_SECONDS: f64 = 1e6;
/// How much more processor time than its limit a fall may take to stop between two frames (s).
const GRACE: f64 = 20.0;
/// Time between two looks at the processor time.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Drop every rigged character of a folder and of the zoo, limp and two-way coupled, onto a floor and onto stairs.
///
/// The table and its bars are explained in docs/characters.md.
#[derive(Args)]
pub(super) struct Falls {
    /// The folder with characters (.glb, .gltf, .vrm, .fbx).
    #[arg(required_unless_present = "fall")]
    folder: Option<PathBuf>,

    /// Write the rows as JSON, with a description of the machine.
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,

    /// Draw a contact sheet of each fall into this folder.
    #[arg(long, value_name = "DIR")]
    sheets: Option<PathBuf>,

    /// The length of each fall (s).
    #[arg(long, value_name = "S", default_value_t = 4.0)]
    seconds: f64,

    /// How many orientations each character is dropped in.
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,

    /// Drop only characters with this text in their name, in upper or lower case.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// How much processor time a fall may take, with all that is built for it, before it is an error (s).
    #[arg(long, value_name = "S", default_value_t = 300.0)]
    limit: f64,

    /// Let flesh pass through itself.
    #[arg(long)]
    no_self_contact: bool,

    /// Also replace files that Sinew did not write.
    #[arg(long)]
    force: bool,

    /// Simulate one fall, described in JSON, and print its row: what this program asks of itself.
    #[arg(long, hide = true, value_name = "JSON")]
    fall: Option<String>,
}

impl Falls {
    pub(super) fn run(self) -> Result<(), Failure> {
        if let Some(fall) = &self.fall {
            return run_one(fall);
        }

        // outputs, checked before any work is done
        let replace = if self.force { Replace::Any } else { Replace::Ours };
        plan_files(&self.json, replace)?;
        let file = self.json.as_deref().map(atomic_file).transpose()?;
        if let Some(folder) = &self.sheets {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
        }
        for (name, seconds) in [("--seconds", self.seconds), ("--limit", self.limit)] {
            if !(seconds > 0.0 && seconds <= MAX_SECONDS) {
                return Err(Failure::input(format!(
                    "{name} {seconds}: give seconds above 0 and up to {MAX_SECONDS}"
                )));
            }
        }

        // fall after fall
        let mut rows = Vec::new();
        say!("{}", Row::HEAD);
        for fall in self.falls()? {
            let row = run_apart(&fall);
            if interrupt::signal() != 0 {
                return Err(Failure::from(sinew_take::Stopped));
            }
            say!("{row}");
            rows.push(row);
        }
        if rows.is_empty() {
            return Err(Failure::input(
                "there is nothing to drop: give a folder with .glb, .gltf, .vrm or .fbx files",
            ));
        }
        say!("{}", row::verdict(&rows));
        write_report(file, super::values(&rows)?)
    }

    /// All falls that are asked for.
    fn falls(&self) -> Result<Vec<Fall>, Failure> {
        let folder = self.folder.as_deref().unwrap_or(Path::new("."));
        let files = files_in(folder)?.into_iter().filter(|file| is_character_file(file));
        let only = self.only.as_ref().map(|only| only.to_lowercase());
        let is_wanted = |name: &str| only.as_ref().is_none_or(|only| name.to_lowercase().contains(only));
        let files = files
            .filter(|file| is_wanted(&file.to_string_lossy()))
            .filter(|file| has_flesh(file))
            .map(|file| (file, true));
        let zoo = catalog().iter().filter(|character| is_wanted(character.name)).filter_map(|character| {
            let world = (character.build)().world;
            let lands = can_land(character.name, &world);
            lands.then(|| (PathBuf::from(character.name), !world.rigs.is_empty()))
        });
        let mut falls = Vec::new();
        for (character, has_bones) in files.chain(zoo) {
            let modes: &[bool] = if has_bones { &[true, false] } else { &[true] };
            for (&is_limp, on_stairs) in modes.iter().flat_map(|mode| [(mode, false), (mode, true)]) {
                falls.extend((0..self.seeds).map(|seed| self.fall(&character, (is_limp, on_stairs), seed)));
            }
        }
        Ok(falls)
    }

    fn fall(&self, character: &Path, (is_limp, on_stairs): (bool, bool), seed: u64) -> Fall {
        let mut fall = Fall {
            character: character.to_path_buf(),
            is_limp,
            seed,
            on_stairs,
            self_contact: !self.no_self_contact,
            seconds: self.seconds,
            limit: self.limit,
            sheet: None,
        };
        let row = fall.row();
        let name = format!("{}-{}-{}-{}.png", row.character, row.mode, row.ground, seed);
        fall.sheet = self.sheets.as_ref().map(|folder| folder.join(name));
        fall
    }
}

/// Whether what carries a built-in character bears on the ground; if not, says why.
fn can_land(name: &str, world: &WorldDesc) -> bool {
    let is_skin = |body: &BodyDesc| matches!(body.shape, ShapeDesc::Skin(_));
    let is_hollow = !world.rigs.is_empty() && world.bodies.iter().all(is_skin);
    if is_hollow {
        say!("{name:<22.22} left out: its bones carry skin and no flesh, and only flesh bears on the ground");
    }
    !is_hollow
}

/// Whether a file has something to drop; if not, says why.
fn has_flesh(file: &Path) -> bool {
    let opened = open_source(file, &CharacterChoice::default());
    if let Err(error) = &opened {
        let reason = error.to_string();
        say!("{:<22.22} left out: {}", name_of(file), reason.lines().next().unwrap_or_default());
    }
    opened.is_ok()
}

/// The last part of a path.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Simulates a fall in this process and prints its row.
fn run_one(fall: &str) -> Result<(), Failure> {
    let fall: Fall = serde_json::from_str(fall).map_err(Failure::input)?;
    end_in_frame(fall.clone());
    let row = super::character_folder::catch(|| fall.measure());
    let row = row.unwrap_or_else(|error| Row { error: Some(error), ..fall.row() }.judged());
    say!("{}", serde_json::to_string(&row).map_err(Failure::input)?);
    Ok(())
}

/// Watches this process, and ends it with a row that says so where it is not done long after the limit: in a frame, or while its model is built.
fn end_in_frame(fall: Fall) {
    std::thread::spawn(move || {
        while ProcessTime::now().as_duration().as_secs_f64() < fall.limit + GRACE {
            std::thread::sleep(LOOK_EVERY);
        }
        let error = format!("ended after {:.0} s of processor time without a frame", fall.limit + GRACE);
        let row = Row { error: Some(error), ..fall.row() }.judged();
        say!("{}", serde_json::to_string(&row).unwrap_or_default());
        std::process::exit(0);
    });
}

/// Simulates a fall in another process.
fn run_apart(fall: &Fall) -> Row {
    let failed = |error: String| Row { error: Some(error), ..fall.row() }.judged();
    let asked = serde_json::to_string(fall).map_err(|error| error.to_string());
    let started = asked.and_then(|asked| {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["bench", "falls", "--fall", &asked]).stdin(Stdio::null()).stderr(Stdio::null());
        command.output().map_err(|error| error.to_string())
    });
    match started {
        Ok(output) => serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
            failed(format!("the process that simulated it ended with {}", output.status))
        }),
        Err(error) => failed(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bones that carry skin alone fall through the ground; those in flesh do not, and bodies without bones bear on it themselves.
    #[test]
    fn skin_without_flesh_is_left_out() {
        for (name, lands) in [("penguin-skin", false), ("arm-skin", false), ("worm", true), ("cloth", true)] {
            let character = sinew_zoo::find(name).expect("built in");
            assert_eq!(can_land(name, &(character.build)().world), lands, "{name}");
        }
    }
}
