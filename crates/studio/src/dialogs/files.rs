//! Opening, saving, and takes that an earlier run left behind.

use super::window;
use crate::autosave::MAX_LOST_FRAMES;
use crate::file_browser::Choice;
use crate::jobs::{Job, Progress};
use crate::open_dialogs::Dialog;
use crate::studio::Studio;
use egui::Ui;
use sinew_files::AtomicFile;
use sinew_io::TakeFile;
use std::io::{Read as _, Write as _};
use std::path::Path;

impl Studio {
    pub(super) fn open_dialog(&mut self, ui: &Ui) {
        let mut choice = Choice::Pending;
        let stays = window(ui, "Open", 460.0, |ui| {
            ui.weak("Characters (.glb .gltf .vrm .fbx), scenes (.toml), takes (.take), motions (.bvh), meshes (.obj .ply .stl)");
            choice = self.dialogs.browser.ui(ui);
        });
        match choice {
            Choice::Chosen(path) => {
                self.dialogs.hide(Dialog::Open);
                self.open(&path);
            }
            Choice::Cancelled => self.dialogs.hide(Dialog::Open),
            Choice::Pending if !stays => self.dialogs.hide(Dialog::Open),
            Choice::Pending => {}
        }
    }

    pub(super) fn save_dialog(&mut self, ui: &Ui) {
        let mut choice = Choice::Pending;
        let stays = window(ui, "Save take as", 460.0, |ui| {
            ui.weak("All versions of the take, to be opened and edited again");
            choice = self.dialogs.browser.ui(ui);
        });
        match choice {
            Choice::Chosen(path) => {
                self.dialogs.hide(Dialog::SaveTake);
                self.save_take(&path);
            }
            Choice::Cancelled => self.dialogs.hide(Dialog::SaveTake),
            Choice::Pending if !stays => self.dialogs.hide(Dialog::SaveTake),
            Choice::Pending => {}
        }
    }

    /// Copies the take to a file of its own, as far as it is recorded, in the background.
    pub fn save_take(&mut self, target: &Path) {
        let target =
            if target.extension().is_some() { target.to_path_buf() } else { target.with_extension("take") };
        if let Err(error) = check_target(&target) {
            return self.warn(error);
        }
        let source = self.status.take.clone();
        self.preferences.note_recent(&target);
        let work = move |progress: &Progress| copy_take(&source, &target, progress);
        match Job::start("saving", self.waker(), work) {
            Ok(job) => self.dialogs.job = Some(job),
            Err(error) => self.warn(error),
        }
    }

    /// Offers takes that were not saved.
    pub(super) fn recovery_dialog(&mut self, ui: &Ui) {
        if self.dialogs.recovery.is_empty() {
            return;
        }
        let lost = self.dialogs.recovery.clone();
        let mut opened = None;
        let mut is_closed = false;
        let stays = window(ui, "Takes from last time", 420.0, |ui| {
            ui.label(format!(
                "These were not saved under a name. If the program was killed, at most the last {MAX_LOST_FRAMES} frames that it had simulated are lost; what is missing is simulated again."
            ));
            egui::ScrollArea::vertical().max_height(240.0).show(ui, |ui| {
                for take in &lost {
                    ui.horizontal(|ui| {
                        let name = take
                            .path
                            .file_name()
                            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                        let name = name.split('-').next().unwrap_or_default().to_owned();
                        let (frames, goal) = take.frames;
                        let state = if frames < goal {
                            format!("{frames} of {goal} frames are there")
                        } else {
                            format!("{frames} frames")
                        };
                        if ui.button("Open").clicked() {
                            opened = Some(take.path.clone());
                        }
                        ui.label(format!("{name}: {state}"));
                    });
                }
            });
            ui.separator();
            ui.horizontal(|ui| {
                if ui.button("Keep for later").clicked() {
                    is_closed = true;
                }
                if ui.button("Delete all").clicked() {
                    for take in &lost {
                        if let Err(error) = std::fs::remove_file(&take.path) {
                            self.warn(format!("{}: {error}", take.path.display()));
                        }
                    }
                    is_closed = true;
                }
            });
        });
        if let Some(path) = opened {
            self.open(&path);
            is_closed = true;
        }
        if is_closed || !stays {
            self.dialogs.recovery.clear();
        }
    }
}

/// Whether a take may be written to a file.
fn check_target(target: &Path) -> Result<(), String> {
    if target.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("take")) {
        return Err(format!("{}: a take has the ending .take; Bake writes other formats", target.display()));
    }
    if target.exists() && TakeFile::open_quickly(target).is_err() {
        return Err(format!("{} is there and is no take: choose another name", target.display()));
    }
    Ok(())
}

/// Copies a take, of which more may be recorded meanwhile: what was there at the start is copied.
fn copy_take(source: &Path, target: &Path, progress: &Progress) -> Result<String, String> {
    if std::path::absolute(target).ok() == std::path::absolute(source).ok() {
        return Ok(format!("{} is recorded as it is simulated", target.display()));
    }
    let refuse = |error: std::io::Error| format!("{}: {error}", source.display());
    let mut from = std::fs::File::open(source).map_err(refuse)?;
    let total = from.metadata().map_err(refuse)?.len();
    let mut file = AtomicFile::create(target).map_err(|error| error.to_string())?;
    let (mut buffer, mut done) = (vec![0; 1 << 20], 0);
    while done < total {
        if progress.is_cancelled() {
            return Err("saving was cancelled: nothing was written".into());
        }
        let wanted = buffer.len().min((total - done) as usize);
        let read = from.read(&mut buffer[..wanted]).map_err(refuse)?;
        if read == 0 {
            break;
        }
        file.write_all(&buffer[..read]).map_err(|error| error.to_string())?;
        done += read as u64;
        progress.report(done as usize, total as usize);
    }
    file.commit().map_err(|error| error.to_string())?;
    Ok(format!("saved {}", target.display()))
}
