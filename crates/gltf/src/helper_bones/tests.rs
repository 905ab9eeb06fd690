//! Decompositions of motions that are known.

use super::fit::{Fit, Insertion};
use super::motion::{apply, blend};
use super::sample::Sample;
use super::simplex::Gram;
use super::transforms::{FrameTerms, Tether, TransformSolver, rigid};
use super::*;
use sinew_math::Mat3;
use sinew_math::real::{cos, sin};
use sinew_math::so3;
use std::borrow::Cow;
use std::ops::Range;

impl HelperBones {
    /// The largest error of some frames (m).
    fn max_error(&self, frames: Range<usize>) -> f64 {
        self.errors[frames].iter().copied().fold(0.0, f64::max)
    }
}

/// A motion in memory.
#[derive(Clone)]
struct Made {
    bind: Vec<[f32; 3]>,
    weights: Vec<Vec<Influence>>,
    joints: Vec<Vec<Affine>>,
    targets: Vec<Vec<[f32; 3]>>,
}

impl SkinnedMotion for Made {
    fn vertex_count(&self) -> usize {
        self.bind.len()
    }
    fn frame_count(&self) -> usize {
        self.targets.len()
    }
    fn time(&self, frame: usize) -> ClipTime {
        ClipTime { clip: 0, seconds: frame as f64 / 60.0 }
    }
    fn joint_count(&self) -> usize {
        2
    }
    fn influences(&self, vertex: usize) -> Vec<Influence> {
        self.weights[vertex].clone()
    }
    fn joints(&self, frame: usize) -> Cow<'_, [Affine]> {
        Cow::Borrowed(&self.joints[frame])
    }
    fn has_fixed_bind(&self) -> bool {
        true
    }
    fn bind(&self, _: usize) -> io::Result<Cow<'_, [[f32; 3]]>> {
        Ok(Cow::Borrowed(&self.bind))
    }
    fn target(&self, frame: usize) -> io::Result<Cow<'_, [[f32; 3]]>> {
        Ok(Cow::Borrowed(&self.targets[frame]))
    }
}

const OPTIONS: HelperOptions = HelperOptions { max_helpers: 8, influences: 4, allowed_error: 0.0 };

const SIX: Insertion = Insertion { count: 6, patch: 10, spacing: 20, by_maxima: false };

/// A turn about a point, and a shift.
fn turn(angles: Vec3, about: Vec3, shift: Vec3) -> Affine {
    let rotation: Mat3 = so3::exp(&angles).to_rotation_matrix().into_inner();
    rigid(&rotation, &|rotation| about + shift - rotation * about)
}

/// A tube of 1 m along y, of which the second joint bends the upper half, at its skinned places in every frame.
fn tube(rings: usize, frames: usize) -> Made {
    let ring = |y: usize| {
        (0..12).map(move |k| {
            let (angle, height) =
                (f64::from(k) * std::f64::consts::TAU / 12.0, y as f64 / (rings - 1) as f64);
            [(0.1 * cos(angle)) as f32, height as f32, (0.1 * sin(angle)) as f32]
        })
    };
    let bind: Vec<[f32; 3]> = (0..rings).flat_map(ring).collect();
    let weights = bind.iter().map(|p| {
        let upper = (f64::from(p[1]) * 5.0 - 2.0).clamp(0.0, 1.0);
        let both = [(0, 1.0 - upper), (1, upper)];
        both.into_iter().filter(|(_, w)| *w > 0.0).map(|(bone, weight)| Influence { bone, weight }).collect()
    });
    let weights: Vec<Vec<Influence>> = weights.collect();
    let joints: Vec<Vec<Affine>> = (0..frames)
        .map(|frame| {
            let angle = 0.8 * sin(0.3 * frame as f64);
            let bend = turn(Vec3::new(0.0, 0.0, angle), Vec3::new(0.0, 0.5, 0.0), Vec3::zeros());
            vec![Affine::identity(), bend]
        })
        .collect();
    let mut made = Made { bind, weights, joints, targets: Vec::new() };
    made.targets = (0..frames)
        .map(|frame| {
            let vertices = made.bind.iter().zip(&made.weights);
            vertices.map(|(p, weights)| blend(weights, p, &made.joints[frame]).map(|c| c as f32)).collect()
        })
        .collect();
    made
}

/// The tube with waves that run along it, as flesh does.
fn wobbling(rings: usize, frames: usize) -> Made {
    let mut made = tube(rings, frames);
    for (frame, targets) in made.targets.iter_mut().enumerate() {
        for (x, p) in targets.iter_mut().zip(&made.bind) {
            let phase = 9.0 * f64::from(p[1]) - 0.7 * frame as f64;
            x[0] += (0.02 * sin(phase) * f64::from(p[1])) as f32;
            x[2] += (0.015 * cos(1.7 * phase) * (1.0 + f64::from(p[0]) * 4.0)) as f32;
        }
    }
    made
}

