//! Rust libraries, run by the program of `benches/peers`, a separate package.

use super::{Peer, PeerArgs, Row, say_row, tets_of};
use std::process::{Command, Stdio};

const SIZES: [&str; 3] = ["1k", "10k", "50k"];

const RAPIER: Peer = Peer {
    system: "rapier3d 0.36 Fem, corotational, one sub-step, to 1e-3",
    package: "",
    script: "",
    runs: &[],
    work: None,
    must_contain: &["rapier3d", "dt=0.0166667"],
};

/// Runs the beams with at most `max_tets` tets.
pub(super) fn run(args: &PeerArgs, max_tets: usize) -> Result<Vec<Row>, String> {
    let Some(program) = &args.native else {
        return Err(
            "give the program with --native; `cargo build --release` in benches/peers builds it".into()
        );
    };
    let mut rows = Vec::new();
    for size in SIZES.into_iter().filter(|size| tets_of(size) <= max_tets) {
        let output = Command::new(program)
            .args(["beam", size])
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("{}: {e}; give the program with --native", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        match text.lines().find_map(|line| RAPIER.row(line)) {
            Some(row) => {
                say_row(&row);
                rows.push(row);
            }
            None => {
                let fault = String::from_utf8_lossy(&output.stderr);
                let last = fault.lines().last().unwrap_or("it printed no result");
                say!("{:>16}: beam {size}: {last}", "rapier3d");
            }
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_lines_become_rows() {
        let line = "rapier3d 10k dt=0.0166667 sim=2.00 cpu/ss=1.412 peak=121.1 half2=72.3";
        let row = RAPIER.row(line).expect("a row");
        assert_eq!((row.work.as_str(), row.cpu_per_simulated_second), ("beam-10k", 1.412));
        assert_eq!(row.tip_static_mm, Some(72.3));
    }
}
