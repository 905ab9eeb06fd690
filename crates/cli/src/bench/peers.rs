//! Other systems on the same work, beside our implicit steps, in one table.
//!
//! Other systems are run by scripts in a folder that the user names. They print lines such as `mujoco 10k dt=0.0167 cpu/ss=1.8 half2=72.1`. A system that is not found is
//! reported, never skipped silently.

mod native;

use super::implicit;
use crate::failure::Failure;
use clap::Args;
use serde::Serialize;
use sinew_files::ScratchFolder;
use sinew_mesh::{TetMesh, shapes};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where to find other systems.
#[derive(Args)]
pub(crate) struct PeerArgs {
    /// For `peers`: the folder of the scripts that run other systems.
    #[arg(long, value_name = "DIR", default_value = "peers")]
    peers: PathBuf,

    /// For `peers`: the Python interpreter for those scripts, with their packages installed.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,

    /// For `peers`: the program built in benches/peers, which runs Rust libraries.
    #[arg(long, value_name = "PROGRAM")]
    native: Option<PathBuf>,
}

/// One line of the table.
#[derive(Serialize, Debug, PartialEq)]
pub(super) struct Row {
    bench: &'static str,
    system: String,
    work: String,
    cpu_per_simulated_second: f64,
    /// The time step (s).
    dt: f64,
    /// The deflection of the beam's free end at rest (mm): solved for in Sinew, the mean of the second half of the swing in other systems.
    tip_static_mm: Option<f64>,
    /// The relative residual of the worst step; unknown in other systems.
    residual: Option<f64>,
    /// Steps that did not reach their tolerance, where a system reports it.
    unsolved_steps: Option<usize>,
}

/// A script that runs another system.
struct Peer {
    system: &'static str,
    /// The Python package it needs.
    package: &'static str,
    script: &'static str,
    /// The arguments of each run.
    runs: &'static [&'static [&'static str]],
    /// The work it does, if its output does not say.
    work: Option<&'static str>,
    /// Lines that lack any of these are ignored.
    must_contain: &'static [&'static str],
}

/// The time step of the scripts (s): 1/60.
const DT: &str = "0.016666666666666666";

const PEERS: [Peer; 5] = [
    Peer {
        system: "mujoco",
        package: "mujoco",
        script: "mujoco_warnings.py",
        runs: &[&[]],
        work: None,
        must_contain: &["dt=0.0166667"],
    },
    Peer {
        system: "mujoco quadratic cells 4x1x1",
        package: "mujoco",
        script: "mujoco_reduced_beam.py",
        runs: &[&[]],
        work: Some("beam-10k-cage"),
        must_contain: &["quadratic cells=(4, 1, 1)", "dt=0.0166667"],
    },
    Peer {
        system: "mujoco",
        package: "mujoco",
        script: "mujoco_arm.py",
        runs: &[&["8", DT, "discrete", "2"]],
        work: Some("arm-10k"),
        must_contain: &["mujoco-arm"],
    },
    Peer {
        system: "drake corotational",
        package: "pydrake",
        script: "drake_beam.py",
        runs: &[&["1k", DT, "1", "Corotated"], &["10k", DT, "0.5", "Corotated"]],
        work: None,
        must_contain: &["drake"],
    },
    Peer {
        system: "pbat vertex block descent, 20 iterations, Anderson",
        package: "pbatoolkit",
        script: "pbat_beam.py",
        runs: &[
            &["1k", DT, "1", "20", "2", "anderson"],
            &["10k", DT, "1", "20", "2", "anderson"],
            &["50k", DT, "1", "20", "0.5", "anderson"],
        ],
        work: None,
        must_contain: &["pbat-vbd"],
    },
];

