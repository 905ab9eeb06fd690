//! `sinew bench`: measures the speed of simulation on this machine.

mod bakes;
mod beam;
mod build;
mod character_folder;
mod characters;
mod contact;
mod coupling;
mod elements;
mod falls;
mod implicit;
mod kim;
mod locking;
mod peers;
mod skeleton;
mod skin;
mod take;
mod variants;

use crate::failure::Failure;
use crate::machine::Machine;
use crate::outputs::{atomic_file, plan_files};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use sinew_files::Replace;
use sinew_io::AtomicFile;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Measure how fast this machine simulates.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    suite: Option<Suite>,

    /// The benchmarks to run [default: all but locking, peers and skin].
    names: Vec<Name>,

    /// Write the results as JSON, with a description of the machine.
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,

    /// Also replace a file that Sinew did not write.
    #[arg(long)]
    force: bool,

    /// Skip cages with more tets than this.
    #[arg(long, value_name = "N", default_value_t = usize::MAX, hide_default_value = true)]
    max_tets: usize,

    #[command(flatten)]
    peers: peers::PeerArgs,
}

/// Benchmarks with arguments of their own, which run only when named.
#[derive(Subcommand)]
enum Suite {
    Bakes(bakes::Bakes),
    Characters(characters::Characters),
    Falls(falls::Falls),
    Take(take::TakeBench),
    Variants(variants::Variants),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Elastic forces and whole steps for cages of 200 to a million tets.
    Elements,
    /// Explicit steps of the clamped beam, the benchmark for comparing solvers.
    Beam,
    /// Building a model from a finely triangulated surface.
    Build,
    /// Skeletons without flesh: hybrid dynamics of trees of 16 to 1,000 bones.
    Skeleton,
    /// The cost that bones add to a step of flesh.
    Coupling,
    /// The characters and cages of Kim and Pollard (2011), beside their published timings.
    Kim,
    /// Detecting self-contact of surfaces, and the cost that obstacles add to a frame.
    Contact,
    /// Implicit steps of the clamped beam, of the same beam embedded in a coarse cage, of an arm with two-way coupling, and of the dancer.
    Implicit,
    /// Elastic skin over muscles, of 256 to 100,000 points; runs only when named.
    Skin,
    /// Volumetric locking of the clamped beam as its flesh becomes incompressible; runs only when named.
    Locking,
    /// Implicit steps beside other systems on the same work, where their scripts are found; runs only when named.
    Peers,
}

/// The JSON object that `--json` writes.
#[derive(Serialize)]
struct Report {
    /// The version; it also identifies the file as written by Sinew.
    sinew: &'static str,
    machine: Machine,
    rows: Vec<Value>,
}

impl Bench {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.suite {
            Some(Suite::Bakes(bakes)) => return bakes.run(),
            Some(Suite::Characters(characters)) => return characters.run(),
            Some(Suite::Falls(falls)) => return falls.run(),
            Some(Suite::Take(take)) => return take.run(),
            Some(Suite::Variants(variants)) => return variants.run(),
            None => {}
        }

        // the output, checked before any work is done
        let replace = if self.force { Replace::Any } else { Replace::Ours };
        plan_files(&self.json, replace)?;
        let file = self.json.as_deref().map(atomic_file).transpose()?;

        // which benchmarks to run
        let names = if self.names.is_empty() {
            vec![
                Name::Elements,
                Name::Beam,
                Name::Build,
                Name::Skeleton,
                Name::Coupling,
                Name::Contact,
                Name::Kim,
                Name::Implicit,
            ]
        } else {
            self.names
        };

        // run them
        let mut rows = Vec::new();
        for name in names {
            match name {
                Name::Elements => rows.extend(values(&elements::run(self.max_tets)?)?),
                Name::Beam => rows.extend(values(&beam::run(self.max_tets)?)?),
                Name::Build => rows.extend(values(&build::run(self.max_tets)?)?),
                Name::Skeleton => rows.extend(values(&skeleton::run()?)?),
                Name::Contact => rows.extend(values(&contact::run()?)?),
                Name::Kim => {
                    rows.extend(values(&kim::seconds()?)?);
                    rows.extend(values(&kim::steps(self.max_tets)?)?);
                }
                Name::Coupling => rows.extend(values(&coupling::run(self.max_tets)?)?),
                Name::Peers => rows.extend(values(&peers::run(&self.peers, self.max_tets)?)?),
                Name::Skin => rows.extend(values(&skin::run()?)?),
                Name::Locking => rows.extend(values(&locking::run(self.max_tets)?)?),
                Name::Implicit => rows.extend(values(&implicit::run(self.max_tets)?)?),
            }
        }

        write_report(file, rows)
    }
}

/// Writes rows with a description of the machine, if a file was asked for.
fn write_report(file: Option<AtomicFile>, rows: Vec<Value>) -> Result<(), Failure> {
    let Some(mut file) = file else { return Ok(()) };
    let report = Report { sinew: env!("CARGO_PKG_VERSION"), machine: Machine::describe(), rows };
    let text = serde_json::to_string_pretty(&report).map_err(Failure::input)? + "\n";
    let written = file.write_all(text.as_bytes()).and_then(|()| file.commit());
    written.map_err(|e| Failure::input(format!("json: {e}")))
}

/// Rows as JSON.
fn values(rows: &[impl Serialize]) -> Result<Vec<Value>, Failure> {
    rows.iter().map(|row| serde_json::to_value(row).map_err(Failure::input)).collect()
}

/// The shortest time of some work (s), which is repeated for at least the given time and at least three times.
fn best_time(at_least: Duration, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut tries = 0;
    while tries < 3 || start.elapsed() < at_least {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed().as_secs_f64());
        tries += 1;
    }
    best
}
