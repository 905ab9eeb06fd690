//! Reads and writes the recipe of a take: the files of its scene, its settings, and the hash of the model that they must give.
//!
//! In its chunk: the length of a text (8 bytes), the text in TOML, then the contents of the files, whose names and lengths are in the text.

use crate::scene_schema::SceneFile;
use crate::take_file::chunk::number;
use sinew_character::TakeSettings;
use sinew_control::DriveMode;
use sinew_files::{CapturedFile, CapturedFiles};
use sinew_sim::SolverKind;
use std::sync::Arc;
use toml::{Table, Value};

/// Everything needed to rebuild the scene and the model of a take, and to check that they are the same.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeRecipe {
    /// The version of Sinew that recorded the take.
    pub sinew: String,
    /// What was opened.
    pub origin: TakeOrigin,
    /// The settings of the take.
    pub settings: TakeSettings,
    /// The hash of the model, [`sinew_sim::Model::hash`].
    pub model_hash: u64,
    /// All files that were read to open the scene.
    pub files: CapturedFiles,
}

/// Where a scene came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakeOrigin {
    /// A scene that ships with Sinew, by its name.
    BuiltIn(String),
    /// A file, by its name among the captured files.
    File(String),
}

impl std::fmt::Display for TakeOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TakeOrigin::BuiltIn(name) => write!(f, "the built-in scene {name}"),
            TakeOrigin::File(name) => f.write_str(name),
        }
    }
}

const DRIVE_MODES: [(DriveMode, &str); 6] = [
    (DriveMode::OneWay, "one-way"),
    (DriveMode::TwoWay, "two-way"),
    (DriveMode::Ragdoll, "ragdoll"),
    (DriveMode::Reach, "reach"),
    (DriveMode::Servo, "servo"),
    (DriveMode::Direct, "direct"),
];

impl TakeRecipe {
    /// The tables of the scene file that was opened; none for other files.
    pub fn scene_file(&self) -> Option<SceneFile> {
        let TakeOrigin::File(name) = &self.origin else { return None };
        let file = self.files.files.iter().find(|file| file.name == *name && name.ends_with(".toml"))?;
        let text = std::str::from_utf8(&file.bytes).ok()?;
        SceneFile::of_text(text).ok().map(|read| read.value)
    }

    /// Appends the recipe as bytes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        // the scene
        let mut text = Table::new();
        text.insert("sinew".into(), self.sinew.clone().into());
        match &self.origin {
            TakeOrigin::BuiltIn(name) => text.insert("built_in".into(), name.clone().into()),
            TakeOrigin::File(name) => text.insert("file".into(), name.clone().into()),
        };

        // settings, those that differ from the defaults
        text.insert("seconds".into(), self.settings.seconds.into());
        text.insert("fps".into(), self.settings.fps.into());
        if let Some((_, word)) = DRIVE_MODES.iter().find(|(lead, _)| Some(*lead) == self.settings.lead) {
            text.insert("lead".into(), (*word).into());
        }
        if let Some(kind) = self.settings.solver {
            text.insert("solver".into(), kind.name().into());
        }
        let TakeSettings { animation, motion, softness, cloth, .. } = &self.settings;
        for (key, value) in
            [("animation", animation), ("motion", motion), ("softness", softness), ("cloth", cloth)]
        {
            if let Some(value) = value {
                text.insert(key.into(), value.clone().into());
            }
        }
        let TakeSettings { without_preroll, is_loop, self_contact, .. } = self.settings;
        for (key, holds) in [("at_once", without_preroll), ("loop", is_loop), ("self_contact", self_contact)]
        {
            if holds {
                text.insert(key.into(), true.into());
            }
        }
        let TakeSettings { floor, motion_scale, jiggle, .. } = self.settings;
        for (key, number) in [("floor", floor), ("motion_scale", motion_scale), ("jiggle", jiggle)] {
            if let Some(number) = number {
                text.insert(key.into(), number.into());
            }
        }

        if let Some(tets) = self.settings.cage_tets {
            text.insert("cage_tets".into(), Value::Integer(tets as i64));
        }

