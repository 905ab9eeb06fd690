//! `sinew edit`: changes the scene of a recorded take from a time on, undoes and redoes that, and keeps or drops versions.

mod reach;

pub(crate) use reach::response_words;

use crate::failure::Failure;
use crate::outputs::OutputOptions;
use crate::resume::{self, Goal};
use crate::run::Run;
use crate::stats::StatsOptions;
use crate::take_status::{recorded_length, warn_if_incomplete};
use crate::threads::thread_pool;
use clap::{Args, Subcommand};
use reach::Reach;
use sinew_files::read_bytes;
use sinew_io::{EditTable, SceneFile, TakeEditor, TakeEnding, TakeFile};
use sinew_take::VersionId;
use sinew_zoo::source;
use std::path::PathBuf;

/// Edit a recorded take: change its scene from a time on, without simulating what is before it again.
///
/// Frames behind an edit are simulated with `sinew simulate --resume NAME.take`, or at once with --simulate. Every edit makes a version of the take; all of them are kept in its file, and share the frames
/// that they have in common.
#[derive(Args)]
pub(crate) struct Edit {
    /// A take recorded by `sinew simulate -o NAME.take`.
    take: PathBuf,

    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the edits of the current version.
    List,
    /// Add an edit: a change of the scene from a time on.
    Add(Add),
    /// Remove an edit.
    Remove {
        /// The number of the edit in the list.
        number: usize,
        #[command(flatten)]
        simulation: Simulation,
    },
    /// Find the magnitude of a control metaphor that reaches a wanted displacement or angle at a frame, and make a version with it. The frames in between are simulated several times; a goal out of reach changes nothing.
    Reach(Reach),
    /// Return to the version before the last edit, with all of its frames.
    Undo,
    /// Return to the version that undo left.
    Redo,
    /// List all versions.
    Versions,
    /// Return to a version.
    Switch {
        /// The number of the version.
        version: usize,
    },
    /// Keep only the current version, and give back the disk space of all others. This cannot be undone.
    Drop,
}

#[derive(Args)]
struct Add {
    /// The edit as TOML, as below [[edit]] of a scene file, such as 'gravity = [0, -1.6, 0]', or 'body = [{ name = "torus", material = "rubber" }]'.
    #[arg(value_name = "TOML", required_unless_present = "file", conflicts_with = "file")]
    text: Option<String>,

    /// A file with one or several edits, each begun with [[edit]].
    #[arg(long, value_name = "FILE.toml")]
    file: Option<PathBuf>,

    /// When the edit takes effect (s), rounded to the nearest frame.
    #[arg(long, value_name = "S", conflicts_with = "file", required_unless_present_any = ["frame", "file"])]
    time: Option<f64>,

    /// The last frame without the edit, instead of --time.
    #[arg(long, value_name = "K", conflicts_with_all = ["time", "file"])]
    frame: Option<usize>,

    #[command(flatten)]
    simulation: Simulation,
}

#[derive(Args)]
struct Simulation {
    /// Simulate the frames behind the edit at once.
    #[arg(long)]
    simulate: bool,

    /// The number of threads; the result does not depend on it [default: one per core].
    #[arg(long, value_name = "N", requires = "simulate")]
    threads: Option<usize>,
}

