//! Surfaces as one list of triangles, and how they are posed and coloured.

use super::heat::{self, Heat};
use super::light::{Light, Spot};
use super::look::Look;
use super::raster::Hit;
use crate::Up;
use sinew_math::{Vec3, real};
use sinew_take::{Smoothing, SurfaceInfo};

/// What stays the same about all surfaces.
pub(super) struct Bodies<'a> {
    looks: &'a [Look],
    smoothings: Vec<Smoothing<'a>>,
    /// −1 for surfaces that are inside out.
    side: Vec<f64>,
    /// The first vertex of each surface, and the count of all.
    first: Vec<usize>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// The surface of each triangle.
    pub(super) surface: Vec<u16>,
}

/// How points of frames come onto the stage: y up, the camera before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    up: Up,
    /// What is taken to the origin, y up (m).
    middle: Vec3,
    sin: f64,
    cos: f64,
}

impl Placement {
    /// Turns the bodies about the upright through a point so that a camera that has gone so far round them (degrees) is before them.
    pub(super) fn new(up: Up, middle: Vec3, turn: f64) -> Placement {
        let angle = -turn.to_radians();
        Placement { up, middle, sin: real::sin(angle), cos: real::cos(angle) }
    }

    pub(super) fn single(&self, p: &[f32; 3]) -> Vec3 {
        self.point(&Vec3::from(p.map(f64::from)))
    }

    pub(super) fn point(&self, p: &Vec3) -> Vec3 {
        self.turned(&(self.up.to_y_up(p) - self.middle))
    }

    /// Where a height above the origin of the frames is on the stage (m).
    pub(super) fn height(&self, height: f64) -> f64 {
        height - self.middle.y
    }

    fn direction(&self, v: &Vec3) -> Vec3 {
        self.turned(&self.up.to_y_up(v))
    }

    fn turned(&self, v: &Vec3) -> Vec3 {
        Vec3::new(self.cos * v.x + self.sin * v.z, v.y, self.cos * v.z - self.sin * v.x)
    }
}

