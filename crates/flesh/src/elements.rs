//! Linear tetrahedral finite elements in SIMD blocks (structure of arrays).
//!
//! An element with rest edges Dm and current edges Ds has the constant deformation gradient F = Ds Dm⁻¹. Its forces on corners
//! 1 to 3 are the columns of −V w P Dm⁻ᵀ, that on corner 0 is minus their sum. Elements are grouped by law, sixteen to a block;
//! λ and μ of each include the factor V w, its volume times its fill.

pub(crate) use crate::block::{Block, ElementDesc};
use crate::material::Law;
use crate::patches::Patches;
use core::ops::{Add, AddAssign, Range, SubAssign};
use sinew_math::lanes::BLOCK;
use sinew_math::{Mat3, Vec3};

/// All elements of a model, immutable.
#[derive(Clone, Debug)]
pub struct Elements {
    pub(crate) groups: Vec<Group>,
    pub(crate) adjacency: Adjacency,
    pub(crate) patches: Patches,
    tet_slot: Vec<u32>,
}

/// The elements of one law.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) law: Law,
    pub(crate) blocks: Vec<Block>,
    /// Elements in the group; the last block is padded with copies of zero stiffness.
    pub(crate) count: usize,
    /// Whether any of them is viscous.
    pub(crate) is_viscous: bool,
}

/// Which corner forces act on each node, in a fixed order.
#[derive(Clone, Debug)]
pub(crate) struct Adjacency {
    /// For each node the end of its list in `corners`, after a leading 0.
    corner_ends: Vec<u32>,
    /// Indices into the corner forces, 3 × slot + corner − 1.
    corners: Vec<u32>,
    /// For each node the end of its list in `origins`, after a leading 0.
    origin_ends: Vec<u32>,
    /// 3 × slot of the elements whose corner 0 the node is.
    origins: Vec<u32>,
}

/// The places of a node in the corner forces.
#[derive(Clone, Copy)]
pub(crate) struct NodePlaces<'a> {
    /// Where it is corner 1 to 3.
    pub(crate) corners: &'a [u32],
    /// Where it is corner 0.
    pub(crate) origins: &'a [u32],
}

impl Elements {
    /// μ V w, λ V w (J) and β (s) of every element in storage order, then the part of λ that acts on patches, if there are any.
    pub fn stiffness(&self) -> impl Iterator<Item = f32> + '_ {
        let blocks = self.groups.iter().flat_map(|group| &group.blocks);
        let own =
            blocks.flat_map(|block| (0..BLOCK).map(|i| [block.mu[i], block.lambda[i], block.viscosity[i]]));
        own.flatten().chain(self.patches.weight.iter().copied())
    }

    /// Lays out elements over the nodes' rest positions (m).
    ///
    /// # Panics
    /// If a node index is out of range: meshes are checked before.
    pub fn build(node_rest: &[Vec3], elements: &[ElementDesc]) -> Elements {
        // group the elements by law
        let mut groups: Vec<Group> = Vec::new();
        let mut tet_group = Vec::with_capacity(elements.len());
        for element in elements {
            let group = groups.iter().position(|group| group.law == element.material.law);
            let group = group.unwrap_or_else(|| {
                groups.push(Group::empty(element.material.law));
                groups.len() - 1
            });
            groups[group].count += 1;
            tet_group.push(group);
        }

        // fill the lanes of each group
        for group in &mut groups {
            group.blocks.reserve_exact(group.count.div_ceil(BLOCK));
            group.count = 0;
        }
        let mut tet_place = Vec::with_capacity(elements.len());
        for (element, &group) in elements.iter().zip(&tet_group) {
            tet_place.push((group, groups[group].count));
            groups[group].push(element, node_rest);
        }

        // slots count lanes over all groups
        let first_slots: Vec<usize> = groups
            .iter()
            .scan(0, |next, group| {
                let first = *next;
                *next += group.blocks.len() * BLOCK;
                Some(first)
            })
            .collect();
        let tet_slot: Vec<u32> =
            tet_place.iter().map(|&(group, lane)| (first_slots[group] + lane) as u32).collect();

        // what nodes and patches sum
        let adjacency = Adjacency::build(node_rest.len(), elements, &tet_slot);
        let slot_count = groups.iter().map(|group| group.blocks.len() * BLOCK).sum();
        let patches = Patches::build(node_rest, elements, &tet_slot, slot_count);
        Elements { groups, adjacency, patches, tet_slot }
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.tet_slot.len()
    }

    /// Sets stiffness and viscosity of some tets of a copy of other elements to multiples of theirs. Tets of a patch must be scaled together.
    pub fn scale(&mut self, own: &Elements, tets: Range<usize>, stiffness: f64, viscosity: f64) {
        let times = |number: f32, factor: f64| (f64::from(number) * factor) as f32;
        for &slot in &own.tet_slot[tets] {
            // its lane
            let slot = slot as usize;
            let (mut group, mut place) = (0, slot);
            while place >= own.groups[group].blocks.len() * BLOCK {
                place -= own.groups[group].blocks.len() * BLOCK;
                group += 1;
            }
            let (from, lane) = (&own.groups[group].blocks[place / BLOCK], place % BLOCK);
            let block = &mut self.groups[group].blocks[place / BLOCK];
            block.mu[lane] = times(from.mu[lane], stiffness);
            block.lambda[lane] = times(from.lambda[lane], stiffness);
            block.viscosity[lane] = times(from.viscosity[lane], viscosity);
            self.patches.scale_slot(&own.patches, slot, stiffness, viscosity);
        }
    }

    /// The blocks of each group with their range of slots; empty without patches.
    pub(crate) fn patched_blocks(&self) -> impl Iterator<Item = (&[Block], Range<usize>)> {
        let groups = if self.patches.count() == 0 { &[] } else { self.groups.as_slice() };
        groups.iter().scan(0, |first, group| {
            let slots = *first..*first + group.blocks.len() * BLOCK;
            *first = slots.end;
            Some((group.blocks.as_slice(), slots))
        })
    }

    /// Number of lanes, including padding.
    pub(crate) fn slot_count(&self) -> usize {
        self.groups.iter().map(|group| group.blocks.len() * BLOCK).sum()
    }

    /// The deformation gradient of element `tet` (in the order given to `build`) at these node positions.
    pub fn deformation_gradient(&self, node_x: &[Vec3], tet: usize) -> Mat3 {
        let (_, block, lane) = self.find(tet);
        let [a, b, c, d] = block.nodes[lane].map(|n| node_x[n as usize]);
        let inverse = Mat3::from_fn(|k, j| f64::from(block.inverse_rest[k][j][lane]));
        Mat3::from_columns(&[b - a, c - a, d - a]) * inverse
    }

    /// The law, block and lane of element `tet`.
    pub(crate) fn find(&self, tet: usize) -> (Law, &Block, usize) {
        let mut slot = self.tet_slot[tet] as usize;
        for group in &self.groups {
            if slot < group.blocks.len() * BLOCK {
                return (group.law, &group.blocks[slot / BLOCK], slot % BLOCK);
            }
            slot -= group.blocks.len() * BLOCK;
        }
        unreachable!("every tet has a slot in a group")
    }
}

