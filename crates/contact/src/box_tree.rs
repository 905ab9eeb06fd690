//! Bounding volume hierarchy of axis-aligned boxes (AABB tree), built once and refitted as its primitives move.
//!
//! Children are stored after their parent, so refitting is one pass from the last node to the first.

use sinew_math::Vec3;

/// An axis-aligned bounding box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates (m).
    pub min: Vec3,
    /// Largest coordinates (m).
    pub max: Vec3,
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Bounds = Bounds {
        min: Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        max: Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    /// The bounding box of points.
    pub fn around<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Bounds {
        points.into_iter().fold(Bounds::EMPTY, |bounds, p| bounds.with(p))
    }

    /// The box extended to contain a point.
    #[inline]
    pub fn with(&self, p: &Vec3) -> Bounds {
        Bounds { min: self.min.inf(p), max: self.max.sup(p) }
    }

    /// The union of two boxes.
    #[inline]
    pub fn and(&self, other: &Bounds) -> Bounds {
        Bounds { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    /// The box grown by a margin on all sides (m).
    #[inline]
    pub fn grown(&self, by: f64) -> Bounds {
        Bounds { min: self.min.add_scalar(-by), max: self.max.add_scalar(by) }
    }

    /// Whether two boxes intersect.
    #[inline]
    pub fn intersects(&self, other: &Bounds) -> bool {
        (0..3).all(|k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }

    /// Whether a point is inside.
    #[inline]
    pub fn contains(&self, p: &Vec3) -> bool {
        (0..3).all(|k| self.min[k] <= p[k] && p[k] <= self.max[k])
    }

    /// The squared distance to a point, 0 inside (m²).
    #[inline]
    pub fn distance_squared(&self, p: &Vec3) -> f64 {
        (self.min - p).sup(&(p - self.max)).sup(&Vec3::zeros()).norm_squared()
    }

    /// Half the diagonal (m).
    pub fn radius(&self) -> f64 {
        0.5 * (self.max - self.min).norm()
    }

    /// The centre (m).
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }
}

/// A node: a leaf has a number of primitives, an inner node has two children, the first directly after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TreeNode {
    /// The first primitive of a leaf in the order of the tree, or the second child.
    pub(crate) start: u32,
    /// The number of primitives of a leaf; 0 for an inner node.
    pub(crate) count: u32,
}

/// A bounding volume hierarchy of boxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxTree {
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) bounds: Vec<Bounds>,
    /// The primitives, those of a leaf contiguous.
    pub(crate) order: Vec<u32>,
}

/// Primitives that stay together, and the box around them.
struct Group {
    bounds: Bounds,
    members: Vec<u32>,
}

fn union(boxes: &[Bounds], some: &[u32]) -> Bounds {
    some.iter().fold(Bounds::EMPTY, |sum, &i| sum.and(&boxes[i as usize]))
}

/// The maximum number of primitives per leaf.
const LEAF: usize = 4;
/// Traversal stack: deeper than a tree of two thousand million primitives.
const STACK: usize = 96;

impl BoxTree {
    /// Builds the tree over boxes by median splits along the longest side of their centres.
    pub fn build(boxes: &[Bounds]) -> BoxTree {
        let mut tree = BoxTree { order: (0..boxes.len() as u32).collect(), ..BoxTree::default() };
        if !boxes.is_empty() {
            let mut order = core::mem::take(&mut tree.order);
            tree.split(boxes, &mut order, 0);
            tree.order = order;
        }
        tree
    }

    /// Builds the tree so that primitives of one group, numbered from 0, form a subtree of their own unless they are few.
    pub(crate) fn build_grouped(boxes: &[Bounds], group_of: &[u32]) -> BoxTree {
        // the primitives of each group
        let mut members: Vec<u32> = (0..boxes.len() as u32).collect();
        members.sort_by_key(|i| group_of[*i as usize]);
        let mut groups: Vec<Group> = members
            .chunk_by(|a, b| group_of[*a as usize] == group_of[*b as usize])
            .map(|own| Group { bounds: union(boxes, own), members: own.to_vec() })
            .collect();
        let mut tree = BoxTree::default();
        tree.split_groups(boxes, &mut groups);
        tree
    }

