//! Greedy grouping of elements into patches: an element and its face neighbours.
//!
//! The grouping depends on topology only, so a mesh has the same patches in every configuration. Elements whose nodes have many elements are seeds first:
//! in lattices of five tets per cube those are the inner ones, and the cubes become the patches. Remaining elements join the smallest adjacent patch.

use crate::block::ElementDesc;

/// A partition of elements into patches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchList {
    /// The end of each patch in `elements`.
    ends: Vec<u32>,
    elements: Vec<u32>,
}

/// No patch, or no neighbour.
const NONE: u32 = u32::MAX;

impl PatchList {
    /// Groups the elements whose material has a part of λ that acts on patches, [`crate::Material::shared_lambda`].
    pub fn group(elements: &[ElementDesc]) -> PatchList {
        // elements of nearly incompressible material
        let takes_part: Vec<bool> = elements
            .iter()
            .map(|element| element.material.shared_lambda() > 0.0 && element.fill > 0.0)
            .collect();
        if !takes_part.contains(&true) {
            return PatchList::default();
        }

        // seeds in order of the valence of their nodes
        let neighbours = face_neighbours(elements, &takes_part);
        let mut patch_of = vec![NONE; elements.len()];
        let mut count = 0;
        let order = by_crowding(elements, &takes_part);

        // complete patches before smaller ones; pairs and single elements join others
        for wanted in (2..=4).rev() {
            for &seed in &order {
                if patch_of[seed as usize] != NONE {
                    continue;
                }
                let is_free = |other: &u32| *other != NONE && patch_of[*other as usize] == NONE;
                if neighbours[seed as usize].iter().filter(|other| is_free(other)).count() < wanted {
                    continue;
                }
                for other in neighbours[seed as usize] {
                    if other != NONE && patch_of[other as usize] == NONE {
                        patch_of[other as usize] = count;
                    }
                }
                patch_of[seed as usize] = count;
                count += 1;
            }
        }
        join_leftovers(&order, &neighbours, &mut patch_of, count);
        PatchList::from_labels(&patch_of)
    }

    /// The elements of each patch.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.elements[start as usize..*end as usize])
    }

    /// Number of patches.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Builds the list in the order of the patches' first elements.
    fn from_labels(patch_of: &[u32]) -> PatchList {
        let count =
            patch_of.iter().filter(|label| **label != NONE).max().map_or(0, |label| *label as usize + 1);
        let mut number = vec![NONE; count];
        let mut next = 0;
        let mut members: Vec<(u32, u32)> = Vec::new();
        for (element, label) in patch_of.iter().enumerate().filter(|(_, label)| **label != NONE) {
            let number = &mut number[*label as usize];
            if *number == NONE {
                *number = next;
                next += 1;
            }
            members.push((*number, element as u32));
        }
        members.sort_unstable();
        let mut ends = Vec::with_capacity(next as usize);
        for (i, (patch, _)) in members.iter().enumerate() {
            if members.get(i + 1).is_none_or(|(next, _)| next != patch) {
                ends.push(i as u32 + 1);
            }
        }
        PatchList { ends, elements: members.into_iter().map(|(_, element)| element).collect() }
    }
}

/// The face neighbours of each element.
fn face_neighbours(elements: &[ElementDesc], takes_part: &[bool]) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * elements.len());
    for (i, element) in elements.iter().enumerate().filter(|(i, _)| takes_part[*i]) {
        let [a, b, c, d] = element.nodes;
        for mut face in [[b, c, d], [a, c, d], [a, b, d], [a, b, c]] {
            face.sort_unstable();
            faces.push((face, i as u32));
        }
    }
    faces.sort_unstable();
    let mut neighbours = vec![[NONE; 4]; elements.len()];
    for pair in faces.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (one, other) = (pair[0].1, pair[1].1);
        for (own, new) in [(one, other), (other, one)] {
            if let Some(place) = neighbours[own as usize].iter_mut().find(|place| **place == NONE) {
                *place = new;
            }
        }
    }
    neighbours
}

/// The elements that take part, in decreasing order of the valence of their nodes.
fn by_crowding(elements: &[ElementDesc], takes_part: &[bool]) -> Vec<u32> {
    let node_count =
        elements.iter().flat_map(|element| element.nodes).max().map_or(0, |node| node as usize + 1);
    let mut crowd = vec![0u32; node_count];
    elements.iter().flat_map(|element| element.nodes).for_each(|node| crowd[node as usize] += 1);
    let score =
        |element: u32| elements[element as usize].nodes.iter().map(|n| crowd[*n as usize]).sum::<u32>();
    let mut order: Vec<u32> = (0..elements.len() as u32).filter(|i| takes_part[*i as usize]).collect();
    order.sort_by_cached_key(|element| (core::cmp::Reverse(score(*element)), *element));
    order
}

/// Adds elements without a patch to the smallest adjacent patch, or to one of their own if there is none.
fn join_leftovers(order: &[u32], neighbours: &[[u32; 4]], patch_of: &mut [u32], mut count: u32) {
    let mut sizes = vec![0u32; count as usize];
    patch_of.iter().filter(|patch| **patch != NONE).for_each(|patch| sizes[*patch as usize] += 1);
    for &element in order {
        if patch_of[element as usize] != NONE {
            continue;
        }
        let beside = neighbours[element as usize].iter().filter(|other| **other != NONE);
        let patches = beside.map(|other| patch_of[*other as usize]).filter(|patch| *patch != NONE);
        let smallest = patches.min_by_key(|patch| (sizes[*patch as usize], *patch)).unwrap_or_else(|| {
            sizes.push(0);
            count += 1;
            count - 1
        });
        patch_of[element as usize] = smallest;
        sizes[smallest as usize] += 1;
    }
}