pub(super) fn run(args: &PeerArgs, max_tets: usize) -> Result<Vec<Row>, Failure> {
    let mut rows: Vec<Row> = implicit::compared(max_tets)?.iter().map(Row::of).collect();
    say!("peers: other systems on the same work, CPU time of all their threads");
    let folder = ScratchFolder::create_in(&std::env::temp_dir())
        .map_err(|e| Failure::input(format!("a temporary folder for the scripts cannot be created: {e}")))?;
    write_meshes(folder.path())?;
    match native::run(args, max_tets) {
        Ok(found) => rows.extend(found),
        Err(why) => say!("{:>16}: not run: {why}", "rapier3d"),
    }
    for peer in &PEERS {
        match peer.run(args, folder.path(), max_tets) {
            Ok(found) => rows.extend(found),
            Err(why) => say!("{:>16}: not run: {why}", peer.system),
        }
    }
    Ok(rows)
}

impl Row {
    fn of(row: &implicit::Row) -> Row {
        Row {
            bench: "peers",
            system: format!("sinew implicit, {}", row.setting),
            work: row.work.into(),
            cpu_per_simulated_second: row.cpu_per_simulated_second,
            dt: 1.0 / 60.0,
            tip_static_mm: (row.tip_static_mm > 0.0).then_some(row.tip_static_mm),
            residual: Some(row.residual),
            unsolved_steps: Some(row.unsolved_steps),
        }
    }
}

impl Peer {
    fn run(&self, args: &PeerArgs, folder: &Path, max_tets: usize) -> Result<Vec<Row>, String> {
        // the script
        let script = std::path::absolute(args.peers.join(self.script)).map_err(|e| e.to_string())?;
        if !script.is_file() {
            return Err(format!(
                "{} does not exist; give the folder of the scripts with --peers",
                script.display()
            ));
        }

        // Python with the package
        let python = |arguments: &[&str]| {
            let mut command = Command::new(&args.python);
            command.args(arguments).current_dir(folder).stdin(Stdio::null());
            // numerical libraries run on one thread
            command
                .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1")));
            command.output().map_err(|e| {
                format!("{}: {e}; give the Python interpreter with --python", args.python.display())
            })
        };
        let package = python(&["-c", &format!("import {}", self.package)])?;
        if !package.status.success() {
            return Err(format!("{} does not have the package {}", args.python.display(), self.package));
        }

        // the rows that each run prints
        let mut rows = Vec::new();
        for run in self.runs {
            if run.first().is_some_and(|size| tets_of(size) > max_tets) {
                continue;
            }
            let script = script.to_string_lossy().into_owned();
            let mut arguments = vec![script.as_str()];
            arguments.extend_from_slice(run);
            let output = python(&arguments)?;
            let text = String::from_utf8_lossy(&output.stdout);
            let found: Vec<Row> = text.lines().filter_map(|line| self.row(line)).collect();
            if found.is_empty() {
                let fault = String::from_utf8_lossy(&output.stderr);
                let last = fault.lines().last().unwrap_or("it printed no result").to_owned();
                say!("{:>16}: {} {}: {last}", self.system, self.script, run.join(" "));
            }
            found.iter().for_each(say_row);
            rows.extend(found);
        }
        Ok(rows)
    }

    /// Parses a line of the script's output; `None` if it is not a row.
    fn row(&self, line: &str) -> Option<Row> {
        if !self.must_contain.iter().all(|part| line.contains(part)) {
            return None;
        }
        let cpu = number(line, "cpu/ss=").or_else(|| number(line, "cpu/simsec="))?;
        let size = line.split_whitespace().find(|word| ["1k", "10k", "50k"].contains(word));
        let work = match self.work {
            Some(work) => work.to_owned(),
            None => format!("beam-{}", size?),
        };
        let tip = number(line, "half2=").or_else(|| number(line, "mean="));
        Some(Row {
            bench: "peers",
            system: self.system.into(),
            work,
            cpu_per_simulated_second: cpu,
            dt: number(line, "dt=").unwrap_or(1.0 / 60.0),
            tip_static_mm: tip,
            residual: None,
            unsolved_steps: number(line, "nonconvergence=").map(|count| count as usize),
        })
    }
}

