//! Which parts of a character become flesh, as one surface.
//!
//! Shells that one bone carries, and those whose names say that they are hard (helmet, boots, teeth), stay rigid; thin sheets (hair, cloth,
//! lashes) stay as they are skinned, and move along with flesh that they lie on. A hard surface that is part of a larger shell (armour painted on a body as a material) stays in the flesh,
//! so that no seam opens, and is rigid there: its softness is 0. Machines, nearly all of whose parts hang on their joints without weights, are stiffer everywhere. All flesh shares one cage, so that layers move together. Scenes overrule all of
//! it by name.

use crate::hard_words::hard_word;
use crate::layer::{LayerFinder, LayerVertex};
use crate::names::nearest;
use crate::shell::{Shell, shells_of};
use crate::{CharacterError, FaultyPart, RiggedCharacter, SurfaceId};
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use std::collections::{BTreeMap, HashMap, HashSet};

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
    /// How soft all of it is: less than 1 for machines.
    pub(crate) softness: f32,
    /// For each vertex whether it is rigid though it is part of the flesh.
    pub(crate) is_rigid: Vec<bool>,
    /// The names of what is rigid.
    pub(crate) rigid_parts: Vec<String>,
    /// What was decided, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// A surface of the character.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) id: SurfaceId,
    /// For each of its vertices its place in the flesh, if it is part of it.
    pub(crate) flesh_vertex: Vec<Option<u32>>,
    /// Its vertices that are no flesh and follow it.
    pub(crate) layer: Vec<LayerVertex>,
    /// What options say about it.
    said: Option<Said>,
    /// Whether its names say that it is hard, and options do not say otherwise.
    is_hard: bool,
    /// Whether it is hard and part of the flesh all the same.
    is_rigid_flesh: bool,
}

/// What options say about a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Skinned,
    Fleshy,
}

/// A shell thinner than this fraction of the character is a sheet.
const SHEET: f64 = 2e-3;
/// A shell is rigid if one bone has at least this fraction of its weight.
const ONE_BONE: f64 = 0.95;
/// The name of a node or mesh that holds for more than this fraction of all area is that of the character, and says nothing about a part.
const WHOLE_CHARACTER: f64 = 0.7;
/// A character of which parts without weights have more than this fraction of the area is a machine, and the rest of it is this soft.
const MACHINE: f64 = 0.75;
const MACHINE_SOFTNESS: f32 = 0.1;
/// How many names a note lists.
const LISTED: usize = 6;

/// What becomes of a shell, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Decision {
    Flesh,
    /// Its names say that it is hard.
    Named,
    /// One bone carries it.
    OneBone,
    /// It is a thin sheet.
    Sheet,
}

impl Decision {
    /// What a note says before the names.
    fn words(self) -> &'static str {
        match self {
            Decision::Flesh => "flesh",
            Decision::Named => "rigid, as their names say",
            Decision::OneBone => "rigid, one bone carries each",
            Decision::Sheet => "as skinned, thin sheets such as hair and cloth",
        }
    }
}

/// The surfaces that options name, and what they are to be.
struct Spoken<'a> {
    names: Vec<(&'a str, Said)>,
}

impl<'a> Spoken<'a> {
    /// Checks that every name is one of the character's.
    fn find(
        rigged: &RiggedCharacter,
        skinned: &'a [String],
        fleshy: &'a [String],
    ) -> Result<Spoken<'a>, CharacterError> {
        let skinned = skinned.iter().map(|name| (name.as_str(), Said::Skinned));
        let fleshy = fleshy.iter().map(|name| (name.as_str(), Said::Fleshy));
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

impl Flesh {
    /// Finds the flesh of a character.
    pub(crate) fn find(
        rigged: &RiggedCharacter,
        (skinned, fleshy): (&[String], &[String]),
        has_solid_parts: bool,
    ) -> Result<Flesh, CharacterError> {
        // all skinned surfaces as one
        let spoken = Spoken::find(rigged, skinned, fleshy)?;
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
            parts.push(Part {
                id,
                flesh_vertex: vec![None; primitive.positions.len()],
                said,
                is_hard: false,
                layer: Vec::new(),
                is_rigid_flesh: false,
            });
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
            softness: 1.0,
            is_rigid: Vec::new(),
            rigid_parts: Vec::new(),
            notes: Vec::new(),
        };
        flesh.find_hard_parts(rigged, &all, &source);
        flesh.sort_shells(rigged, (&all, &source), has_solid_parts);
        flesh.find_machine(rigged, &all);
        Ok(flesh)
    }

