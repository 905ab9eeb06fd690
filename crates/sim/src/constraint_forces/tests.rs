//! Adjointness of the force map, derivatives of constraint energies, and rejection of invalid constraints.

use super::*;
use crate::NodeEnergy;
use crate::coupling::BoneCoupling;
use crate::desc::{
    AttachmentDesc, BeltDesc, BodyDesc, ConstraintDesc, ConstraintKind, Mobility, ObstacleDesc, PinDesc,
    PointDesc, Region, RigDesc, Sag, ShapeDesc, WorldDesc,
};
use crate::{BuildError, Control, Model, State};
use sinew_contact::{RigidMotion, Shape};
use sinew_flesh::Material;
use sinew_math::spatial::{Frame, Twist, Wrench};
use sinew_math::{Isometry, so3};
use sinew_mesh::shapes;
use sinew_skeleton::{BoneDesc, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc, SolidShape};

/// A bar of 8 cm along x from 0 to 0.8 m with a bone in each half, and a ball beside it.
fn world(constraints: Vec<ConstraintDesc>) -> WorldDesc {
    // two bones in a bar of flesh
    let bone = |name: &str, parent: Parent| BoneDesc {
        name: name.into(),
        parent,
        parent_from_joint: Isometry::translation(if name == "left" { 0.0 } else { 0.4 }, 0.0, 0.0),
        joint: JointDesc::of(if name == "left" { JointKind::Free } else { JointKind::Ball }),
        mass: MassDesc::Solid {
            shape: SolidShape::Capsule { from: Vec3::x() * 0.05, to: Vec3::x() * 0.35, radius: 0.015 },
            density: 1500.0,
        },
    };
    let bones = vec![bone("left", Parent::World), bone("right", Parent::Named("left".into()))];
    let body = BodyDesc {
        name: "bar".into(),
        shape: ShapeDesc::Tets(shapes::beam(4, [0.8, 0.08, 0.08])),
        material: Material::soft_solid(5e3, 0.4, 1000.0, 0.1),
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: Some(AttachmentDesc::by_shape("rig")),
        sag: Sag::Free,
        ..BodyDesc::default()
    };

    // a free ball, rotated
    let mobility = Mobility::Free { density: 700.0, velocity: Vec3::zeros(), spin: Vec3::zeros() };
    let pose = Isometry::from_parts(Vec3::new(0.4, 0.5, 0.1).into(), so3::exp(&Vec3::new(0.3, 0.1, -0.4)));
    let ball = ObstacleDesc { mobility, ..ObstacleDesc::fixed("ball", Shape::Sphere { radius: 0.1 }, pose) };
    let rig = RigDesc { name: "rig".into(), skeleton: SkeletonDesc { bones } };
    WorldDesc {
        bodies: vec![body],
        rigs: vec![rig],
        obstacles: vec![ball],
        constraints,
        ..WorldDesc::default()
    }
}

fn on_bar(place: [f64; 3]) -> PointDesc {
    PointDesc::surface("bar", Vec3::from(place))
}

fn on_bone(bone: &str, place: [f64; 3]) -> PointDesc {
    PointDesc::Bone { rig: "rig".into(), bone: bone.into(), place: Some(Vec3::from(place)) }
}

fn on_ball() -> PointDesc {
    PointDesc::Obstacle { obstacle: "ball".into(), place: Some(Vec3::new(0.4, 0.4, 0.1)) }
}

/// One constraint of each kind.
fn all_kinds() -> Vec<ConstraintDesc> {
    let inside = PointDesc::Inside { body: "bar".into(), place: Vec3::new(0.33, 0.012, -0.017) };
    let region = Region::End { direction: Vec3::x(), fraction: 0.05 };
    let end = PointDesc::Region { body: "bar".into(), region };
    let belt = BeltDesc {
        body: "bar".into(),
        center: Vec3::new(0.51, 0.0, 0.0),
        axis: Vec3::new(1.0, 0.2, 0.1),
        length: Some(0.2),
    };
    let join = |points, length| ConstraintKind::Join { points, length, is_unilateral: false };
    let kinds = [
        ConstraintKind::Drag { point: on_bar([0.1, 0.05, 0.01]), place: Some(Vec3::new(0.2, 0.3, 0.0)) },
        ConstraintKind::Pin { point: inside, place: None },
        ConstraintKind::Pin {
            point: on_bone("right", [0.8, 0.1, 0.0]),
            place: Some(Vec3::new(0.9, 0.2, 0.3)),
        },
        join([on_bone("left", [0.0, 0.2, 0.0]), on_bar([0.3, 0.04, 0.0])], Some(0.1)),
        join([end, on_ball()], None),
        join([on_bone("left", [0.1, 0.0, 0.1]), on_bone("right", [0.6, 0.1, 0.0])], Some(0.0)),
        ConstraintKind::Belt(belt),
    ];
    let named = |(i, kind)| ConstraintDesc::new(format!("{i}"), kind);
    kinds.into_iter().enumerate().map(named).collect()
}

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn random_vector(seed: &mut u64) -> Vec3 {
    Vec3::new(random(seed), random(seed), random(seed))
}

