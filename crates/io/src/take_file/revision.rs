//! Reads and writes a chunk of the history of a take: one change of its versions, as TOML.
//!
//! ```toml
//! version = 2          # a new version, which becomes the current one
//! parent = 1           # undo returns to this one
//! shared = 1           # it begins with frames of this one,
//! frames = 51          # so many
//! seconds = 4.0
//! [[edit]]             # all of its edits, as in a scene file
//! ```
//!
//! Or `first = true` with `seconds` and edits: those of the only version of a take without frames, in place of those of its scene. Or `head = 1`, the version that becomes the current one by undo, redo or choice; or `seconds = 10.0`, the length that the current version is extended to.

use crate::scene_schema::{EditTable, SceneFile};
use sinew_take::{History, TimedEdit, Version, VersionId};
use toml::{Table, Value};

impl TimedEdit for EditTable {
    fn time(&self) -> f64 {
        self.time
    }
}

/// A change of the versions of a take.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Revision {
    /// Edits and length (s) of the first version of a take without frames.
    First(Vec<EditTable>, f64),
    /// A new version, which becomes the current one.
    Version(Version<EditTable>),
    /// Another version becomes the current one.
    Head(VersionId),
    /// The current version is extended to a length (s).
    Length(f64),
}

impl Revision {
    /// Changes a history; fails if it does not fit.
    pub(super) fn apply(&self, history: &mut History<EditTable>) -> Result<(), String> {
        let fits = match self {
            Revision::First(edits, seconds) => history.replace_first(edits.clone(), *seconds),
            Revision::Version(version) => history.add(version.clone()).is_some(),
            Revision::Head(id) => history.go_to(*id).is_some(),
            Revision::Length(seconds) => {
                history.set_seconds(*seconds);
                true
            }
        };
        fits.then_some(()).ok_or_else(|| "a change of versions does not fit those before it".into())
    }

    /// Appends it as bytes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut table = Table::new();
        let mut set = |key: &str, value: Value| table.insert(key.into(), value);
        let mut edits: &[EditTable] = &[];
        match self {
            Revision::First(own, seconds) => {
                set("first", true.into());
                set("seconds", (*seconds).into());
                edits = own;
            }
            Revision::Version(version) => {
                let number = |id: VersionId| Value::Integer(id.number() as i64);
                version.parent.map(|id| set("parent", number(id)));
                version.shared.map(|(id, _)| set("shared", number(id)));
                set("frames", Value::Integer(version.frame_count as i64));
                set("seconds", version.seconds.into());
                edits = &version.edits;
            }
            Revision::Head(id) => {
                set("head", Value::Integer(id.number() as i64));
            }
            Revision::Length(seconds) => {
                set("seconds", (*seconds).into());
            }
        }
        let edits = SceneFile { edit: edits.to_vec(), ..SceneFile::default() }.to_text();
        out.extend_from_slice(format!("{table}{edits}").as_bytes());
    }

    /// Reads it from bytes with a valid checksum, or says what is wrong with it.
    pub(super) fn read(bytes: &[u8]) -> Result<Revision, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "a change of versions is not UTF-8")?;
        let mut table: Table = text.parse().map_err(|_| "a change of versions is not TOML")?;
        let edits = table.remove("edit");
        let count = |key: &str| {
            let number = table.get(key).and_then(Value::as_integer);
            number.and_then(|number| usize::try_from(number).ok())
        };
        let version = |key: &str| count(key).and_then(VersionId::of_number);
        let seconds = table.get("seconds").and_then(Value::as_float);
        let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        if let Some(id) = version("head") {
            return Ok(Revision::Head(id));
        }
        let seconds = seconds.ok_or("a change of versions has no length")?;
        let parent = version("parent");
        let is_first = table.get("first").and_then(Value::as_bool).unwrap_or(false);
        if parent.is_none() && !is_first {
            return Ok(Revision::Length(seconds));
        }

        // a version, with its edits checked as those of a scene file
        let mut listed = Table::new();
        edits.map(|edits| listed.insert("edit".into(), edits));
        let edits = SceneFile::of_text(&listed.to_string())
            .map_err(|errors| format!("the edits of a version cannot be read: {errors}"))?;
        let edits = edits.value.edit;
        if is_first {
            return Ok(Revision::First(edits, seconds));
        }
        let frame_count = count("frames").ok_or("a version has no number of frames")?;
        Ok(Revision::Version(Version {
            parent,
            shared: version("shared").map(|id| (id, frame_count)),
            edits,
            seconds,
            frame_count,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_come_back_to_the_bit() {
        let edit = |time: f64| EditTable {
            time,
            gravity: Some([0.1 + 0.2, -1.0 / 3.0, 0.0].map(Into::into)),
            ..EditTable::default()
        };
        let version = Version {
            parent: VersionId::of_number(3),
            shared: VersionId::of_number(2).map(|id| (id, 51)),
            edits: vec![edit(0.5), edit(1.0 / 3.0)],
            seconds: 1.0 / 7.0,
            frame_count: 51,
        };
        let bare = Version { shared: None, edits: Vec::new(), frame_count: 0, ..version.clone() };
        for revision in [
            Revision::First(version.edits.clone(), 0.3),
            Revision::Version(version),
            Revision::Version(bare),
            Revision::Head(VersionId::FIRST),
            Revision::Length(10.1),
        ] {
            let mut bytes = Vec::new();
            revision.write(&mut bytes);
            assert_eq!(Revision::read(&bytes), Ok(revision));
        }
        for text in
            ["", "head = 0", "seconds = -1.0", "parent = 1", "parent = 1\nseconds = 1.0", "seconds = 'x'"]
        {
            assert!(Revision::read(text.as_bytes()).is_err(), "{text}");
        }
        let unknown = "parent = 1\nframes = 0\nseconds = 1.0\n[[edit]]\ntime = 1\ngravitas = 1\n";
        assert!(Revision::read(unknown.as_bytes()).unwrap_err().contains("gravitas"));
    }
}
