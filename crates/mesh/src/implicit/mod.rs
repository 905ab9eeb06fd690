//! Implicit surfaces: smooth unions of round primitives, and their triangulation.
//!
//! Every primitive has a signed distance, the field is a smooth minimum of them, and the surface is its zero level set. All of
//! these are 1-Lipschitz, so one sample bounds the empty space around it. Marching tetrahedra gives a closed manifold mesh
//! whatever the body is like, which edge collapse and relaxation turn into nearly equilateral triangles without losing that
//! property. (One vertex per lattice cube, as in surface nets, is non-manifold where two sheets share a cube.)

mod edge_collapse;
mod ellipsoid;
mod marching_tets;
mod primitive;
mod primitive_grid;
mod relaxation;

pub use primitive::{Primitive, PrimitiveShape};

use crate::TriMesh;
use crate::cage::lattice::{CUBES_PER_AXIS, Lattice};
use sinew_math::Vec3;

/// A smooth union of round primitives. The order of the primitives does not change a bit of the result.
///
/// The value s of the field is the root of
///
/// ```text
/// Σᵢ max(0, 1 + (s − dᵢ)/kᵢ)² = 1
/// ```
///
/// over the signed distances dᵢ of the primitives with blend lengths kᵢ. A single primitive gives s = d. A primitive farther than
/// kᵢ above s does not contribute. Where n primitives are equally near, s = d − k(1 − 1/√n): a seam is filled by 0.29 k between
/// two primitives and by less than k between any number. The gradient
///
/// ```text
/// ∇s = Σ wᵢ ∇dᵢ / Σ wᵢ,   wᵢ = max(0, 1 + (s − dᵢ)/kᵢ)/kᵢ
/// ```
///
/// is a convex combination of unit vectors, so |s| never exceeds the distance to the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitSurface {
    primitives: Vec<Primitive>,
    grid: primitive_grid::PrimitiveGrid,
}

/// Why a body has no surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImplicitSurfaceError {
    /// There is no primitive.
    #[error("the body has no parts: give it at least one")]
    NoParts,
    /// A number that is not finite, or too large to compute with.
    #[error("part {part} of {parts} has a number {number}: give it finite ones up to 1e9 m")]
    NotFinite {
        /// The first such part.
        part: usize,
        /// How many parts were given.
        parts: usize,
        /// The number.
        number: f64,
    },
    /// A radius that is not positive.
    #[error(
        "part {part} of {parts} has radii {radii:?} m: give it radii of at least 1e-12 m (one end of a cone may have 0)"
    )]
    Radius {
        /// The first such part.
        part: usize,
        /// How many parts were given.
        parts: usize,
        /// Its radii (m).
        radii: Vec<f64>,
    },
    /// A negative blend length.
    #[error("part {part} of {parts} has a blend length of {blend:.2e} m: give it 0 or more")]
    Blend {
        /// The first such part.
        part: usize,
        /// How many parts were given.
        parts: usize,
        /// Its blend length (m).
        blend: f64,
    },
    /// A spacing that is not positive and finite.
    #[error("the spacing is {spacing:.2e} m: give one above zero")]
    Spacing {
        /// The requested spacing (m).
        spacing: f64,
    },
    /// The surface would take more samples than the limit.
    #[error(
        "a surface with a spacing of {spacing:.2e} m would take about {samples:.1e} samples, more than {limit}: \
         a spacing of {finest:.2e} m would do"
    )]
    TooManySamples {
        /// The requested spacing (m).
        spacing: f64,
        /// The estimated number of samples.
        samples: f64,
        /// The limit.
        limit: usize,
        /// A spacing (m) that stays below the limit.
        finest: f64,
    },
    /// The body is too thin for the spacing: no sample lies inside.
    #[error(
        "at a spacing of {spacing:.2e} m no sample lies inside the body: \
         a spacing of {coarsest:.2e} m would find its thickest part"
    )]
    TooCoarse {
        /// The requested spacing (m).
        spacing: f64,
        /// A spacing (m) that resolves the thickest part.
        coarsest: f64,
    },
}

/// The maximum number of lattice cubes sampled, at about a kilobyte each.
const SAMPLE_LIMIT: usize = 1_000_000;

