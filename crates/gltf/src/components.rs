//! Principal component analysis of the motion of a surface: a base shape and a few directions, with weights per frame.
//!
//! ```text
//! x(t) ≈ x̄ + Σₖ wₖ(t) dₖ
//! ```
//!
//! The dₖ are the principal components of x − x̄ over the frames; x̄ is their mean, or a shape that is given. Their number is far below
//! the number of coordinates, so they come from the eigenvectors of the frames' Gram matrix G = X Xᵀ: dₖ ∝ Xᵀ uₖ.
//!
//! Principal components make the sum of squares small, not the largest error. Where their limit leaves a vertex too far off, they are found
//! anew with more weight on such vertices, as in Lawson's algorithm for Chebyshev approximation.
//!
//! Frames may be in memory or elsewhere ([`Frames`]); those that G is built from are in memory together, the others come and go.

use nalgebra::{DMatrix, SymmetricEigen};
use rayon::prelude::*;
use std::borrow::Cow;
use std::io;

/// The most frames the Gram matrix is built from, spread over the take; its eigenvectors cost the cube.
const BASIS_LIMIT: usize = 384;
/// Frames whose products are computed together while their coordinates are in the cache.
const TILE: usize = 16;
/// Coordinates that are in the cache together.
const BLOCK: usize = 512;
/// Frames that pass through the directions together.
const FIT_BATCH: usize = 4;
/// How often components are found anew with other weights, if frames times coordinates are at most so many.
const ROUNDS: usize = 4;
const ROUNDS_LIMIT: usize = 10_000_000;
/// Vertices with errors below this fraction of the largest are weighted alike: what is good must not be forgotten.
const MIN_FRACTION: f32 = 0.25;

/// The frames of a motion, wherever they are kept.
pub(crate) trait Frames: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The coordinates of a frame, x, y and z of vertex after vertex.
    fn read(&self, frame: usize) -> io::Result<Cow<'_, [f32]>>;
}

impl Frames for Vec<Vec<[f32; 3]>> {
    fn count(&self) -> usize {
        self.len()
    }

    fn read(&self, frame: usize) -> io::Result<Cow<'_, [f32]>> {
        Ok(Cow::Borrowed(self[frame].as_flattened()))
    }
}

/// How closely a motion is followed, and at what cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How far a vertex may be from its place in any frame (m).
    pub(crate) allowed: f64,
    /// The most components.
    pub(crate) limit: usize,
    /// The largest memory for the frames that are kept together (bytes).
    pub(crate) memory: usize,
    /// What is made small.
    pub(crate) fitted: Fitted,
}

/// Which errors components are fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fitted {
    /// The largest of all vertices and frames.
    Largest,
    /// The mean of squares.
    Mean,
}

/// A base shape, directions and weights.
pub(crate) struct Components {
    /// The base shape x̄.
    pub(crate) base: Vec<[f32; 3]>,
    /// The directions dₖ, scaled so that weights stay within [−1, 1].
    pub(crate) deltas: Vec<Vec<[f32; 3]>>,
    /// For each frame the weights wₖ.
    pub(crate) weights: Vec<Vec<f32>>,
    /// The largest distance of any vertex in any frame from where it is put (m).
    pub(crate) largest_error: f64,
}