/// All surfaces at one moment, on the stage.
pub(super) struct Posed {
    pub(super) points: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// How much sky each vertex sees; empty until it is lit.
    sky: Vec<f32>,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(surfaces: &'a [SurfaceInfo], looks: &'a [Look]) -> Bodies<'a> {
        let mut bodies = Bodies {
            looks,
            smoothings: surfaces.iter().map(Smoothing::of).collect(),
            side: surfaces.iter().map(|surface| if volume(surface) < 0.0 { -1.0 } else { 1.0 }).collect(),
            first: vec![0],
            triangles: Vec::new(),
            surface: Vec::new(),
        };
        for (index, surface) in surfaces.iter().enumerate() {
            let first = bodies.first[index];
            bodies.triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + first as u32)));
            bodies.surface.resize(bodies.triangles.len(), index.min(usize::from(u16::MAX)) as u16);
            bodies.first.push(first + surface.rest.len());
        }
        bodies
    }

    /// How many surfaces there are.
    pub(super) fn count(&self) -> usize {
        self.side.len()
    }

    /// How much of what is behind it a surface covers.
    pub(super) fn opacity_of(&self, surface: u16) -> f64 {
        self.looks.get(usize::from(surface)).map_or(1.0, |look| f64::from(look.opacity))
    }

    /// The middle of a surface's vertices.
    pub(super) fn middle(&self, posed: &Posed, surface: u16) -> Vec3 {
        let own = &posed.points[self.first[usize::from(surface)]..self.first[usize::from(surface) + 1]];
        own.iter().sum::<Vec3>() / own.len().max(1) as f64
    }

    /// How many vertices and triangles the first so many surfaces have.
    pub(super) fn count_of_first(&self, surfaces: usize) -> (usize, usize) {
        let surfaces = surfaces.min(self.first.len() - 1);
        (self.first[surfaces], self.surface.partition_point(|own| usize::from(*own) < surfaces))
    }

    pub(super) fn pose(&self, surfaces: &[Vec<[f32; 3]>], placement: &Placement) -> Posed {
        let points = surfaces.iter().flatten().map(|p| placement.single(p)).collect();
        let mut normals = Vec::with_capacity(self.first[surfaces.len()]);
        for ((smoothing, side), surface) in self.smoothings.iter().zip(&self.side).zip(surfaces) {
            let found = smoothing.normals(surface);
            normals.extend(found.iter().map(|n| placement.direction(&Vec3::from(n.map(f64::from))) * *side));
        }
        Posed { points, normals, sky: Vec::new() }
    }

    /// The spot that is hit, coloured as its surface is, or by how strained it is.
    pub(super) fn spot(&self, posed: &Posed, hit: &Hit, eye: Vec3, heat: Option<Heat>) -> Spot {
        let corners = self.triangles[hit.triangle].map(|v| v as usize);
        let [a, b, c] = hit.fractions;
        let mix = |v: &[Vec3]| v[corners[0]] * a + v[corners[1]] * b + v[corners[2]] * c;
        let number = |v: &[f32]| {
            f64::from(v[corners[0]]) * a + f64::from(v[corners[1]]) * b + f64::from(v[corners[2]]) * c
        };
        let surface = usize::from(self.surface[hit.triangle]);
        // open surfaces show their inside
        let facing = if (self.side[surface] > 0.0) == hit.outside { 1.0 } else { -1.0 };
        let point = mix(&posed.points);
        let color = match heat {
            Some(heat) if !number(heat.strain).is_nan() => heat::color(number(heat.strain) / heat.scale),
            _ => self.color(surface, corners, hit),
        };
        Spot {
            point,
            normal: mix(&posed.normals).try_normalize(1e-12).unwrap_or(Vec3::y()) * facing,
            towards_eye: (eye - point).try_normalize(1e-300).unwrap_or(Vec3::z()),
            sky: if posed.sky.is_empty() { 1.0 } else { number(&posed.sky) },
            color,
        }
    }

    fn color(&self, surface: usize, corners: [usize; 3], hit: &Hit) -> [f64; 3] {
        let Some(look) = self.looks.get(surface) else { return [0.5; 3] };
        let color = look.color.map(f64::from);
        let first = self.first[surface];
        let Some(texture) = look.texture_for(self.first[surface + 1] - first) else { return color };
        let [a, b, c] = corners.map(|v| look.places[v - first].map(f64::from));
        let at = |i: usize| a[i] * hit.fractions[0] + b[i] * hit.fractions[1] + c[i] * hit.fractions[2];
        let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs();
        let found = texture.at([at(0), at(1)], area * texture.texel_count() / hit.area.max(1e-9));
        [0, 1, 2].map(|i| color[i] * found[i])
    }
}

impl Posed {
    /// Finds how much sky every vertex sees, evened out a little along the surface.
    pub(super) fn light(&mut self, light: &Light, triangles: &[[u32; 3]]) {
        let own = light.find_sky(&self.points, &self.normals);
        let mut around = vec![[0.0f32; 2]; own.len()];
        for triangle in triangles {
            let mean = triangle.iter().map(|v| own[*v as usize]).sum::<f32>() / 3.0;
            for v in triangle {
                around[*v as usize][0] += mean;
                around[*v as usize][1] += 1.0;
            }
        }
        let even = |(own, [sum, count]): (&f32, &[f32; 2])| {
            if *count > 0.0 { 0.4 * own + 0.6 * sum / count } else { *own }
        };
        self.sky = own.iter().zip(&around).map(even).collect();
    }
}

/// ∫ dV over what a surface encloses at rest, about its first vertex.
fn volume(surface: &SurfaceInfo) -> f64 {
    let vertex = |v: u32| Vec3::from(surface.rest[v as usize].map(f64::from));
    let Some(first) = surface.triangles.first() else { return 0.0 };
    let origin = vertex(first[0]);
    let wedge = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| vertex(v) - origin);
        a.cross(&b).dot(&c)
    };
    surface.triangles.iter().map(wedge).sum::<f64>() / 6.0
}
