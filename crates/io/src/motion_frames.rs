//! Reads and writes motions of a skeleton as comma-separated values (CSV): one line per frame, one column per joint coordinate.
//!
//! The first line names the columns, `BONE.COORDINATE`: `angle` (rad) and `length` (m) of revolute and prismatic joints (`angle2` for the
//! second one of a bone), `x`, `y`, `z` (m) of translations and the unit quaternion `qx`, `qy`, `qz`, `qw` of rotations. Columns may be in
//! any order; coordinates without a column stay at rest. Numbers survive writing and reading bit for bit.

use sinew_control::SkeletonMotion;
use sinew_files::{ReadError, read_bytes};
use sinew_skeleton::{JointPrimitive, Skeleton, SkeletonState};
use std::fmt::Write;
use std::path::Path;

/// Reads a motion of a skeleton, with the given duration of a frame (s).
pub(crate) fn read_motion_frames(
    path: &Path,
    frame_seconds: f64,
    skeleton: &Skeleton,
) -> Result<SkeletonMotion, ReadError> {
    let bytes = read_bytes(path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| ReadError::byte(error.valid_up_to(), "the file is not UTF-8 text").within(path))?;
    frames_of_text(text, skeleton)
        .and_then(|frames| {
            SkeletonMotion::restored(skeleton, frame_seconds, frames)
                .map_err(|error| ReadError::whole(error.to_string()))
        })
        .map_err(|error| error.within(path))
}

/// The text of a motion. Reading it with the same skeleton gives the same frames, bit for bit.
pub(crate) fn motion_frames_text(motion: &SkeletonMotion, skeleton: &Skeleton) -> String {
    let cells: Vec<String> = column_names(skeleton).iter().map(|name| quoted(name)).collect();
    let mut text = cells.join(",") + "\n";
    for i in 0..motion.frame_count() {
        for (k, x) in motion.frame(i).iter().enumerate() {
            // writing to a string never fails
            let _ = write!(text, "{}{x}", if k == 0 { "" } else { "," });
        }
        text.push('\n');
    }
    text
}

/// The names of the coordinates of a skeleton, in the order of [`SkeletonState::q`].
fn column_names(skeleton: &Skeleton) -> Vec<String> {
    let mut names = vec![String::new(); skeleton.q_count()];
    for bone in skeleton.bones() {
        let mut at = bone.joint.q_offset;
        let (mut angles, mut lengths) = (0, 0);
        let numbered = |word: &str, count: &mut usize| {
            *count += 1;
            if *count == 1 { word.to_owned() } else { format!("{word}{count}") }
        };
        for part in skeleton.parts(&bone.joint) {
            let words: Vec<String> = match part {
                JointPrimitive::Revolute(_) => vec![numbered("angle", &mut angles)],
                JointPrimitive::Prismatic(_) => vec![numbered("length", &mut lengths)],
                JointPrimitive::Translation => ["x", "y", "z"].map(str::to_owned).to_vec(),
                JointPrimitive::Ball => ["qx", "qy", "qz", "qw"].map(str::to_owned).to_vec(),
            };
            for word in words {
                names[at] = format!("{}.{word}", bone.name);
                at += 1;
            }
        }
    }
    names
}

/// A cell, in quotes if its text needs them.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn frames_of_text(text: &str, skeleton: &Skeleton) -> Result<Vec<f64>, ReadError> {
    // the header
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (line, header) = lines.next().ok_or_else(|| ReadError::whole("the file is empty"))?;
    let columns = read_header(header, skeleton).map_err(|message| ReadError::line(line, message))?;

    // one line per frame
    let rest = SkeletonState::at_rest(skeleton).q;
    let mut frames = Vec::new();
    for (line, row) in lines {
        let start = frames.len();
        frames.extend_from_slice(&rest);
        // as many finite numbers as columns
        let mut cells = row.split(',');
        for column in &columns {
            let cell = cells.next().map(str::trim).ok_or_else(|| {
                ReadError::line(
                    line,
                    format!("this line has fewer numbers than the header has columns ({})", columns.len()),
                )
            })?;
            let number = cell.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
                let cell: String = cell.chars().take(40).flat_map(char::escape_debug).collect();
                ReadError::line(line, format!("`{cell}` is not a finite number"))
            })?;
            frames[start + column] = number;
        }
        if cells.next().is_some() {
            return Err(ReadError::line(
                line,
                format!("this line has more numbers than the header has columns ({})", columns.len()),
            ));
        }
    }
    Ok(frames)
}