    /// Marks the surfaces whose names say that they are hard.
    fn find_hard_parts(&mut self, rigged: &RiggedCharacter, all: &TriMesh, source: &[(u32, u32)]) {
        let mut area = vec![0.0; self.parts.len()];
        for triangle in &all.triangles {
            let [a, b, c] = triangle.map(|v| all.vertices[v as usize]);
            area[source[triangle[0] as usize].0 as usize] += 0.5 * (b - a).cross(&(c - a)).norm();
        }
        let whole: f64 = area.iter().sum();
        let names: Vec<SurfaceNames> =
            self.parts.iter().map(|part| SurfaceNames::of(rigged, part.id)).collect();
        let is_own = |name: &str| {
            let shown =
                names.iter().zip(&area).filter(|(names, _)| [names.node, names.mesh].contains(&Some(name)));
            shown.map(|(_, area)| area).sum::<f64>() > WHOLE_CHARACTER * whole
        };
        let is_hard = |names: &SurfaceNames| {
            let is_hard = |name: Option<&str>| name.is_some_and(|name| hard_word(name).is_some());
            let of_part = |name: Option<&str>| is_hard(name) && !name.is_some_and(is_own);
            is_hard(names.material) || of_part(names.mesh) || of_part(names.node)
        };
        let hard: Vec<bool> = names.iter().map(is_hard).collect();
        for (part, is_hard) in self.parts.iter_mut().zip(hard) {
            part.is_hard = is_hard && part.said.is_none();
        }
    }

    /// Takes the shells that are flesh; with `has_solid_parts` also those that are rigid.
    fn sort_shells(
        &mut self,
        rigged: &RiggedCharacter,
        (all, source): (&TriMesh, &[(u32, u32)]),
        has_solid_parts: bool,
    ) {
        // which shells are flesh; of a character with nothing soft, those that are rigid for the weakest reason
        let shells = shells_of(all);
        let decisions: Vec<Decision> =
            shells.iter().map(|shell| self.decide(rigged, shell, source)).collect();
        let taken = [Decision::Flesh, Decision::OneBone, Decision::Named, Decision::Sheet];
        let taken = taken.into_iter().find(|decision| decisions.contains(decision));
        let is_stiff = matches!(taken, Some(Decision::OneBone | Decision::Named));
        for (shell, decision) in shells.iter().zip(&decisions) {
            let is_solid = matches!(decision, Decision::OneBone | Decision::Named);
            if Some(*decision) == taken || (has_solid_parts && is_solid) {
                self.add(all, source, shell, is_stiff || is_solid);
            }
        }

        let is_layer = |decision: Decision| decision == Decision::Sheet && taken != Some(decision);
        if decisions.iter().any(|decision| is_layer(*decision)) {
            let surface = self.surface.clone();
            let finder = LayerFinder::build(&surface, self.size);
            for (shell, _) in shells.iter().zip(&decisions).filter(|(_, decision)| is_layer(**decision)) {
                self.add_layer(&finder, all, source, shell);
            }
        }

        // what was decided
        let kept: Vec<Decision> =
            decisions.iter().map(|own| if Some(*own) == taken { Decision::Flesh } else { *own }).collect();
        self.note_decisions(rigged, &shells, &kept, source);
        if is_stiff {
            self.notes.push(
                "every part of the character is rigid: the largest choice of them gets flesh that hardly moves, so that the take is nearly plain \
                 skinning; name parts in `fleshy` to soften them"
                    .into(),
            );
        }
    }

