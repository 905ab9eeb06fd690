//! Longest-edge bisection of triangles that reach far across their surface.
//!
//! A sphere around a sliver is as large as the sliver is long, however thin it is, so a tree of spheres over many of them rejects nothing.
//! Solid angles add up, so that the pieces of a triangle say the same as the whole.

use sinew_math::Vec3;

/// With so many long triangles or fewer, a sum over all of them is cheap.
const MAX_LONG: usize = 2000;
/// Pieces have edges of this fraction of the diagonal or less; the first that needs at most [`MAX_PIECES`] is taken.
const LENGTHS: [f64; 3] = [1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0];
/// The most pieces: about 200 MB of tree.
const MAX_PIECES: f64 = 1e6;

/// The same triangles, with long ones in pieces where they are so many that a tree over them would be slow.
pub(crate) fn bisect_long(triangles: Vec<[Vec3; 3]>) -> Vec<[Vec3; 3]> {
    let Some([first, ..]) = triangles.first() else { return triangles };

    // how many are long
    let corners = triangles.iter().flatten();
    let (low, high) = corners.fold((*first, *first), |(low, high), p| (low.inf(p), high.sup(p)));
    let diagonal = (high - low).norm();
    let long = triangles.iter().filter(|triangle| longest(triangle).1 > LENGTHS[0] * diagonal).count();
    if long <= MAX_LONG {
        return triangles;
    }

    // how short pieces may be
    let count = |length: f64| triangles.iter().map(|triangle| piece_count(triangle, length)).sum::<f64>();
    let Some(length) =
        LENGTHS.map(|part| part * diagonal).into_iter().find(|length| count(*length) <= MAX_PIECES)
    else {
        return triangles;
    };

    // halves of the longest edge, again and again
    let mut pieces = Vec::with_capacity(triangles.len());
    let mut open = Vec::new();
    for triangle in triangles {
        open.push(triangle);
        while let Some(triangle) = open.pop() {
            let (edge, edge_length) = longest(&triangle);
            if edge_length <= length {
                pieces.push(triangle);
                continue;
            }
            // the corner opposite of the edge belongs to both halves
            let [a, b, c] = [0, 1, 2].map(|i| triangle[(edge + i) % 3]);
            let middle = 0.5 * (a + b);
            open.extend([[a, middle, c], [middle, b, c]]);
        }
    }
    pieces
}

/// The longest edge, by its first corner, and its length (m).
fn longest(triangle: &[Vec3; 3]) -> (usize, f64) {
    let length = |i: usize| (triangle[(i + 1) % 3] - triangle[i]).norm();
    (1..3)
        .map(|i| (i, length(i)))
        .fold((0, length(0)), |best, other| if other.1 > best.1 { other } else { best })
}

/// About how many pieces a triangle falls into: halvings along it, and across it where it is wide.
fn piece_count(triangle: &[Vec3; 3], length: f64) -> f64 {
    let [a, b, c] = triangle;
    let along = longest(triangle).1;
    let across = (b - a).cross(&(c - a)).norm() / along.max(f64::MIN_POSITIVE);
    let parts = |size: f64| (2.0 * size / length).max(1.0);
    parts(along) * parts(across)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WindingTree;
    use crate::winding::solid_angle;
    use sinew_math::real;

    /// A drum of so many sides, whose walls and lids are slivers.
    fn drum(sides: usize) -> Vec<[Vec3; 3]> {
        let at = |i: usize, z: f64| {
            let angle = core::f64::consts::TAU * (i % sides) as f64 / sides as f64;
            Vec3::new(real::cos(angle), real::sin(angle), z)
        };
        (0..sides)
            .flat_map(|i| {
                let [a, b, c, d] = [at(i, 0.0), at(i + 1, 0.0), at(i + 1, 1.0), at(i, 1.0)];
                [[a, b, c], [a, c, d], [Vec3::zeros(), b, a], [Vec3::z(), d, c]]
            })
            .collect()
    }

    #[test]
    fn pieces_see_the_same_solid_angle() {
        let whole = drum(1500);
        let pieces = bisect_long(whole.clone());
        assert!(pieces.len() > 4 * whole.len(), "{}", pieces.len());
        let longest_piece = pieces.iter().map(|piece| longest(piece).1).fold(0.0, f64::max);
        assert!(longest_piece <= 3.0 / 16.0);
        for p in [Vec3::new(0.3, 0.2, 0.4), Vec3::new(0.0, 0.99, 0.9), Vec3::new(1.5, 0.0, 0.5)] {
            let [a, b] = [&whole, &pieces].map(|all| all.iter().map(|t| solid_angle(t, &p)).sum::<f64>());
            // round-off of as many sums
            assert!((a - b).abs() < 1e-9, "{a} {b}");
            // see `ACCEPTANCE` of the tree
            let expected = a / (2.0 * core::f64::consts::TAU);
            assert!((WindingTree::build(whole.clone()).winding_number(&p) - expected).abs() < 3.0 / 16.0);
        }
    }

    #[test]
    fn few_long_triangles_stay_whole() {
        let whole = drum(400);
        assert_eq!(bisect_long(whole.clone()), whole);
    }
}
