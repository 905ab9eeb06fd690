//! Smooth bodies made by code: round parts that flow into each other.
//!
//! The one idea: every part has a signed distance, the body's is a smooth minimum of them, and the surface is
//! where it is zero. None of it changes faster than the point moves, so one sample says how far around it there
//! is no surface. The mesh comes from marching over lattice tets, which is closed and manifold whatever the
//! body is like, and is then coarsened and relaxed into even triangles without ever giving that up. (One
//! vertex per lattice cube, as in surface nets, pinches where two sheets share a cube.)

mod coarsening;
mod ellipsoid;
mod marching;
mod near;
mod primitive;
mod relaxing;

pub use primitive::{Primitive, PrimitiveShape};

use crate::TriMesh;
use crate::cage::lattice::{CUBES_PER_AXIS, Lattice};
use sinew_math::Vec3;

/// A body of round parts that flow into each other. The order in which parts were given changes nothing, to the bit.
///
/// The value s of the field is the root of
///
/// ```text
/// Σᵢ max(0, 1 + (s − dᵢ)/kᵢ)² = 1
/// ```
///
/// over the signed distances dᵢ of the parts with their blend lengths kᵢ. One part alone gives s = d. A part
/// farther than kᵢ above s has no say. Where n parts are equally near, s = d − k(1 − 1/√n): a seam is filled by
/// 0.29 k between two parts and by less than k between any number. The gradient
///
/// ```text
/// ∇s = Σ wᵢ ∇dᵢ / Σ wᵢ,   wᵢ = max(0, 1 + (s − dᵢ)/kᵢ)/kᵢ
/// ```
///
/// is a mean of unit vectors, so s is no larger than the distance to the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitSurface {
    primitives: Vec<Primitive>,
    near: near::Near,
}

/// Why a body has no surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImplicitSurfaceError {
    /// Nothing to make a surface of.
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
    /// A part without thickness.
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
    /// A spacing that makes no sense.
    #[error("a spacing of {spacing:.2e} m is asked for: give one above zero")]
    Spacing {
        /// The spacing asked for (m).
        spacing: f64,
    },
    /// More samples than fit in memory.
    #[error(
        "a surface with a spacing of {spacing:.2e} m would take about {samples:.1e} samples, more than {limit}: \
         a spacing of {finest:.2e} m would do"
    )]
    TooManySamples {
        /// The spacing asked for (m).
        spacing: f64,
        /// Samples foretold.
        samples: f64,
        /// The most that are taken.
        limit: usize,
        /// A spacing (m) that stays below the limit.
        finest: f64,
    },
    /// The body slips through between the samples.
    #[error(
        "at a spacing of {spacing:.2e} m no sample lies inside the body: \
         a spacing of {coarsest:.2e} m would find its thickest part"
    )]
    TooCoarse {
        /// The spacing asked for (m).
        spacing: f64,
        /// A spacing (m) that finds something.
        coarsest: f64,
    },
}

/// The most lattice cubes that are looked into, at about a kilobyte each.
const SAMPLE_LIMIT: usize = 1_000_000;

/// Cube edges per spacing. Marching over tets of cube edge e gives 6.5/e² vertices per area (short edges 8/e³ of
/// length √3/2 e, long ones 6/e³ of length e, each crossed half its length per area), of which about three in ten
/// are left when those around each lattice point are merged; even triangles of edge l have 1.15/l².
/// The two agree at e = 1.3 l.
const EDGE_PER_SPACING: f64 = 1.3;

/// The largest coordinate or length (m): squares of sums keep their digits.
const LARGEST: f64 = 1e9;

/// The least blend length, as a fraction of the largest coordinate or radius: sharp to the eye, and above the round-off of
/// distances.
const MIN_BLEND: f64 = 1e-9;

/// Newton steps for the field at most. Three are usual.
const FIELD_STEPS: usize = 60;

