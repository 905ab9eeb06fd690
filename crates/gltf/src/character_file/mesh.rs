//! Meshes: vertices in the order of the file, triangles, weights and morph targets.
//!
//! What several primitives refer to is read once and shared.

use super::accessor::{Accessor, Component};
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use super::painting::{Painting, PaintingReader};
use super::triangles;
use super::weights::{self, Sets};
use serde_json::Value;
use sinew_character::{
    CharacterMaterial, CharacterMesh, CharacterNode, CharacterPrimitive, CharacterSkin, MorphTarget,
    SkinWeights,
};
use sinew_math::Vec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What positions may be stored as; all but the first by `KHR_mesh_quantization`.
const POSITIONS: [Component; 5] =
    [Component::F32, Component::I8, Component::U8, Component::I16, Component::U16];

/// Reads all materials.
pub(super) fn read_materials(document: &DocumentReader, findings: &mut Findings) -> Vec<CharacterMaterial> {
    let read = |(index, value): (usize, &Value)| {
        let part = Part { value, path: format!("materials[{index}]") };
        let color =
            part.get("pbrMetallicRoughness").map_or(Ok(None), |part| part.numbers::<4>("baseColorFactor"));
        let base_color = color.unwrap_or_else(|message| {
            findings.note(format!("{message}; taken as white"));
            None
        });
        CharacterMaterial {
            name: part.text("name").map(String::from),
            base_color: base_color.unwrap_or([1.0; 4]),
        }
    };
    document.list("materials").iter().enumerate().map(read).collect()
}

/// Reads meshes, given the nodes that show them and the skins that bend them.
pub(super) struct MeshReader<'a> {
    document: &'a DocumentReader<'a>,
    positions: BTreeMap<usize, Arc<[Vec3]>>,
    weights: BTreeMap<(Sets, u32), Arc<SkinWeights>>,
    targets: BTreeMap<usize, Arc<MorphTarget>>,
    painting: PaintingReader,
}

