//! What outputs may replace: never a file that was read, and a file of others only if that is wanted.
//!
//! Planned before long work, so that a name that cannot be used costs no time. [`crate::AtomicFile`] and [`crate::AtomicFolder`] ask again when their output gets
//! its name, since the disk may have changed meanwhile.

use crate::run_inputs::input_at;
use crate::signature::is_ours;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Which files an output may replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Those that Sinew has written, known by their signature ([`is_ours`]).
    #[default]
    Ours,
    /// Any that was not read.
    Any,
}

/// Targets that were planned with [`Replace::Ours`].
static PROTECTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Plans outputs that are written together. Fails, in words for the user, if two of them are one file, or if one would replace what it may not.
pub fn plan_outputs<'a>(targets: impl IntoIterator<Item = &'a Path>, replace: Replace) -> io::Result<()> {
    let mut planned: Vec<PathBuf> = Vec::new();
    for target in targets {
        let place = place_of(target);
        if planned.iter().any(|other| is_one_place(other, &place)) {
            let message = format!("{} is named twice: give every file a name of its own", target.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        check_output(target, replace)?;
        planned.push(place);
    }
    let mut protected = PROTECTED.lock().unwrap_or_else(PoisonError::into_inner);
    protected.retain(|place| !planned.contains(place));
    if replace == Replace::Ours {
        protected.extend(planned);
    }
    Ok(())
}

/// Fails, in words for the user, if an output would replace what it may not.
pub fn check_output(target: &Path, replace: Replace) -> io::Result<()> {
    check_not_input(target)?;
    let is_there = target.is_file() || target.is_dir();
    if replace == Replace::Ours && is_there && !is_ours(target) {
        let target = target.display();
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!(
                "cannot write {target}: it is there and Sinew did not write it; give another name, or replace it with --force"
            ),
        ));
    }
    Ok(())
}

/// What an output that was begun asks before it gets its name.
pub(crate) fn check_planned(target: &Path) -> io::Result<()> {
    let protected = PROTECTED.lock().unwrap_or_else(PoisonError::into_inner).contains(&place_of(target));
    check_output(target, if protected { Replace::Ours } else { Replace::Any })
}

/// Fails if a target would replace a file that this process has read.
fn check_not_input(target: &Path) -> io::Result<()> {
    let Some(input) = input_at(target) else { return Ok(()) };
    let is_plain = place_of(target) == input;
    let alias = if is_plain { String::new() } else { format!(" ({})", input.display()) };
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("cannot write {}: this run reads it{alias}; give another name", target.display()),
    ))
}

/// The one spelling of a target: the folder as it really is, links followed where the file exists.
fn place_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(named).unwrap_or_else(|| path.to_owned())
}

/// Whether two targets would be one file, on disks that do not tell letter cases apart too.
fn is_one_place(a: &Path, b: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    a == b || (a.parent() == b.parent() && name(a) == name(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AtomicFile, read_bytes};
    use std::fs;
    use std::io::Write;

    fn words(result: io::Result<()>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn outputs_that_are_one_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        plan_outputs([&*at("a.glb"), &*at("b.glb")], Replace::Ours).unwrap();
        for other in ["a.glb", "./a.glb", "A.GLB"] {
            let said = words(plan_outputs([&*at("a.glb"), &*at(other)], Replace::Any));
            assert!(said.contains("named twice"), "{said}");
        }
    }

    #[test]
    fn what_was_read_is_never_replaced_and_what_others_wrote_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let [read, other] = ["read.obj", "other.obj"].map(|name| folder.path().join(name));
        fs::write(&read, "v 0 0 0").unwrap();
        fs::write(&other, "v 0 0 0").unwrap();
        read_bytes(&read).unwrap();
        for replace in [Replace::Ours, Replace::Any] {
            let said = words(plan_outputs([&*read], replace));
            assert!(said.contains("this run reads it; give another name"), "{said}");
        }
        assert!(AtomicFile::create(&read).is_err());
        assert!(words(plan_outputs([&*other], Replace::Ours)).contains("--force"));
        plan_outputs([&*other], Replace::Any).unwrap();
        AtomicFile::create(&other).unwrap().commit().unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"");
    }

    #[test]
    fn a_file_that_appears_meanwhile_stays_and_the_output_gets_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.glb");
        plan_outputs([&*target], Replace::Ours).unwrap();
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"hours of work").unwrap();
        fs::write(&target, "the only copy of my thesis").unwrap();
        let said = words(file.commit());
        assert!(said.contains("a-2.glb"), "{said}");
        assert_eq!(fs::read(&target).unwrap(), b"the only copy of my thesis");
        assert_eq!(fs::read(folder.path().join("a-2.glb")).unwrap(), b"hours of work");
    }
}