impl Edit {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match &self.action {
            Action::List => self.list(),
            Action::Versions => {
                print_versions(&TakeFile::open_quickly(&self.take)?);
                Ok(())
            }
            Action::Add(add) => self.add(add),
            Action::Remove { number, simulation } => self.remove(*number, simulation),
            Action::Reach(reach) => self.reach(reach),
            Action::Undo => {
                self.go_to(|editor| editor.undo(), "there is nothing to undo: this is the first version")
            }
            Action::Redo => self.go_to(|editor| editor.redo(), "there is nothing to redo"),
            Action::Switch { version } => {
                let id = VersionId::of_number(*version);
                let known =
                    |editor: &TakeEditor| id.filter(|id| editor.take().history().version(*id).is_some());
                let nothing = format!(
                    "there is no version {version}: `sinew edit {} versions` lists them",
                    self.take.display()
                );
                self.go_to(|editor| known(editor).map(|id| editor.go_to(id)).transpose(), &nothing)
            }
            Action::Drop => self.drop_others(),
        }
    }

    fn editor(&self) -> Result<TakeEditor, Failure> {
        let take = TakeFile::open(&self.take)?;
        if matches!(take.ending(), TakeEnding::Damaged { .. }) {
            warn_if_incomplete(&take);
        }
        TakeEditor::begin(take).map_err(Failure::input)
    }

    fn list(&self) -> Result<(), Failure> {
        let take = TakeFile::open_quickly(&self.take)?;
        if take.history().head().edits.is_empty() {
            say!("the take has no edits");
        }
        for (i, edit) in take.history().head().edits.iter().enumerate() {
            say!("{}: frame {}: {}", i + 1, take.history().frame_of(edit), edit.to_line());
        }
        Ok(())
    }

    fn add(&self, add: &Add) -> Result<(), Failure> {
        let editor = self.editor()?;
        let fps = editor.take().recipe().settings.fps;
        let time = add.time.or(add.frame.map(|frame| frame as f64 / fps));
        let added = match (&add.text, &add.file, time) {
            (Some(text), _, Some(time)) => edits_of(text, time)?,
            (_, Some(file), _) => edits_in(file)?,
            _ => return Err(Failure::input("give the edit and its --time, or a --file of edits")),
        };
        let end = editor.take().recipe().settings.seconds;
        for edit in added.iter().filter(|edit| edit.time >= end) {
            warn!(
                "WARNING: the edit at {} s is after the end of the take, {end} s: `sinew simulate --extend {} --seconds S` records on",
                edit.time,
                self.take.display()
            );
        }
        let mut edits = editor.take().history().head().edits.clone();
        edits.extend(added);
        self.set_edits(editor, edits, &add.simulation)
    }

    fn remove(&self, number: usize, simulation: &Simulation) -> Result<(), Failure> {
        let editor = self.editor()?;
        let mut edits = editor.take().history().head().edits.clone();
        if number == 0 || number > edits.len() {
            return Err(Failure::input(format!("there is no edit {number}: the take has {}", edits.len())));
        }
        edits.remove(number - 1);
        self.set_edits(editor, edits, simulation)
    }

    /// Tries edits on the scene, and makes a version of them.
    fn set_edits(
        &self,
        mut editor: TakeEditor,
        edits: Vec<EditTable>,
        simulation: &Simulation,
    ) -> Result<(), Failure> {
        // an edit that cannot be simulated is refused before it is written
        let pool = thread_pool(simulation.threads)?;
        let source = source::reopen_edited(editor.take(), &edits)?;
        let run = pool.install(|| Run::build(&source.scene))?;
        for (character, goal) in source.scene.idle_goals() {
            warn!(
                "WARNING: goal '{goal}' has no effect: '{character}' never reaches for goals; set its mode to \"reach\", \"servo\" or \"direct\""
            );
        }
        editor.take().check_model(run.player.first_model())?;
        drop(run);
        editor.set_edits(edits).map_err(Failure::input)?;
        let take = editor.end();

        // and simulated, if that is asked for
        let is_complete = *take.ending() == TakeEnding::Complete;
        print_version(&take, simulation.simulate);
        if simulation.simulate && !is_complete {
            drop(take);
            let options = OutputOptions::without_preview();
            return resume::run(&self.take, Goal::Edited, &StatsOptions::default(), &options, &pool);
        }
        Ok(())
    }

    fn go_to(
        &self,
        change: impl FnOnce(&mut TakeEditor) -> std::io::Result<Option<VersionId>>,
        nothing: &str,
    ) -> Result<(), Failure> {
        let mut editor = self.editor()?;
        match change(&mut editor).map_err(Failure::input)? {
            Some(_) => print_version(&editor.end(), false),
            None => return Err(Failure::input(nothing)),
        }
        Ok(())
    }

    fn drop_others(&self) -> Result<(), Failure> {
        // the file is replaced, so it is not registered as an input
        let take = TakeFile::open_to_replace(&self.take)?;
        if take.history().versions().count() == 1 {
            tell!("the take has one version: there is nothing to drop");
            return Ok(());
        }
        let editor = TakeEditor::begin(take).map_err(Failure::input)?;
        let (take, saved) = editor.drop_others().map_err(Failure::input)?;
        print_version(&take, false);
        tell!("{:.1} MB of disk space were given back", 1e-6 * saved as f64);
        Ok(())
    }
}

/// An edit in the text of a command.
pub(crate) fn edits_of(text: &str, time: f64) -> Result<Vec<EditTable>, Failure> {
    let read = SceneFile::of_text(&format!("[[edit]]\ntime = {time:?}\n{text}\n"));
    // two lines of the text are ours
    let read = read.map_err(|mut errors| {
        for error in &mut errors.errors {
            if let sinew_io::Place::Line(line) = &mut error.place {
                *line = line.saturating_sub(2).max(1);
            }
        }
        Failure::input(errors)
    })?;
    checked(read.value)
}

/// The edits of a file.
fn edits_in(path: &std::path::Path) -> Result<Vec<EditTable>, Failure> {
    let bytes = read_bytes(path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Failure::input(format!("{}: the file is not UTF-8 text", path.display())))?;
    checked(SceneFile::of_text(text).map_err(|errors| Failure::input(errors.within(path)))?.value)
}

/// The edits of a text that has nothing else.
fn checked(file: SceneFile) -> Result<Vec<EditTable>, Failure> {
    let edits = file.edit.clone();
    if edits.is_empty() || (SceneFile { edit: Vec::new(), ..file } != SceneFile::default()) {
        return Err(Failure::input(
            "an edit has the keys of [[edit]], and nothing stands before it or beside it: begin each one in a file with [[edit]] and its time",
        ));
    }
    Ok(edits)
}

/// Prints the current version, and how to go on with it unless it goes on anyway.
fn print_version(take: &TakeFile, goes_on: bool) {
    let (history, name) = (take.history(), take.path().display());
    let edits = edit_count(history.head().edits.len());
    tell!("version {} with {edits}: {}", history.head_id(), recorded_length(take));
    if *take.ending() != TakeEnding::Complete && !goes_on {
        tell!("to simulate the others: sinew simulate --resume {name}");
    }
}

/// Prints all versions.
pub(crate) fn print_versions(take: &TakeFile) {
    let history = take.history();
    for (id, version) in history.versions() {
        let mark = if id == history.head_id() { "*" } else { " " };
        let shared = version
            .shared
            .map_or(String::new(), |(id, frames)| format!(", {frames} of them shared with version {id}"));
        let bytes = 1e-6 * take.version_bytes(id) as f64;
        say!(
            "{mark} version {id}: {}, {} frames{shared}, {bytes:.1} MB of its own",
            edit_count(version.edits.len()),
            version.frame_count
        );
    }
}

/// "1 edit", "2 edits".
fn edit_count(count: usize) -> String {
    if count == 1 { "1 edit".into() } else { format!("{count} edits") }
}
