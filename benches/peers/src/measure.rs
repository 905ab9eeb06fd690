//! Times and differences of all libraries on all trees.

use crate::peer::Peer;
use crate::phyz::Phyz;
use crate::rapier::Rapier;
use crate::sinew::Sinew;
use crate::tree::Tree;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Instant;

/// How often every library gets its turn.
const ROUNDS: usize = 11;
/// How long a turn lasts (s), if one step is not longer.
const TURN_SECONDS: f64 = 0.03;
/// The step of all libraries (s).
const STEP: f64 = 1e-4;
/// Steps after which angles are compared, 0.2 s.
const COMPARED_STEPS: usize = 2000;
/// Trees above this take minutes for the compared steps where the mass matrix is dense.
const MAX_COMPARED: usize = 100;

/// One line of the table.
#[derive(Serialize)]
pub struct Row {
    bench: &'static str,
    library: &'static str,
    tree: &'static str,
    /// Bones of the tree.
    bones: usize,
    /// Bodies that the library needs for them.
    bodies: usize,
    dof: usize,
    /// Median over the rounds.
    step_us: f64,
    /// Fastest round.
    min_step_us: f64,
    /// Largest difference of a first acceleration from ours, in parts of the largest acceleration.
    acceleration_difference: f64,
    /// Largest difference of an angle from ours after [`COMPARED_STEPS`] (rad); left out for large trees.
    angle_difference: Option<f64>,
    /// The same with half the step and twice as many: half as much, if only the integrators differ.
    angle_difference_half_step: Option<f64>,
}

/// A library by name, and how it builds a tree.
type Library = (&'static str, fn(&Tree, f64) -> Box<dyn Peer>);

const LIBRARIES: [Library; 3] = [
    ("sinew", |tree, h| Box::new(Sinew::of(tree, h))),
    ("phyz 0.4.0", |tree, h| Box::new(Phyz::of(tree, h))),
    ("rapier3d-f64 0.36.1", |tree, h| Box::new(Rapier::of(tree, h))),
];

/// Measures everything and prints the table on the way.
pub fn all() -> io::Result<Vec<Row>> {
    let mut out = io::stdout().lock();
    writeln!(out, "skeleton steps, one thread, median of {ROUNDS} turns; differences are from sinew")?;
    writeln!(
        out,
        "{:>9} {:>6} {:>6} {:>20} {:>7} {:>12} {:>12} {:>13} {:>10} {:>10}",
        "tree",
        "bones",
        "DOF",
        "library",
        "bodies",
        "µs/step",
        "least",
        "acceleration",
        "angle rad",
        "half step"
    )?;
    let mut rows = Vec::new();
    let trees: [fn() -> Tree; 4] =
        [Tree::starfish, || Tree::chain(10), || Tree::chain(100), || Tree::chain(1000)];
    for tree in trees {
        for row in of_tree(tree) {
            writeln!(
                out,
                "{:>9} {:>6} {:>6} {:>20} {:>7} {:>12.2} {:>12.2} {:>13.1e} {:>10} {:>10}",
                row.tree,
                row.bones,
                row.dof,
                row.library,
                row.bodies,
                row.step_us,
                row.min_step_us,
                row.acceleration_difference,
                written(row.angle_difference),
                written(row.angle_difference_half_step)
            )?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn of_tree(tree: fn() -> Tree) -> Vec<Row> {
    let (springy, torqued) = (tree(), tree().torqued());
    let accelerations = LIBRARIES.map(|(_, build)| first_acceleration(build(&torqued, STEP).as_mut()));
    let angles = late_angles(&springy, STEP, COMPARED_STEPS);
    let angles_half_step = late_angles(&springy, 0.5 * STEP, 2 * COMPARED_STEPS);
    let mut peers = LIBRARIES.map(|(_, build)| build(&springy, STEP));
    let times = in_turns(&mut peers);

    let row = |i: usize| Row {
        bench: "peers",
        library: LIBRARIES[i].0,
        tree: springy.name,
        bones: springy.links.len(),
        bodies: peers[i].bodies(),
        dof: peers[i].dof(),
        step_us: 1e6 * times[i][ROUNDS / 2],
        min_step_us: 1e6 * times[i][0],
        acceleration_difference: difference(&accelerations[i], &accelerations[0])
            / largest(&accelerations[0]),
        angle_difference: angles.as_ref().map(|angles| difference(&angles[i], &angles[0])),
        angle_difference_half_step: angles_half_step
            .as_ref()
            .map(|angles| difference(&angles[i], &angles[0])),
    };
    (0..LIBRARIES.len()).map(row).collect()
}

/// v₁/h: from rest, the first step of semi-implicit Euler has it exactly.
fn first_acceleration(peer: &mut dyn Peer) -> Vec<f64> {
    peer.step();
    peer.rates().iter().map(|rate| rate / STEP).collect()
}

/// The angles of every library after many steps.
fn late_angles(tree: &Tree, h: f64, count: usize) -> Option<[Vec<f64>; LIBRARIES.len()]> {
    let after = |(_, build): Library| {
        let mut peer = build(tree, h);
        (0..count).for_each(|_| peer.step());
        peer.angles()
    };
    (tree.links.len() <= MAX_COMPARED).then(|| LIBRARIES.map(after))
}

/// Seconds per step in every round, sorted, for every library. They take turns, so that a machine that slows down slows all.
fn in_turns<const N: usize>(peers: &mut [Box<dyn Peer>; N]) -> [Vec<f64>; N] {
    let batches: Vec<usize> = peers.iter_mut().map(|peer| batch(peer.as_mut())).collect();
    let mut times = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for i in 0..N {
            times[i].push(seconds_per_step(peers[i].as_mut(), batches[i]));
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times
}

/// How many steps fill a turn.
fn batch(peer: &mut dyn Peer) -> usize {
    // the first step allocates
    peer.step();
    let mut count = 1;
    loop {
        let seconds = seconds_per_step(peer, count) * count as f64;
        if seconds >= TURN_SECONDS {
            return count;
        }
        count *= 2;
    }
}

fn seconds_per_step(peer: &mut dyn Peer, count: usize) -> f64 {
    let begin = Instant::now();
    (0..count).for_each(|_| peer.step());
    begin.elapsed().as_secs_f64() / count as f64
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many hinges in every library");
    // a number that is not one must not pass as no difference
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |most, x| if x.is_nan() { f64::INFINITY } else { most.max(x) })
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |most, x| most.max(x.abs()))
}

fn written(number: Option<f64>) -> String {
    number.map_or("-".to_string(), |x| format!("{x:.1e}"))
}
