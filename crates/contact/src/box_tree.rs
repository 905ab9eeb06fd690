//! A tree of boxes around many small things, which is built once and refitted as they move.
//!
//! Children of a node stand behind it in memory, so that refitting is one walk from the last node to the first.

use sinew_math::Vec3;

/// A box with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates (m).
    pub min: Vec3,
    /// Largest coordinates (m).
    pub max: Vec3,
}

impl Bounds {
    /// Around nothing.
    pub const EMPTY: Bounds = Bounds {
        min: Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        max: Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    /// Around points.
    pub fn around<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Bounds {
        points.into_iter().fold(Bounds::EMPTY, |bounds, p| bounds.with(p))
    }

    /// Grown to hold a point.
    #[inline]
    pub fn with(&self, p: &Vec3) -> Bounds {
        Bounds { min: self.min.inf(p), max: self.max.sup(p) }
    }

    /// Around both.
    #[inline]
    pub fn and(&self, other: &Bounds) -> Bounds {
        Bounds { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    /// Grown by so much on all sides (m).
    #[inline]
    pub fn grown(&self, by: f64) -> Bounds {
        Bounds { min: self.min.add_scalar(-by), max: self.max.add_scalar(by) }
    }

    /// Whether the two have a point in common.
    #[inline]
    pub fn intersects(&self, other: &Bounds) -> bool {
        (0..3).all(|k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }

    /// Whether a point is inside.
    #[inline]
    pub fn contains(&self, p: &Vec3) -> bool {
        (0..3).all(|k| self.min[k] <= p[k] && p[k] <= self.max[k])
    }

    /// Square of the distance to a point, 0 inside (m²).
    #[inline]
    pub fn distance_squared(&self, p: &Vec3) -> f64 {
        (self.min - p).sup(&(p - self.max)).sup(&Vec3::zeros()).norm_squared()
    }

    /// Half the diagonal (m).
    pub fn radius(&self) -> f64 {
        0.5 * (self.max - self.min).norm()
    }

    /// Its middle (m).
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }
}

/// A node: a leaf has a count of things, others have two children, the first right behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TreeNode {
    /// The first of the leaf's things in the tree's order, or the second child.
    pub(crate) start: u32,
    /// How many things a leaf has; 0 for others.
    pub(crate) count: u32,
}

/// A tree of boxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxTree {
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) bounds: Vec<Bounds>,
    /// The things, those of a leaf together.
    pub(crate) order: Vec<u32>,
}

/// Things in a leaf at most.
const LEAF: usize = 4;
/// A tree of two thousand million things is not deeper.
const STACK: usize = 96;

impl BoxTree {
    /// Sorts things with these boxes into a tree, halving by the longest side of their middles.
    pub fn build(boxes: &[Bounds]) -> BoxTree {
        let mut tree = BoxTree { order: (0..boxes.len() as u32).collect(), ..BoxTree::default() };
        if !boxes.is_empty() {
            let mut order = core::mem::take(&mut tree.order);
            tree.split(boxes, &mut order, 0);
            tree.order = order;
        }
        tree
    }

    fn split(&mut self, boxes: &[Bounds], order: &mut [u32], first: usize) {
        let own = self.nodes.len();
        let bounds = order.iter().fold(Bounds::EMPTY, |sum, &i| sum.and(&boxes[i as usize]));
        self.nodes.push(TreeNode { start: first as u32, count: order.len() as u32 });
        self.bounds.push(bounds);
        if order.len() <= LEAF {
            return;
        }
        let middle = |i: u32| boxes[i as usize].center();
        let spread = order.iter().fold(Bounds::EMPTY, |sum, &i| sum.with(&middle(i)));
        let axis = (spread.max - spread.min).imax();
        let half = order.len() / 2;
        order.select_nth_unstable_by(half, |&a, &b| {
            middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(&b))
        });
        let (left, right) = order.split_at_mut(half);
        self.split(boxes, left, first);
        self.nodes[own] = TreeNode { start: self.nodes.len() as u32, count: 0 };
        self.split(boxes, right, first + half);
    }

    /// Fits all boxes to where things are now.
    pub fn refit(&mut self, bounds_of: impl Fn(usize) -> Bounds) {
        for i in (0..self.nodes.len()).rev() {
            let TreeNode { start, count } = self.nodes[i];
            self.bounds[i] = if count == 0 {
                self.bounds[i + 1].and(&self.bounds[start as usize])
            } else {
                let things = &self.order[start as usize..(start + count) as usize];
                things.iter().fold(Bounds::EMPTY, |sum, &thing| sum.and(&bounds_of(thing as usize)))
            };
        }
    }

    /// Around everything.
    pub fn bounds(&self) -> Bounds {
        self.bounds.first().copied().unwrap_or(Bounds::EMPTY)
    }

    /// The thing nearest to a point, with `distance_squared` of things, if it is nearer than `limit` (m²); of equals the one with the lower number.
    pub fn find_nearest(
        &self,
        p: &Vec3,
        limit: f64,
        mut distance_squared: impl FnMut(usize) -> f64,
    ) -> Option<(usize, f64)> {
        let mut best = limit;
        let mut found: Option<usize> = None;
        let mut stack = [(0u32, 0.0f64); STACK];
        let mut depth = 0;
        if !self.nodes.is_empty() {
            stack[0] = (0, self.bounds[0].distance_squared(p));
            depth = 1;
        }
        while depth > 0 {
            depth -= 1;
            let (at, near) = stack[depth];
            if near > best {
                continue;
            }
            let TreeNode { start, count } = self.nodes[at as usize];
            if count > 0 {
                for &thing in &self.order[start as usize..(start + count) as usize] {
                    let distance = distance_squared(thing as usize);
                    if distance < best || (distance == best && found.is_none_or(|f| (thing as usize) < f)) {
                        best = distance;
                        found = Some(thing as usize);
                    }
                }
                continue;
            }
            let (left, right) = (at + 1, start);
            let left = (left, self.bounds[left as usize].distance_squared(p));
            let right = (right, self.bounds[right as usize].distance_squared(p));
            // the nearer child is taken up first
            let (near, far) = if left.1 <= right.1 { (left, right) } else { (right, left) };
            for child in [far, near] {
                if child.1 <= best && depth < STACK {
                    stack[depth] = child;
                    depth += 1;
                }
            }
        }
        found.map(|thing| (thing, best))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn the_nearest_is_that_of_all_also_after_refitting() {
        let mut points = shapes::sphere(1.0, 3).vertices;
        let boxes: Vec<Bounds> = points.iter().map(|p| Bounds { min: *p, max: *p }).collect();
        let mut tree = BoxTree::build(&boxes);
        for round in 0..2 {
            for i in 0..50 {
                let p = Vec3::new(0.03 * f64::from(i), 0.9 - 0.02 * f64::from(i), 0.3);
                let all = points.iter().map(|x| (x - p).norm_squared()).fold(f64::INFINITY, f64::min);
                let (found, distance) =
                    tree.find_nearest(&p, f64::INFINITY, |i| (points[i] - p).norm_squared()).expect("one");
                assert_eq!(distance, all, "round {round}");
                assert_eq!((points[found] - p).norm_squared(), all);
            }
            points.iter_mut().for_each(|p| *p = Vec3::new(p.y * 2.0, p.x, 0.5 * p.z + p.x));
            tree.refit(|i| Bounds { min: points[i], max: points[i] });
        }
        assert!(BoxTree::build(&[]).find_nearest(&Vec3::zeros(), 1.0, |_| 0.0).is_none());
    }
}