/// The tube with three places that swing on it.
fn jiggling(rings: usize, frames: usize) -> Made {
    let mut made = tube(rings, frames);
    for (frame, targets) in made.targets.iter_mut().enumerate() {
        for (x, p) in targets.iter_mut().zip(&made.bind) {
            for (place, height) in [0.2, 0.5, 0.8].into_iter().enumerate() {
                let side = if place == 1 { -0.1 } else { 0.1 };
                let away = (f64::from(p[1]) - height).powi(2) + (f64::from(p[0]) - side).powi(2);
                let swing = 0.02 * sin((0.5 + 0.3 * place as f64) * frame as f64) / (1.0 + 200.0 * away);
                x[0] += swing as f32;
                x[1] += (0.5 * swing) as f32;
            }
        }
    }
    made
}

/// The tube with three patches that follow helpers by a fraction, and their joints by the rest.
fn patched(fraction: f64) -> Made {
    let mut made = tube(24, 40);
    for (frame, targets) in made.targets.iter_mut().enumerate() {
        let t = frame as f64;
        let helper = |h: usize| {
            let h = h as f64;
            let angles = Vec3::new(0.4 * sin(0.5 * t + h), 0.3 * cos(0.4 * t * (1.0 + h)), 0.0);
            let shift = Vec3::new(0.05 * cos(0.6 * t + h), 0.0, 0.05 * sin(0.9 * t - h));
            turn(angles, Vec3::new(0.0, 0.2 + 0.3 * h, 0.0), shift)
        };
        for (x, p) in targets.iter_mut().zip(&made.bind) {
            let patch = (0..3).find(|h| (f64::from(p[1]) - 0.2 - 0.3 * *h as f64).abs() < 0.1);
            if let Some(patch) = patch {
                let moved = apply(&helper(patch), p);
                for axis in 0..3 {
                    x[axis] += (fraction * (moved[axis] - f64::from(x[axis]))) as f32;
                }
            }
        }
    }
    made
}

/// The largest error of the skinning alone, and with three helpers (m).
fn with_three_helpers(made: &Made) -> (f64, f64) {
    let error = |max_helpers: usize| {
        let found = HelperBones::find(made, &HelperOptions { max_helpers, ..OPTIONS }).unwrap();
        assert!(found.helpers.len() == max_helpers);
        found.max_error(0..made.targets.len())
    };
    (error(0), error(3))
}

#[test]
fn a_motion_made_by_helpers_is_found_again() {
    let (skinned, found) = with_three_helpers(&patched(1.0));
    // the course draws a frame by a twentieth of its way to the middle of its neighbours. Helpers shift by 5 cm, at up to 0.9 rad a frame, and turn by 0.3 rad, at up to 1.2 rad a frame, with vertices 14 cm away
    let way = 0.5 * (0.05 * 0.9 * 0.9 + 0.3 * 1.2 * 1.2 * 0.14);
    assert!(skinned > 0.05 && found < 0.05 * way, "{skinned} {found}");
}

#[test]
fn a_motion_blended_of_joints_and_helpers_is_nearly_found_again() {
    let (skinned, found) = with_three_helpers(&patched(0.5));
    // the alternation converges linearly along u H ~ constant; a tenth is what its rounds must reach
    assert!(skinned > 0.05 && found < 0.1 * skinned, "{skinned} {found}");
}

#[test]
fn weights_are_sparse_and_positive_and_sum_to_one_and_helpers_are_rigid() {
    let made = wobbling(20, 30);
    for influences in [2, 4, 8] {
        let found = HelperBones::find(&made, &HelperOptions { influences, ..OPTIONS }).unwrap();
        for of_vertex in &found.weights {
            let sum: f64 = of_vertex.iter().map(|influence| influence.weight).sum();
            assert!((sum - 1.0).abs() < 1e-7 && of_vertex.len() <= influences);
            assert!(of_vertex.iter().all(|influence| influence.weight > 0.0));
            assert!(of_vertex.iter().all(|influence| influence.bone < 2 + found.helpers.len()));
        }
        for map in found.maps.iter().flatten() {
            let linear: Mat3 = map.fixed_view::<3, 3>(0, 0).into_owned();
            assert!((linear.transpose() * linear - Mat3::identity()).amax() < 1e-12);
            assert!(linear.determinant() > 0.0);
        }
        // what is reported is what is played
        let maps: Vec<Affine> = made.joints[7].iter().chain(&found.maps[7]).copied().collect();
        let played = found.weights.iter().zip(&made.bind).map(|(weights, p)| blend(weights, p, &maps));
        let gaps =
            played.zip(&made.targets[7]).map(|(a, b)| (Vec3::from(a) - Vec3::from(b.map(f64::from))).norm());
        assert!((gaps.fold(0.0, f64::max) - found.max_error(7..8)).abs() < 1e-6);
    }
}

