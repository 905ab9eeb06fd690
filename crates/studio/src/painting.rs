//! Softness that is painted on the surfaces of bodies: the field, and what brushes do to it.
//!
//! A brush of radius R moves the softness s of a vertex at a distance r towards the chosen one s', by its strength k:
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
use std::sync::Arc;

/// The largest softness of the brush.
pub(crate) const MAX_SOFTNESS: f32 = 4.0;
/// How many strokes can be taken back.
const MAX_STROKES: usize = 40;

/// What a brush does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrushKind {
    /// Brings softness to the chosen one.
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
    /// The softness that it brings.
    pub(crate) softness: f32,
    /// How much of it a touch brings, from 0 to 1.
    pub(crate) strength: f32,
}

impl Default for Brush {
    fn default() -> Brush {
        Brush { kind: BrushKind::Paint, radius: 0.08, softness: 2.0, strength: 0.3 }
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
    rest: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// The vertices next to each, those at the same place among them.
    neighbours: Vec<Vec<u32>>,
}

/// Softness that is being painted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Painting {
    pub(crate) brush: Brush,
    bodies: Vec<PaintedBody>,
    /// One number per vertex of each body.
    softness: Arc<Vec<Vec<f32>>>,
    /// What it was before each stroke.
    strokes: Vec<Arc<Vec<Vec<f32>>>>,
    /// Where the mouse touched last.
    pub(crate) last: Option<egui::Pos2>,
    /// Whether it differs from what the scene was built with.
    pub(crate) is_changed: bool,
}

impl Painting {
    /// Begins with what is painted already, or with 1 everywhere.
    pub(crate) fn begin(document: &Document, painted: Option<&SoftnessPoints>) -> Painting {
        let bodies: Vec<PaintedBody> = document.model.bodies().iter().map(PaintedBody::of).collect();
        let softness = bodies
            .iter()
            .map(|body| match painted.map(|painted| painted.of_body(&body.name)) {
                Some(field) => field.at(&body.rest),
                None => vec![1.0; body.rest.len()],
            })
            .collect();
        Painting { bodies, softness: Arc::new(softness), ..Painting::default() }
    }

    /// The softness of every vertex of each body.
    pub(crate) fn softness(&self) -> &Arc<Vec<Vec<f32>>> {
        &self.softness
    }

    /// The table of it.
    pub(crate) fn points(&self) -> SoftnessPoints {
        let mut points = SoftnessPoints::default();
        for (body, softness) in self.bodies.iter().zip(&*self.softness) {
            points.add(&body.name, body.rest.iter().copied().zip(softness.iter().copied()));
        }
        points
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
        self.strokes.push(self.softness.clone());
        self.is_changed = true;
    }

    /// Takes the last stroke back.
    pub(crate) fn undo(&mut self) {
        if let Some(before) = self.strokes.pop() {
            self.softness = before;
        }
    }

    /// Touches the surface at a place with a brush of a radius (m).
    pub(crate) fn touch(&mut self, shown: &Shown, hit: &SurfaceHit, kind: BrushKind, radius: f64) {
        let Some(positions) = shown.surfaces.surfaces.get(hit.body) else { return };
        let Some(body) = self.bodies.get(hit.body) else { return };
        let Brush { softness: wanted, strength, .. } = self.brush;
        let facing = body.facing(hit);
        let own = &mut Arc::make_mut(&mut self.softness)[hit.body];
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

    /// Gives a whole body the softness of the brush.
    pub(crate) fn fill(&mut self, body: usize) {
        let wanted = self.brush.softness;
        if let Some(own) = Arc::make_mut(&mut self.softness).get_mut(body) {
            own.fill(wanted);
        }
    }

    /// Brings every vertex of a body to the mean of its neighbours, half way.
    pub(crate) fn smooth(&mut self, body: usize) {
        let Some(shape) = self.bodies.get(body) else { return };
        let own = &mut Arc::make_mut(&mut self.softness)[body];
        let before = own.clone();
        for (v, softness) in own.iter_mut().enumerate() {
            *softness += 0.5 * (shape.mean_around(v, &before) - *softness);
        }
    }

    /// Copies one half of a body to the other, about the plane through its middle across x.
    pub(crate) fn mirror(&mut self, body: usize, from: MirrorSide) {
        let Some(shape) = self.bodies.get(body) else { return };
        let xs = || shape.rest.iter().map(|p| p.x);
        let middle = 0.5 * (xs().fold(f64::INFINITY, f64::min) + xs().fold(f64::NEG_INFINITY, f64::max));
        let sign = if from == MirrorSide::Positive { 1.0 } else { -1.0 };
        let is_source = |place: &Vec3| sign * (place.x - middle) >= 0.0;
        let own = &mut Arc::make_mut(&mut self.softness)[body];
        let source = shape.rest.iter().copied().zip(own.iter().copied());
        let field = PointField::new(source.filter(|(place, _)| is_source(place)));
        let mirrored: Vec<Vec3> =
            shape.rest.iter().map(|p| Vec3::new(2.0 * middle - p.x, p.y, p.z)).collect();
        for ((softness, copied), place) in own.iter_mut().zip(field.at(&mirrored)).zip(&shape.rest) {
            if !is_source(place) {
                *softness = copied;
            }
        }
    }
}

impl PaintedBody {
    fn of(body: &sinew_sim::Body) -> PaintedBody {
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
        PaintedBody { name: body.name.clone(), rest, normals, neighbours }
    }

