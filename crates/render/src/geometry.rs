//! All surfaces as one indexed triangle list, posed per frame and interpolated per fragment.

use crate::lighting::{Lighting, ShadingPoint};
use crate::look::Look;
use crate::raster::Fragment;
use crate::strain_colors::{self, StrainField};
use crate::texture::Texture;
use crate::view_transform::ViewTransform;
use rayon::prelude::*;
use sinew_math::Vec3;
use sinew_take::{Smoothing, SurfaceInfo};
use std::sync::Arc;

/// What does not change from frame to frame: connectivity and looks.
#[derive(Default)]
pub(crate) struct Geometry<'a> {
    looks: &'a [Look],
    smoothings: Vec<Smoothing<'a>>,
    /// For each surface −1 if its triangles face inwards, otherwise 1.
    orientation: Vec<f64>,
    /// For each surface whether it has a border, over which its back may be seen.
    is_open: Vec<bool>,
    /// The first vertex of each surface, then the number of all vertices.
    first: Vec<usize>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The surface of each triangle.
    pub(crate) surface: Vec<u16>,
}

/// The vertices of one frame, in view axes.
pub(crate) struct PosedGeometry {
    pub(crate) points: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// The sky light at each vertex; empty until [`PosedGeometry::light`].
    sky: Vec<f32>,
}

