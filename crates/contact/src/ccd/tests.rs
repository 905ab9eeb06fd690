//! Additive conservative advancement against dense sampling and the roots of the coplanarity cubic.

use super::*;
use crate::triangle::coplanar_times;
use rayon::prelude::*;

/// A linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number from −1 to 1.
    pub(crate) fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn point(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }
}

/// A kind of pair of primitives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pair {
    PointTriangle,
    EdgeEdge,
}

/// Ways in which a random motion is degenerate.
const KINDS: usize = 10;

/// A random motion of one of the kinds.
fn random_sweep(random: &mut Random, pair: Pair, kind: usize) -> Sweep {
    let mut start: [Vec3; 4] = core::array::from_fn(|_| random.point());
    let mut motion: [Vec3; 4] = core::array::from_fn(|_| 2.0 * random.point());
    let [first, second] = if pair == Pair::EdgeEdge { [1, 3] } else { [2, 3] };
    match kind {
        // parallel edges, triangles without area: exactly, nearly, and throughout the motion
        1 => start[3] = start[2] + 0.7 * (start[1] - start[0]),
        2 => start[3] = start[2] + (start[1] - start[0]) + 1e-8 * random.point(),
        3 => {
            start[3] = start[2] + 0.5 * (start[second - 1] - start[first - 1]);
            motion = [motion[0], motion[0], motion[2], motion[2]];
        }
        // without length
        4 => {
            start[3] = start[2];
            motion[3] = motion[2];
        }
        // coplanar motion
        5 => (0..4).for_each(|i| (start[i].z, motion[i].z) = (0.25, 0.0)),
        // far from the origin, and carried along at 100 m/s
        6 => start.iter_mut().for_each(|x| *x += Vec3::new(1e3, -1e3, 1e3)),
        7 => motion.iter_mut().for_each(|m| *m += Vec3::new(100.0, 0.0, -30.0)),
        // close at the start, relative to their size
        8 => {
            let shift = -(1.0 - 1e-6) * gap(&start, pair);
            (0..[1, 2][usize::from(pair == Pair::EdgeEdge)]).for_each(|i| start[i] += shift);
        }
        // turning fast
        9 => motion.iter_mut().for_each(|m| *m *= 20.0),
        _ => {}
    }
    Sweep { start, motion }
}

fn at(sweep: &Sweep, time: f64) -> [Vec3; 4] {
    core::array::from_fn(|i| sweep.start[i] + time * sweep.motion[i])
}

/// The vector from the closest point of the second primitive to that of the first.
fn gap(x: &[Vec3; 4], pair: Pair) -> Vec3 {
    match pair {
        Pair::PointTriangle => {
            // the regions of a triangle without area are not reliable, its edges are
            let [p, a, b, c] = *x;
            let edge = |[a, b]: [Vec3; 2]| p - (a + nearest_on_segment(&p, &[a, b]) * (b - a));
            let face = p - nearest_on_triangle(&p, &[a, b, c]).point;
            let all = [face, edge([a, b]), edge([b, c]), edge([c, a])];
            all.into_iter().min_by(|u, v| u.norm().total_cmp(&v.norm())).expect("four")
        }
        Pair::EdgeEdge => nearest_on_segments(&[x[0], x[1]], &[x[2], x[3]]).gap(),
    }
}

fn impact(sweep: &Sweep, pair: Pair, clearance: Clearance) -> Option<f64> {
    match pair {
        Pair::PointTriangle => sweep.point_triangle_impact(clearance),
        Pair::EdgeEdge => sweep.edge_edge_impact(clearance),
    }
}

/// What a motion was found to do.
struct Checked {
    /// The time found.
    found: Option<f64>,
    /// The time of impact by the cubic.
    exact: Option<f64>,
    is_tight: bool,
}

const CLEARANCE: Clearance = Clearance { separation: 0.0, kept: 0.1 };

/// Up to the time found the distance at any sample stays above the gap that must remain; at that time it is that gap; and the first
/// root of the coplanarity cubic at which the primitives meet is never earlier.
fn check(sweep: &Sweep, pair: Pair, samples: usize) -> Checked {
    let found = impact(sweep, pair, CLEARANCE);
    let until = found.unwrap_or(1.0);
    let rounding = 4.0 * sweep.rounding();
    // the initial gap is known to a millionth
    let kept = (1.0 - 2e-6) * CLEARANCE.kept * gap(&sweep.start, pair).norm();
    for i in 0..=samples {
        let time = until * i as f64 / samples as f64;
        let distance = gap(&at(sweep, time), pair).norm();
        assert!(distance >= kept - rounding, "{pair:?} {sweep:?}: {distance} < {kept} at {time} of {until}");
    }

    // not needlessly early: the gap at that time is the one that must remain, unless the motion turns primitives that were closer than a
    // thousandth of their size, which takes more advancements than there are
    let left = gap(&at(sweep, until), pair).norm();
    let is_tight = found.is_none() || left <= (1.0 + 2.0 * SLACK) * kept + rounding;
    assert!(is_tight || kept < 1e-4, "{pair:?} {sweep:?}: {left} m are left of {kept} m at {until}");

    // the time of impact by the roots of the cubic
    let meets = |time: &f64| gap(&at(sweep, *time), pair).norm() <= 1e-9;
    let exact = coplanar_times(&sweep.start, &sweep.motion).into_iter().flatten().find(meets);
    if let Some(exact) = exact {
        assert!(found.is_some_and(|found| found <= exact + 1e-12), "{pair:?} {sweep:?}: missed {exact}");
    }
    Checked { found, exact, is_tight }
}