/// A world in which everything is displaced and moves.
fn shaken(model: &Model, seed: &mut u64) -> State {
    let mut state = State::at_rest(model);
    let charts = [(0, 6), (1, 3)];
    for (bone, count) in charts {
        let chart: Vec<f64> = (0..count).map(|_| 0.4 * random(seed)).collect();
        state.rigs[0].set_chart_of(&model.rigs()[0].skeleton, sinew_skeleton::BoneId(bone), &chart);
    }
    state.rigs[0].v.iter_mut().for_each(|v| *v = random(seed));
    state.node_x.iter_mut().for_each(|x| *x += 0.01 * random_vector(seed));
    state.node_v.iter_mut().for_each(|v| *v = random_vector(seed));
    state.obstacles[0].linear = random_vector(seed);
    state.obstacles[0].angular = random_vector(seed);
    state.restart(model);
    state
}

/// ⟨f, J v⟩ = ⟨Jᵀ f, v⟩ for points of flesh, bones and obstacles, to round-off of sums of a few numbers of order 1.
#[test]
fn forces_come_back_by_the_weights_that_motion_goes_out_by() {
    // a moving world
    let model = Model::build(&world(all_kinds())).expect("sound");
    let seed = &mut 7;
    let state = shaken(&model, seed);
    let mut coupling = BoneCoupling::default();
    coupling.prepare(&model);
    coupling.refresh(&model, &state);
    let solid = model.obstacles()[0].solid.expect("it is free");
    let motions: Vec<RigidMotion> = state.obstacles.iter().map(|obstacle| obstacle.motion(&solid)).collect();
    let (node_x, node_v, obstacles) = (&state.node_x[..], &state.node_v[..], &state.obstacles[..]);
    let now = Surroundings { node_x, node_v, coupling: &coupling, obstacles, motions: &motions };

    // the points of all constraints
    let mut anchors: Vec<Anchor> = Vec::new();
    for constraint in model.constraints() {
        match &constraint.hold {
            Hold::Place { anchor, .. } => anchors.push(anchor.clone()),
            Hold::Between(ends) => anchors.extend(ends.iter().cloned()),
            Hold::Exact { row, .. } => anchors.push(Anchor::Nodes(row.clone())),
            Hold::Around(rows) => anchors.extend(rows.iter().cloned().map(Anchor::Nodes)),
        }
    }
    assert!(anchors.len() > 15);

    // the power of a force at the point equals that of the mapped forces
    for anchor in anchors {
        let (y, force) = (anchor.at(&now), random_vector(seed));
        let out = force.dot(&anchor.velocity(&model, &now, &y));
        let mut node_force = vec![Vec3::zeros(); model.node_count()];
        let mut applied = AppliedForces::default();
        applied.clear(&model);
        anchor.pull(&model, &now, (&y, &force), &mut node_force, &mut applied);
        let mut back: f64 = node_force.iter().zip(&state.node_v).map(|(f, v)| f.dot(v)).sum();
        for (wrench, field) in applied.bones.iter().zip(&coupling.fields) {
            back += wrench.torque.dot(&field.angular) + wrench.force.dot(&field.at_origin);
        }
        let Wrench { force: push, torque } = applied.obstacles[0];
        back += push.dot(&state.obstacles[0].linear) + torque.dot(&state.obstacles[0].angular);
        assert!((out - back).abs() < 1e-13, "{anchor:?}: {out} {back}");
    }
}