    /// Stiffens the flesh of machines, unless options name parts of it.
    fn find_machine(&mut self, rigged: &RiggedCharacter, skinned: &TriMesh) {
        // area that hangs on joints without weights
        let below_joints = nodes_below_joints(rigged);
        let pose = rigged.rest_pose();
        let plain =
            self.parts.iter().filter(|part| !rigged.is_skinned(part.id) && below_joints[part.id.node]);
        let plain = plain.filter_map(|part| {
            let vertices = rigged.world_vertices(part.id, &pose)?;
            Some(TriMesh { vertices, triangles: rigged.primitive(part.id)?.triangles.clone() }.area())
        });
        let plain: f64 = plain.sum();
        let fraction = plain / (plain + skinned.area());

        let is_named = self.parts.iter().any(|part| part.said == Some(Said::Fleshy));
        if fraction > MACHINE && !is_named {
            self.softness = MACHINE_SOFTNESS;
            self.notes.push(format!(
                "{:.0} % of the character's area hangs on joints without weights, as in a machine: the rest is {MACHINE_SOFTNESS} times as soft as flesh; \
                 name parts in `fleshy` to soften them",
                100.0 * fraction
            ));
        }
    }

    /// What becomes of a shell.
    fn decide(&self, rigged: &RiggedCharacter, shell: &Shell, source: &[(u32, u32)]) -> Decision {
        // primitives may share vertices: its triangles say whose it is
        let parts = || shell.triangles.iter().map(|t| &self.parts[source[t[0] as usize].0 as usize]);
        if parts().any(|part| part.said == Some(Said::Fleshy)) {
            return Decision::Flesh;
        }
        if parts().all(|part| part.is_hard) {
            return Decision::Named;
        }
        if shell.volume.abs() < SHEET * self.size * shell.area {
            return Decision::Sheet;
        }
        let is_carried = self.carried_fraction(rigged, shell, source) >= ONE_BONE;
        if is_carried { Decision::OneBone } else { Decision::Flesh }
    }

    /// Notes what was decided, one line per reason.
    fn note_decisions(
        &mut self,
        rigged: &RiggedCharacter,
        shells: &[Shell],
        decisions: &[Decision],
        source: &[(u32, u32)],
    ) {
        // shells by what was decided and by the surface that they begin in
        let mut shells_of_part = vec![0; self.parts.len()];
        let mut decided: BTreeMap<(Decision, u32), usize> = BTreeMap::new();
        for (shell, decision) in shells.iter().zip(decisions) {
            let part = source[shell.triangles[0][0] as usize].0;
            shells_of_part[part as usize] += 1;
            *decided.entry((*decision, part)).or_default() += 1;
        }
        let label = |part: usize| SurfaceNames::of(rigged, self.parts[part].id).label();
        let piece = |((_, part), count): (&(Decision, u32), &usize)| {
            let (name, of) = (label(*part as usize), shells_of_part[*part as usize]);
            if *count < of { format!("{name} ({count} of {of} pieces)") } else { name }
        };
        let mut lines: Vec<(&str, bool, Vec<String>)> = Vec::new();
        for decision in [Decision::Named, Decision::OneBone, Decision::Sheet] {
            let names = decided.iter().filter(|((own, _), _)| *own == decision).map(piece).collect();
            lines.push((decision.words(), decision != Decision::Sheet, names));
        }

        // surfaces that are hard within the flesh, and those that are no matter of shells
        let all = |is_it: &dyn Fn(&Part) -> bool| -> Vec<String> {
            let chosen = (0..self.parts.len()).filter(|&part| is_it(&self.parts[part]));
            chosen.map(label).collect()
        };
        lines.push(("rigid within the flesh, as their names say", true, all(&|part| part.is_rigid_flesh)));
        lines.push(("rigid, without weights", true, all(&|part| !rigged.is_skinned(part.id))));
        let by_scene = |part: &Part| part.said == Some(Said::Skinned) && rigged.is_skinned(part.id);
        lines.push(("as skinned, as the scene says", false, all(&by_scene)));
        for (words, is_rigid, mut names) in lines {
            names.dedup();
            if !names.is_empty() {
                self.notes.push(format!("{words}: {}", listed(&names)));
            }
            self.rigid_parts.extend(names.into_iter().filter(|_| is_rigid));
        }
    }

