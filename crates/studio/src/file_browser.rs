//! A list of the files of a folder, to open one or to name a new one.

use crate::icons::{Icon, icon_button};
use egui::{ScrollArea, TextEdit, Ui};
use std::path::{Path, PathBuf};

/// What can be opened.
const EXTENSIONS: [&str; 13] =
    ["glb", "gltf", "vrm", "fbx", "toml", "take", "bvh", "obj", "ply", "stl", "node", "ele", "off"];

/// A folder and a name in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileBrowser {
    folder: PathBuf,
    /// Folders, then files that can be opened.
    entries: Vec<(PathBuf, bool)>,
    /// The path that was typed or chosen.
    pub(crate) text: String,
    error: Option<String>,
    saves: bool,
}

/// What a browser is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing yet.
    Pending,
    /// This file.
    Chosen(PathBuf),
    /// None.
    Cancelled,
}

impl FileBrowser {
    /// A browser for files to open, in the folder of the last one.
    pub(crate) fn to_open(last: &FileBrowser) -> FileBrowser {
        let mut browser = FileBrowser { folder: last.folder.clone(), ..FileBrowser::default() };
        browser.begin();
        browser
    }

    /// A browser for a file to write.
    pub(crate) fn to_save(last: &FileBrowser, name: &str) -> FileBrowser {
        let mut browser = FileBrowser {
            folder: last.folder.clone(),
            text: name.into(),
            saves: true,
            ..FileBrowser::default()
        };
        browser.begin();
        browser
    }

    fn begin(&mut self) {
        if self.folder.as_os_str().is_empty() {
            self.folder = std::env::current_dir().unwrap_or_default();
        }
        self.read_folder();
    }

    fn go_to(&mut self, folder: &Path) {
        self.folder = folder.to_path_buf();
        self.read_folder();
    }

    fn read_folder(&mut self) {
        self.entries.clear();
        self.error = None;
        let found = match std::fs::read_dir(&self.folder) {
            Ok(found) => found,
            Err(error) => {
                self.error = Some(format!("{}: {error}", self.folder.display()));
                return;
            }
        };
        for path in found.flatten().map(|entry| entry.path()) {
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            let is_folder = path.is_dir();
            let fits = path
                .extension()
                .is_some_and(|own| EXTENSIONS.iter().any(|known| own.eq_ignore_ascii_case(known)));
            if !is_hidden && (is_folder || fits) {
                self.entries.push((path, is_folder));
            }
        }
        self.entries.sort_by_key(|(path, is_folder)| (!is_folder, path.to_string_lossy().to_lowercase()));
    }

    /// The path that the text means.
    fn path(&self) -> PathBuf {
        self.folder.join(self.text.trim())
    }

    /// Shows the browser.
    pub(crate) fn ui(&mut self, ui: &mut Ui) -> Choice {
        let mut choice = Choice::Pending;
        let mut next_folder = None;
        ui.horizontal(|ui| {
            let parent = self.folder.parent().map(Path::to_path_buf);
            if icon_button(ui, Icon::Above, "Folder above", false).clicked() && parent.is_some() {
                next_folder = parent;
            }
            ui.add(egui::Label::new(self.folder.display().to_string()).truncate());
        });
        ScrollArea::vertical().max_height(280.0).min_scrolled_height(280.0).auto_shrink([false, false]).show(
            ui,
            |ui| {
                if let Some(error) = &self.error {
                    ui.colored_label(crate::theme::ERROR, error);
                } else if self.entries.is_empty() {
                    ui.weak("There is no character, scene, take, motion or mesh in this folder");
                }
                for (path, is_folder) in &self.entries {
                    let name =
                        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                    let label = if *is_folder { format!("{name}/") } else { name.clone() };
                    let response = ui.selectable_label(self.text == name, label);
                    if response.clicked() {
                        if *is_folder {
                            next_folder = Some(path.clone());
                        } else {
                            self.text.clone_from(&name);
                        }
                    }
                    if response.double_clicked() && !is_folder && !self.saves {
                        choice = Choice::Chosen(path.clone());
                    }
                }
            },
        );
        ui.horizontal(|ui| {
            let label = ui.label("File");
            let field = ui
                .add(TextEdit::singleline(&mut self.text).desired_width(ui.available_width() - 150.0))
                .labelled_by(label.id);
            let typed = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            let name = if self.saves { "Save" } else { "Open" };
            let is_named = !self.text.trim().is_empty();
            if ui.add_enabled(is_named, egui::Button::new(name)).clicked() || (typed && is_named) {
                let path = self.path();
                if path.is_dir() {
                    next_folder = Some(path);
                    self.text.clear();
                } else {
                    choice = Choice::Chosen(path);
                }
            }
            if ui.button("Cancel").clicked() {
                choice = Choice::Cancelled;
            }
        });
        if let Some(folder) = next_folder {
            self.go_to(&folder);
        }
        choice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_first_and_other_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.glb", "a.obj", "note.txt", ".hidden.glb"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("z")).unwrap();
        let mut browser = FileBrowser::default();
        browser.go_to(folder.path());
        let names: Vec<_> =
            browser.entries.iter().map(|(path, _)| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["z", "a.obj", "b.glb"]);
        browser.go_to(&folder.path().join("missing"));
        assert!(browser.error.is_some());
    }
}