impl Components {
    /// As few components as put every vertex of every frame within what is allowed, at most so many as the limit. Fails if a frame
    /// cannot be read, or if the eigenvectors cannot be found, which finite frames do not cause.
    pub(crate) fn find(frames: &impl Frames, base: Vec<[f32; 3]>, effort: Effort) -> io::Result<Components> {
        // nothing to add where the base is near enough
        let Effort { allowed, limit, .. } = effort;
        let distance = |frame: usize| Ok(largest_distance(&frames.read(frame)?, base.as_flattened()));
        let distances: Vec<f64> =
            (0..frames.count()).into_par_iter().map(distance).collect::<io::Result<_>>()?;
        let largest_error = distances.into_iter().fold(0.0, f64::max);
        if largest_error <= allowed || limit == 0 {
            let weights = vec![Vec::new(); frames.count()];
            return Ok(Components { base, deltas: Vec::new(), weights, largest_error });
        }

        // directions, found anew with more weight on vertices that are far off
        let mut emphasis = vec![1.0f32; base.len()];
        let mut found = Found::with(frames, &base, emphasis.clone(), effort)?;
        let has_rounds = effort.fitted == Fitted::Largest && frames.count() * base.len() * 3 <= ROUNDS_LIMIT;
        let rounds = if has_rounds { ROUNDS } else { 0 };
        for _ in 0..rounds {
            if found.error() <= allowed || found.directions.len() < limit {
                break;
            }
            let largest = found.vertex_error.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            for (emphasis, error) in emphasis.iter_mut().zip(&found.vertex_error) {
                *emphasis *= (error / largest).max(MIN_FRACTION).sqrt();
            }
            let other = Found::with(frames, &base, emphasis.clone(), effort)?;
            if other.error() < found.error() {
                found = other;
            }
        }
        let Found { directions, fits, emphasis, .. } = found;

        // the largest error over all frames with the first k components, for every k
        let error_with = |k: usize| fits.iter().map(|fit| fit.errors[k]).fold(0.0, f64::max);
        let count = (0..=directions.len()).find(|&k| error_with(k) <= allowed).unwrap_or(directions.len());
        let scales: Vec<f32> = (0..count)
            .map(|k| power_of_two_above(fits.iter().map(|fit| fit.weights[k].abs()).fold(0.0, f32::max)))
            .collect();
        let deltas = directions.iter().zip(&scales).map(|(direction, scale)| {
            let vertices = direction.as_chunks::<3>().0.iter().zip(&emphasis);
            vertices.map(|(d, emphasis)| d.map(|c| c * scale / emphasis)).collect()
        });
        let weights = fits
            .iter()
            .map(|fit| fit.weights.iter().zip(&scales).map(|(weight, scale)| weight / scale).collect());
        Ok(Components {
            base,
            deltas: deltas.collect(),
            weights: weights.collect(),
            largest_error: error_with(count),
        })
    }
}

/// Directions found with a weight on every vertex, and how frames are put together from them.
struct Found {
    /// Unit directions of emphasised coordinates.
    directions: Vec<Vec<f32>>,
    fits: Vec<Fit>,
    /// The factor on the coordinates of each vertex.
    emphasis: Vec<f32>,
    /// The largest error of each vertex in any frame with all directions (m).
    vertex_error: Vec<f32>,
}

impl Found {
    fn with(
        frames: &impl Frames,
        base: &[[f32; 3]],
        emphasis: Vec<f32>,
        effort: Effort,
    ) -> io::Result<Found> {
        let frames = Emphasised { frames, base, emphasis: &emphasis };
        let least = emphasis.iter().copied().fold(f32::INFINITY, f32::min);
        let basis = read_basis(&frames, effort.memory)?;
        let allowed = f64::from(least) * effort.allowed;
        let directions = directions(&basis, &vec![0.0; 3 * base.len()], allowed, effort.limit)
            .ok_or_else(|| io::Error::other("the motion has no principal components"))?;
        let (fits, vertex_error) = fit_frames(&frames, &directions)?;
        Ok(Found { directions, fits, emphasis, vertex_error })
    }

    /// The largest error with all directions (m).
    fn error(&self) -> f64 {
        self.fits.iter().filter_map(|fit| fit.errors.last().copied()).fold(0.0, f64::max)
    }
}

/// Frames as offsets from a base shape, each vertex's times a factor.
struct Emphasised<'a, F> {
    frames: &'a F,
    base: &'a [[f32; 3]],
    emphasis: &'a [f32],
}

impl<F: Frames> Frames for Emphasised<'_, F> {
    fn count(&self) -> usize {
        self.frames.count()
    }

    fn read(&self, frame: usize) -> io::Result<Cow<'_, [f32]>> {
        let frame = self.frames.read(frame)?;
        let vertices = frame.as_chunks::<3>().0.iter().zip(self.base).zip(self.emphasis);
        let offset = |((x, base), emphasis): ((&[f32; 3], &[f32; 3]), &f32)| {
            core::array::from_fn::<f32, 3, _>(|i| (x[i] - base[i]) * emphasis)
        };
        Ok(Cow::Owned(vertices.flat_map(offset).collect()))
    }
}

/// Frames spread over the take, as many as the eigenvectors' cost and the memory allow, and at least one.
fn read_basis(frames: &impl Frames, memory: usize) -> io::Result<Vec<Cow<'_, [f32]>>> {
    let size = frames.read(0)?.len().max(1) * size_of::<f32>();
    let most = (memory / size).clamp(1, BASIS_LIMIT).min(frames.count());
    // not every second one as soon as one is too many: what is left out may be what moves most
    (0..most).into_par_iter().map(|i| frames.read(i * frames.count() / most)).collect()
}

