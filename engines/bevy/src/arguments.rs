//! The arguments of the command line.

use std::ffi::OsString;
use std::path::PathBuf;

/// How the program is called.
pub(crate) const USAGE: &str = "usage: sinew-bevy FILE.glb [--animation NAME|INDEX] [--time S] -o OUT.png

Plays an animation of a GLB in Bevy, without a window, and saves a picture of one time.

  --animation NAME|INDEX  the animation, by name or by number counted from 0 [default: 0]
  --time S                the time to show (s) [default: 0]
  -o OUT.png              the picture to write";

/// The arguments of the command line.
pub(crate) struct Arguments {
    /// The glTF file to play.
    pub(crate) file: PathBuf,
    /// Name or number of an animation.
    pub(crate) animation: String,
    /// The time to show (s).
    pub(crate) time: f32,
    /// The picture to write.
    pub(crate) output: PathBuf,
}

impl Arguments {
    /// Reads the arguments; none where help is asked for.
    pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Option<Arguments>, String> {
        let (mut file, mut animation, mut time, mut output) = (None, "0".to_string(), 0.0, None);
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value =
                || words.next().ok_or_else(|| format!("{} needs a value\n\n{USAGE}", word.display()));
            match word.to_str() {
                Some("-h" | "--help") => return Ok(None),
                Some("--animation") => animation = value()?.to_string_lossy().into_owned(),
                Some("--time") => time = seconds(&value()?)?,
                Some("-o" | "--output") => output = Some(PathBuf::from(value()?)),
                Some(option) if option.starts_with('-') => {
                    return Err(format!("there is no option {option}\n\n{USAGE}"));
                }
                _ if file.is_none() => file = Some(PathBuf::from(word)),
                _ => return Err(format!("one file at a time: {} is a second\n\n{USAGE}", word.display())),
            }
        }
        let file = file.ok_or_else(|| format!("no file is given\n\n{USAGE}"))?;
        let output = output.ok_or_else(|| format!("no picture is asked for: add -o OUT.png\n\n{USAGE}"))?;
        if output.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
            return Err(format!("-o {}: the picture is a .png", output.display()));
        }
        Ok(Some(Arguments { file, animation, time, output }))
    }
}

/// A time of zero or more (s).
fn seconds(value: &OsString) -> Result<f32, String> {
    let time = value.to_str().and_then(|word| word.parse().ok());
    let time = time.filter(|time: &f32| time.is_finite() && *time >= 0.0);
    time.ok_or_else(|| format!("--time {}: seconds from 0 are accepted, such as 0.5", value.display()))
}
