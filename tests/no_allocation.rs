//! Steps do not allocate memory after the first.

#![expect(unsafe_code, reason = "counting needs an allocator of our own")]

mod crowd;

use sinew::prelude::*;
use sinew::sim::desc::{MetaphorDesc, MetaphorKind};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards every call to the system allocator unchanged
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One test, since the count is that of the whole process.
#[test]
fn steps_after_the_first_do_not_allocate() {
    steps_of_flesh_and_bones_do_not_allocate();
    steps_with_contact_do_not_allocate();
    steps_of_a_crowd_do_not_allocate();
    steps_of_cloth_do_not_allocate();
    steps_with_exact_constraints_and_metaphors_do_not_allocate();
    steps_with_changing_factors_do_not_allocate();
}

/// Flesh with and without bones, and cloth, whose stiffness, damping and friction change from step to step.
fn steps_with_changing_factors_do_not_allocate() {
    let scenes = [sinew::zoo::jelly_torus(), sinew::zoo::starfish(6000), sinew::zoo::cloth()];
    for (scene, threads) in scenes.iter().flat_map(|scene| [(scene, 1), (scene, 2)]) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let model = Model::build(&scene.world).expect("a sound world");
            let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
            let mut control = Control::still(&model);
            control.stiffness = vec![1.0];
            control.damping = vec![1.0];
            control.friction.bodies = vec![1.0];
            let mut step = |factor: f64| {
                (control.stiffness[0], control.damping[0]) = (factor, 2.0 - factor);
                control.friction.bodies[0] = factor;
                stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("holds")
            };
            step(0.8);
            let before = COUNT.load(Ordering::Relaxed);
            let substeps = [0.9, 1.1].map(|factor| step(factor).substeps);
            let allocated = COUNT.load(Ordering::Relaxed) - before;
            assert!(substeps[1] > 1, "{substeps:?}");
            assert_eq!(allocated, 0, "{}, {threads} threads", scene.name);
        });
    }
}

/// Two hands that hold points of a ring exactly, one of which moves, while metaphors of all kinds act on it.
fn steps_with_exact_constraints_and_metaphors_do_not_allocate() {
    for threads in [1, 2] {
        let mut scene = sinew::zoo::jelly_torus();
        let body = scene.world.bodies[0].name.clone();
        let ShapeDesc::Surface { surface, .. } = &scene.world.bodies[0].shape else { unreachable!("one") };
        let (low, high) = surface.bounds().expect("it has vertices");
        let hand = |name: &str, place: Vec3| {
            let point = PointDesc::Surface { body: body.clone(), place };
            let drag = ConstraintKind::Drag { point, place: Some(place + 0.01 * Vec3::y()) };
            ConstraintDesc { is_exact: true, ..ConstraintDesc::new(name, drag) }
        };
        scene.world.constraints = vec![hand("left", low), hand("right", high)];
        let kinds = MetaphorKind::NAMED.map(|(name, kind)| MetaphorDesc::new(name, &body, kind));
        scene.world.metaphors = kinds.into_iter().filter(|own| own.kind != MetaphorKind::Push).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let model = Model::build(&scene.world).expect("a sound world");
            let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
            let mut control = Control::still(&model);
            control.metaphors = vec![[0.3, 0.5]; model.metaphors().len()];
            let mut step = || stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("holds");
            step();
            let before = COUNT.load(Ordering::Relaxed);
            assert!(step().substeps > 1);
            assert_eq!(COUNT.load(Ordering::Relaxed) - before, 0, "{threads} threads");
        });
    }
}

/// Two limp characters, low-poly bars and dynamic obstacles, all in contact with each other and themselves, in explicit steps. Implicit steps allocate: they factorise matrices.
fn steps_of_a_crowd_do_not_allocate() {
    for threads in [1, 2] {
        let scene = crowd::crowd(Solver::Explicit);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let model = Model::build(&scene.world).expect("a sound world");
            let mut state = State::at_rest(&model);
            let mut control = Control::still(&model);
            control.rigs.iter_mut().for_each(|rig| rig.drives.fill(DriveKind::Torque));
            let mut stepper = Stepper::default();
            let mut step = || stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("holds");
            step();
            let before = COUNT.load(Ordering::Relaxed);
            let in_contact = (0..12).map(|_| step().in_contact).max().unwrap_or_default();
            let allocated = COUNT.load(Ordering::Relaxed) - before;
            let has_all = in_contact > 100 && !state.pair_anchors.is_empty() && !state.anchors.is_empty();
            assert!(has_all, "{in_contact}");
            assert_eq!(allocated, 0, "{threads} threads");
        });
    }
}

fn steps_of_cloth_do_not_allocate() {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let scene = sinew::zoo::cloth();
            let model = Model::build(&scene.world).expect("a sound world");
            let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
            let control = Control::still(&model);
            let mut step = || stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("holds");
            step();
            let before = COUNT.load(Ordering::Relaxed);
            assert!(step().substeps > 1);
            assert_eq!(COUNT.load(Ordering::Relaxed) - before, 0, "{threads} threads");
        });
    }
}

