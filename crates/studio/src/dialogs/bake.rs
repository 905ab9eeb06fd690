//! Writes the take in formats of other programs.

use super::window;
use crate::drafts::BakeChoice;
use crate::folders::absolute;
use crate::jobs::{Job, Progress};
use crate::open_dialogs::Dialog;
use crate::session::Document;
use crate::studio::Studio;
use egui::{ComboBox, Slider, TextEdit, Ui};
use sinew_io::{ReadError, SinkOptions, SinkPlan, TakeFile};
use sinew_sim::{FleshSkinOptions, Model, State};
use sinew_take::{SinkError, Stopped, replay};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Formats, by their endings, with who reads them.
const FORMATS: [(&str, &str); 6] = [
    ("glb", "glTF: Blender, game engines, the web"),
    ("usda", "USD: Blender, Houdini, Maya, Unreal"),
    ("abc", "Alembic: Blender, Maya, Unreal"),
    ("pc2", "PC2 cache and OBJ: Blender"),
    ("mdd", "MDD cache and OBJ: Blender, LightWave"),
    ("obj", "a folder of OBJ files"),
];

impl Studio {
    pub(super) fn bake_dialog(&mut self, ui: &Ui) {
        let mut begins = false;
        let (frames, goal) = (self.status.frames, self.status.frame_goal);
        let is_busy = self.dialogs.job.is_some();
        let stays = window(ui, "Bake", 420.0, |ui| {
            let choice = &mut self.dialogs.bake;
            let label = ui.label("File, without its ending");
            ui.add(TextEdit::singleline(&mut choice.path).desired_width(f32::INFINITY)).labelled_by(label.id);
            ui.weak(format!("Writes {}", absolute(&output_of(choice))));
            ComboBox::from_label("Format").width(300.0).selected_text(FORMATS[choice.format].1).show_ui(
                ui,
                |ui| {
                    for (i, (_, name)) in FORMATS.iter().enumerate() {
                        ui.selectable_value(&mut choice.format, i, *name);
                    }
                },
            );
            if FORMATS[choice.format].0 == "glb" {
                ui.add(
                    Slider::new(&mut choice.error, 0.01..=2.0)
                        .logarithmic(true)
                        .text("% of size: error allowed"),
                );
            }
            ui.checkbox(&mut choice.has_skin, "Skin over flesh")
                .on_hover_text("Bakes elastic skin in place of the surface of flesh");
            ui.checkbox(&mut choice.replaces, "Replace what is there");
            if frames < goal {
                ui.colored_label(
                    crate::theme::warning(ui.visuals()),
                    format!("{frames} of {goal} frames are simulated so far: only those are baked"),
                );
            }
            ui.separator();
            begins = ui
                .add_enabled(!is_busy && !choice.path.trim().is_empty(), egui::Button::new("Bake"))
                .clicked();
        });
        if begins {
            self.dialogs.hide(Dialog::Bake);
            self.start_bake();
        }
        if !stays {
            self.dialogs.hide(Dialog::Bake);
        }
    }

    /// Bakes with what is chosen, in the background.
    pub(crate) fn start_bake(&mut self) {
        let Some(document) = self.document() else { return };
        let choice = self.dialogs.bake.clone();
        let output = output_of(&choice);
        if !choice.replaces && output.exists() {
            self.warn(format!(
                "{} is there already: choose another name, or to replace it",
                output.display()
            ));
            return;
        }
        let take = self.status.take.clone();
        let wake = self.waker();
        let work = move |progress: &Progress| {
            let skin = choice.has_skin.then(FleshSkinOptions::default);
            let options = SinkOptions { error_fraction: 0.01 * choice.error, skin, ..SinkOptions::default() };
            bake(&document, &take, &output, options, progress)
        };
        match Job::start("baking", wake, work) {
            Ok(job) => self.dialogs.job = Some(job),
            Err(error) => self.warn(error),
        }
    }

    /// Shows what is written in the background, and how it ended.
    pub(super) fn follow_job(&mut self, ui: &Ui) {
        let Some(job) = &self.dialogs.job else { return };
        if let Some(end) = job.end() {
            self.dialogs.job = None;
            return match end {
                Ok(done) => self.tell(done),
                Err(error) => self.warn(error),
            };
        }
        let (name, fraction) = (job.name.clone(), job.fraction());
        let mut cancels = false;
        egui::Window::new("Working")
            .title_bar(false)
            .resizable(false)
            .anchor(egui::Align2::RIGHT_TOP, [-12.0, 40.0])
            .show(ui.ctx(), |ui| {
                ui.horizontal(|ui| {
                    if fraction < 1.0 {
                        ui.label(name);
                        ui.add(egui::ProgressBar::new(fraction).desired_width(160.0).show_percentage());
                    } else {
                        ui.label(format!("{name}: writing the file"));
                    }
                    cancels = ui.button("Cancel").clicked();
                });
            });
        if cancels && let Some(job) = &self.dialogs.job {
            job.cancel();
        }
        ui.ctx().request_repaint_after_secs(0.1);
    }
}

/// The file or folder that is written.
fn output_of(choice: &BakeChoice) -> PathBuf {
    let (path, ending) = (choice.path.trim(), FORMATS[choice.format].0);
    if ending == "obj" { PathBuf::from(path) } else { PathBuf::from(format!("{path}.{ending}")) }
}

/// Why a bake ends early.
enum BakeError {
    Stopped,
    Other(String),
}

impl From<Stopped> for BakeError {
    fn from(_: Stopped) -> BakeError {
        BakeError::Stopped
    }
}

impl From<SinkError> for BakeError {
    fn from(error: SinkError) -> BakeError {
        BakeError::Other(error.to_string())
    }
}

impl From<ReadError> for BakeError {
    fn from(error: ReadError) -> BakeError {
        BakeError::Other(error.to_string())
    }
}

/// Writes a recorded take to a file.
fn bake(
    document: &Arc<Document>,
    take: &Path,
    output: &Path,
    chosen: SinkOptions,
    progress: &Progress,
) -> Result<String, String> {
    let take = TakeFile::open_quickly(take).map_err(|error| error.to_string())?;
    let model: &Model = &document.model;
    let count = take.frame_count();
    let looks = document.looks(&document.opened.looks());
    let options = SinkOptions { frame_count: Some(count), preview: false, looks, ..chosen };
    let written = (|| -> Result<Vec<String>, BakeError> {
        let plan = SinkPlan::new(output, &document.opened, &options)?;
        let mut sink = plan.open(model)?;
        let states = take.states(model)?.map(|state| state.map_err(BakeError::from));
        let watch = |frame: usize| {
            progress.report(frame + 1, count);
            if progress.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        replay::<BakeError, _>(
            model,
            document.fps,
            states.map(|state: Result<State, BakeError>| state),
            &mut [&mut sink],
            watch,
        )?;
        Ok(sink.report().lines())
    })();
    match written {
        Ok(lines) if lines.is_empty() => Ok(format!("wrote {}", output.display())),
        Ok(lines) => Ok(lines.join("\n")),
        Err(BakeError::Stopped) => Err("baking was cancelled: nothing was written".into()),
        Err(BakeError::Other(error)) => Err(error),
    }
}