/// Unit directions dₖ, most important first. They stop where the rest, even if it all met in one vertex
/// of one frame, would be allowed.
fn directions(basis: &[Cow<[f32]>], mean: &[f32], allowed: f64, limit: usize) -> Option<Vec<Vec<f32>>> {
    // eigenvectors, largest eigenvalue first
    let gram = gram_matrix(basis, mean);
    // a few rounds per frame are usual; a looser answer is better than none
    let rounds = 1000 * basis.len();
    let eigen = SymmetricEigen::try_new(gram.clone(), f64::EPSILON, rounds)
        .or_else(|| SymmetricEigen::try_new(gram, 1e-10, rounds))?;
    let mut order: Vec<usize> = (0..basis.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    // below this an eigenvalue is round-off
    let floor = 1e-14 * eigen.eigenvalues[order[0]].max(0.0);
    order.retain(|&k| eigen.eigenvalues[k] > floor);

    // as many as are needed
    if basis.len() > 1 {
        let mut rest: f64 = order.iter().map(|&k| eigen.eigenvalues[k]).sum();
        let enough = order.iter().position(|&k| {
            let met = rest.max(0.0).sqrt() <= 0.5 * allowed;
            rest -= eigen.eigenvalues[k];
            met
        });
        order.truncate(enough.unwrap_or(order.len()).max(1));
    }
    order.truncate(limit);
    let fractions: Vec<Vec<f64>> = order
        .iter()
        .map(|&k| eigen.eigenvectors.column(k).iter().map(|u| u / eigen.eigenvalues[k].sqrt()).collect())
        .collect();

    // the directions they stand for, block by block
    let starts: Vec<usize> = (0..mean.len()).step_by(BLOCK).collect();
    let blocks: Vec<Vec<f32>> = starts
        .par_iter()
        .map(|&start| {
            let columns = start..(start + BLOCK).min(mean.len());
            let mut sums = vec![0.0f64; fractions.len() * columns.len()];
            let mut offsets = vec![0.0f64; columns.len()];
            for (f, frame) in basis.iter().enumerate() {
                subtract(&frame[columns.clone()], &mean[columns.clone()], &mut offsets);
                for (sum, fraction) in sums.chunks_exact_mut(columns.len()).zip(&fractions) {
                    sum.iter_mut().zip(&offsets).for_each(|(sum, offset)| *sum += fraction[f] * offset);
                }
            }
            sums.into_iter().map(|sum| sum as f32).collect()
        })
        .collect();
    let mut directions = vec![Vec::with_capacity(mean.len()); fractions.len()];
    for block in &blocks {
        let width = block.len() / fractions.len();
        directions
            .iter_mut()
            .zip(block.chunks_exact(width))
            .for_each(|(all, part)| all.extend_from_slice(part));
    }
    Some(directions)
}

/// G = X Xᵀ, where the rows of X are the frames minus their mean. Every entry is summed in a fixed order.
fn gram_matrix(frames: &[Cow<[f32]>], mean: &[f32]) -> DMatrix<f64> {
    let tiles: Vec<(usize, usize)> = (0..frames.len())
        .step_by(TILE)
        .flat_map(|i| (i..frames.len()).step_by(TILE).map(move |j| (i, j)))
        .collect();
    let products: Vec<Vec<f64>> = tiles.par_iter().map(|&(i, j)| tile_products(frames, mean, i, j)).collect();
    let mut gram = DMatrix::zeros(frames.len(), frames.len());
    for (&(i, j), products) in tiles.iter().zip(&products) {
        for a in i..(i + TILE).min(frames.len()) {
            for b in j..(j + TILE).min(frames.len()) {
                gram[(a, b)] = products[(a - i) * TILE + b - j];
                gram[(b, a)] = gram[(a, b)];
            }
        }
    }
    gram
}

fn tile_products(frames: &[Cow<[f32]>], mean: &[f32], i: usize, j: usize) -> Vec<f64> {
    let rows = |start: usize| start..(start + TILE).min(frames.len());
    let mut products = vec![0.0; TILE * TILE];
    let mut left = vec![0.0; TILE * BLOCK];
    let mut right = vec![0.0; TILE * BLOCK];
    for start in (0..mean.len()).step_by(BLOCK) {
        let columns = start..(start + BLOCK).min(mean.len());
        let width = columns.len();
        for (side, first) in [(&mut left, i), (&mut right, j)] {
            for (row, f) in side.chunks_exact_mut(BLOCK).zip(rows(first)) {
                subtract(&frames[f][columns.clone()], &mean[columns.clone()], &mut row[..width]);
            }
        }
        for a in 0..rows(i).len() {
            for b in 0..rows(j).len() {
                products[a * TILE + b] += dot(&left[a * BLOCK..][..width], &right[b * BLOCK..][..width]);
            }
        }
    }
    products
}

/// How one frame is put together from the directions.
struct Fit {
    /// The weight of each direction.
    weights: Vec<f32>,
    /// The largest distance of a vertex from its place with the first k directions (m), k = 0 first.
    errors: Vec<f64>,
}

/// Takes from each frame one direction after the other. The remainder is kept in single precision, as a
/// viewer adds them up, so that its size is what a viewer's error will be.
fn fit_frames<F: Frames>(
    frames: &Emphasised<F>,
    directions: &[Vec<f32>],
) -> io::Result<(Vec<Fit>, Vec<f32>)> {
    // a batch of frames
    let emphasis = frames.emphasis;
    let fit = |first: usize| -> io::Result<(Vec<Fit>, Vec<f32>)> {
        let batch = first..(first + FIT_BATCH).min(frames.count());
        let mut remainders: Vec<Vec<f32>> =
            batch.map(|frame| Ok(frames.read(frame)?.into_owned())).collect::<io::Result<_>>()?;
        let mut fits: Vec<Fit> = remainders
            .iter()
            .map(|remainder| Fit { weights: Vec::new(), errors: vec![longest(remainder, emphasis)] })
            .collect();
        for direction in directions {
            for (fit, remainder) in fits.iter_mut().zip(&mut remainders) {
                let weight = dot_single(remainder, direction) as f32;
                add_scaled(-weight, direction, remainder);
                fit.weights.push(weight);
                fit.errors.push(longest(remainder, emphasis));
            }
        }
        let mut vertex_error = vec![0.0f32; emphasis.len()];
        for remainder in &remainders {
            let lengths = remainder.as_chunks::<3>().0.iter().zip(emphasis).map(length_squared);
            vertex_error.iter_mut().zip(lengths).for_each(|(most, squared)| *most = most.max(squared.sqrt()));
        }
        Ok((fits, vertex_error))
    };

    // all batches
    let batches = (0..frames.count()).into_par_iter().step_by(FIT_BATCH).map(fit);
    let (mut fits, mut vertex_error) = (Vec::new(), vec![0.0f32; emphasis.len()]);
    for (some, errors) in batches.collect::<io::Result<Vec<_>>>()? {
        fits.extend(some);
        vertex_error.iter_mut().zip(errors).for_each(|(most, error)| *most = most.max(error));
    }
    Ok((fits, vertex_error))
}

/// The mean of all frames.
pub(crate) fn mean_shape(frames: &[Vec<[f32; 3]>]) -> Vec<[f32; 3]> {
    let mut sums = vec![[0.0f64; 3]; frames.first().map_or(0, Vec::len)];
    for frame in frames {
        sums.iter_mut().zip(frame).for_each(|(sum, x)| (0..3).for_each(|i| sum[i] += f64::from(x[i])));
    }
    let fraction = 1.0 / frames.len().max(1) as f64;
    sums.into_iter().map(|sum| sum.map(|c| (c * fraction) as f32)).collect()
}

fn largest_distance(a: &[f32], b: &[f32]) -> f64 {
    let squared =
        |(a, b): (&[f32; 3], &[f32; 3])| (0..3).map(|i| (f64::from(a[i]) - f64::from(b[i])).powi(2)).sum();
    a.as_chunks().0.iter().zip(b.as_chunks().0).map(squared).fold(0.0, f64::max).sqrt()
}

/// The longest of vectors that are emphasised, as it is without.
fn longest(vectors: &[f32], emphasis: &[f32]) -> f64 {
    f64::from(vectors.as_chunks().0.iter().zip(emphasis).map(length_squared).fold(0.0, f32::max)).sqrt()
}

fn length_squared(([x, y, z], emphasis): (&[f32; 3], &f32)) -> f32 {
    (x * x + y * y + z * z) / (emphasis * emphasis)
}

/// The smallest power of two that is not below `x`: scaling by it loses no bits.
fn power_of_two_above(x: f32) -> f32 {
    let mut power = 1.0f32;
    while power < x && power < f32::MAX / 4.0 {
        power *= 2.0;
    }
    while power * 0.5 >= x && power > f32::MIN_POSITIVE * 4.0 {
        power *= 0.5;
    }
    power
}

fn subtract(a: &[f32], b: &[f32], difference: &mut [f64]) {
    difference.iter_mut().zip(a.iter().zip(b)).for_each(|(d, (a, b))| *d = f64::from(*a) - f64::from(*b));
}

/// sum += scale · vector.
pub(crate) fn add_scaled(scale: f32, vector: &[f32], sum: &mut [f32]) {
    sum.iter_mut().zip(vector).for_each(|(sum, v)| *sum += scale * v);
}

/// Brings weights to [0, 1], since some programs cut them off below 0, and returns what they were: wₖ = lowₖ + spanₖ wₖ'. Shapes become
/// spanₖ dₖ, and Σ lowₖ dₖ is there always.
pub(crate) fn to_unit_weights(weights: &mut [Vec<f32>]) -> Vec<(f32, f32)> {
    let count = weights.first().map_or(0, Vec::len);
    let range = |k: usize| {
        let low = weights.iter().map(|frame| frame[k]).fold(f32::INFINITY, f32::min);
        let high = weights.iter().map(|frame| frame[k]).fold(f32::NEG_INFINITY, f32::max);
        (low, if high > low { high - low } else { 1.0 })
    };
    let ranges: Vec<(f32, f32)> = (0..count).map(range).collect();
    for frame in weights.iter_mut() {
        for (weight, (low, span)) in frame.iter_mut().zip(&ranges) {
            *weight = ((*weight - low) / span).clamp(0.0, 1.0);
        }
    }
    ranges
}

/// Scales shapes to weights in [0, 1] and returns what is there always.
pub(crate) fn to_unit_shapes(ranges: &[(f32, f32)], shapes: &mut [Vec<[f32; 3]>]) -> Vec<[f32; 3]> {
    let mut always = vec![[0.0f32; 3]; shapes.first().map_or(0, Vec::len)];
    for ((low, span), shape) in ranges.iter().zip(shapes) {
        add_scaled(*low, shape.as_flattened(), always.as_flattened_mut());
        shape.as_flattened_mut().iter_mut().for_each(|x| *x *= span);
    }
    always
}

/// a · b in eight running sums, which the compiler turns into lanes.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// a · b with products in single precision and sums in double.
fn dot_single(a: &[f32], b: &[f32]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|lane| sums[lane] += f64::from(a[lane] * b[lane]));
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| f64::from(a * b)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a strip that bends and swings: two directions exactly.
    fn two_motions(frame_count: usize) -> Vec<Vec<[f32; 3]>> {
        let frame = |f: usize| {
            let (a, b) = ((f as f32 * 0.37).sin(), 0.3 * (f as f32 * 0.91).cos());
            (0..40).map(|v| v as f32 / 40.0).map(|s| [s, a * s * s, b * s]).collect()
        };
        (0..frame_count).map(frame).collect()
    }

    fn find(frames: &Vec<Vec<[f32; 3]>>, limit: usize) -> Components {
        let effort = Effort { allowed: 1e-5, limit, memory: usize::MAX, fitted: Fitted::Largest };
        Components::find(frames, mean_shape(frames), effort).unwrap()
    }

    #[test]
    fn a_motion_of_two_directions_needs_two_components() {
        let frames = two_motions(50);
        let components = find(&frames, 64);
        assert_eq!(components.deltas.len(), 2);
        assert!(components.largest_error <= 1e-5);
        assert!(components.weights.iter().flatten().all(|w| w.abs() <= 1.0));
    }

    #[test]
    fn more_frames_than_the_basis_holds_are_fitted_too() {
        let frames = two_motions(2 * BASIS_LIMIT + 5);
        let components = find(&frames, 64);
        assert_eq!((components.deltas.len(), components.weights.len()), (2, frames.len()));
        assert!(components.largest_error <= 1e-5);
    }

    #[test]
    fn a_body_that_stays_needs_none_and_a_limit_is_kept() {
        let frames = two_motions(50);
        assert!(find(&vec![frames[0].clone(); 3], 64).deltas.is_empty());
        let one = find(&frames, 1);
        assert_eq!(one.deltas.len(), 1);
        assert!(one.largest_error > 1e-5);
        assert!(find(&frames, 0).deltas.is_empty());
    }

    #[test]
    fn a_given_base_stays_and_few_frames_at_a_time_do() {
        let frames = two_motions(50);
        let base = vec![[0.0; 3]; 40];
        // room for four frames of 40 vertices
        let effort = Effort { allowed: 1e-5, limit: 64, memory: 4 * 40 * 12, fitted: Fitted::Largest };
        let components = Components::find(&frames, base.clone(), effort).unwrap();
        // the strip itself is a direction beside the two it moves along
        assert_eq!((components.deltas.len(), components.base), (3, base));
        assert!(components.largest_error <= 1e-5);
    }

    #[test]
    fn scales_are_powers_of_two_next_above() {
        for (x, power) in [(1.0, 1.0), (1.1, 2.0), (0.3, 0.5), (0.5, 0.5), (1000.0, 1024.0)] {
            assert_eq!(power_of_two_above(x), power);
        }
        assert!(power_of_two_above(0.0) > 0.0 && power_of_two_above(f32::MAX).is_finite());
    }
}