impl Group {
    fn empty(law: Law) -> Group {
        Group { law, blocks: Vec::new(), count: 0, is_viscous: false }
    }

    fn push(&mut self, element: &ElementDesc, node_rest: &[Vec3]) {
        let lane = self.count % BLOCK;
        if lane == 0 {
            self.blocks.push(Block::default());
        }
        let block = self.blocks.last_mut().expect("a block was just made");
        let [a, b, c, d] = element.nodes.map(|n| node_rest[n as usize]);
        let rest = Mat3::from_columns(&[b - a, c - a, d - a]);
        let filled_volume = element.fill * rest.determinant() / 6.0;
        // a tet too flat to invert has no volume either, and exerts no force
        let inverse = rest.try_inverse().unwrap_or_else(Mat3::zeros);
        let lame = element.material.own_lame();
        for k in 0..3 {
            for j in 0..3 {
                // fills the rest of the block too, so that padding has a well-conditioned F
                block.inverse_rest[k][j][lane..].fill(inverse[(k, j)] as f32);
            }
        }
        block.nodes[lane..].fill(element.nodes);
        block.mu[lane] = (lame.mu * filled_volume) as f32;
        block.lambda[lane] = (lame.lambda * filled_volume) as f32;
        block.viscosity[lane] = element.viscosity as f32;
        block.corner_mass[lane] = (element.material.density * filled_volume / 16.0) as f32;
        self.is_viscous |= element.viscosity > 0.0;
        self.count += 1;
    }
}

impl Adjacency {
    fn build(node_count: usize, elements: &[ElementDesc], tet_slot: &[u32]) -> Adjacency {
        let mut corner_lists = vec![Vec::new(); node_count];
        let mut origin_lists = vec![Vec::new(); node_count];
        for (element, &slot) in elements.iter().zip(tet_slot) {
            origin_lists[element.nodes[0] as usize].push(3 * slot);
            for corner in 1..4 {
                corner_lists[element.nodes[corner] as usize].push(3 * slot + corner as u32 - 1);
            }
        }
        let (corner_ends, corners) = joined(corner_lists);
        let (origin_ends, origins) = joined(origin_lists);
        Adjacency { corner_ends, corners, origin_ends, origins }
    }

    /// How many places nodes have in the corner forces.
    pub(crate) fn place_count(&self) -> usize {
        self.corners.len() + self.origins.len()
    }

    /// The places of `node` in the corner forces.
    #[inline(always)]
    pub(crate) fn of_node(&self, node: usize) -> NodePlaces<'_> {
        let range = |ends: &[u32]| ends[node] as usize..ends[node + 1] as usize;
        NodePlaces {
            corners: &self.corners[range(&self.corner_ends)],
            origins: &self.origins[range(&self.origin_ends)],
        }
    }

    /// Sums the corner values of all elements at a node in a fixed order; the value of corner 0 is minus the sum of the other three.
    #[inline(always)]
    pub(crate) fn sum_at<T>(&self, corner_values: &[[T; 4]], node: usize) -> [T; 4]
    where
        T: Copy + Default + Add<Output = T> + AddAssign + SubAssign,
    {
        let NodePlaces { corners, origins } = self.of_node(node);
        let mut sum = [T::default(); 4];
        for &place in origins {
            let [a, b, c] = corner_values[place as usize..][..3] else {
                unreachable!("three corners to a slot")
            };
            for i in 0..4 {
                sum[i] -= a[i] + b[i] + c[i];
            }
        }
        for &place in corners {
            let value = corner_values[place as usize];
            for i in 0..4 {
                sum[i] += value[i];
            }
        }
        sum
    }
}

fn joined(mut lists: Vec<Vec<u32>>) -> (Vec<u32>, Vec<u32>) {
    let mut ends = vec![0];
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    for list in &mut lists {
        list.sort_unstable();
        all.append(list);
        ends.push(all.len() as u32);
    }
    (ends, all)
}
