//! Topological sort of bones: parents before children.

use crate::desc::{Parent, SkeletonDesc};
use crate::fault::Fault;
use core::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The tree of a description.
pub(crate) struct Order {
    /// The parent of each bone, as an index into the description.
    pub(crate) parent: Vec<Option<usize>>,
    /// Indices into the description, parents first; the description's own order if that is a valid one.
    pub(crate) sorted: Vec<usize>,
}

impl Order {
    /// Sorts the bones, and appends the faults of the tree.
    pub(crate) fn find(desc: &SkeletonDesc, faults: &mut Vec<Fault>) -> Order {
        let parent = find_parents(desc, faults);
        let mut children = vec![Vec::new(); parent.len()];
        for (child, parent) in parent.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(child);
            }
        }

        // always the lowest index among bones whose parent is placed
        let mut ready: BinaryHeap<Reverse<usize>> =
            (0..parent.len()).filter(|&i| parent[i].is_none()).map(Reverse).collect();
        let mut sorted = Vec::with_capacity(parent.len());
        while let Some(Reverse(bone)) = ready.pop() {
            sorted.push(bone);
            ready.extend(children[bone].iter().copied().map(Reverse));
        }
        if sorted.len() < parent.len() {
            report_cycles(desc, &parent, &sorted, faults);
        }
        Order { parent, sorted }
    }
}

fn find_parents(desc: &SkeletonDesc, faults: &mut Vec<Fault>) -> Vec<Option<usize>> {
    // names must be unique
    let mut by_name = BTreeMap::new();
    for (i, bone) in desc.bones.iter().enumerate() {
        if let Some(first) = by_name.insert(bone.name.as_str(), i) {
            faults.push(Fault::new(
                &bone.name,
                format!("bones {first} and {i} both have this name: rename one"),
            ));
        }
    }

    // parents by name or index
    let mut find = |bone: &crate::BoneDesc| match &bone.parent {
        Parent::World => None,
        Parent::Named(name) => by_name.get(name.as_str()).copied().or_else(|| {
            faults.push(Fault::new(
                &bone.name,
                format!("its parent '{name}' does not exist: add that bone or name another"),
            ));
            None
        }),
        Parent::Index(i) if *i < desc.bones.len() => Some(*i),
        Parent::Index(i) => {
            let count = desc.bones.len();
            faults.push(Fault::new(
                &bone.name,
                format!("its parent is bone {i}, but there are only {count}, counted from 0"),
            ));
            None
        }
    };
    desc.bones.iter().map(&mut find).collect()
}

/// Reports each cycle once, from its first bone.
fn report_cycles(desc: &SkeletonDesc, parent: &[Option<usize>], sorted: &[usize], faults: &mut Vec<Fault>) {
    // 0: not visited, otherwise the traversal that visited it
    let mut walk = vec![0; parent.len()];
    sorted.iter().for_each(|&bone| walk[bone] = usize::MAX);
    for start in 0..parent.len() {
        let mut bone = start;
        while walk[bone] == 0 {
            walk[bone] = start + 1;
            bone = parent[bone].unwrap_or(bone);
        }
        if walk[bone] == start + 1 {
            let mut cycle = vec![desc.bones[bone].name.as_str()];
            let mut next = parent[bone].unwrap_or(bone);
            while next != bone {
                cycle.push(&desc.bones[next].name);
                next = parent[next].unwrap_or(bone);
            }
            cycle.push(&desc.bones[bone].name);
            let what = format!("is its own ancestor: {}; give one of them another parent", cycle.join(" → "));
            faults.push(Fault::new(&desc.bones[bone].name, what));
        }
    }
}
