//! Which parts of a character become flesh, as one surface.
//!
//! Shells that are thin sheets (hair, cloth, lashes) and small shells that one bone carries (eyes, teeth, buttons) stay as they are skinned.

use crate::names::nearest;
use crate::{CharacterError, CharacterOptions, FaultyPart, RiggedCharacter, SurfaceId};
use sinew_math::Vec3;
use sinew_mesh::{DisjointSets, TriMesh};
use std::collections::HashMap;

/// The flesh of a character, and where its vertices came from.
#[derive(Clone, Debug)]
pub(crate) struct Flesh {
    /// All fleshy surfaces at bind as one (m).
    pub(crate) surface: TriMesh,
    /// For each vertex of it the surface of the character, by its index in [`Flesh::parts`], and the vertex there.
    pub(crate) source: Vec<(u32, u32)>,
    /// The surfaces of the character that have triangles.
    pub(crate) parts: Vec<Part>,
    /// The diagonal of the box around all skinned surfaces (m).
    pub(crate) size: f64,
    /// The extent of that box (m).
    pub(crate) extent: Vec3,
    /// What was left as it is skinned, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// A surface of the character.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) id: SurfaceId,
    /// For each of its vertices its place in the flesh, if it is part of it.
    pub(crate) flesh_vertex: Vec<Option<u32>>,
    /// What options say about it.
    said: Option<Said>,
}

/// What options say about a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Skinned,
    Fleshy,
}

/// A shell thinner than this fraction of the character is a sheet.
const SHEET: f64 = 2e-3;
/// A shell smaller than this fraction of the character that one bone carries is a small part.
const SMALL: f64 = 0.12;
/// What one bone must carry of it.
const RIGID: f64 = 0.99;

/// The surfaces that options name, and what they are to be.
struct Spoken<'a> {
    names: Vec<(&'a str, Said)>,
}