fn say_row(row: &Row) {
    let or_dash = |number: Option<f64>| number.map_or("-".to_owned(), |x| format!("{x:.2}"));
    let unsolved = row.unsolved_steps.map_or("-".to_owned(), |count| count.to_string());
    say!(
        "{:>13} {:>9.4} CPU s per simulated s, tip {} mm, unsolved {unsolved}: {}",
        row.work,
        row.cpu_per_simulated_second,
        or_dash(row.tip_static_mm),
        row.system
    );
}

/// The number after a key, up to the first character that cannot belong to it.
fn number(line: &str, key: &str) -> Option<f64> {
    let text = &line[line.find(key)? + key.len()..];
    let is_part = |c: char| c.is_ascii_digit() || "+-.e".contains(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text[..end].parse().ok().filter(|x: &f64| x.is_finite())
}

/// The tets of a beam, by the size that scripts take.
fn tets_of(size: &str) -> usize {
    match size {
        "1k" => 1_280,
        "10k" | "8" => 10_240,
        "50k" => 54_880,
        _ => 0,
    }
}

/// Writes the beams as files, which some scripts read.
fn write_meshes(folder: &Path) -> Result<(), Failure> {
    for (name, across) in [("1k", 4), ("10k", 8), ("50k", 14)] {
        let path = folder.join(format!("beam_{name}.vtk"));
        let text = vtk(&shapes::beam(across, [0.4, 0.1, 0.1]));
        std::fs::write(&path, text).map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
    }
    Ok(())
}

/// A mesh in the legacy VTK format.
fn vtk(mesh: &TetMesh) -> String {
    let mut text = "# vtk DataFile Version 3.0\nbeam\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_owned();
    // writing to a string does not fail
    let _ = writeln!(text, "POINTS {} double", mesh.nodes.len());
    mesh.nodes.iter().for_each(|x| _ = writeln!(text, "{} {} {}", x.x, x.y, x.z));
    let _ = writeln!(text, "CELLS {} {}", mesh.tets.len(), 5 * mesh.tets.len());
    mesh.tets.iter().for_each(|[a, b, c, d]| _ = writeln!(text, "4 {a} {b} {c} {d}"));
    let _ = writeln!(text, "CELL_TYPES {}", mesh.tets.len());
    mesh.tets.iter().for_each(|_| text.push_str("10\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_scripts_become_rows() {
        let line = "mujoco 10k discrete dt=0.0166667 sim=2.00 wall/ss=2.15 cpu/ss=1.81 step=30.1ms peak=118.9 mean=70.1 half2=71.8 steps-with-PCG-nonconvergence=117/120";
        let row = PEERS[0].row(line).expect("a row");
        assert_eq!((row.work.as_str(), row.cpu_per_simulated_second), ("beam-10k", 1.81));
        assert_eq!((row.tip_static_mm, row.unsolved_steps), (Some(71.8), Some(117)));
        assert_eq!(PEERS[0].row(&line.replace("0.0166667", "0.005")), None);
        assert_eq!(PEERS[0].row("Traceback (most recent call last):"), None);

        let line = "mujoco-arm tets=10240 nv=7 discrete dt=0.0166667 cpu/simsec=1.70 per-step=28.3ms";
        let row = PEERS[2].row(line).expect("a row");
        assert_eq!(
            (row.work.as_str(), row.cpu_per_simulated_second, row.tip_static_mm),
            ("arm-10k", 1.7, None)
        );
    }

    #[test]
    fn numbers_end_where_units_begin() {
        assert_eq!(number("step=30.1ms", "step="), Some(30.1));
        assert_eq!(number("x=1e-3,", "x="), Some(1e-3));
        assert_eq!(number("x=nan", "x="), None);
        assert_eq!(number("y=1", "x="), None);
    }
}
