//! Draws pictures and clips of the take.

use super::window;
use crate::drafts::RenderChoice;
use crate::jobs::{Job, Progress};
use crate::open_dialogs::Dialog;
use crate::session::Document;
use crate::studio::Studio;
use egui::{DragValue, TextEdit, Ui};
use sinew_io::{TakeFile, TakeFrameSource};
use sinew_render::{Layout, Overlays, PictureOptions, render_picture};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Studio {
    pub(super) fn render_dialog(&mut self, ui: &Ui) {
        let mut begins = false;
        let is_busy = self.dialogs.job.is_some();
        let has_bones = self.document().is_some_and(|document| !document.model.rigs().is_empty());
        let stays = window(ui, "Render", 420.0, |ui| {
            let choice = &mut self.dialogs.render;
            let label = ui.label("File: .png for a contact sheet, .gif or .mp4 for a clip");
            ui.add(TextEdit::singleline(&mut choice.path).desired_width(f32::INFINITY)).labelled_by(label.id);
            ui.horizontal(|ui| {
                ui.label("Size");
                ui.add(DragValue::new(&mut choice.size[0]).range(64..=4096));
                ui.label("×");
                ui.add(DragValue::new(&mut choice.size[1]).range(64..=4096));
                ui.label("pixels");
            });
            ui.add_enabled(
                has_bones,
                egui::Checkbox::new(&mut choice.compares, "Plain skinning beside flesh"),
            );
            ui.separator();
            begins = ui
                .add_enabled(!is_busy && !choice.path.trim().is_empty(), egui::Button::new("Render"))
                .clicked();
        });
        if begins {
            self.dialogs.hide(Dialog::Render);
            self.start_render();
        }
        if !stays {
            self.dialogs.hide(Dialog::Render);
        }
    }

    /// Draws with what is chosen, in the background.
    pub(crate) fn start_render(&mut self) {
        let Some(document) = self.document() else { return };
        let choice = self.dialogs.render.clone();
        let (take, wake, overlays) = (self.status.take.clone(), self.waker(), self.overlays);
        let work = move |progress: &Progress| draw(&document, &take, &choice, overlays, progress);
        match Job::start("rendering", wake, work) {
            Ok(job) => self.dialogs.job = Some(job),
            Err(error) => self.warn(error),
        }
    }
}

/// Draws a recorded take.
fn draw(
    document: &Arc<Document>,
    take: &Path,
    choice: &RenderChoice,
    overlays: Overlays,
    progress: &Progress,
) -> Result<String, String> {
    let take = TakeFile::open_quickly(take).map_err(|error| error.to_string())?;
    let output = PathBuf::from(choice.path.trim());
    let overlays = Overlays { skinned: choice.compares, ..overlays };
    let source = TakeFrameSource::new(&take, &document.model, &document.opened, overlays)
        .map_err(|error| error.to_string())?;
    let source = source.with_looks(document.looks(&document.opened.looks()));
    let is_sheet = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
    let options = PictureOptions {
        layout: if is_sheet { Layout::Sheet { columns: 4, rows: 3 } } else { Layout::Clip { fps: 30.0 } },
        width: choice.size[0],
        height: choice.size[1],
        compare: choice.compares,
        ..PictureOptions::default()
    };
    render_picture(&source, &options, &output, &mut |done, total| progress.report(done, total))
        .map_err(|error| error.to_string())?;
    Ok(format!("wrote {}", output.display()))
}
