//! Softness of flesh, or thickness of the fat under skin, that is painted on the surfaces of bodies: the field, and what brushes do to it.
//!
//! A brush of radius R moves the number s of a vertex at a distance r towards the chosen one s', by its strength k:
//!
//! ```text
//! s ← s + k (½ + ½ cos(π r/R)) (s' − s)
//! ```
//!
//! Vertices that face away from the surface under the brush are left alone, so that it does not paint through a limb.

use crate::pictures::Shown;
use crate::session::Document;
use crate::viewport::SurfaceHit;
use sinew_io::SoftnessPoints;
use sinew_math::{Vec3, real};
use sinew_mesh::PointField;
use sinew_render::Scalar;
use sinew_sim::Body;
use sinew_sim::desc::{BodyDesc, ShapeDesc};
use std::sync::Arc;

/// The largest number of the brush.
pub(crate) const MAX_VALUE: f32 = 4.0;
/// How many strokes can be taken back.
const MAX_STROKES: usize = 40;

/// What is painted: a factor, 1 where nothing is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// How soft flesh is.
    Softness,
    /// How thick the fat under skin is.
    Fat,
}

impl Quantity {
    /// What can be painted in a scene; softness if nothing can.
    pub(crate) fn of(document: &Document) -> Vec<Quantity> {
        let bodies = &document.opened.scene.world.bodies;
        let all = [Quantity::Softness, Quantity::Fat].into_iter();
        let found: Vec<Quantity> =
            all.filter(|own| bodies.iter().any(|body| own.is_of(&body.shape))).collect();
        if found.is_empty() { vec![Quantity::Softness] } else { found }
    }

    /// Whether it is painted on bodies of a shape.
    pub(crate) fn is_of(self, shape: &ShapeDesc) -> bool {
        matches!(shape, ShapeDesc::Skin(_)) == (self == Quantity::Fat)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Quantity::Softness => "softness",
            Quantity::Fat => "fat",
        }
    }

    /// What its colours mean.
    pub(crate) fn scalar(self) -> Scalar {
        match self {
            Quantity::Softness => Scalar::Softness,
            Quantity::Fat => Scalar::Fat,
        }
    }
}

/// What a brush does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrushKind {
    /// Brings the number to the chosen one.
    Paint,
    /// Brings it to the mean of its neighbours.
    Smooth,
}

/// A brush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Brush {
    pub(crate) kind: BrushKind,
    /// Its radius as a fraction of the body's size.
    pub(crate) radius: f64,
    /// The number that it brings.
    pub(crate) value: f32,
    /// How much of it a touch brings, from 0 to 1.
    pub(crate) strength: f32,
}

impl Default for Brush {
    fn default() -> Brush {
        Brush { kind: BrushKind::Paint, radius: 0.08, value: 2.0, strength: 0.3 }
    }
}

/// Which half is copied to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MirrorSide {
    /// From x < 0 to x > 0, about the middle of the body.
    Negative,
    /// From x > 0 to x < 0.
    Positive,
}

/// The surface of a body, as brushes need it.
#[derive(Clone, Debug, Default)]
struct PaintedBody {
    name: String,
    /// Whether it has what is painted.
    is_painted: bool,
    rest: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// The vertices next to each, those at the same place among them.
    neighbours: Vec<Vec<u32>>,
}

/// What is being painted.
#[derive(Clone, Debug)]
pub(crate) struct Painting {
    pub(crate) quantity: Quantity,
    pub(crate) brush: Brush,
    bodies: Vec<PaintedBody>,
    /// One number per vertex of each body.
    values: Arc<Vec<Vec<f32>>>,
    /// What it was before each stroke.
    strokes: Vec<Arc<Vec<Vec<f32>>>>,
    /// Where the mouse touched last.
    pub(crate) last: Option<egui::Pos2>,
    /// Whether it differs from what the scene was built with.
    pub(crate) is_changed: bool,
}

impl Painting {
    /// Begins with the values of every vertex of each body.
    fn of(bodies: Vec<PaintedBody>, quantity: Quantity, values: Vec<Vec<f32>>) -> Painting {
        let (brush, values) = (Brush::default(), Arc::new(values));
        Painting { quantity, brush, bodies, values, strokes: Vec::new(), last: None, is_changed: false }
    }