#[test]
fn more_helpers_come_nearer_and_an_allowed_error_takes_fewer() {
    let made = wobbling(20, 30);
    let error = |max_helpers: usize| {
        let found = HelperBones::find(&made, &HelperOptions { max_helpers, ..OPTIONS }).unwrap();
        found.max_error(0..30)
    };
    let (two, eight, twenty) = (error(2), error(8), error(20));
    assert!(two > eight && eight > twenty, "{two} {eight} {twenty}");
    let allowed = HelperOptions { max_helpers: 20, allowed_error: eight, ..OPTIONS };
    let found = HelperBones::find(&made, &allowed).unwrap();
    assert!(found.helpers.len() < 20 && found.max_error(0..30) <= eight * 1.01, "{}", found.helpers.len());
}

/// Σ e² over the whole sample.
fn squares(fit: &Fit, sample: &Sample) -> f64 {
    fit.errors(sample).iter().flatten().map(|error| f64::from(*error).powi(2)).sum()
}

#[test]
fn both_half_steps_lower_the_sum_of_squares() {
    let made = wobbling(20, 30);
    let sample = Sample::read(&made, (0..30).collect()).unwrap();
    let mut fit = Fit::new(&made, &sample, 4);
    fit.insert(&sample, &SIX);
    let mut last = squares(&fit, &sample);
    for _ in 0..6 {
        // the ridge of the weights and the tethers move the minimum by less than this fraction
        fit.update_weights(&sample);
        let with_weights = squares(&fit, &sample);
        assert!(with_weights <= last * (1.0 + 1e-4), "{with_weights} {last}");
        fit.update_transforms(&sample);
        last = squares(&fit, &sample);
        assert!(last <= with_weights * (1.0 + 1e-4), "{last} {with_weights}");
    }
}

#[test]
fn sweeps_without_tethers_never_raise_the_objective() {
    let made = wobbling(20, 3);
    let sample = Sample::read(&made, (0..3).collect()).unwrap();
    let mut fit = Fit::new(&made, &sample, 4);
    fit.insert(&sample, &SIX);
    fit.update_weights(&sample);
    let solver = TransformSolver::new(2, fit.helper_count(), &fit.weights);
    let free = Tether { centre: Vec3::zeros(), radius: 1.0, map: Affine::identity(), fraction: 0.0 };
    let tethers = vec![free; fit.helper_count()];
    for place in 0..3 {
        let (maps, bind) = (fit.maps(place), sample.frame_bind(place));
        let targets = sample.frame_targets(place);
        let frame = FrameTerms { bind: &bind, targets, joints: &maps[..2], tethers: &tethers };
        let mut helpers = maps[2..].to_vec();
        let emphasis = vec![1.0; bind.len()];
        let value = |helpers: &[Affine]| -> f64 {
            solver.distances(&frame, helpers).iter().map(|e| f64::from(*e).powi(2)).sum()
        };
        for _ in 0..5 {
            let before = value(&helpers);
            solver.solve(&frame, &emphasis, 1, &mut helpers);
            // errors are rounded to single precision
            assert!(value(&helpers) <= before * (1.0 + 1e-6));
        }
    }
}

#[test]
fn results_are_the_same_on_one_thread_and_two() {
    let made = wobbling(16, 20);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| HelperBones::find(&made, &OPTIONS).unwrap())
    };
    assert_eq!(on(1), on(2));
}

/// Between two frames a helper is shown halfway: its rotation in every frame is near to the one between its neighbours.
#[test]
fn helpers_keep_to_their_course() {
    let made = wobbling(30, 60);
    let found = HelperBones::find(&made, &OPTIONS).unwrap();
    let rotation =
        |frame: usize, h: usize| -> Mat3 { found.maps[frame][h].fixed_view::<3, 3>(0, 0).into_owned() };
    let mut largest = 0.0f64;
    for frame in 1..59 {
        for h in 0..found.helpers.len() {
            // ‖R₋ − 2 R + R₊‖ is the square of the angle per frame where the course is even
            let bend = rotation(frame - 1, h) - 2.0 * rotation(frame, h) + rotation(frame + 1, h);
            largest = largest.max(bend.norm());
        }
    }
    // waves turn by up to 1.2 rad a frame; fitted frame by frame alone, helpers bend by 1
    assert!(largest < 0.7, "{largest}");
}