/// Gradient and Hessian of the implicit constraint energy over nodes. Differences of 1e-6 m: second derivatives of some 10⁴ N/m leave round-off of 1e-16 · 10 J/1e-6 m; products are in single precision,
/// six digits. All springs are extended, because the Hessian of compressed ones is modified.
#[test]
fn the_energy_of_implicit_steps_has_its_gradient_and_hessian() {
    // energy, gradient and Hessian product at a displaced state
    let model = Model::build(&world(all_kinds())).expect("sound");
    let seed = &mut 11;
    let state = shaken(&model, seed);
    let mut control = Control::still(&model);
    control.constraints.iter_mut().for_each(|path| path.length = [0.2, 0.3]);
    let start = State::at_rest(&model);
    let coupling = BoneCoupling::of(&model, &State::at_rest(&model));
    let mut bones = vec![Frame::default()];
    bones.extend([coupling.frame(0, 0), coupling.frame(0, 1)]);
    bones.extend(State::at_rest(&model).obstacles.iter().map(|obstacle| Frame::from(&obstacle.pose)));
    let step = ConstraintStep { substep: Substep::whole(1e-2), is_damped: true, bones: &bones };
    let mut held = ConstraintEnergy::default();
    held.begin(&model, &control, step, &start);
    let mut x = state.node_x.clone();
    let evaluate = |held: &mut ConstraintEnergy, x: &[Vec3]| {
        let mut gradient = vec![Vec3::zeros(); x.len()];
        (held.evaluate(x, &mut gradient), gradient)
    };
    let direction: Vec<Vec3> = x.iter().map(|_| random_vector(seed)).collect();
    let (_, gradient) = evaluate(&mut held, &x);
    let gap_gradient: f64 = gradient.iter().zip(&direction).map(|(g, d)| g.dot(d)).sum();
    held.update(&x);
    let u: Vec<[f32; 4]> = direction.iter().map(|d| [d.x as f32, d.y as f32, d.z as f32, 0.0]).collect();
    let mut product = vec![[0.0f32; 4]; x.len()];
    held.multiply(&u, &mut product);

    // central differences along a random direction
    let e = 1e-6;
    x.iter_mut().zip(&direction).for_each(|(x, d)| *x += e * d);
    let (ahead, gradient_ahead) = evaluate(&mut held, &x);
    x.iter_mut().zip(&direction).for_each(|(x, d)| *x -= 2.0 * e * d);
    let (back, gradient_back) = evaluate(&mut held, &x);
    let rise = (ahead - back) / (2.0 * e);
    assert!(
        gap_gradient.abs() > 1.0 && (gap_gradient - rise).abs() < 1e-6 * gap_gradient.abs().max(10.0),
        "{gap_gradient} {rise}"
    );

    // differences of gradients
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for ((product, ahead), back) in product.iter().zip(&gradient_ahead).zip(&gradient_back) {
        let turn = (ahead - back) / (2.0 * e);
        let found = Vec3::new(f64::from(product[0]), f64::from(product[1]), f64::from(product[2]));
        worst = worst.max((turn - found).norm());
        largest = largest.max(turn.norm());
    }
    assert!(largest > 10.0 && worst < 1e-5 * largest, "{worst} {largest}");
}

/// The same over motions of bones: a rotation and a translation of each bone by 1e-6 of a radian and a metre, to the same round-off as over nodes.
#[test]
fn the_energy_of_implicit_steps_has_its_gradient_over_bones() {
    // constraints that are extended
    let model = Model::build(&world(all_kinds())).expect("sound");
    let seed = &mut 13;
    let state = State::at_rest(&model);
    let coupling = BoneCoupling::of(&model, &State::at_rest(&model));
    let mut bones = vec![Frame::default()];
    bones.extend([coupling.frame(0, 0), coupling.frame(0, 1)]);
    bones.extend(State::at_rest(&model).obstacles.iter().map(|obstacle| Frame::from(&obstacle.pose)));
    let step = ConstraintStep { substep: Substep::whole(1e-2), is_damped: true, bones: &bones };
    let mut control = Control::still(&model);
    control.constraints.iter_mut().for_each(|path| path.length = [0.2, 0.3]);
    let mut held = ConstraintEnergy::default();
    held.begin(&model, &control, step, &state);
    // two bones and a dynamic obstacle
    for bone in [1, 2, 3] {
        // gradient against differences of the energy
        let twist = Twist::new(random_vector(seed), random_vector(seed));
        let evaluate = |held: &mut ConstraintEnergy, by: f64| {
            let mut moved = bones.clone();
            let rotation = so3::exp(&(by * twist.angular));
            moved[bone].rotation = rotation.to_rotation_matrix().matrix() * moved[bone].rotation;
            moved[bone].origin = rotation * moved[bone].origin + by * twist.linear;
            held.see_bones(&moved);
            let mut gradient = vec![Vec3::zeros(); model.node_count()];
            let energy = held.evaluate(&state.node_x, &mut gradient);
            let mut wrenches = vec![Wrench::default(); bones.len()];
            held.add_bone_gradients(&mut wrenches);
            (energy, wrenches)
        };
        let (_, wrenches) = evaluate(&mut held, 0.0);
        let gap_gradient = twist.dot(&wrenches[bone]);
        let e = 1e-6;
        let rise = (evaluate(&mut held, e).0 - evaluate(&mut held, -e).0) / (2.0 * e);
        assert!(
            gap_gradient.abs() > 0.1 && (gap_gradient - rise).abs() < 1e-6 * gap_gradient.abs().max(10.0),
            "{gap_gradient} {rise}"
        );

        // the Hessian neglects the second derivative of a bone's rotation: it is exact over translations
        let shift = Twist::new(Vec3::zeros(), twist.linear);
        evaluate(&mut held, 0.0);
        held.update(&state.node_x);
        let mut twists = vec![Twist::default(); bones.len()];
        twists[bone] = shift;
        held.move_bones(&twists);
        let still = vec![[0.0f32; 4]; model.node_count()];
        let mut product = vec![Wrench::default(); bones.len()];
        held.add_bone_products(&still, &mut product);
        let forces = |held: &mut ConstraintEnergy, by: f64| {
            let mut moved = bones.clone();
            moved[bone].origin += by * shift.linear;
            held.see_bones(&moved);
            held.evaluate(&state.node_x, &mut vec![Vec3::zeros(); model.node_count()]);
            let mut wrenches = vec![Wrench::default(); bones.len()];
            held.add_bone_gradients(&mut wrenches);
            wrenches[bone].force
        };
        let bent = (forces(&mut held, e) - forces(&mut held, -e)) / (2.0 * e);
        assert!((product[bone].force - bent).norm() < 1e-6 * bent.norm(), "{:?} {bent}", product[bone].force);
    }
}