    /// Begins with the softness that is painted already, or with 1 everywhere.
    pub(crate) fn of_softness(document: &Document, painted: Option<&SoftnessPoints>) -> Painting {
        let bodies = PaintedBody::all(document, Quantity::Softness);
        let values = bodies.iter().map(|body| match painted.map(|painted| painted.of_body(&body.name)) {
            Some(field) => field.at(&body.rest),
            None => vec![1.0; body.rest.len()],
        });
        let values = values.collect();
        Painting::of(bodies, Quantity::Softness, values)
    }

    /// Begins with the fat that skin has.
    pub(crate) fn of_fat(document: &Document) -> Painting {
        let bodies = PaintedBody::all(document, Quantity::Fat);
        let shapes = document.opened.scene.world.bodies.iter().map(|body| &body.shape);
        let values = bodies.iter().zip(shapes).map(|(body, shape)| match shape {
            ShapeDesc::Skin(skin) => skin.fat_field.at(&body.rest),
            _ => vec![1.0; body.rest.len()],
        });
        let values = values.collect();
        Painting::of(bodies, Quantity::Fat, values)
    }

    /// The numbers of every vertex of each body.
    pub(crate) fn values(&self) -> &Arc<Vec<Vec<f32>>> {
        &self.values
    }

    /// The table of it.
    pub(crate) fn points(&self) -> SoftnessPoints {
        let mut points = SoftnessPoints::default();
        for (body, values) in self.bodies.iter().zip(&*self.values).filter(|(body, _)| body.is_painted) {
            points.add(&body.name, body.rest.iter().copied().zip(values.iter().copied()));
        }
        points
    }

    /// Whether a body has what is painted.
    pub(crate) fn is_on(&self, body: usize) -> bool {
        self.bodies.get(body).is_some_and(|body| body.is_painted)
    }

    /// Whether a stroke can be taken back.
    pub(crate) fn can_undo(&self) -> bool {
        !self.strokes.is_empty()
    }

    /// Begins a stroke, which can be taken back as a whole.
    pub(crate) fn begin_stroke(&mut self) {
        if self.strokes.len() == MAX_STROKES {
            self.strokes.remove(0);
        }
        self.strokes.push(self.values.clone());
        self.is_changed = true;
    }

    /// Takes the last stroke back.
    pub(crate) fn undo(&mut self) {
        if let Some(before) = self.strokes.pop() {
            self.values = before;
        }
    }

    /// Touches the surface at a place with a brush of a radius (m).
    pub(crate) fn touch(&mut self, shown: &Shown, hit: &SurfaceHit, kind: BrushKind, radius: f64) {
        let Some(positions) = shown.surfaces.surfaces.get(hit.body) else { return };
        let Some(body) = self.bodies.get(hit.body).filter(|body| body.is_painted) else { return };
        let Brush { value: wanted, strength, .. } = self.brush;
        let facing = body.facing(hit);
        let own = &mut Arc::make_mut(&mut self.values)[hit.body];
        let before = if kind == BrushKind::Smooth { own.clone() } else { Vec::new() };
        for (v, place) in positions.iter().enumerate().take(own.len()) {
            let place = Vec3::new(place[0].into(), place[1].into(), place[2].into());
            let distance = (place - hit.point).norm();
            if distance >= radius || body.normals[v].dot(&facing) <= 0.0 {
                continue;
            }
            let falloff = 0.5 + 0.5 * real::cos(core::f64::consts::PI * distance / radius);
            let wanted = match kind {
                BrushKind::Paint => wanted,
                BrushKind::Smooth => body.mean_around(v, &before),
            };
            own[v] += strength * falloff as f32 * (wanted - own[v]);
        }
    }

    /// Gives a whole body the number of the brush.
    pub(crate) fn fill(&mut self, body: usize) {
        let wanted = self.brush.value;
        if let Some(own) = Arc::make_mut(&mut self.values).get_mut(body) {
            own.fill(wanted);
        }
    }