impl<'a> Geometry<'a> {
    pub(crate) fn new(surfaces: &'a [SurfaceInfo], looks: &'a [Look]) -> Geometry<'a> {
        let orientation = |surface: &SurfaceInfo| if signed_volume(surface) < 0.0 { -1.0 } else { 1.0 };
        let mut geometry = Geometry {
            looks,
            smoothings: surfaces.iter().map(Smoothing::of).collect(),
            orientation: surfaces.iter().map(orientation).collect(),
            is_open: surfaces.iter().map(is_open).collect(),
            first: vec![0],
            triangles: Vec::new(),
            surface: Vec::new(),
        };
        for (index, surface) in surfaces.iter().enumerate() {
            let first = geometry.first[index];
            geometry.triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + first as u32)));
            geometry.surface.resize(geometry.triangles.len(), index.min(usize::from(u16::MAX)) as u16);
            geometry.first.push(first + surface.rest.len());
        }
        geometry
    }

    pub(crate) fn surface_count(&self) -> usize {
        self.orientation.len()
    }

    /// The opacity of a surface seen head-on, from 0 to 1.
    pub(crate) fn opacity(&self, surface: u16) -> f64 {
        self.looks.get(usize::from(surface)).map_or(1.0, |look| f64::from(look.opacity))
    }

    /// The triangles of a surface, in the list of all.
    pub(crate) fn triangles_of(&self, surface: usize) -> core::ops::Range<u32> {
        let first = |surface: usize| self.surface.partition_point(|own| usize::from(*own) < surface) as u32;
        first(surface)..first(surface + 1)
    }

    /// Whether a surface looks alike between its vertices: it has no texture, and its back is not seen.
    pub(crate) fn is_smooth(&self, surface: u16) -> bool {
        let surface = usize::from(surface);
        !self.is_open[surface] && self.texture(surface).is_none()
    }

    /// The image on a surface, if each of its vertices has a texture coordinate.
    pub(crate) fn texture(&self, surface: usize) -> Option<Arc<Texture>> {
        let look = self.looks.get(surface)?;
        look.texture_for(self.first[surface + 1] - self.first[surface])?;
        look.texture.clone()
    }

    /// The colour (linear RGB) of every vertex, 1 if a texture multiplies it, and its texture coordinates.
    pub(crate) fn vertex_looks(&self) -> impl Iterator<Item = ([f32; 4], [f32; 2])> + '_ {
        (0..self.surface_count()).flat_map(move |surface| {
            let (look, count) = (self.looks.get(surface), self.first[surface + 1] - self.first[surface]);
            let uvs = look.filter(|look| look.texture_for(count).is_some()).map(|look| &look.uvs);
            let [r, g, b] = look.map_or([0.5; 3], |look| look.color);
            let textured = if uvs.is_some() { 1.0 } else { 0.0 };
            (0..count).map(move |v| ([r, g, b, textured], uvs.map_or([0.0; 2], |uvs| uvs[v])))
        })
    }

    /// The mean of a surface's vertices.
    pub(crate) fn centroid(&self, posed: &PosedGeometry, surface: u16) -> Vec3 {
        let own = &posed.points[self.first[usize::from(surface)]..self.first[usize::from(surface) + 1]];
        own.iter().sum::<Vec3>() / own.len().max(1) as f64
    }

    /// The numbers of vertices and triangles of the first `surfaces` surfaces.
    pub(crate) fn counts_of_first(&self, surfaces: usize) -> (usize, usize) {
        let surfaces = surfaces.min(self.first.len() - 1);
        (self.first[surfaces], self.surface.partition_point(|own| usize::from(*own) < surfaces))
    }

    /// Transforms the vertices of all surfaces and computes their normals.
    pub(crate) fn pose(&self, surfaces: &[Vec<[f32; 3]>], transform: &ViewTransform) -> PosedGeometry {
        let points = surfaces.iter().flatten().map(|p| transform.single_point(p)).collect();
        let mut normals = Vec::with_capacity(self.first[surfaces.len()]);
        for ((smoothing, orientation), surface) in self.smoothings.iter().zip(&self.orientation).zip(surfaces)
        {
            let outwards = |n: &[f32; 3]| transform.direction(&Vec3::from(n.map(f64::from))) * *orientation;
            normals.extend(smoothing.normals(surface).iter().map(outwards));
        }
        PosedGeometry { points, normals, sky: Vec::new() }
    }

    /// Interpolates a fragment. It has the colour of its surface, or of its strain where that is given and known.
    pub(crate) fn shading_point(
        &self,
        posed: &PosedGeometry,
        fragment: &Fragment,
        eye: Vec3,
        strain: Option<StrainField>,
    ) -> ShadingPoint {
        // barycentric interpolation
        let corners = self.triangles[fragment.triangle].map(|v| v as usize);
        let [a, b, c] = fragment.barycentric;
        let vector = |v: &[Vec3]| v[corners[0]] * a + v[corners[1]] * b + v[corners[2]] * c;
        let scalar = |v: &[f32]| {
            f64::from(v[corners[0]]) * a + f64::from(v[corners[1]]) * b + f64::from(v[corners[2]]) * c
        };

        // the back faces of open surfaces are lit from their side
        let surface = usize::from(self.surface[fragment.triangle]);
        let facing = if (self.orientation[surface] > 0.0) == fragment.is_front { 1.0 } else { -1.0 };

        let point = vector(&posed.points);
        let color = match strain {
            Some(field) if !scalar(field.strain).is_nan() => {
                strain_colors::color(scalar(field.strain) / field.scale)
            }
            _ => self.color(surface, corners, fragment),
        };
        ShadingPoint {
            point,
            normal: vector(&posed.normals).try_normalize(1e-12).unwrap_or(Vec3::y()) * facing,
            towards_eye: (eye - point).try_normalize(1e-300).unwrap_or(Vec3::z()),
            sky: if posed.sky.is_empty() { 1.0 } else { scalar(&posed.sky) },
            color,
        }
    }

    /// Whether each triangle may be seen from the eye: those of closed surfaces only from outside.
    pub(crate) fn facing(&self, posed: &PosedGeometry, eye: Vec3) -> Vec<bool> {
        let is_facing = |(corners, surface): (&[u32; 3], &u16)| {
            let [a, b, c] = corners.map(|v| posed.points[v as usize]);
            let surface = usize::from(*surface);
            self.is_open[surface] || self.orientation[surface] * (b - a).cross(&(c - a)).dot(&(eye - a)) > 0.0
        };
        self.triangles.par_iter().zip(&self.surface).with_min_len(512).map(is_facing).collect()
    }

    /// Something at every vertex of a triangle that faces the eye, by its surface and what is to be shaded there; the default at all others.
    pub(crate) fn shading_vertices<T: Default + Send>(
        &self,
        (posed, is_facing): (&PosedGeometry, &[bool]),
        eye: Vec3,
        strain: Option<StrainField>,
        shade: impl Fn(u16, &ShadingPoint) -> T + Sync,
    ) -> Vec<T> {
        let mut surfaces = vec![0u16; posed.points.len()];
        for (surface, ends) in self.first.windows(2).enumerate() {
            surfaces[ends[0]..ends[1]].fill(surface.min(usize::from(u16::MAX)) as u16);
        }
        let mut is_seen = vec![false; posed.points.len()];
        for (corners, _) in self.triangles.iter().zip(is_facing).filter(|(_, is_facing)| **is_facing) {
            corners.iter().for_each(|v| is_seen[*v as usize] = true);
        }
        let at = |(v, surface): (usize, &u16)| {
            if !is_seen[v] {
                return T::default();
            }
            let point = posed.points[v];
            let own =
                self.looks.get(usize::from(*surface)).map_or([0.5; 3], |look| look.color.map(f64::from));
            let color = match strain {
                Some(field) if !field.strain[v].is_nan() => {
                    strain_colors::color(f64::from(field.strain[v]) / field.scale)
                }
                _ => own,
            };
            let towards_eye = (eye - point).try_normalize(1e-300).unwrap_or(Vec3::z());
            let sky = posed.sky.get(v).map_or(1.0, |sky| f64::from(*sky));
            shade(*surface, &ShadingPoint { point, normal: posed.normals[v], towards_eye, sky, color })
        };
        surfaces.par_iter().enumerate().with_min_len(512).map(at).collect()
    }

    /// The colour of a surface (linear RGB), from its texture if every vertex has a texture coordinate.
    fn color(&self, surface: usize, corners: [usize; 3], fragment: &Fragment) -> [f64; 3] {
        let Some(look) = self.looks.get(surface) else { return [0.5; 3] };
        let color = look.color.map(f64::from);
        let first = self.first[surface];
        let Some(texture) = look.texture_for(self.first[surface + 1] - first) else { return color };
        let [a, b, c] = corners.map(|v| look.uvs[v - first].map(f64::from));
        let [p, q, r] = fragment.barycentric;
        let uv = [0, 1].map(|i| a[i] * p + b[i] * q + c[i] * r);
        let uv_area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs();
        let texel = texture.sample(uv, uv_area * texture.texel_count() / fragment.area.max(1e-9));
        [0, 1, 2].map(|i| color[i] * texel[i])
    }
}