/// The diagonal blocks for preconditioning equal those of the products for single points; belts neglect the coupling between their points.
#[test]
fn the_diagonal_is_that_of_the_products() {
    let mut constraints = all_kinds();
    constraints.truncate(3);
    let model = Model::build(&world(constraints)).expect("sound");
    let state = State::at_rest(&model);
    let bones = vec![Frame::default(); 3];
    let step = ConstraintStep { substep: Substep::whole(1e-2), is_damped: true, bones: &bones };
    let mut held = ConstraintEnergy::default();
    held.begin(&model, &Control::still(&model), step, &state);
    held.update(&state.node_x);
    let mut blocks = vec![sinew_math::Mat3::zeros(); model.node_count()];
    held.add_diagonal(&mut blocks);
    for node in 0..model.node_count() {
        let mut u = vec![[0.0f32; 4]; model.node_count()];
        u[node][1] = 1.0;
        let mut product = vec![[0.0f32; 4]; model.node_count()];
        held.multiply(&u, &mut product);
        let found = f64::from(product[node][1]);
        assert!((blocks[node][(1, 1)] - found).abs() <= 1e-6 * found, "{node}");
    }
}

/// A belt lies on the surface, in its plane, and has the length of the section: a perimeter of 0.32 m around the bar, cut obliquely.
#[test]
fn a_belt_lies_where_its_plane_cuts_the_surface() {
    let model = Model::build(&world(all_kinds())).expect("sound");
    let Hold::Around(rows) = &model.constraints()[6].hold else { panic!("the last is a belt") };
    let points: Vec<Vec3> = rows.iter().map(|row| sum(row, model.node_rest())).collect();
    let axis = Vec3::new(1.0, 0.2, 0.1);
    for point in &points {
        assert!((point - Vec3::new(0.51, 0.0, 0.0)).dot(&axis).abs() < 1e-12);
        assert!((point.y.abs().max(point.z.abs()) - 0.04).abs() < 1e-12, "{point:?}");
    }
    // sides of 8 cm along y and z, lengthened by the slant: √(1 + 0.2²) and √(1 + 0.1²); points cut the corners off
    let round = 0.16 * (1.04f64.sqrt() + 1.01f64.sqrt());
    let length = belt::length(&points);
    assert!(length < round && length > 0.93 * round, "{length} {round}");
}

