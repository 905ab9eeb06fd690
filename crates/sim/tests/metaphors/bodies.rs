//! Bodies that metaphors are tried on, and runs of them.

use sinew_flesh::{Fabric, Material};
use sinew_math::{Rotation, Vec3};
use sinew_mesh::{ImplicitSurface, Primitive, shapes};
use sinew_sim::desc::{
    BodyDesc, CageSize, MetaphorDesc, MetaphorKind, NetworkDesc, NetworkKind, ShapeDesc, WidgetDesc,
};
use sinew_sim::{Control, Model, Solver, State, Stepper, WorldDesc, metaphor_response};

pub(crate) const FPS: f64 = 60.0;

/// A weightless world with one body.
pub(crate) fn world(body: BodyDesc) -> WorldDesc {
    WorldDesc { bodies: vec![body], ..WorldDesc::default() }
}

pub(crate) fn flesh(primitives: &[Primitive], spacing: f64, tets: usize) -> BodyDesc {
    let surface = ImplicitSurface::build(primitives).and_then(|own| own.surface(spacing)).expect("a surface");
    let shape = ShapeDesc::Surface { surface, cage: CageSize::Tets(tets) };
    BodyDesc { shape, material: Material::soft_solid(20e3, 0.42, 1000.0, 0.3), ..BodyDesc::default() }
}

/// A cylinder of 0.4 m along y.
pub(crate) fn cylinder() -> BodyDesc {
    let ends = [Vec3::new(0.0, -0.15, 0.0), Vec3::new(0.0, 0.15, 0.0)];
    flesh(&[Primitive::round_cone(ends, [0.05; 2])], 0.015, 800)
}

/// A head with a long flat ear, along y from 0.1 m to 0.4 m.
pub(crate) fn ear() -> BodyDesc {
    let ear = Primitive::ellipsoid(Vec3::new(0.0, 0.22, 0.0), Rotation::identity(), [0.05, 0.19, 0.022]);
    let head = Primitive::sphere(Vec3::zeros(), 0.12);
    flesh(&[head.blended(0.02), ear.blended(0.02)], 0.012, 2500)
}

/// The middle of the ear, with both parts on it.
pub(crate) fn on_ear(kind: MetaphorKind) -> MetaphorDesc {
    let is_push = kind == MetaphorKind::Push;
    let widget = WidgetDesc {
        origin: Some(Vec3::new(0.0, 0.26, 0.0)),
        axis: Some(if is_push { Vec3::z() } else { Vec3::y() }),
        normal: Some(Vec3::new(0.0, 0.6, 0.8)),
        near: Some(0.05),
        far: Some(0.14),
        radius: Some(0.08),
    };
    MetaphorDesc { widget, ..MetaphorDesc::new("ear", "body", kind) }
}

/// A sheet of cloth of 0.6 m by 0.4 m in the xz plane.
pub(crate) fn cloth() -> BodyDesc {
    let surface = shapes::sheet([0.6, 0.4], [18, 12]);
    let mesh = ShapeDesc::Surface { surface, cage: CageSize::Tets(100) };
    let fabric = Fabric { stretch: 20.0, ..Fabric::default() };
    BodyDesc { shape: ShapeDesc::Network(NetworkDesc::cloth(mesh, fabric)), ..BodyDesc::default() }
}

/// The cylinder as springs along the edges of its tets.
pub(crate) fn springs() -> BodyDesc {
    let flesh = cylinder();
    let shape = NetworkDesc { mesh: Box::new(flesh.shape.clone()), kind: NetworkKind::Solid };
    BodyDesc { shape: ShapeDesc::Network(shape), ..flesh }
}

/// A metaphor on the whole of a body.
pub(crate) fn on_all(kind: MetaphorKind) -> MetaphorDesc {
    let mut desc = MetaphorDesc::new("all", "body", kind);
    if kind == MetaphorKind::Push {
        desc.widget = WidgetDesc {
            origin: Some(Vec3::new(0.05, 0.0, 0.0)),
            axis: Some(-Vec3::x()),
            radius: Some(0.05),
            ..WidgetDesc::default()
        };
    }
    desc
}

/// The model of a world with one metaphor.
pub(crate) fn model_with(body: BodyDesc, desc: MetaphorDesc) -> Model {
    Model::build(&WorldDesc { metaphors: vec![desc], ..world(body) }).expect("a sound world")
}

/// Raises the magnitude of all metaphors of a model from 0 evenly over some frames, and returns what the first of them has done after each.
pub(crate) fn raise(model: &Model, solver: Solver, magnitude: f64, frames: usize) -> (Vec<f64>, State) {
    let (mut state, mut stepper) = (State::at_rest(model), Stepper::with_solver(solver));
    let mut found = Vec::new();
    for frame in 0..frames {
        let at = |frame: usize| magnitude * frame as f64 / frames as f64;
        let control = Control {
            metaphors: vec![[at(frame), at(frame + 1)]; model.metaphors().len()],
            ..Control::still(model)
        };
        stepper.step(model, &control, 1.0 / FPS, &mut state).expect("a step");
        found.push(metaphor_response(model, &model.metaphors()[0], &state));
    }
    (found, state)
}
