//! The validation of [Transue2014, X]: the angle of a twist, the displacement of a bend and the length of a stretch grow with magnitude and time, and compression shortens.

use crate::bodies::{cloth, cylinder, ear, model_with, on_all, on_ear, raise, springs};
use sinew_sim::desc::MetaphorKind;
use sinew_sim::{ImplicitSettings, Model, Solver};

/// Responses after a third, two thirds and all of a slow rise, for three magnitudes.
fn responses(model: &Model, solver: Solver, sign: f64) -> [[f64; 3]; 3] {
    [0.3, 0.6, 1.0].map(|magnitude| {
        let (found, _) = raise(model, solver, sign * magnitude, 45);
        [found[14], found[29], found[44]].map(|found| sign * found)
    })
}

fn check(name: &str, model: &Model, solver: Solver, sign: f64) -> f64 {
    let found = responses(model, solver, sign);
    for of_magnitude in &found {
        assert!(0.0 < of_magnitude[0], "{name} {found:?}");
        assert!(of_magnitude.is_sorted_by(|a, b| a < b), "{name}: with time {found:?}");
    }
    for time in 0..3 {
        assert!(found.is_sorted_by(|a, b| a[time] < b[time]), "{name}: with magnitude {found:?}");
    }
    found[2][2]
}

const KINDS: [MetaphorKind; 4] =
    [MetaphorKind::Stretch, MetaphorKind::Bend, MetaphorKind::Twist, MetaphorKind::Push];

/// Both signs, in explicit and implicit steps, which agree about the end as far as their damping does.
#[test]
fn responses_grow_with_magnitude_and_time() {
    let bodies = [("cylinder", cylinder()), ("ear", ear()), ("springs", springs())];
    for (name, body) in bodies {
        for kind in KINDS {
            let desc = if name == "ear" { on_ear(kind) } else { on_all(kind) };
            let model = model_with(body.clone(), desc);
            for sign in [1.0, -1.0] {
                let explicit = check(name, &model, Solver::Explicit, sign);
                if name == "cylinder" && sign > 0.0 {
                    let implicit = check(name, &model, Solver::Implicit(ImplicitSettings::default()), sign);
                    assert!((explicit - implicit).abs() < 0.1 * explicit.abs(), "{explicit} {implicit}");
                }
                // magnitude 1 does about what it was scaled for; slender bodies buckle, and give way to pushes as a whole
                let ratio = explicit / model.metaphors()[0].expected_response;
                let is_slender = kind == MetaphorKind::Push || (kind == MetaphorKind::Stretch && sign < 0.0);
                let range = if is_slender { 0.5..5.0 } else { 0.7..1.5 };
                assert!(range.contains(&ratio), "{name} {kind:?} {sign}: {ratio}");
            }
        }
    }
}

/// A sheet stretches by little, but bends, twists and folds.
#[test]
fn cloth_responds_too() {
    for kind in [MetaphorKind::Stretch, MetaphorKind::Bend, MetaphorKind::Twist] {
        let model = model_with(cloth(), on_all(kind));
        check("cloth", &model, Solver::Explicit, 1.0);
    }
    let model = model_with(cloth(), on_all(MetaphorKind::Stretch));
    let (found, _) = raise(&model, Solver::Explicit, -1.0, 45);
    assert!(found[44] < found[22] && found[22] < 0.0);
}

/// The angle goes on beyond half a turn: it grows with every frame, by steps that are small against a turn, and explicit steps on 1, 2 and 8 threads have the same bits.
#[test]
fn a_twist_is_followed_beyond_half_a_turn() {
    let model = model_with(cylinder(), on_all(MetaphorKind::Twist));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| raise(&model, Solver::Explicit, 8.0, 60))
    };
    let (found, state) = run(1);
    assert!(found.is_sorted_by(|a, b| a < b), "{found:?}");
    assert!(found[59] > 3.6, "{found:?}");
    assert!(found.windows(2).all(|pair| pair[1] - pair[0] < 0.5), "{found:?}");
    for threads in [2, 8] {
        assert_eq!(run(threads).1.hash(), state.hash(), "{threads} threads");
    }
}
