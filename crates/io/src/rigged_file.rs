//! Opens a rigged character file with an optional captured motion, and builds a character of it.

use crate::bvh::{BvhBody, read_bvh_in};
use crate::character_file::{is_character_file, open_character};
use sinew_character::{
    CapturedMotion, Character, CharacterError, CharacterOptions, DEFAULT_SMOOTHING, FaultyPart,
};
use sinew_files::{Loaded, ReadError, ReadErrors, read_bytes};
use sinew_gltf::CharacterFile;
use sinew_skeleton::Skeleton;
use std::path::{Path, PathBuf};

/// A captured motion for a character, and how it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureFile {
    /// The file (.bvh, or a character file whose animation is taken).
    pub file: PathBuf,
    /// Metres per unit of a .bvh file; by default the unit in which the figure's legs are as long as a person's.
    pub metres_per_unit: Option<f64>,
    /// The cutoff frequency of the low-pass filter (Hz), 0 for none; by default that of captured motion for .bvh, and none for animations.
    pub smoothing: Option<f64>,
    /// The first frame to play; by default the first one after a calibration pose.
    pub first: Option<usize>,
    /// The last frame to play.
    pub last: Option<usize>,
    /// Whether the motion repeats.
    pub is_cycle: bool,
}

impl CaptureFile {
    /// A whole file, with the default unit and filter.
    pub fn of(file: impl Into<PathBuf>) -> CaptureFile {
        CaptureFile {
            file: file.into(),
            metres_per_unit: None,
            smoothing: None,
            first: None,
            last: None,
            is_cycle: false,
        }
    }

    /// Reads the motion.
    pub fn read(&self) -> Result<Loaded<CapturedMotion>, ReadErrors> {
        let is_animation = is_character_file(&self.file);
        let read = if is_animation { self.read_animation()? } else { self.read_capture()? };
        let default_smoothing = if is_animation { 0.0 } else { DEFAULT_SMOOTHING };
        Ok(read.map(|captured| CapturedMotion {
            smoothing: self.smoothing.unwrap_or(default_smoothing),
            first: self.first,
            last: self.last,
            is_cycle: self.is_cycle,
            ..captured
        }))
    }

    /// The first animation of a character file.
    fn read_animation(&self) -> Result<Loaded<CapturedMotion>, ReadErrors> {
        let path = self.file.as_path();
        if self.metres_per_unit.is_some() {
            let message = "says its own unit: --motion-scale and `unit` are for .bvh files";
            return Err(ReadError::whole(message).within(path).into());
        }
        let Loaded { value: file, mut notes } = open_character(path)?;
        let count = file.rigged.animations.len();
        if let (Some(first), 2..) = (file.rigged.animations.first(), count) {
            let name = first.name.as_deref().unwrap_or("without a name");
            notes.push(format!("the motion is animation 0 ('{name}') of the {count} in {}", path.display()));
        }
        let captured = CapturedMotion::of_animation(&file.rigged, 0)
            .map_err(|error| ReadError::whole(error.message).within(path))?;
        Ok(Loaded { value: captured, notes })
    }

    /// A BVH file.
    fn read_capture(&self) -> Result<Loaded<CapturedMotion>, ReadError> {
        let path = self.file.as_path();
        let at = |what: String| ReadError::whole(what).within(path);
        let read =
            read_bvh_in(&read_bytes(path)?, self.metres_per_unit).map_err(|error| error.within(path))?;
        let bvh = read.value;
        let skeleton = bvh.to_skeleton(&BvhBody::default());
        let built = Skeleton::build(&skeleton).map_err(|error| at(error.to_string()))?;
        let motion = bvh.to_motion(&built).map_err(|error| at(error.to_string()))?;
        let captured = CapturedMotion {
            skeleton,
            motion,
            calibration: bvh.first_motion_frame(),
            smoothing: DEFAULT_SMOOTHING,
            first: None,
            last: None,
            is_cycle: false,
        };
        Ok(Loaded { value: captured, notes: read.notes })
    }
}

/// How a rigged file becomes a character.
#[derive(Clone, Debug, Default)]
pub(crate) struct RiggedOptions {
    /// Options of the character; its captured motion is that of `motion`.
    pub(crate) character: CharacterOptions,
    /// A captured motion to play in place of an animation of the file.
    pub(crate) motion: Option<CaptureFile>,
}

/// Opens a rigged file and builds a character of it.
pub(crate) fn open_rigged(
    path: &Path,
    options: RiggedOptions,
) -> Result<Loaded<(CharacterFile, Character)>, ReadErrors> {
    let RiggedOptions { mut character, motion } = options;
    let Loaded { value: file, mut notes } = open_character(path)?;
    if let Some(capture) = &motion {
        let read = capture.read()?;
        notes.extend(read.notes);
        character.motion = Some(read.value);
    }
    let named = |error: CharacterError| {
        let of = match (&error.part, &motion) {
            (FaultyPart::Motion, Some(capture)) => capture.file.as_path(),
            _ => path,
        };
        ReadError::whole(error.message).within(of)
    };
    let made = Character::build(&file.rigged, &character).map_err(named)?;
    notes.extend(made.notes.iter().cloned());
    Ok(Loaded { value: (file, made), notes })
}