    /// Brings every vertex of a body to the mean of its neighbours, half way.
    pub(crate) fn smooth(&mut self, body: usize) {
        let Some(shape) = self.bodies.get(body) else { return };
        let own = &mut Arc::make_mut(&mut self.values)[body];
        let before = own.clone();
        for (v, value) in own.iter_mut().enumerate() {
            *value += 0.5 * (shape.mean_around(v, &before) - *value);
        }
    }

    /// Copies one half of a body to the other, about the plane through its middle across x.
    pub(crate) fn mirror(&mut self, body: usize, from: MirrorSide) {
        let Some(shape) = self.bodies.get(body) else { return };
        let xs = || shape.rest.iter().map(|p| p.x);
        let middle = 0.5 * (xs().fold(f64::INFINITY, f64::min) + xs().fold(f64::NEG_INFINITY, f64::max));
        let sign = if from == MirrorSide::Positive { 1.0 } else { -1.0 };
        let is_source = |place: &Vec3| sign * (place.x - middle) >= 0.0;
        let own = &mut Arc::make_mut(&mut self.values)[body];
        let source = shape.rest.iter().copied().zip(own.iter().copied());
        let field = PointField::new(source.filter(|(place, _)| is_source(place)));
        let mirrored: Vec<Vec3> =
            shape.rest.iter().map(|p| Vec3::new(2.0 * middle - p.x, p.y, p.z)).collect();
        for ((value, copied), place) in own.iter_mut().zip(field.at(&mirrored)).zip(&shape.rest) {
            if !is_source(place) {
                *value = copied;
            }
        }
    }
}

impl PaintedBody {
    /// The bodies of a scene.
    fn all(document: &Document, quantity: Quantity) -> Vec<PaintedBody> {
        let descs = &document.opened.scene.world.bodies;
        let of = |(body, desc): (&Body, &BodyDesc)| PaintedBody::of(body, quantity.is_of(&desc.shape));
        document.model.bodies().iter().zip(descs).map(of).collect()
    }

