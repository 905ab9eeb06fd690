//! The machine that a benchmark ran on.

use serde::Serialize;
use sinew_math::lanes::InstructionSet;

/// A machine, as the JSON of benchmarks describes it.
#[derive(Serialize)]
pub(crate) struct Machine {
    processor: String,
    cores: usize,
    lanes: String,
    system: String,
    sinew: &'static str,
    debug_build: bool,
}

impl Machine {
    pub(crate) fn describe() -> Machine {
        Machine {
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            lanes: format!("{:?}", InstructionSet::detect()),
            system: std::env::consts::OS.into(),
            sinew: env!("CARGO_PKG_VERSION"),
            debug_build: cfg!(debug_assertions),
        }
    }
}

/// The model name of the processor, where the system reports it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split(':').nth(1)?.trim().to_string())
}
