//! The step of an articulated tree by Sinew and by other libraries, in one process and in turns, with a check that they step the
//! same thing. With `beam` and sizes: rapier's soft bodies on the clamped beam, a line each.

mod beam;
mod measure;
mod peer;
mod phyz;
mod rapier;
mod sinew;
mod tree;

use measure::Row;
use serde::Serialize;
use std::path::PathBuf;

/// What `--json` writes.
#[derive(Serialize)]
struct Report {
    machine: Machine,
    rows: Vec<Row>,
}

/// What the rows were measured on.
#[derive(Serialize)]
struct Machine {
    processor: String,
    cores: usize,
    system: &'static str,
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "beam") {
        for size in &arguments[1..] {
            println!("{}", beam::row(size)?);
        }
        return Ok(());
    }
    let json = json_path(arguments.into_iter())?;
    let rows = measure::all()?;
    if let Some(path) = json {
        let report = Report { machine: machine(), rows };
        std::fs::write(path, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    Ok(())
}

fn json_path(mut arguments: impl Iterator<Item = String>) -> Result<Option<PathBuf>, String> {
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(None),
        (Some("--json"), Some(path), None) => Ok(Some(path.into())),
        _ => Err("the only words are `--json FILE` and `beam 1k 10k 50k`".to_string()),
    }
}

fn machine() -> Machine {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name =
        text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(':').nth(1));
    Machine {
        processor: name.map_or_else(|| std::env::consts::ARCH.to_string(), |name| name.trim().to_string()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        system: std::env::consts::OS,
    }
}