    fn of(body: &Body, is_painted: bool) -> PaintedBody {
        let surface = &body.surface;
        let rest = surface.vertices.clone();
        // vertices at one place are neighbours over the seam
        let mut order: Vec<u32> = (0..rest.len() as u32).collect();
        let key = |v: &u32| rest[*v as usize].as_slice().iter().map(|c| c.to_bits()).collect::<Vec<u64>>();
        order.sort_by_cached_key(key);
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); rest.len()];
        for pair in order.windows(2).filter(|pair| rest[pair[0] as usize] == rest[pair[1] as usize]) {
            neighbours[pair[0] as usize].push(pair[1]);
            neighbours[pair[1] as usize].push(pair[0]);
        }
        let mut normals = vec![Vec3::zeros(); rest.len()];
        for [a, b, c] in &surface.triangles {
            let [p, q, r] = [a, b, c].map(|v| rest[*v as usize]);
            let normal = (q - p).cross(&(r - p));
            for (v, others) in [(a, [*b, *c]), (b, [*c, *a]), (c, [*a, *b])] {
                normals[*v as usize] += normal;
                neighbours[*v as usize].extend(others);
            }
        }
        PaintedBody { name: body.name.clone(), is_painted, rest, normals, neighbours }
    }

    /// The normal at rest of the triangle under the brush.
    fn facing(&self, hit: &SurfaceHit) -> Vec3 {
        let nearest = self.rest.iter().enumerate().min_by(|(_, a), (_, b)| {
            (*a - hit.rest).norm_squared().total_cmp(&(*b - hit.rest).norm_squared())
        });
        nearest.map_or(Vec3::zeros(), |(v, _)| self.normals[v])
    }

    fn mean_around(&self, vertex: usize, values: &[f32]) -> f32 {
        let around = &self.neighbours[vertex];
        if around.is_empty() {
            return values[vertex];
        }
        around.iter().map(|v| values[*v as usize]).sum::<f32>() / around.len() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;
    use sinew_sim::Model;
    use sinew_sim::desc::{CageSize, WorldDesc};

    fn painting() -> Painting {
        let shape = ShapeDesc::Surface { surface: shapes::sphere(0.5, 3), cage: CageSize::Tets(200) };
        let body = BodyDesc { name: "ball".into(), shape, ..BodyDesc::default() };
        let model = Model::build(&WorldDesc { bodies: vec![body], ..WorldDesc::default() }).unwrap();
        let bodies: Vec<PaintedBody> =
            model.bodies().iter().map(|body| PaintedBody::of(body, true)).collect();
        let values = bodies.iter().map(|body| vec![1.0; body.rest.len()]).collect();
        Painting::of(bodies, Quantity::Softness, values)
    }

    /// A ball as it is at rest, and the place on it under the brush.
    fn shown(painting: &Painting, point: Vec3) -> (Shown, SurfaceHit) {
        let single = |p: &Vec3| [p.x as f32, p.y as f32, p.z as f32];
        let surfaces = sinew_take::Frame {
            surfaces: vec![painting.bodies[0].rest.iter().map(single).collect()],
            ..Default::default()
        };
        let hit =
            SurfaceHit { body: 0, point, rest: point, normal: point, triangle: 0, weights: [1.0, 0.0, 0.0] };
        (Shown { surfaces: Arc::new(surfaces), ..Shown::default() }, hit)
    }

    #[test]
    fn a_touch_paints_what_is_near_and_not_the_other_side() {
        let mut painting = painting();
        let (shown, hit) = shown(&painting, Vec3::x() * 0.5);
        painting.begin_stroke();
        // wide enough to reach through the ball
        painting.touch(&shown, &hit, BrushKind::Paint, 1.2);
        for (place, softness) in painting.bodies[0].rest.iter().zip(&painting.values[0]) {
            assert!((1.0..=2.0).contains(softness));
            assert!(place.x > -0.05 || *softness == 1.0, "{place:?} {softness}");
        }
        assert!(painting.values[0].iter().any(|softness| *softness > 1.25));
        painting.undo();
        assert!(painting.values[0].iter().all(|softness| *softness == 1.0) && !painting.can_undo());
    }

    #[test]
    fn what_a_body_does_not_have_is_not_painted_on_it() {
        let mut painting = painting();
        painting.bodies[0].is_painted = false;
        let (shown, hit) = shown(&painting, Vec3::x() * 0.5);
        painting.touch(&shown, &hit, BrushKind::Paint, 0.4);
        assert!(painting.values[0].iter().all(|value| *value == 1.0));
        assert_eq!(painting.points(), SoftnessPoints::default());
    }

    #[test]
    fn smoothing_narrows_the_range_and_keeps_an_even_field() {
        let mut painting = painting();
        painting.smooth(0);
        assert!(painting.values[0].iter().all(|softness| *softness == 1.0));
        Arc::make_mut(&mut painting.values)[0][5] = 3.0;
        painting.smooth(0);
        assert_eq!(painting.values[0][5], 2.0);
        assert!(painting.values[0].iter().filter(|softness| **softness > 1.0).count() > 4);
    }

    #[test]
    fn a_mirrored_half_equals_the_other() {
        let mut painting = painting();
        let (shown, hit) = shown(&painting, Vec3::x() * 0.5);
        painting.touch(&shown, &hit, BrushKind::Paint, 0.4);
        painting.mirror(0, MirrorSide::Positive);
        let at = |place: Vec3| {
            let near = painting.bodies[0].rest.iter().position(|p| (p - place).norm() < 1e-9);
            near.map(|v| painting.values[0][v])
        };
        let mut pairs = 0;
        for place in &painting.bodies[0].rest {
            if let (Some(a), Some(b)) = (at(*place), at(Vec3::new(-place.x, place.y, place.z))) {
                // distances of mirrored places differ by round-off
                assert!((a - b).abs() < 1e-5, "{a} {b}");
                pairs += 1;
            }
        }
        assert!(pairs > 100);
        painting.brush.value = 0.5;
        painting.fill(0);
        assert!(painting.values[0].iter().all(|softness| *softness == 0.5));
    }
}
