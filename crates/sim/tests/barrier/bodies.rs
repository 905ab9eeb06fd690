//! Bodies, worlds and the independent check of states.

use sinew_contact::{Bounds, triangles_intersect};
use sinew_flesh::Material;
use sinew_math::nalgebra::Point3;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{CageSize, TetMesh, TriMesh, shapes};
use sinew_sim::desc::{BodyDesc, ContactDesc, Mobility, ObstacleDesc, Sag, ShapeDesc};
use sinew_sim::{
    Control, ImplicitContact, ImplicitSettings, Model, Solver, State, StepReport, Stepper, WorldDesc,
};

pub(crate) const G: f64 = 9.81;

pub(crate) fn body(name: &str, shape: ShapeDesc, young: f64) -> BodyDesc {
    BodyDesc {
        name: name.into(),
        shape,
        material: Material::soft_solid(young, 0.3, 1000.0, 0.0),
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    }
}

/// A box of tets of a given size about a centre, `across` of them along its shortest side.
pub(crate) fn tet_box(name: &str, across: usize, size: [f64; 3], center: Vec3, young: f64) -> BodyDesc {
    let mut mesh: TetMesh = shapes::beam(across, size);
    mesh.nodes.iter_mut().for_each(|x| *x += center - Vec3::new(0.5 * size[0], 0.0, 0.0));
    body(name, ShapeDesc::Tets(mesh), young)
}

/// A surface in a cage.
pub(crate) fn caged(name: &str, mut surface: TriMesh, tets: usize, center: Vec3, young: f64) -> BodyDesc {
    surface.vertices.iter_mut().for_each(|v| *v += center);
    body(name, ShapeDesc::Surface { surface, cage: CageSize::Tets(tets) }, young)
}

/// A surface about the origin.
pub(crate) fn cuboid(size: [f64; 3]) -> TriMesh {
    let mut mesh = shapes::cuboid(size);
    let (low, high) = mesh.bounds().expect("a box");
    mesh.vertices.iter_mut().for_each(|v| *v -= 0.5 * (low + high));
    mesh
}

pub(crate) fn world(bodies: Vec<BodyDesc>, obstacles: Vec<ObstacleDesc>) -> WorldDesc {
    let self_contact = bodies.iter().map(|body| body.name.clone()).collect();
    let contact = ContactDesc { between_bodies: true, friction: 0.3, self_contact, ..ContactDesc::default() };
    WorldDesc { gravity: Vec3::new(0.0, -G, 0.0), bodies, obstacles, contact, ..WorldDesc::default() }
}

pub(crate) fn kinematic(name: &str, shape: sinew_contact::Shape, at: Vec3) -> ObstacleDesc {
    let pose = Isometry::translation(at.x, at.y, at.z);
    ObstacleDesc { mobility: Mobility::Kinematic, ..ObstacleDesc::fixed(name, shape, pose) }
}

pub(crate) const BARRIER: ImplicitSettings =
    ImplicitSettings { contact: ImplicitContact::Barrier, ..ImplicitSettings::INTERACTIVE };

pub(crate) fn stepper() -> Stepper {
    Stepper::with_solver(Solver::Implicit(BARRIER))
}

/// Positions of the surfaces of all bodies and obstacles, with the number of the body of each triangle.
fn triangles(model: &Model, state: &State) -> Vec<(usize, [u32; 3], [Vec3; 3])> {
    let mut all = Vec::new();
    for (i, body) in model.bodies().iter().enumerate() {
        let mut x = vec![Vec3::zeros(); body.surface.vertices.len()];
        body.embedding.interpolate(&state.node_x[body.nodes.clone()], &mut x);
        all.extend(body.surface.triangles.iter().map(|t| (i, *t, t.map(|v| x[v as usize]))));
    }
    for (i, (obstacle, now)) in model.obstacles().iter().zip(&state.obstacles).enumerate() {
        let at = |v: u32| (now.pose * Point3::from(obstacle.surface.vertices[v as usize])).coords;
        let owner = model.bodies().len() + i;
        all.extend(obstacle.surface.triangles.iter().map(|t| (owner, *t, t.map(at))));
    }
    all
}

/// The number of pairs of triangles that intersect, by testing all of them: of different bodies, and of one body without a common corner.
pub(crate) fn intersections(model: &Model, state: &State) -> usize {
    let all = triangles(model, state);
    let boxes: Vec<Bounds> = all.iter().map(|(_, _, x)| Bounds::around(x)).collect();
    let mut count = 0;
    for i in 0..all.len() {
        for j in i + 1..all.len() {
            let ((a, t, x), (b, u, y)) = (&all[i], &all[j]);
            let is_adjacent = a == b && t.iter().any(|corner| u.contains(corner));
            let are_obstacles = *a >= model.bodies().len() && *b >= model.bodies().len();
            if !is_adjacent && !are_obstacles && boxes[i].intersects(&boxes[j]) && triangles_intersect(x, y) {
                count += 1;
            }
        }
    }
    count
}

/// Takes steps of `dt` (s) under controls of each step, without an intersection at the end of any, all of them with barriers.
pub(crate) fn run_apart(
    model: &Model,
    dt: f64,
    steps: usize,
    control: impl Fn(usize) -> Control,
) -> (State, Vec<StepReport>) {
    let (mut state, mut stepper, mut reports) = (State::at_rest(model), stepper(), Vec::new());
    assert_eq!(intersections(model, &state), 0, "at the start");
    for step in 0..steps {
        let report = stepper.step(model, &control(step), dt, &mut state).expect("holds");
        assert_eq!(intersections(model, &state), 0, "after step {step}: {report:?}");
        assert_eq!((report.barrier_substeps, report.barrier_fallbacks), (1, 0), "step {step}: {report:?}");
        reports.push(report);
    }
    (state, reports)
}

pub(crate) fn still(model: &Model) -> impl Fn(usize) -> Control + '_ {
    |_| Control::still(model)
}