#[test]
fn it_is_twice_as_near_as_the_plain_alternation() {
    let made = jiggling(40, 60);
    let found = HelperBones::find(&made, &OPTIONS).unwrap();
    let (plain, _) = alternation::errors_of(&made, OPTIONS.max_helpers, OPTIONS.influences);
    let error = found.max_error(0..60);
    assert!(2.0 * error <= plain, "{error} {plain}");
}

#[test]
fn motions_of_nothing_or_of_points_do_not_fail() {
    // no vertices, no frames, one frame
    let made = wobbling(20, 3);
    let nothing = Made {
        bind: Vec::new(),
        weights: Vec::new(),
        joints: made.joints.clone(),
        targets: vec![Vec::new(); 3],
    };
    assert!(HelperBones::find(&nothing, &OPTIONS).unwrap().weights.is_empty());
    let still = Made { joints: Vec::new(), targets: Vec::new(), ..made.clone() };
    assert!(HelperBones::find(&still, &OPTIONS).unwrap().maps.is_empty());
    let one = Made { joints: made.joints[..1].to_vec(), targets: made.targets[..1].to_vec(), ..made.clone() };
    assert!(HelperBones::find(&one, &OPTIONS).unwrap().max_error(0..1).is_finite());

    // all vertices at one point, which moves
    let mut point = made.clone();
    point.bind.fill([0.1, 0.2, 0.3]);
    for (frame, targets) in point.targets.iter_mut().enumerate() {
        targets.fill([0.1, 0.2 + 0.1 * frame as f32, 0.3]);
    }
    let found = HelperBones::find(&point, &OPTIONS).unwrap();
    assert!(found.maps.iter().flatten().all(|map| map.iter().all(|c| c.is_finite())));
    assert!(found.max_error(0..3).is_finite());

    // flesh that does nothing needs no helper
    assert!(
        HelperBones::find(&tube(20, 3), &HelperOptions { allowed_error: 1e-6, ..OPTIONS })
            .unwrap()
            .helpers
            .is_empty()
    );
}

#[test]
fn numbers_that_are_not_finite_are_refused_by_frame_and_vertex() {
    let mut made = wobbling(20, 3);
    made.targets[2][5][1] = f32::NAN;
    let message = HelperBones::find(&made, &OPTIONS).unwrap_err().to_string();
    assert!(message.contains("vertex 5") && message.contains("frame 2"), "{message}");
    let mut made = wobbling(20, 3);
    made.joints[1][0][(0, 0)] = f64::INFINITY;
    assert!(HelperBones::find(&made, &OPTIONS).unwrap_err().to_string().contains("frame 1"));
    let mut made = wobbling(20, 3);
    made.weights[4].clear();
    assert!(HelperBones::find(&made, &OPTIONS).unwrap_err().to_string().contains("vertex 4"));
}

/// Vectors that look random, the same every time.
fn scattered(count: usize, width: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.3
    };
    (0..count).map(|_| (0..width).map(|_| next()).collect()).collect()
}

#[test]
fn the_point_of_least_norm_meets_its_conditions() {
    for seed in 0..40 {
        let vectors = scattered(3 + seed as usize % 8, 6, seed + 1);
        let gram =
            Gram::of(vectors.len(), |j, k| vectors[j].iter().zip(&vectors[k]).map(|(a, b)| a * b).sum());
        let found = gram.minimise(&(0..vectors.len()).collect::<Vec<_>>());
        let sum: f64 = found.weights.iter().map(|(_, w)| w).sum();
        assert!((sum - 1.0).abs() < 1e-12 && found.weights.iter().all(|(_, w)| *w > 0.0));
        // no vertex of the hull is nearer along the gradient: (G w)ⱼ ≥ wᵀ G w
        for j in 0..vectors.len() {
            assert!(gram.directional(j, &found.weights) >= found.value * (1.0 - 1e-6) - 1e-12);
        }
        // the sparse one is as good as the best of all pairs
        let sparse = gram.minimise_sparse(2, &[]);
        let pairs = (0..vectors.len()).flat_map(|j| (0..j).map(move |k| [k, j]));
        let best = pairs.map(|pair| gram.minimise(&pair).value).fold(f64::INFINITY, f64::min);
        assert!(sparse.weights.len() <= 2 && sparse.value <= best * 1.2 + 1e-12, "{} {best}", sparse.value);
    }
}