/// Cube edges per spacing. Marching tetrahedra with cube edge e gives 6.5/e² vertices per area (short edges 8/e³ of length √3/2
/// e, long ones 6/e³ of length e, each crossed half its length per area), of which about three in ten remain when those around
/// each lattice point are merged; equilateral triangles of edge l have 1.15/l². The two agree at e = 1.3 l.
const EDGE_PER_SPACING: f64 = 1.3;

/// The largest coordinate or length (m): squares of sums keep their digits.
const MAX_COORDINATE: f64 = 1e9;

/// The minimum blend length, relative to the largest coordinate or radius: sharp to the eye, and above the round-off of
/// distances.
const MIN_BLEND: f64 = 1e-9;

/// The maximum number of Newton iterations for the field. Three are usual.
const MAX_FIELD_ITERATIONS: usize = 60;

impl ImplicitSurface {
    /// Checks the primitives and builds the field.
    pub fn build(primitives: &[Primitive]) -> Result<Self, ImplicitSurfaceError> {
        let parts = primitives.len();
        if parts == 0 {
            return Err(ImplicitSurfaceError::NoParts);
        }

        // check every primitive and find the size of the body
        let mut size = 0.0f64;
        for (part, primitive) in primitives.iter().enumerate() {
            let numbers = primitive.numbers();
            if let Some(&number) = numbers.iter().find(|x| !x.is_finite() || x.abs() > MAX_COORDINATE) {
                return Err(ImplicitSurfaceError::NotFinite { part, parts, number });
            }
            if !primitive.has_valid_radii() {
                let radii = match primitive.shape {
                    PrimitiveShape::RoundCone { radii, .. } => radii.to_vec(),
                    PrimitiveShape::Ellipsoid { radii, .. } => radii.to_vec(),
                };
                return Err(ImplicitSurfaceError::Radius { part, parts, radii });
            }
            if primitive.blend < 0.0 {
                return Err(ImplicitSurfaceError::Blend { part, parts, blend: primitive.blend });
            }
            let (lo, hi) = primitive.bounds();
            size = size.max(lo.amax()).max(hi.amax());
        }

        // sorted by their parameters, so that the order given does not matter
        let mut primitives: Vec<Primitive> =
            primitives.iter().map(|l| l.blended(l.blend.max(MIN_BLEND * size))).collect();
        primitives.sort_by(|a, b| {
            let (a, b) = (a.numbers(), b.numbers());
            let differing = core::iter::zip(&a, &b).map(|(x, y)| x.total_cmp(y)).find(|order| order.is_ne());
            differing.unwrap_or(a.len().cmp(&b.len()))
        });

        // acceleration grid
        let mut implicit = Self { primitives, grid: primitive_grid::PrimitiveGrid::default() };
        implicit.grid = primitive_grid::PrimitiveGrid::find(&implicit.primitives, implicit.bounds());
        Ok(implicit)
    }

    /// The primitives, in the order of their parameters.
    pub fn primitives(&self) -> &[Primitive] {
        &self.primitives
    }

    /// The field at `p` (m): negative inside, zero on the surface, and in magnitude never larger than the distance to it.
    pub fn distance(&self, p: &Vec3) -> f64 {
        let distances: Vec<(f64, f64)> = self.primitives_at(p).map(|l| (l.distance(p), l.blend)).collect();
        blend(&distances)
    }

    /// The field at `p` (m) and its gradient, whose norm is at most 1.
    pub fn distance_and_gradient(&self, p: &Vec3) -> (f64, Vec3) {
        let found: Vec<((f64, Vec3), f64)> =
            self.primitives_at(p).map(|l| (l.distance_and_gradient(p), l.blend)).collect();
        let distances: Vec<(f64, f64)> = found.iter().map(|&((d, _), k)| (d, k)).collect();
        let s = blend(&distances);
        let (mut sum, mut whole) = (Vec3::zeros(), 0.0);
        for ((d, gradient), k) in found {
            let weight = (1.0 + (s - d) / k).max(0.0) / k;
            sum += weight * gradient;
            whole += weight;
        }
        (s, if whole > 0.0 { sum / whole } else { Vec3::zeros() })
    }

