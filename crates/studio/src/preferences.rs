//! What the studio remembers from one start to the next: theme, recent files, and whether the tour was shown.

use egui::Theme;
use sinew_files::AtomicFile;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How many recent files are remembered.
const RECENT: usize = 10;

/// How the mouse moves cameras.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Navigation {
    /// The middle button orbits, with Shift it pans, the wheel zooms.
    #[default]
    Blender,
    /// Alt with the left button orbits, with the middle one pans, with the right one zooms.
    Maya,
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct Preferences {
    /// Light or dark.
    pub theme: Theme,
    /// The size of everything, as a factor.
    pub scale: f32,
    /// How the mouse moves cameras.
    pub navigation: Navigation,
    /// Files that were opened, the last first.
    pub recent: Vec<PathBuf>,
    /// Whether the studio was started before.
    pub is_known: bool,
    path: PathBuf,
}

impl Preferences {
    fn new(folder: &Path) -> Preferences {
        Preferences {
            theme: Theme::Dark,
            scale: 1.0,
            navigation: Navigation::Blender,
            recent: Vec::new(),
            is_known: false,
            path: folder.join("preferences.toml"),
        }
    }

    /// Reads them from a folder; those that cannot be read are the defaults, with the reason.
    pub fn load(folder: &Path) -> (Preferences, Option<String>) {
        let mut own = Preferences::new(folder);
        let text = match std::fs::read_to_string(&own.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (own, None),
            Err(error) => {
                return (
                    own.clone(),
                    Some(format!("preferences were not read: {}: {error}", own.path.display())),
                );
            }
        };
        match text.parse::<toml::Table>() {
            Ok(table) => {
                own.take_over(&table);
                (own, None)
            }
            Err(error) => {
                let problem = format!(
                    "preferences are the defaults, because {} is damaged: {}",
                    own.path.display(),
                    error.message()
                );
                (own, Some(problem))
            }
        }
    }

    fn take_over(&mut self, table: &toml::Table) {
        let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
        if text("theme") == Some("light") {
            self.theme = Theme::Light;
        }
        if text("navigation") == Some("maya") {
            self.navigation = Navigation::Maya;
        }
        if let Some(scale) = table.get("scale").and_then(toml::Value::as_float) {
            self.scale = (scale as f32).clamp(0.6, 3.0);
        }
        let recent = table.get("recent").and_then(toml::Value::as_array);
        self.recent = recent
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_str)
            .map(PathBuf::from)
            .take(RECENT)
            .collect();
        self.is_known = true;
    }

    /// Writes them.
    pub fn save(&self) -> std::io::Result<()> {
        let mut table = toml::Table::new();
        let theme = if self.theme == Theme::Light { "light" } else { "dark" };
        table.insert("theme".into(), theme.into());
        let navigation = if self.navigation == Navigation::Maya { "maya" } else { "blender" };
        table.insert("navigation".into(), navigation.into());
        table.insert("scale".into(), f64::from(self.scale).into());
        let recent: Vec<toml::Value> =
            self.recent.iter().map(|path| path.to_string_lossy().into_owned().into()).collect();
        table.insert("recent".into(), recent.into());
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = AtomicFile::create(&self.path)?;
        file.write_all(table.to_string().as_bytes())?;
        file.commit()
    }

    /// Remembers that something was opened.
    pub fn note_recent(&mut self, input: &Path) {
        let path =
            std::path::absolute(input).ok().filter(|_| input.exists()).unwrap_or_else(|| input.to_path_buf());
        self.recent.retain(|other| *other != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let (mut own, problem) = Preferences::load(folder.path());
        assert!(problem.is_none() && !own.is_known);
        own.theme = Theme::Light;
        own.navigation = Navigation::Maya;
        own.scale = 1.5;
        (0..12).for_each(|i| own.note_recent(&PathBuf::from(format!("starfish-{i}"))));
        own.save().unwrap();
        let (back, problem) = Preferences::load(folder.path());
        assert_eq!((&back, problem), (&Preferences { is_known: true, ..own }, None));
        assert_eq!(back.recent.len(), RECENT);
        assert_eq!(back.recent[0], PathBuf::from("starfish-11"));
    }

    #[test]
    fn damaged_preferences_are_the_defaults_and_said_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("preferences.toml"), "theme = [").unwrap();
        let (own, problem) = Preferences::load(folder.path());
        assert_eq!(own.theme, Theme::Dark);
        assert!(problem.unwrap().contains("preferences.toml is damaged"));
    }
}
