//! Disjoint sets (union-find) with path halving. Each set is represented by its smallest element, so the result does not depend
//! on the order of the unions.

/// A partition of 0..n into disjoint sets.
#[derive(Clone, Debug)]
pub struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// `count` singletons.
    pub fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    /// Adds one more singleton.
    pub fn grow(&mut self) {
        self.parent.push(self.parent.len() as u32);
    }

    /// The representative of the set that contains `i`: its smallest element.
    pub fn find(&mut self, i: usize) -> usize {
        let mut i = i as u32;
        while self.parent[i as usize] != i {
            let above = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = above;
            i = above;
        }
        i as usize
    }

    /// Merges the sets of `a` and `b`.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }

    /// Whether `a` and `b` are in one set.
    pub fn joined(&mut self, a: usize, b: usize) -> bool {
        self.find(a) == self.find(b)
    }

    /// Numbers the sets 0, 1, … by smallest element. Returns the set of each element, and the number of sets.
    pub fn number(&mut self) -> (Vec<u32>, usize) {
        let mut count = 0;
        let mut of = vec![0; self.parent.len()];
        for i in 0..of.len() {
            let root = self.find(i);
            of[i] = if root == i {
                count += 1;
                count - 1
            } else {
                of[root]
            };
        }
        (of, count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_numbered_by_their_smallest_element() {
        let mut sets = DisjointSets::new(5);
        sets.join(4, 1);
        sets.join(3, 0);
        assert!(sets.joined(1, 4) && !sets.joined(0, 1));
        assert_eq!(sets.number(), (vec![0, 1, 2, 0, 1], 3));
    }
}