impl PosedGeometry {
    /// The outward normal at a vertex.
    pub(crate) fn normal(&self, vertex: usize) -> &Vec3 {
        &self.normals[vertex]
    }

    /// The outward normals at all vertices.
    pub(crate) fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Computes the sky light at every vertex, smoothed once over its neighbours.
    pub(crate) fn light(&mut self, lighting: &Lighting, triangles: &[[u32; 3]]) {
        let own = lighting.sky_at_points(&self.points, &self.normals);
        self.light_with(&own, triangles);
    }

    /// The same with a given sky light.
    pub(crate) fn light_with(&mut self, own: &[f32], triangles: &[[u32; 3]]) {
        let mut around = vec![[0.0f32; 2]; own.len()];
        for triangle in triangles {
            let mean = triangle.iter().map(|v| own[*v as usize]).sum::<f32>() / 3.0;
            for v in triangle {
                around[*v as usize][0] += mean;
                around[*v as usize][1] += 1.0;
            }
        }
        let smoothed = |(own, [sum, count]): (&f32, &[f32; 2])| {
            if *count > 0.0 { 0.4 * own + 0.6 * sum / count } else { *own }
        };
        self.sky = own.iter().zip(&around).map(smoothed).collect();
    }
}

/// Whether some edge of a surface has a triangle on one side only.
fn is_open(surface: &SurfaceInfo) -> bool {
    let edges = |[a, b, c]: &[u32; 3]| [[*a, *b], [*b, *c], [*c, *a]];
    let mut forward: Vec<[u32; 2]> = surface.triangles.iter().flat_map(edges).collect();
    let mut backward: Vec<[u32; 2]> = forward.iter().map(|[a, b]| [*b, *a]).collect();
    forward.sort_unstable();
    backward.sort_unstable();
    forward != backward
}

/// The signed volume enclosed by a surface at rest (m³), about its first vertex; negative if its triangles face inwards.
fn signed_volume(surface: &SurfaceInfo) -> f64 {
    let vertex = |v: u32| Vec3::from(surface.rest[v as usize].map(f64::from));
    let Some(first) = surface.triangles.first() else { return 0.0 };
    let origin = vertex(first[0]);
    let wedge = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| vertex(v) - origin);
        a.cross(&b).dot(&c)
    };
    surface.triangles.iter().map(wedge).sum::<f64>() / 6.0
}