impl ImplicitSurface {
    /// Checks the parts and puts them together.
    pub fn build(primitives: &[Primitive]) -> Result<Self, ImplicitSurfaceError> {
        let parts = primitives.len();
        if parts == 0 {
            return Err(ImplicitSurfaceError::NoParts);
        }
        let mut size = 0.0f64;
        for (part, primitive) in primitives.iter().enumerate() {
            let numbers = primitive.numbers();
            if let Some(&number) = numbers.iter().find(|x| !x.is_finite() || x.abs() > LARGEST) {
                return Err(ImplicitSurfaceError::NotFinite { part, parts, number });
            }
            if !primitive.is_thick() {
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
        let mut primitives: Vec<Primitive> =
            primitives.iter().map(|l| l.blended(l.blend.max(MIN_BLEND * size))).collect();
        primitives.sort_by(|a, b| {
            let (a, b) = (a.numbers(), b.numbers());
            let differing = core::iter::zip(&a, &b).map(|(x, y)| x.total_cmp(y)).find(|order| order.is_ne());
            differing.unwrap_or(a.len().cmp(&b.len()))
        });
        let mut implicit = Self { primitives, near: near::Near::default() };
        implicit.near = near::Near::find(&implicit.primitives, implicit.bounds());
        Ok(implicit)
    }

    /// The field at `p` (m): negative inside, zero on the surface, and never larger than the distance to it.
    pub fn distance(&self, p: &Vec3) -> f64 {
        let distances: Vec<(f64, f64)> = self.primitives_at(p).map(|l| (l.distance(p), l.blend)).collect();
        blend(&distances)
    }

    /// The field at `p` (m) and its gradient, which is at most one long.
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

    /// The parts that have a say at `p` (m), in order.
    fn primitives_at(&self, p: &Vec3) -> impl Iterator<Item = &Primitive> {
        let near = self.near.at(p);
        let count = near.map_or(self.primitives.len(), <[u32]>::len);
        (0..count).map(move |i| &self.primitives[near.map_or(i, |near| near[i] as usize)])
    }

    /// A box around the surface (m): that around the parts, and as much as seams can be filled.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let (mut lo, mut hi) = self.primitives[0].bounds();
        for primitive in &self.primitives[1..] {
            let (low, high) = primitive.bounds();
            (lo, hi) = (lo.inf(&low), hi.sup(&high));
        }
        let fill = if self.primitives.len() > 1 { Vec3::repeat(self.widest_blend()) } else { Vec3::zeros() };
        (lo - fill, hi + fill)
    }

    /// A closed manifold mesh of the surface, triangles facing outwards with edges of about `spacing` (m), every vertex
    /// where the field is zero. Parts thinner than about 1.5 × `spacing` may be torn or missed.
    pub fn surface(&self, spacing: f64) -> Result<TriMesh, ImplicitSurfaceError> {
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Err(ImplicitSurfaceError::Spacing { spacing });
        }
        let lattice = self.lattice(spacing)?;
        let mut surface = marching::march(self, &lattice);
        if surface.triangles.is_empty() {
            let thickest = self.primitives.iter().map(Primitive::thickness).fold(0.0, f64::max);
            return Err(ImplicitSurfaceError::TooCoarse { spacing, coarsest: thickest / EDGE_PER_SPACING });
        }
        coarsening::coarsen(self, spacing, &mut surface);
        relaxing::relax(self, spacing, &mut surface);
        Ok(surface)
    }

    fn widest_blend(&self) -> f64 {
        self.primitives.iter().map(|l| l.blend).fold(0.0, f64::max)
    }

    /// The lattice to march over, unless it takes too many samples.
    fn lattice(&self, spacing: f64) -> Result<Lattice, ImplicitSurfaceError> {
        let bounds = self.bounds();
        let edge = EDGE_PER_SPACING * spacing;
        let samples = self.forecast(edge);
        let fits = |edge: f64| self.forecast(edge) <= 0.9 * SAMPLE_LIMIT as f64;
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

    /// About how many cubes of an edge (m) have the surface within half a diagonal of their middle: those in a layer
    /// √3 edges thick. Parts count in full, overlapping or not.
    fn forecast(&self, edge: f64) -> f64 {
        let fill = self.widest_blend();
        let area: f64 = self.primitives.iter().map(|l| l.area_bound(fill + edge)).sum();
        3f64.sqrt() * area / (edge * edge)
    }
}

/// The root of the sum of squares, from pairs of a distance and a blend length. The sum is convex and grows with s, and
/// at the smallest distance it is at least one, so Newton's method comes down to the root and stays above it.
fn blend(distances: &[(f64, f64)]) -> f64 {
    let mut s = distances.iter().fold(f64::INFINITY, |m, d| m.min(d.0));
    for _ in 0..FIELD_STEPS {
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