fn steps_of_flesh_and_bones_do_not_allocate() {
    for (threads, coupled, constrained) in [
        (1, false, false),
        (2, false, false),
        (1, true, false),
        (2, true, false),
        (1, true, true),
        (2, false, true),
    ] {
        let mut scene = if coupled { sinew::zoo::starfish(6000) } else { sinew::zoo::jelly_torus() };
        if constrained {
            add_constraints(&mut scene);
            // nearly incompressible, with patches
            scene.world.bodies[0].material.poisson = 0.47;
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let model = Model::build(&scene.world).expect("a sound world");
            let mut state = State::at_rest(&model);
            let mut stepper = Stepper::default();
            let mut control = Control::still(&model);
            // root and one arm are dynamic, the others kinematic
            for rig in &mut control.rigs {
                rig.drives[..3].fill(DriveKind::Torque);
            }
            // strongly deformed, so that some elements need a decomposition
            let top = if coupled { 0.02 } else { 0.16 };
            state.node_x.iter_mut().for_each(|x| x.y = top + 1.5 * (x.y.min(top) - top));
            state = State::from_motion(&model, state.node_x, state.node_v);
            let mut step = || stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("holds");
            step();
            let before = COUNT.load(Ordering::Relaxed);
            let report = step();
            let allocated = COUNT.load(Ordering::Relaxed) - before;
            assert!(report.substeps >= 8 && report.diagonalised > 0);
            assert_eq!(allocated, 0, "{threads} threads, coupled: {coupled}, constrained: {constrained}");
        });
    }
}

/// Limp bodies on the ground and on each other, with an increasing number of contacts as they fall. Contact lists have their capacity from the first step on.
fn steps_with_contact_do_not_allocate() {
    for (threads, coupled, itself) in [(1, true, false), (1, true, true), (2, true, true), (2, false, true)] {
        let mut scene = if coupled { sinew::zoo::starfish(3400) } else { sinew::zoo::jelly_torus() };
        scene.world.gravity = Vec3::new(0.0, -9.81, 0.0);
        if !coupled {
            let (surface, cage) = (sinew::mesh::shapes::torus(0.14, 0.055, 48, 24), CageSize::Tets(800));
            scene.world.bodies[0].shape = ShapeDesc::Surface { surface, cage };
        }

        // ground and a stone, a second body above the first, self-contact
        let ShapeDesc::Surface { surface, .. } = &scene.world.bodies[0].shape else { unreachable!("one") };
        let (low, high) = surface.bounds().expect("it has vertices");
        scene.world.obstacles.push(ObstacleDesc::ground(low.y - 1e-3));
        let half = Vec3::repeat(0.1 * (high - low).min());
        let place = Isometry::translation(0.0, low.y, 0.5 * high.z);
        scene.world.obstacles.push(ObstacleDesc::fixed("stone", Shape::Cuboid { half }, place));
        if !coupled {
            let mut upper = scene.world.bodies[0].clone();
            upper.name = "upper".into();
            if let ShapeDesc::Surface { surface, .. } = &mut upper.shape {
                surface.vertices.iter_mut().for_each(|x| x.y += high.y - low.y + 2e-3);
            }
            upper.pins.clear();
            scene.world.bodies[0].pins.clear();
            scene.world.bodies.push(upper);
            scene.world.contact.between_bodies = true;
        }
        if itself {
            scene.world.contact.self_contact.push(scene.world.bodies[0].name.clone());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let model = Model::build(&scene.world).expect("a sound world");
            let mut state = State::at_rest(&model);
            // its ends move towards each other
            let middle = 0.5 * (low + high);
            for (x, v) in state.node_x.iter().zip(&mut state.node_v) {
                v.x -= 3.0 * (x.x - middle.x);
            }
            state = State::from_motion(&model, state.node_x, state.node_v);
            let mut control = Control::still(&model);
            control.rigs.iter_mut().for_each(|rig| rig.drives.fill(DriveKind::Torque));

            // the first step may allocate, the next twenty may not
            let mut stepper = Stepper::default();
            let mut step = |state: &mut State| {
                stepper.step(&model, &control, 1.0 / 60.0, state).expect("holds").in_contact
            };
            let first = step(&mut state);
            let before = COUNT.load(Ordering::Relaxed);
            let in_contact = (0..20).map(|_| step(&mut state)).max().unwrap_or_default();
            let allocated = COUNT.load(Ordering::Relaxed) - before;
            assert!(coupled || !state.pair_anchors.is_empty(), "no friction anchors between the two");
            assert!(in_contact > first + 20, "{first} {in_contact}");
            assert_eq!(allocated, 0, "{threads} threads, coupled: {coupled}, itself: {itself}");
        });
    }
}

/// Drags a body by its end, belts it, and joins that end to a bone, if there is one.
fn add_constraints(scene: &mut Scene) {
    let body = scene.world.bodies[0].name.clone();
    let ShapeDesc::Surface { surface, .. } = &scene.world.bodies[0].shape else { unreachable!("a surface") };
    let (low, high) = surface.bounds().expect("it has vertices");
    let region = Region::End { direction: Vec3::x(), fraction: 0.05 };
    let end = PointDesc::Region { body: body.clone(), region };
    let center = Vec3::new(0.8 * high.x + 0.2 * low.x, 0.5 * (low.y + high.y), 0.5 * (low.z + high.z));
    let belt = BeltDesc { body, center, axis: Vec3::x(), length: Some(0.05) };
    let mut kinds = vec![
        ConstraintKind::Drag { point: end.clone(), place: Some(high + Vec3::x() * 0.05) },
        ConstraintKind::Belt(belt),
    ];
    if let Some(rig) = scene.world.rigs.first() {
        let bone = rig.skeleton.bones[0].name.clone();
        let bone = PointDesc::Bone { rig: rig.name.clone(), bone, place: None };
        kinds.push(ConstraintKind::Join { points: [end, bone], length: None, is_unilateral: false });
    }
    let named = |(i, kind)| ConstraintDesc::new(format!("{i}"), kind);
    scene.world.constraints = kinds.into_iter().enumerate().map(named).collect();
}