    /// How much of a shell's weight the heaviest joint has.
    fn carried_fraction(&self, rigged: &RiggedCharacter, shell: &Shell, source: &[(u32, u32)]) -> f64 {
        let mut weights = vec![0.0; rigged.nodes.len()];
        for &vertex in &shell.vertices {
            let (part, own) = source[vertex as usize];
            let id = self.parts[part as usize].id;
            let joints = rigged.nodes[id.node].skin.map_or(&[][..], |skin| &rigged.skins[skin].joints);
            let Some(skinned) = rigged.primitive(id).and_then(|primitive| primitive.weights.as_ref()) else {
                continue;
            };
            for entry in skinned.of(own as usize) {
                if let Some(joint) = joints.get(entry.joint as usize) {
                    weights[*joint] += entry.weight;
                }
            }
        }
        weights.into_iter().fold(0.0, f64::max) / shell.vertices.len().max(1) as f64
    }

    /// Lets the vertices of a sheet follow the flesh that they lie on.
    fn add_layer(&mut self, finder: &LayerFinder, all: &TriMesh, source: &[(u32, u32)], shell: &Shell) {
        for &vertex in &shell.vertices {
            let (part, own) = source[vertex as usize];
            if let Some(flesh) = finder.find(&all.vertices[vertex as usize]) {
                self.parts[part as usize].layer.push(LayerVertex { vertex: own, flesh });
            }
        }
    }

    /// Adds a shell; `is_stiff` if it is rigid in itself.
    fn add(&mut self, all: &TriMesh, source: &[(u32, u32)], shell: &Shell, is_stiff: bool) {
        let used: HashSet<u32> = shell.triangles.iter().flatten().copied().collect();
        let mut place: HashMap<u32, u32> = HashMap::new();
        for &vertex in &shell.vertices {
            let new = self.surface.vertices.len() as u32;
            place.insert(vertex, new);
            self.surface.vertices.push(all.vertices[vertex as usize]);
            let (part, own) = source[vertex as usize];
            self.parts[part as usize].flesh_vertex[own as usize] = Some(new);
            // vertices that other primitives use are soft here and hard there, or the other way round
            let is_hard = self.parts[part as usize].is_hard && used.contains(&vertex);
            self.parts[part as usize].is_rigid_flesh |= is_hard;
            self.is_rigid.push(is_stiff || is_hard);
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

/// For each node whether it is a joint, or hangs below one.
fn nodes_below_joints(rigged: &RiggedCharacter) -> Vec<bool> {
    let mut below = vec![false; rigged.nodes.len()];
    let mut stack: Vec<usize> = rigged.skins.iter().flat_map(|skin| skin.joints.iter().copied()).collect();
    while let Some(node) = stack.pop() {
        if !core::mem::replace(&mut below[node], true) {
            stack.extend(rigged.nodes[node].children.iter().copied());
        }
    }
    below
}

/// The names of a surface.
struct SurfaceNames<'a> {
    node: Option<&'a str>,
    mesh: Option<&'a str>,
    material: Option<&'a str>,
    /// Whether its mesh has several primitives, which their materials tell apart.
    is_one_of_several: bool,
    fallback: &'a str,
}

impl<'a> SurfaceNames<'a> {
    fn of(rigged: &'a RiggedCharacter, id: SurfaceId) -> SurfaceNames<'a> {
        let node = &rigged.nodes[id.node];
        let mesh = node.mesh.map(|mesh| &rigged.meshes[mesh]);
        let material = rigged.primitive(id).and_then(|primitive| primitive.material);
        SurfaceNames {
            node: node.name.as_deref(),
            mesh: mesh.and_then(|mesh| mesh.name.as_deref()),
            material: material.and_then(|material| rigged.materials.get(material)?.name.as_deref()),
            is_one_of_several: mesh.is_some_and(|mesh| mesh.primitives.len() > 1),
            fallback: &node.label,
        }
    }

    /// A name for reports, by which scenes may call it.
    fn label(&self) -> String {
        let material = self.material.filter(|_| self.is_one_of_several);
        let name = material.or(self.node).or(self.mesh).unwrap_or(self.fallback);
        name.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect()
    }
}

/// The first few names, and how many more there are.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    names[..names.len() - more].join(", ") + &rest
}