    /// The primitives that contribute at `p` (m), in order.
    fn primitives_at(&self, p: &Vec3) -> impl Iterator<Item = &Primitive> {
        let near = self.grid.at(p);
        let count = near.map_or(self.primitives.len(), <[u32]>::len);
        (0..count).map(move |i| &self.primitives[near.map_or(i, |near| near[i] as usize)])
    }

    /// A bounding box of the surface (m): that of the primitives, grown by the largest filling of seams.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let (mut lo, mut hi) = self.primitives[0].bounds();
        for primitive in &self.primitives[1..] {
            let (low, high) = primitive.bounds();
            (lo, hi) = (lo.inf(&low), hi.sup(&high));
        }
        let fill = if self.primitives.len() > 1 { Vec3::repeat(self.widest_blend()) } else { Vec3::zeros() };
        (lo - fill, hi + fill)
    }

    /// A closed manifold mesh of the surface, triangles facing outwards with edges of about `spacing` (m) and every vertex on the
    /// zero level set. Parts thinner than about 1.5 × `spacing` may be torn or missed.
    pub fn surface(&self, spacing: f64) -> Result<TriMesh, ImplicitSurfaceError> {
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Err(ImplicitSurfaceError::Spacing { spacing });
        }
        let lattice = self.lattice(spacing)?;
        let mut surface = marching_tets::march(self, &lattice);
        if surface.triangles.is_empty() {
            let thickest = self.primitives.iter().map(Primitive::thickness).fold(0.0, f64::max);
            return Err(ImplicitSurfaceError::TooCoarse { spacing, coarsest: thickest / EDGE_PER_SPACING });
        }
        edge_collapse::coarsen(self, spacing, &mut surface);
        relaxation::relax(self, spacing, &mut surface);
        Ok(surface)
    }

    fn widest_blend(&self) -> f64 {
        self.primitives.iter().map(|l| l.blend).fold(0.0, f64::max)
    }

    /// The lattice to march over, unless it takes too many samples.
    fn lattice(&self, spacing: f64) -> Result<Lattice, ImplicitSurfaceError> {
        let bounds = self.bounds();
        let edge = EDGE_PER_SPACING * spacing;
        let samples = self.estimate_samples(edge);
        let fits = |edge: f64| self.estimate_samples(edge) <= 0.9 * SAMPLE_LIMIT as f64;
        let in_range = |edge: f64| (bounds.1 - bounds.0).amax() / edge < CUBES_PER_AXIS / 2.0;
        let lattice = Lattice::around(bounds, edge, [0.0; 3]).filter(|_| in_range(edge));
        lattice.filter(|_| samples <= SAMPLE_LIMIT as f64).ok_or_else(|| {
            let mut finest = edge;
            while !(fits(finest) && in_range(finest)) {
                finest *= 1.1;
            }
            let finest = finest / EDGE_PER_SPACING;
            ImplicitSurfaceError::TooManySamples { spacing, samples, limit: SAMPLE_LIMIT, finest }
        })
    }

    /// The estimated number of cubes of an edge (m) whose centre is within half a diagonal of the surface: those in a layer √3
    /// edges thick. Primitives count in full, overlapping or not.
    fn estimate_samples(&self, edge: f64) -> f64 {
        let fill = self.widest_blend();
        let area: f64 = self.primitives.iter().map(|l| l.area_bound(fill + edge)).sum();
        3f64.sqrt() * area / (edge * edge)
    }
}

/// The smooth minimum: the root of the sum of squares over pairs of a distance and a blend length. The sum is convex and
/// increasing in s, and at the smallest distance it is at least one, so Newton's method converges to the root from above.
fn blend(distances: &[(f64, f64)]) -> f64 {
    let mut s = distances.iter().fold(f64::INFINITY, |m, d| m.min(d.0));
    for _ in 0..MAX_FIELD_ITERATIONS {
        let (mut sum, mut derivative) = (0.0, 0.0);
        for &(d, k) in distances {
            let fraction = (1.0 + (s - d) / k).max(0.0);
            sum += fraction * fraction;
            derivative += 2.0 * fraction / k;
        }
        let step = (sum - 1.0) / derivative;
        if step.is_nan() || step <= 1e-16 * s.abs() {
            break;
        }
        s -= step;
    }
    s
}