/// What was found in a number of motions.
#[derive(Default)]
struct Tally {
    hits: usize,
    /// Hits that ended before the gap that must remain.
    early: usize,
    /// Hits that the cubic confirms, and those within 0.85 of its time: a tenth of the gap remains, so that a uniform approach takes 0.9.
    exact: usize,
    near: usize,
}

fn check_many(seed: u64, count: usize) -> Tally {
    let (mut random, mut tally) = (Random(seed), Tally::default());
    for case in 0..count {
        let pair = if case % 2 == 0 { Pair::PointTriangle } else { Pair::EdgeEdge };
        let sweep = random_sweep(&mut random, pair, case / 2 % KINDS);
        let samples = if case % 64 < 2 { 100 } else { 4 };
        let Checked { found, exact, is_tight } = check(&sweep, pair, samples);
        tally.hits += usize::from(found.is_some());
        tally.early += usize::from(!is_tight);
        if let (Some(found), Some(exact)) = (found, exact) {
            tally.exact += 1;
            tally.near += usize::from(found >= 0.85 * exact);
        }
    }
    tally
}

/// Two million random and degenerate motions.
#[test]
fn no_motion_passes_a_contact_or_stops_needlessly() {
    let tallies: Vec<Tally> = (0..20).into_par_iter().map(|seed| check_many(11 + seed, 100_000)).collect();
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let (hits, early) = (sum(|t| t.hits), sum(|t| t.early));
    let (exact, near) = (sum(|t| t.exact), sum(|t| t.near));
    assert!(hits > 300_000 && exact > 200_000, "{hits} {exact}");
    assert!(early < hits / 300, "{early} of {hits}");
    assert!(near as f64 > 0.8 * exact as f64, "{near} of {exact}");
}

/// A minimum separation is kept.
#[test]
fn a_separation_is_kept() {
    let mut random = Random(12);
    for case in 0..100_000 {
        let pair = if case % 2 == 0 { Pair::PointTriangle } else { Pair::EdgeEdge };
        let sweep = random_sweep(&mut random, pair, case / 2 % KINDS);
        let clearance = Clearance { separation: 0.05, kept: 0.2 };
        let until = impact(&sweep, pair, clearance).unwrap_or(1.0);
        if gap(&sweep.start, pair).norm() <= clearance.separation {
            assert_eq!(until, 0.0);
            continue;
        }
        for i in 0..=40 {
            let distance = gap(&at(&sweep, until * f64::from(i) / 40.0), pair).norm();
            assert!(distance >= clearance.separation, "{pair:?} {sweep:?}");
        }
    }
}

/// Primitives that touch at the start have no time; those that do not move have all of it.
#[test]
fn touching_starts_and_rest() {
    let [a, b, c] = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    let on = Vec3::new(0.2, 0.3, 0.0);
    let motion = [Vec3::z(), Vec3::zeros(), Vec3::zeros(), Vec3::zeros()];
    let touching = Sweep { start: [on, a, b, c], motion };
    assert_eq!(touching.point_triangle_impact(CLEARANCE), Some(0.0));
    let crossing = Sweep { start: [a, b + c, b, c], motion };
    assert_eq!(crossing.edge_edge_impact(CLEARANCE), Some(0.0));
    let together = Sweep { motion: [Vec3::new(3.0, 2.0, 1.0); 4], ..touching };
    assert_eq!(together.point_triangle_impact(CLEARANCE), None);
}

/// The fraction of the gap that remains is what was asked for: a point that falls onto a triangle stops there.
#[test]
fn a_falling_point_stops_at_the_gap_that_remains() {
    let start = [Vec3::new(0.2, 0.2, 1.0), Vec3::zeros(), Vec3::x(), Vec3::y()];
    let motion = [Vec3::new(0.0, 0.0, -2.0), Vec3::zeros(), Vec3::zeros(), Vec3::zeros()];
    for kept in [0.5, 0.1, 1e-3] {
        let found = Sweep { start, motion }.point_triangle_impact(Clearance { separation: 0.0, kept });
        assert!((found.expect("a contact") - 0.5 * (1.0 - kept)).abs() < 1e-12);
    }
}