    /// Splits groups until one of them, or few primitives, are left.
    fn split_groups(&mut self, boxes: &[Bounds], groups: &mut [Group]) {
        let count: usize = groups.iter().map(|group| group.members.len()).sum();
        if groups.len() <= 1 || count <= LEAF {
            let mut order: Vec<u32> = groups.iter().flat_map(|group| &group.members).copied().collect();
            let first = self.order.len();
            if count > 0 {
                self.split(boxes, &mut order, first);
            }
            self.order.append(&mut order);
            return;
        }
        let own = self.nodes.len();
        let bounds = groups.iter().fold(Bounds::EMPTY, |sum, group| sum.and(&group.bounds));
        self.nodes.push(TreeNode { start: 0, count: 0 });
        self.bounds.push(bounds);
        let spread = groups.iter().fold(Bounds::EMPTY, |sum, group| sum.with(&group.bounds.center()));
        let axis = (spread.max - spread.min).imax();
        let half = groups.len() / 2;
        groups.select_nth_unstable_by(half, |a, b| {
            let [x, y] = [a, b].map(|group| group.bounds.center()[axis]);
            x.total_cmp(&y).then(a.members.cmp(&b.members))
        });
        let (left, right) = groups.split_at_mut(half);
        self.split_groups(boxes, left);
        self.nodes[own].start = self.nodes.len() as u32;
        self.split_groups(boxes, right);
    }

    fn split(&mut self, boxes: &[Bounds], order: &mut [u32], first: usize) {
        let own = self.nodes.len();
        let bounds = union(boxes, order);
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

    /// Refits all boxes to moved primitives.
    pub fn refit(&mut self, bounds_of: impl Fn(usize) -> Bounds) {
        for i in (0..self.nodes.len()).rev() {
            let TreeNode { start, count } = self.nodes[i];
            self.bounds[i] = if count == 0 {
                self.bounds[i + 1].and(&self.bounds[start as usize])
            } else {
                let primitives = &self.order[start as usize..(start + count) as usize];
                primitives
                    .iter()
                    .fold(Bounds::EMPTY, |sum, &primitive| sum.and(&bounds_of(primitive as usize)))
            };
        }
    }

    /// The bounding box of everything.
    pub fn bounds(&self) -> Bounds {
        self.bounds.first().copied().unwrap_or(Bounds::EMPTY)
    }

    /// Calls `each` with the primitives of all leaves whose boxes intersect a box, in the order of the tree: a superset of the primitives
    /// that intersect it.
    pub fn for_each_near(&self, bounds: &Bounds, mut each: impl FnMut(usize)) {
        let mut stack = [0u32; STACK];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let at = stack[depth];
            if !self.bounds[at as usize].intersects(bounds) {
                continue;
            }
            let TreeNode { start, count } = self.nodes[at as usize];
            if count == 0 {
                (stack[depth], stack[depth + 1]) = (start, at + 1);
                depth += 2;
            } else {
                let leaf = &self.order[start as usize..(start + count) as usize];
                leaf.iter().for_each(|primitive| each(*primitive as usize));
            }
        }
    }

    /// The primitive nearest to a point and its squared distance, if that is below `limit` (m²), with `distance_squared` of a
    /// primitive; among equals the one with the lowest index.
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

        // depth first, pruned by the best distance so far
        while depth > 0 {
            depth -= 1;
            let (at, near) = stack[depth];
            if near > best {
                continue;
            }

            // a leaf: test its primitives
            let TreeNode { start, count } = self.nodes[at as usize];
            if count > 0 {
                for &primitive in &self.order[start as usize..(start + count) as usize] {
                    let distance = distance_squared(primitive as usize);
                    if distance < best || (distance == best && found.is_none_or(|f| (primitive as usize) < f))
                    {
                        best = distance;
                        found = Some(primitive as usize);
                    }
                }
                continue;
            }

            // an inner node: push its children
            let (left, right) = (at + 1, start);
            let left = (left, self.bounds[left as usize].distance_squared(p));
            let right = (right, self.bounds[right as usize].distance_squared(p));
            // the nearer child is visited first
            let (near, far) = if left.1 <= right.1 { (left, right) } else { (right, left) };
            for child in [far, near] {
                if child.1 <= best && depth < STACK {
                    stack[depth] = child;
                    depth += 1;
                }
            }
        }
        found.map(|primitive| (primitive, best))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn nearest_queries_agree_with_brute_force_also_after_refitting() {
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
            let part = Bounds { min: Vec3::zeros(), max: Vec3::new(0.5, 1.0, 2.0) };
            let mut near = Vec::new();
            tree.for_each_near(&part, |i| near.push(i));
            assert!((0..points.len()).all(|i| !part.contains(&points[i]) || near.contains(&i)));
            points.iter_mut().for_each(|p| *p = Vec3::new(p.y * 2.0, p.x, 0.5 * p.z + p.x));
            tree.refit(|i| Bounds { min: points[i], max: points[i] });
        }
        assert!(BoxTree::build(&[]).find_nearest(&Vec3::zeros(), 1.0, |_| 0.0).is_none());
    }
}