/// The index of the coordinate of each column.
fn read_header(header: &str, skeleton: &Skeleton) -> Result<Vec<usize>, String> {
    let names = column_names(skeleton);
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut columns = Vec::new();
    for cell in header_cells(header) {
        let Some(column) = known.iter().position(|name| *name == cell) else {
            let near = sinew_character::nearest(&cell, &known);
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let cell: String = cell.chars().take(60).flat_map(char::escape_debug).collect();
            return Err(format!("the skeleton has no coordinate `{cell}`{hint}"));
        };
        if columns.contains(&column) {
            return Err(format!("column `{cell}` is given twice"));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The cells of a line, which may be quoted.
fn header_cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut in_quotes) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if in_quotes && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => cells.push(core::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sinew_skeleton::{BoneDesc, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc};

    fn skeleton() -> Skeleton {
        let kinds = [
            ("root, \"the\"", JointKind::Free),
            ("neck.a", JointKind::Ball),
            ("tail", JointKind::Universal(sinew_math::Vec3::x(), sinew_math::Vec3::y())),
        ];
        let bone = |(i, (name, kind)): (usize, (&str, JointKind))| BoneDesc {
            name: name.into(),
            parent: if i == 0 { Parent::World } else { Parent::Index(0) },
            parent_from_joint: sinew_math::Isometry::identity(),
            joint: JointDesc::of(kind),
            mass: MassDesc::Massless,
        };
        let desc = SkeletonDesc { bones: kinds.into_iter().enumerate().map(bone).collect() };
        Skeleton::build(&desc.with_plain_masses()).unwrap()
    }

    #[test]
    fn frames_survive_a_round_trip_bit_for_bit() {
        let skeleton = skeleton();
        let mut state = SkeletonState::at_rest(&skeleton);
        let mut frames = Vec::new();
        for _ in 0..20 {
            state.v.iter_mut().enumerate().for_each(|(i, v)| *v = 0.1 + 0.37 * i as f64);
            state.move_along_velocity(&skeleton, 0.13);
            frames.extend_from_slice(&state.q);
        }
        let motion = SkeletonMotion::build(&skeleton, 0.01, frames).unwrap();
        let read = frames_of_text(&motion_frames_text(&motion, &skeleton), &skeleton).unwrap();
        let again = SkeletonMotion::restored(&skeleton, 0.01, read).unwrap();
        for i in 0..20 {
            let bits =
                |motion: &SkeletonMotion| motion.frame(i).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&again), bits(&motion));
        }
    }

    #[test]
    fn columns_may_be_in_any_order_and_errors_give_the_line() {
        let skeleton = skeleton();
        let frames = frames_of_text("tail.angle2,tail.angle\n0.5,0.25\n\n1,2\n", &skeleton).unwrap();
        let tail = skeleton.bones().iter().find(|bone| bone.name == "tail").unwrap().joint.q_offset;
        assert_eq!((frames[tail], frames[tail + 1]), (0.25, 0.5));
        assert_eq!(frames.len(), 2 * skeleton.q_count());
        for (text, said) in [
            ("", "empty"),
            ("tail.angl\n", "line 1: the skeleton has no coordinate `tail.angl`; did you mean `tail.angle`?"),
            ("tail.angle,tail.angle\n", "twice"),
            ("tail.angle\n1,2\n", "line 2: this line has more numbers than the header has columns (1)"),
            ("tail.angle\n1\nx\n", "line 3: `x` is not a finite number"),
            ("tail.angle,tail.angle2\n1\n", "fewer numbers"),
        ] {
            let error = frames_of_text(text, &skeleton).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(header in "(tail\\.angle2?|[\",]){0,5}", rows in "[0-9,.e\\-\\n\"]{0,60}") {
            let skeleton = skeleton();
            if let Ok(frames) = frames_of_text(&format!("{header}\n{rows}"), &skeleton) {
                let _ = SkeletonMotion::restored(&skeleton, 0.1, frames);
            }
        }
    }
}