impl<'a> Spoken<'a> {
    /// Checks that every name is one of the character's.
    fn find(rigged: &RiggedCharacter, options: &'a CharacterOptions) -> Result<Spoken<'a>, CharacterError> {
        let skinned = options.skinned.iter().map(|name| (name.as_str(), Said::Skinned));
        let fleshy = options.fleshy.iter().map(|name| (name.as_str(), Said::Fleshy));
        let names: Vec<_> = skinned.chain(fleshy).collect();
        let mut known: Vec<&str> = rigged.surfaces().flat_map(|id| rigged.names_of(id)).collect();
        known.sort_unstable();
        known.dedup();
        for (name, _) in &names {
            if !known.contains(name) {
                let hint = nearest(name, &known).map_or_else(
                    || format!("the file has {}", known.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                let message = format!("no surface, mesh or material is named `{name}`; {hint}");
                let message: String = message.chars().take(400).collect();
                return Err(CharacterError::of(FaultyPart::Surface((*name).to_owned()), message));
            }
        }
        Ok(Spoken { names })
    }

    fn of(&self, rigged: &RiggedCharacter, id: SurfaceId) -> Option<Said> {
        let own = rigged.names_of(id);
        self.names.iter().find(|(name, _)| own.contains(name)).map(|(_, said)| *said)
    }
}

/// A connected piece of surface.
#[derive(Clone, Default)]
struct Shell {
    area: f64,
    volume: f64,
    low: Vec3,
    high: Vec3,
    vertices: Vec<u32>,
    triangles: Vec<[u32; 3]>,
}

impl Flesh {
    /// Finds the flesh of a character.
    pub(crate) fn find(
        rigged: &RiggedCharacter,
        options: &CharacterOptions,
    ) -> Result<Flesh, CharacterError> {
        // all skinned surfaces as one
        let spoken = Spoken::find(rigged, options)?;
        let mut all = TriMesh::default();
        let mut source = Vec::new();
        let mut parts = Vec::new();
        for id in rigged.surfaces() {
            let Some(primitive) = rigged.primitive(id).filter(|primitive| !primitive.triangles.is_empty())
            else {
                continue;
            };
            let part = parts.len() as u32;
            let said = spoken.of(rigged, id);
            parts.push(Part { id, flesh_vertex: vec![None; primitive.positions.len()], said });
            if !rigged.is_skinned(id) || said == Some(Said::Skinned) {
                continue;
            }
            let first = all.vertices.len() as u32;
            all.vertices.extend(rigged.bind_vertices(id).unwrap_or_default());
            all.triangles.extend(primitive.triangles.iter().map(|t| t.map(|v| v + first)));
            source.extend((0..primitive.positions.len() as u32).map(|vertex| (part, vertex)));
        }

        // its shells, as far as they are flesh
        let (low, high) = all.bounds().unwrap_or_default();
        let size = (high - low).norm();
        let mut flesh = Flesh {
            surface: TriMesh::default(),
            source: Vec::new(),
            parts,
            size,
            extent: high - low,
            notes: Vec::new(),
        };
        flesh.sort_shells(rigged, &all, &source);
        Ok(flesh)
    }

    fn sort_shells(&mut self, rigged: &RiggedCharacter, all: &TriMesh, source: &[(u32, u32)]) {
        // shells that are flesh
        let shells = shells_of(all);
        let kept: Vec<bool> =
            shells.iter().map(|shell| self.reason(rigged, shell, source).is_none()).collect();
        // a character of nothing but sheets is taken as it is: the solid says what is wrong with it
        let any = kept.iter().any(|kept| *kept);
        let mut left: HashMap<&'static str, (usize, usize)> = HashMap::new();
        for (shell, kept) in shells.iter().zip(kept) {
            match self.reason(rigged, shell, source).filter(|_| any && !kept) {
                Some(reason) => {
                    let count = left.entry(reason).or_default();
                    *count = (count.0 + 1, count.1 + shell.vertices.len());
                }
                None => self.add(all, source, shell),
            }
        }

        // what was left out, and why
        let mut left: Vec<_> = left.into_iter().collect();
        left.sort_unstable();
        for (reason, (count, vertices)) in left {
            self.notes
                .push(format!("{count} parts of {vertices} vertices stay as they are skinned: {reason}"));
        }
        let by_name = self.parts.iter().filter(|part| part.said == Some(Said::Skinned)).count();
        if by_name > 0 {
            self.notes.push(format!("{by_name} surfaces stay as they are skinned, as the scene says"));
        }
        let unskinned = self.parts.iter().filter(|part| !rigged.is_skinned(part.id)).count();
        if unskinned > 0 {
            self.notes.push(format!("{unskinned} surfaces have no skin: they stay as they are"));
        }
    }

    /// Why a shell is not flesh.
    fn reason(&self, rigged: &RiggedCharacter, shell: &Shell, source: &[(u32, u32)]) -> Option<&'static str> {
        let part = shell.vertices.first().map(|&vertex| source[vertex as usize].0);
        if part.is_some_and(|part| self.parts[part as usize].said == Some(Said::Fleshy)) {
            return None;
        }
        if shell.volume.abs() < SHEET * self.size * shell.area {
            return Some("they are thin sheets, as hair and cloth are");
        }
        let small = (shell.high - shell.low).norm() < SMALL * self.size;
        (small && self.carried_fraction(rigged, shell, source) >= RIGID)
            .then_some("they are small and one bone carries them, as eyes and teeth are")
    }

    /// How much of a shell's weight the heaviest joint has.
    fn carried_fraction(&self, rigged: &RiggedCharacter, shell: &Shell, source: &[(u32, u32)]) -> f64 {
        let mut weights: HashMap<(usize, u32), f64> = HashMap::new();
        for &vertex in &shell.vertices {
            let (part, own) = source[vertex as usize];
            let id = self.parts[part as usize].id;
            let skin = rigged.nodes[id.node].skin.unwrap_or(0);
            let Some(skinned) = rigged.primitive(id).and_then(|primitive| primitive.weights.as_ref()) else {
                continue;
            };
            for entry in skinned.of(own as usize) {
                *weights.entry((skin, entry.joint)).or_default() += entry.weight;
            }
        }
        weights.values().copied().fold(0.0, f64::max) / shell.vertices.len().max(1) as f64
    }

    fn add(&mut self, all: &TriMesh, source: &[(u32, u32)], shell: &Shell) {
        let mut place: HashMap<u32, u32> = HashMap::new();
        for &vertex in &shell.vertices {
            let new = self.surface.vertices.len() as u32;
            place.insert(vertex, new);
            self.surface.vertices.push(all.vertices[vertex as usize]);
            let (part, own) = source[vertex as usize];
            self.parts[part as usize].flesh_vertex[own as usize] = Some(new);
            self.source.push((part, own));
        }
        self.surface.triangles.extend(shell.triangles.iter().map(|t| t.map(|v| place[&v])));
    }

    /// For each vertex of the flesh the bones it is painted to, with weights.
    pub(crate) fn weights(&self, rigged: &RiggedCharacter, of_node: &[Option<u32>]) -> Vec<Vec<(u32, f32)>> {
        let weights = |(part, vertex): &(u32, u32)| {
            let id = self.parts[*part as usize].id;
            let joints = rigged.nodes[id.node].skin.map_or(&[][..], |skin| &rigged.skins[skin].joints);
            let skinned = rigged.primitive(id).and_then(|primitive| primitive.weights.as_ref());
            let entries = skinned.map_or(&[][..], |weights| weights.of(*vertex as usize));
            let bone = |joint: u32| joints.get(joint as usize).and_then(|node| of_node[*node]);
            entries.iter().filter_map(|entry| Some((bone(entry.joint)?, entry.weight as f32))).collect()
        };
        self.source.iter().map(weights).collect()
    }
}

/// The pieces of a surface that hang together, vertices at one place taken for one.
fn shells_of(all: &TriMesh) -> Vec<Shell> {
    let mut at: HashMap<[u64; 3], u32> = HashMap::new();
    let welded: Vec<u32> = (0u32..)
        .zip(&all.vertices)
        .map(|(i, v)| *at.entry([v.x, v.y, v.z].map(|x| (x + 0.0).to_bits())).or_insert(i))
        .collect();
    let mut sets = DisjointSets::new(all.vertices.len());
    for triangle in &all.triangles {
        let [a, b, c] = triangle.map(|v| welded[v as usize] as usize);
        sets.join(a, b);
        sets.join(a, c);
    }
    let mut shell_of: HashMap<usize, usize> = HashMap::new();
    let mut shells: Vec<Shell> = Vec::new();
    for triangle in &all.triangles {
        let root = sets.find(welded[triangle[0] as usize] as usize);
        let index = *shell_of.entry(root).or_insert_with(|| {
            shells.push(Shell {
                low: Vec3::repeat(f64::INFINITY),
                high: Vec3::repeat(f64::NEG_INFINITY),
                ..Shell::default()
            });
            shells.len() - 1
        });
        let [a, b, c] = triangle.map(|v| all.vertices[v as usize]);
        let shell = &mut shells[index];
        // about a corner of its own box, so that far from the origin nothing cancels
        let origin = all.vertices[root];
        shell.volume += (a - origin).cross(&(b - origin)).dot(&(c - origin)) / 6.0;
        shell.area += 0.5 * (b - a).cross(&(c - a)).norm();
        for corner in [a, b, c] {
            (shell.low, shell.high) = (shell.low.inf(&corner), shell.high.sup(&corner));
        }
        shell.triangles.push(*triangle);
    }
    for vertex in 0..all.vertices.len() as u32 {
        let root = sets.find(welded[vertex as usize] as usize);
        if let Some(&shell) = shell_of.get(&root) {
            shells[shell].vertices.push(vertex);
        }
    }
    shells
}
