use super::*;
use crate::Curve;
use Extrapolation::{Hold, Loop};

fn curve(keys: &[BezierKey]) -> BezierCurve {
    BezierCurve::build(keys.to_vec(), Hold).unwrap()
}

/// Keys of every kind, with negative values and handles that are too long on purpose.
fn mixed() -> Vec<BezierKey> {
    vec![
        BezierKey::auto(0.0, 1.0),
        BezierKey::with_slope(0.3, 2.0, -4.0),
        BezierKey::smooth(0.8, -1.5, [0.4, 2.0]),
        BezierKey::broken(1.0, 0.5, [-0.3, 0.7], [0.05, -1.0]),
        BezierKey::broken(1.7, -3.0, [0.0, 0.0], [0.0, 0.0]),
        BezierKey::auto(2.0, 4.0),
    ]
}

/// The curve at evenly spaced parameters of every segment: (time, value), by de Casteljau's construction.
fn traced(curve: &BezierCurve, count: usize) -> Vec<[f64; 2]> {
    let mix = |a: [f64; 2], b: [f64; 2], u: f64| [a[0] + u * (b[0] - a[0]), a[1] + u * (b[1] - a[1])];
    let mut points = Vec::new();
    for (i, pair) in curve.keys().windows(2).enumerate() {
        let (right, left) = (curve.handles()[i][1], curve.handles()[i + 1][0]);
        let (p, s) = ([pair[0].time, pair[0].value], [pair[1].time, pair[1].value]);
        let (q, r) = ([p[0] + right[0], p[1] + right[1]], [s[0] + left[0], s[1] + left[1]]);
        for k in 0..count {
            let u = k as f64 / count as f64;
            let (a, b, c) = (mix(p, q, u), mix(q, r, u), mix(r, s, u));
            points.push(mix(mix(a, b, u), mix(b, c, u), u));
        }
    }
    points
}

#[test]
fn values_at_keys_are_exact() {
    for extrapolation in [Hold, Loop] {
        let curve = BezierCurve::build(mixed(), extrapolation).unwrap();
        for key in &curve.keys()[..5] {
            assert_eq!(curve.sample(key.time).0.to_bits(), key.value.to_bits(), "{key:?}");
        }
    }
    assert_eq!(curve(&mixed()).sample(2.0), (4.0, 0.0));
}

/// The time of a traced point has the round-off of de Casteljau's construction, a few ε, and the value follows by the slope: at most 10⁴ here, except where the curve is nearly vertical.
#[test]
fn values_lie_on_the_bezier_curve_of_the_shortened_handles() {
    let curve = curve(&mixed());
    for [time, value] in traced(&curve, 200) {
        let (found, slope) = curve.sample(time);
        let tolerance = 1e-13 + 1e-14 * slope.abs();
        assert!((found - value).abs() <= tolerance, "{time}: {found} is not {value}, slope {slope}");
    }
}

#[test]
fn time_never_runs_back_however_long_the_handles_are() {
    for length in [0.01, 0.3, 0.5, 0.9, 1.0, 3.0, 1e6] {
        for other in [0.0, 0.2, 1.0, 50.0] {
            let keys = [
                BezierKey::broken(0.0, 0.0, [0.0, 0.0], [length, 5.0 * length]),
                BezierKey::broken(1.0, 1.0, [-other, 3.0 * other], [0.0, 0.0]),
            ];
            let curve = curve(&keys);
            let points = traced(&curve, 400);
            let rises = points.windows(2).all(|pair| pair[1][0] >= pair[0][0] - 1e-15);
            assert!(rises, "{length} {other}");
            // the slopes of both handles stay
            let [right, left] = [curve.handles()[0][1], curve.handles()[1][0]];
            assert!((right[1] - 5.0 * right[0]).abs() <= 1e-15 * length);
            assert!((left[1] + 3.0 * left[0]).abs() <= 1e-15 * other.max(1.0));
            assert!(right[0] - left[0] <= 1.0 + 1e-15);
            for k in 0..=1000 {
                let (value, slope) = curve.sample(f64::from(k) / 1000.0);
                assert!(value.is_finite() && slope.is_finite(), "{length} {other} {k}");
            }
        }
    }
}