fn errors(constraints: Vec<ConstraintDesc>) -> String {
    let BuildError { faults } = Model::build(&world(constraints)).expect_err("not sound");
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let drag = |point| ConstraintKind::Drag { point, place: None };
    let nan = Vec3::new(f64::NAN, 0.0, 0.0);
    let strange = |name: &str, kind| ConstraintDesc::new(name, kind);
    let join = |a, b, length| ConstraintKind::Join { points: [a, b], length, is_unilateral: true };
    let belt = |axis: Vec3, length| BeltDesc { body: "bar".into(), center: Vec3::zeros(), axis, length };

    // one description with each fault
    let text = errors(vec![
        strange("a", drag(PointDesc::surface("bier", Vec3::zeros()))),
        ConstraintDesc { stiffness: Some(-3.0), ..strange("b", drag(on_bar([0.0; 3]))) },
        ConstraintDesc { damping: Some(f64::NAN), ..strange("c", drag(on_bar([0.0; 3]))) },
        strange("d", drag(PointDesc::surface("bar", nan))),
        strange("e", ConstraintKind::Pin { point: on_bar([0.0; 3]), place: Some(nan) }),
        strange("f", join(on_bar([0.0; 3]), on_bar([0.0; 3]), None)),
        strange("g", join(on_bar([0.0; 3]), on_ball(), Some(-1.0))),
        strange("h", ConstraintKind::Belt(belt(Vec3::zeros(), None))),
        strange("i", ConstraintKind::Belt(belt(Vec3::x(), Some(0.0)))),
        strange("j", drag(on_bone("middle", [0.0; 3]))),
        strange("j", drag(PointDesc::Obstacle { obstacle: "wall".into(), place: None })),
    ]);

    // all of them are reported
    for words in [
        "'a': there is no body 'bier'",
        "'b': its stiffness is -3 N/m",
        "'c': its damping is NaN",
        "'d': the place of its point [NaN, 0.0, 0.0] is not finite",
        "'e': its place [NaN, 0.0, 0.0] is not finite",
        "'f': it joins a point with itself",
        "'g': its length is -1 m",
        "'h': its axis [0.0, 0.0, 0.0] is zero or not finite",
        "'i': its length is 0 m: it must be above 0",
        "'j': two constraints have this name",
        "'j': skeleton 'rig' has no bone 'middle'",
        "'j': there is no obstacle 'wall'",
    ] {
        assert!(text.contains(words), "{words} is not in:\n{text}");
    }
}

#[test]
fn what_cannot_be_found_or_held_is_said() {
    let far =
        ConstraintDesc::new("far", ConstraintKind::Drag { point: on_bar([0.0, 9.0, 0.0]), place: None });
    let belt = BeltDesc { body: "bar".into(), center: Vec3::x() * 5.0, axis: Vec3::x(), length: None };
    let none = ConstraintDesc::new("none", ConstraintKind::Belt(belt));
    let region = Region::Ball { center: Vec3::x() * 7.0, radius: 0.1 };
    let point = PointDesc::Region { body: "bar".into(), region };
    let empty = ConstraintDesc::new("empty", ConstraintKind::Pin { point, place: None });
    let text = errors(vec![far, none, empty]);
    assert!(text.contains("'far': the nearest point of body 'bar' is 8.96"), "{text}");
    assert!(
        text.contains("'none': its plane does not cut body 'bar' in a closed curve: the body reaches from"),
        "{text}"
    );
    assert!(text.contains("'empty': its region contains no surface vertex of 'bar'"), "{text}");
    let pin = ConstraintKind::Pin { point: on_bar([0.8, 0.0, 0.0]), place: None };
    let hard = ConstraintDesc { stiffness: Some(1e12), ..ConstraintDesc::new("hard", pin) };
    let text = errors(vec![hard]);
    assert!(text.contains("'hard': a stiffness of 1.000e12 N/m") && text.contains("use at most"), "{text}");

    let mut held = world(vec![ConstraintDesc::new(
        "held",
        ConstraintKind::Pin { point: on_bar([0.0, 0.0, 0.0]), place: None },
    )]);
    held.bodies[0].attachment = None;
    held.bodies[0].pins = vec![PinDesc { region: Region::End { direction: -Vec3::x(), fraction: 0.2 } }];
    let error = Model::build(&held).expect_err("a pin of the body holds it already").to_string();
    assert!(error.contains("'held': none of its points can move"), "{error}");
}

#[test]
fn what_is_asked_of_a_step_is_checked() {
    let model = Model::build(&world(all_kinds())).expect("sound");
    let mut state = State::at_rest(&model);
    let mut stepper = crate::Stepper::default();
    let before = state.hash();
    let paths = [
        ConstraintPath::at(Vec3::new(f64::INFINITY, 0.0, 0.0)),
        ConstraintPath { strength: [0.0, 1.5], ..ConstraintPath::default() },
        ConstraintPath { length: [f64::NAN, 1.0], ..ConstraintPath::default() },
    ];
    for path in paths {
        let mut control = Control::still(&model);
        control.constraints[2] = path;
        let error = stepper.step(&model, &control, 0.01, &mut state).expect_err("refused").to_string();
        assert!(error.starts_with("constraint '2': "), "{error}");
        assert_eq!(state.hash(), before);
    }
}