impl<'a> MeshReader<'a> {
    pub(super) fn new(document: &'a DocumentReader<'a>) -> MeshReader<'a> {
        MeshReader {
            document,
            positions: BTreeMap::new(),
            weights: BTreeMap::new(),
            targets: BTreeMap::new(),
            painting: PaintingReader::default(),
        }
    }

    /// Reads all meshes.
    pub(super) fn read(
        &mut self,
        nodes: &[CharacterNode],
        skins: &[CharacterSkin],
        findings: &mut Findings,
    ) -> Vec<CharacterMesh> {
        let entries = self.document.list("meshes");
        // the joint that vertices without weights follow, by mesh: the topmost one of the first skin
        let mut fallback: Vec<Option<u32>> = vec![None; entries.len()];
        for node in nodes {
            if let (Some(mesh), Some(skin)) = (node.mesh, node.skin.and_then(|skin| skins.get(skin))) {
                fallback[mesh].get_or_insert(skin.top as u32);
            }
        }
        let mut meshes = Vec::with_capacity(entries.len());
        for (index, value) in entries.iter().enumerate() {
            let part = Part { value, path: format!("meshes[{index}]") };
            let mesh = self.read_mesh(&part, fallback[index].unwrap_or(0), findings);
            // a blank one holds the place of one that cannot be read, so that later ones keep their numbers
            meshes.push(findings.accept(mesh).unwrap_or_default());
        }
        meshes
    }

    fn read_mesh(
        &mut self,
        part: &Part,
        fallback: u32,
        findings: &mut Findings,
    ) -> Result<CharacterMesh, String> {
        // its primitives
        let entries = part.list("primitives")?;
        self.document.charge(entries.len(), size_of::<CharacterPrimitive>(), &part.path)?;
        let mut primitives = Vec::with_capacity(entries.len());
        for (index, value) in entries.iter().enumerate() {
            let primitive = self.read_primitive(&part.item("primitives", index, value), fallback, findings);
            primitives.extend(findings.accept(primitive));
        }

        // its morph targets
        let names =
            part.get("extras").and_then(|extras| extras.value.get("targetNames")?.as_array().cloned());
        let text = |name: Value| name.as_str().unwrap_or_default().to_string();
        let mesh = CharacterMesh {
            name: part.text("name").map(String::from),
            morph_weights: part.all_numbers("weights")?.unwrap_or_default(),
            target_names: names.unwrap_or_default().into_iter().map(text).collect(),
            primitives,
        };
        let count = mesh.target_count();
        if mesh.primitives.iter().any(|primitive| primitive.targets.len() != count) {
            findings.note(format!(
                "{}: primitives have different numbers of morph targets: missing ones move nothing",
                part.path
            ));
        }
        Ok(mesh)
    }

    fn read_primitive(
        &mut self,
        part: &Part,
        fallback: u32,
        findings: &mut Findings,
    ) -> Result<CharacterPrimitive, String> {
        let path = &part.path;
        let material = part.index_below("material", self.document.list("materials").len(), "materials")?;
        let attributes = part.get("attributes");
        let stored = attributes.as_ref().map_or(Ok(None), |attributes| attributes.index("POSITION"))?;
        let (Some(attributes), Some(stored)) = (attributes, stored) else {
            findings.note(format!("{path} has no positions: kept without vertices"));
            return Ok(CharacterPrimitive { material, ..CharacterPrimitive::default() });
        };
        let positions = self.positions(stored)?;
        let Painting { softness, colors, uv } =
            self.painting.read(self.document, &attributes, positions.len(), findings)?;
        Ok(CharacterPrimitive {
            softness,
            colors,
            uv,
            triangles: triangles::read(self.document, part, positions.len(), findings)?,
            weights: self.weights(&attributes, positions.len(), fallback, findings)?,
            targets: self.morph_targets(part, positions.len())?,
            positions,
            material,
        })
    }

    fn positions(&mut self, index: usize) -> Result<Arc<[Vec3]>, String> {
        if let Some(positions) = self.positions.get(&index) {
            return Ok(Arc::clone(positions));
        }
        let accessor = Accessor::find(self.document, index)?;
        accessor.expect("VEC3", &POSITIONS, "positions")?;
        // the list and the shared copy of it
        self.document.charge(accessor.count, 2 * size_of::<Vec3>(), &accessor.path)?;
        if accessor.filled_count() == 0 {
            let path = &accessor.path;
            return Err(format!(
                "{path} has positions and no bytes for them: export the file again without compression"
            ));
        }
        let positions: Vec<Vec3> = (0..accessor.count).map(|vertex| point(&accessor, vertex)).collect();
        let is_bad = |position: &Vec3| !position.iter().all(|x| x.is_finite());
        let bad = positions.iter().filter(|position| is_bad(position)).count();
        if let Some(first) = positions.iter().position(is_bad) {
            let path = &accessor.path;
            return Err(format!(
                "{path}: {bad} positions are not finite (first vertex {first}): move them, export again"
            ));
        }
        let positions: Arc<[Vec3]> = positions.into();
        self.positions.insert(index, Arc::clone(&positions));
        Ok(positions)
    }

    fn weights(
        &mut self,
        attributes: &Part,
        vertex_count: usize,
        fallback: u32,
        findings: &mut Findings,
    ) -> Result<Option<Arc<SkinWeights>>, String> {
        let sets = weights::find_sets(attributes)?;
        if sets.is_empty() {
            return Ok(None);
        }
        let key = (sets, fallback);
        if let Some(weights) = self.weights.get(&key).filter(|weights| weights.vertex_count() == vertex_count)
        {
            return Ok(Some(Arc::clone(weights)));
        }
        let weights =
            weights::read(self.document, &key.0, vertex_count, fallback, &attributes.path, findings)?;
        let weights = Arc::new(weights);
        self.weights.insert(key, Arc::clone(&weights));
        Ok(Some(weights))
    }

    fn morph_targets(&mut self, part: &Part, vertex_count: usize) -> Result<Vec<Arc<MorphTarget>>, String> {
        let mut targets = Vec::new();
        self.document.charge(part.list("targets")?.len(), 2 * size_of::<MorphTarget>(), &part.path)?;
        for (index, value) in part.list("targets")?.iter().enumerate() {
            let target = part.item("targets", index, value);
            targets.push(match target.index("POSITION")? {
                Some(accessor) => self.morph_target(accessor, vertex_count)?,
                None => Arc::new(MorphTarget::default()),
            });
        }
        Ok(targets)
    }

    fn morph_target(&mut self, index: usize, vertex_count: usize) -> Result<Arc<MorphTarget>, String> {
        let accessor = Accessor::find(self.document, index)?;
        let path = &accessor.path;
        if accessor.count != vertex_count {
            let count = accessor.count;
            return Err(format!(
                "{path} has {count} elements for {vertex_count} vertices: export the file again"
            ));
        }
        if let Some(target) = self.targets.get(&index) {
            return Ok(Arc::clone(target));
        }
        accessor.expect("VEC3", &POSITIONS, "morph targets")?;
        self.document.charge(accessor.filled_count(), 4 + size_of::<Vec3>(), path)?;
        let mut target = MorphTarget::default();
        for vertex in accessor.filled() {
            let delta = point(&accessor, vertex);
            if !delta.iter().all(|x| x.is_finite()) {
                return Err(format!("{path}: vertex {vertex} is moved by {delta:?}: export the file again"));
            }
            if delta != Vec3::zeros() {
                target.vertices.push(vertex as u32);
                target.deltas.push(delta);
            }
        }
        let target = Arc::new(target);
        self.targets.insert(index, Arc::clone(&target));
        Ok(target)
    }
}

fn point(accessor: &Accessor, index: usize) -> Vec3 {
    let mut numbers = [0.0; 3];
    accessor.read(index, &mut numbers);
    numbers.into()
}