    /// The normal at rest of the triangle under the brush.
    fn facing(&self, hit: &SurfaceHit) -> Vec3 {
        let nearest = self.rest.iter().enumerate().min_by(|(_, a), (_, b)| {
            (*a - hit.rest).norm_squared().total_cmp(&(*b - hit.rest).norm_squared())
        });
        nearest.map_or(Vec3::zeros(), |(v, _)| self.normals[v])
    }

    fn mean_around(&self, vertex: usize, softness: &[f32]) -> f32 {
        let around = &self.neighbours[vertex];
        if around.is_empty() {
            return softness[vertex];
        }
        around.iter().map(|v| softness[*v as usize]).sum::<f32>() / around.len() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;
    use sinew_sim::Model;
    use sinew_sim::desc::{BodyDesc, CageSize, ShapeDesc, WorldDesc};

    fn painting() -> Painting {
        let shape = ShapeDesc::Surface { surface: shapes::sphere(0.5, 3), cage: CageSize::Tets(200) };
        let body = BodyDesc { name: "ball".into(), shape, ..BodyDesc::default() };
        let model = Model::build(&WorldDesc { bodies: vec![body], ..WorldDesc::default() }).unwrap();
        let bodies: Vec<PaintedBody> = model.bodies().iter().map(PaintedBody::of).collect();
        let softness = Arc::new(bodies.iter().map(|body| vec![1.0; body.rest.len()]).collect());
        Painting { bodies, softness, ..Painting::default() }
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
        for (place, softness) in painting.bodies[0].rest.iter().zip(&painting.softness[0]) {
            assert!((1.0..=2.0).contains(softness));
            assert!(place.x > -0.05 || *softness == 1.0, "{place:?} {softness}");
        }
        assert!(painting.softness[0].iter().any(|softness| *softness > 1.25));
        painting.undo();
        assert!(painting.softness[0].iter().all(|softness| *softness == 1.0) && !painting.can_undo());
    }

    #[test]
    fn smoothing_narrows_the_range_and_keeps_an_even_field() {
        let mut painting = painting();
        painting.smooth(0);
        assert!(painting.softness[0].iter().all(|softness| *softness == 1.0));
        Arc::make_mut(&mut painting.softness)[0][5] = 3.0;
        painting.smooth(0);
        assert_eq!(painting.softness[0][5], 2.0);
        assert!(painting.softness[0].iter().filter(|softness| **softness > 1.0).count() > 4);
    }

    #[test]
    fn a_mirrored_half_equals_the_other() {
        let mut painting = painting();
        let (shown, hit) = shown(&painting, Vec3::x() * 0.5);
        painting.touch(&shown, &hit, BrushKind::Paint, 0.4);
        painting.mirror(0, MirrorSide::Positive);
        let at = |place: Vec3| {
            let near = painting.bodies[0].rest.iter().position(|p| (p - place).norm() < 1e-9);
            near.map(|v| painting.softness[0][v])
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
        painting.brush.softness = 0.5;
        painting.fill(0);
        assert!(painting.softness[0].iter().all(|softness| *softness == 0.5));
    }
}