/// Central differences with step e: the error is e²/6 times the third derivative, below 10⁶ at the points tested, plus the round-off ε/e of values of order 1.
#[test]
fn slopes_are_derivatives_of_values() {
    let (curve, e) = (curve(&mixed()), 1e-7);
    for time in [0.05, 0.2, 0.31, 0.55, 0.79, 0.85, 0.93, 1.2, 1.5, 1.9] {
        let difference = (curve.sample(time + e).0 - curve.sample(time - e).0) / (2.0 * e);
        let slope = curve.sample(time).1;
        assert!((difference - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{time}: {slope}, {difference}");
    }
}

#[test]
fn handles_set_the_slopes_on_both_sides_of_a_key() {
    let curve = curve(&mixed());
    // a smooth key has one slope, a broken one two; e times the second derivative, below 10⁴, is the difference from the limit
    for (time, left, right) in [(0.3, -4.0, -4.0), (0.8, 5.0, 5.0), (1.0, -7.0 / 3.0, -20.0)] {
        let e = 1e-9;
        assert!((curve.sample(time).1 - right).abs() < 1e-12, "{time}");
        assert!((curve.sample(time - e).1 - left).abs() < 1e-4, "{time}");
    }
    // a handle of no length points to the next control point: here to the end of the other one
    let straight = BezierCurve::build(
        vec![
            BezierKey::broken(0.0, 1.0, [0.0; 2], [0.0; 2]),
            BezierKey::broken(2.0, 5.0, [0.0; 2], [0.0; 2]),
        ],
        Hold,
    )
    .unwrap();
    for time in [0.0, 0.4, 1.0, 1.999] {
        let (value, slope) = straight.sample(time);
        assert!((value - (1.0 + 2.0 * time)).abs() < 1e-14 && (slope - 2.0).abs() < 1e-12, "{time}");
    }
}

#[test]
fn automatic_handles_never_overshoot_and_are_level_at_extrema() {
    let values = [0.0, 0.1, 3.0, 3.0, -2.0, -2.5, 7.0, 6.9];
    let times = [0.0, 0.5, 0.6, 1.0, 1.05, 2.0, 2.2, 3.0];
    let keys: Vec<BezierKey> = times.iter().zip(values).map(|(t, v)| BezierKey::auto(*t, v)).collect();
    let curve = curve(&keys);
    for (pair, end) in keys.windows(2).zip(1..) {
        let (low, high) = (pair[0].value.min(pair[1].value), pair[0].value.max(pair[1].value));
        let rises = pair[1].value >= pair[0].value;
        let mut before = pair[0].value;
        for k in 0..=100 {
            let time = pair[0].time + (pair[1].time - pair[0].time) * f64::from(k) / 100.0;
            let value = curve.sample(time).0;
            // round-off of a sum of four terms
            assert!(value >= low - 1e-14 && value <= high + 1e-14, "segment {end}: {value}");
            assert!(if rises { value >= before - 1e-14 } else { value <= before + 1e-14 }, "segment {end}");
            before = value;
        }
    }
    // at 1.0 s the curve leaves a level stretch, at 2.0 s it turns round
    for i in [0, 2, 3, 5, 6, 7] {
        assert_eq!(curve.handles()[i].map(|handle| handle[1]), [0.0, 0.0], "key {}", i + 1);
    }
}

#[test]
fn loops_repeat_and_automatic_handles_go_round_them() {
    let keys = vec![
        BezierKey::auto(1.0, 0.0),
        BezierKey::auto(1.5, 2.0),
        BezierKey::auto(2.5, -1.0),
        BezierKey::auto(3.0, 0.0),
    ];
    let looped = BezierCurve::build(keys, Loop).unwrap();
    // whole periods of 2 s cost a few bits of the time
    for time in [1.1, 1.7, 2.2, 2.9] {
        assert!((looped.sample(time + 6.0).0 - looped.sample(time).0).abs() < 1e-13);
        assert!((looped.sample(time - 2.0).0 - looped.sample(time).0).abs() < 1e-13);
    }
    // the seam rises from −1 by 0 to 2, so it is smooth and not level
    let (before, after) = (looped.sample(3.0 - 1e-9).1, looped.sample(3.0).1);
    assert!(after > 1.0 && (before - after).abs() < 1e-6);
}

#[test]
fn outside_of_the_keys_the_end_values_hold() {
    let curve = curve(&mixed());
    assert_eq!(curve.sample(-1.0), (1.0, 0.0));
    assert_eq!(curve.sample(f64::NAN), (1.0, 0.0));
    assert_eq!(curve.sample(1e9), (4.0, 0.0));
    let one = Curve::build(vec![BezierKey::auto(0.5, -2.0)], Loop).unwrap();
    assert_eq!([one.value(0.0), one.value(0.5), one.value(9.0), one.slope(0.5)], [-2.0, -2.0, -2.0, 0.0]);
}

#[test]
fn keys_snap_to_frames() {
    let keys = vec![BezierKey::auto(0.01, 0.0), BezierKey::smooth(0.26, 1.0, [0.05, 0.0])];
    let snapped = Curve::build(keys.clone(), Hold).unwrap().snapped(10.0).unwrap();
    assert_eq!(snapped.key_values(), [(0.0, 0.0), (3.0 / 10.0, 1.0)]);
    let error = Curve::build(keys, Hold).unwrap().snapped(1.5).unwrap_err();
    assert_eq!(
        error.to_string(),
        "keys 1 and 2 at 0.01 s and 0.26 s snap to the same frame 0: move one, or remove it"
    );
    assert!(Curve::constant(3.0).snapped(24.0).is_ok());
}

#[test]
fn faults_name_their_keys_and_come_together() {
    let keys = vec![
        BezierKey::auto(0.0, f64::NAN),
        BezierKey::broken(1.0, 0.0, [0.1, 0.0], [0.1, 0.0]),
        BezierKey::broken(1.0, 0.0, [-0.1, 0.0], [0.0, 2.0]),
        BezierKey::with_slope(2.0, 0.0, f64::INFINITY),
    ];
    let error = Curve::build(keys, Hold).unwrap_err();
    let expected = [
        "key 1: time 0 s and value NaN must be finite",
        "key 2 at 1 s: its left handle points 0.1 s to the other side: its time must be 0 or less",
        "key 3 at 1 s: its right handle is vertical: give it a length in time, or [0, 0]",
        "key 4 at 2 s: its slope is inf, not finite",
        "key 3 at 1 s is not after key 2 at 1 s: sort the keys, and keep one key per time",
    ];
    assert_eq!(error.faults, expected);
    assert_eq!(Curve::build(vec![], Hold).unwrap_err().to_string(), "there are no keys: give at least one");
}