        // what must come out, and the files
        text.insert("model".into(), format!("{:016x}", self.model_hash).into());
        let files = self.files.files.iter().map(|file| {
            let mut entry = Table::new();
            entry.insert("name".into(), file.name.clone().into());
            entry.insert("bytes".into(), Value::Integer(file.bytes.len() as i64));
            Value::Table(entry)
        });
        text.insert("files".into(), files.collect::<Vec<_>>().into());

        // the text, then the contents of the files
        let text = text.to_string();
        out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
        self.files.files.iter().for_each(|file| out.extend_from_slice(&file.bytes));
    }

    /// Reads a recipe from bytes with a valid checksum, or says what is wrong with it.
    pub(super) fn read(bytes: &[u8]) -> Result<TakeRecipe, String> {
        // the text
        let (length, rest) = bytes.split_at_checked(8).ok_or("the recipe is too short")?;
        let (text, mut rest) = usize::try_from(number(length))
            .ok()
            .and_then(|length| rest.split_at_checked(length))
            .ok_or("the text of the recipe is longer than its chunk")?;
        let text = std::str::from_utf8(text).map_err(|_| "the text of the recipe is not UTF-8")?;
        let table: Table = text.parse().map_err(|_| "the text of the recipe is not TOML")?;

        // the scene and choices by name
        let word = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
        let float = |key: &str| table.get(key).and_then(Value::as_float);
        let holds = |key: &str| table.get(key).and_then(Value::as_bool).unwrap_or(false);
        let origin = match (word("built_in"), word("file")) {
            (Some(name), None) => TakeOrigin::BuiltIn(name),
            (None, Some(name)) => TakeOrigin::File(name),
            _ => return Err("the recipe does not name one scene".into()),
        };
        let lead = match word("lead") {
            None => None,
            Some(word) => {
                let found = DRIVE_MODES.iter().find(|(_, name)| *name == word);
                Some(found.ok_or_else(|| format!("the drive mode `{word}` is unknown"))?.0)
            }
        };
        let solver = match word("solver") {
            None => None,
            Some(word) => {
                Some(SolverKind::named(&word).ok_or_else(|| format!("the solver `{word}` is unknown"))?)
            }
        };

        // the contents of the files
        let mut files = Vec::new();
        for entry in table.get("files").and_then(Value::as_array).ok_or("the recipe has no list of files")? {
            let name = entry.get("name").and_then(Value::as_str).ok_or("a file has no name")?;
            let length = entry.get("bytes").and_then(Value::as_integer);
            let length = length.and_then(|length| usize::try_from(length).ok());
            let (own, after) = length
                .and_then(|length| rest.split_at_checked(length))
                .ok_or_else(|| format!("file `{name}` is cut short"))?;
            files.push(CapturedFile { name: name.to_owned(), bytes: Arc::new(own.to_vec()) });
            rest = after;
        }

        // settings
        let settings = TakeSettings {
            seconds: float("seconds").ok_or("the recipe has no `seconds`")?,
            fps: float("fps").ok_or("the recipe has no `fps`")?,
            lead,
            animation: word("animation"),
            motion: word("motion"),
            softness: word("softness"),
            cloth: word("cloth"),
            jiggle: float("jiggle").filter(|jiggle| jiggle.is_finite()),
            motion_scale: float("motion_scale").filter(|scale| scale.is_finite()),
            without_preroll: holds("at_once"),
            is_loop: holds("loop"),
            self_contact: holds("self_contact"),
            floor: float("floor").filter(|floor| floor.is_finite()),
            solver,
            cage_tets: table
                .get("cage_tets")
                .and_then(Value::as_integer)
                .and_then(|n| usize::try_from(n).ok()),
        };
        let model_hash = word("model").and_then(|hash| u64::from_str_radix(&hash, 16).ok());
        Ok(TakeRecipe {
            sinew: word("sinew").ok_or("the recipe has no version of sinew")?,
            origin,
            settings,
            model_hash: model_hash.ok_or("the recipe has no hash of the model")?,
            files: CapturedFiles { files },
        })
    }
}
