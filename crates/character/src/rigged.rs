//! A rigged character as plain data: a hierarchy of nodes, skins, surfaces with weights and morph targets, and animations.
//!
//! Readers of file formats fill it, whatever the format; nothing here knows about files. Indices of nodes, skins, meshes, primitives,
//! materials and animations are those of the lists below.

use crate::{
    CharacterAnimation, CharacterError, CharacterMaterial, CharacterMesh, CharacterNode, CharacterPrimitive,
    CharacterSkin, FaultyPart, HumanBones, NodeTree,
};

/// A rigged character. Lengths are in metres, y is up, times are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RiggedCharacter {
    /// The hierarchy.
    pub nodes: Vec<CharacterNode>,
    /// All nodes, parents before children.
    pub order: Vec<usize>,
    /// Joints and how surfaces are bound to them.
    pub skins: Vec<CharacterSkin>,
    /// Surfaces.
    pub meshes: Vec<CharacterMesh>,
    /// What surfaces are made of.
    pub materials: Vec<CharacterMaterial>,
    /// Animations.
    pub animations: Vec<CharacterAnimation>,
    /// Which nodes are which human bones, where the file says so.
    pub human_bones: Option<HumanBones>,
}

/// A primitive as one node shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SurfaceId {
    /// The node, by its index.
    pub node: usize,
    /// The primitive, by its index in the node's mesh.
    pub primitive: usize,
}

impl RiggedCharacter {
    /// Puts a character together from its parts: links nodes whose names, children and rest transforms are given, and binds skins whose
    /// joints and inverse bind matrices are.
    ///
    /// # Errors
    /// If nodes make no tree; all that is wrong is in one message.
    pub fn assemble(
        nodes: Vec<CharacterNode>,
        mut skins: Vec<CharacterSkin>,
        meshes: Vec<CharacterMesh>,
    ) -> Result<RiggedCharacter, CharacterError> {
        let (tree, errors) = NodeTree::build(nodes);
        let Some(NodeTree { nodes, order }) = tree.filter(|_| errors.is_empty()) else {
            let messages: Vec<String> = errors.into_iter().map(|error| error.message).collect();
            return Err(CharacterError::whole(messages.join("; ")));
        };
        for skin in &mut skins {
            skin.bind(&nodes);
        }
        Ok(RiggedCharacter { nodes, order, skins, meshes, ..RiggedCharacter::default() })
    }

    /// All surfaces that nodes show, by node and primitive.
    pub fn surfaces(&self) -> impl Iterator<Item = SurfaceId> {
        let shown = self.nodes.iter().enumerate().filter_map(|(node, shown)| Some((node, shown.mesh?)));
        shown.flat_map(|(node, mesh)| {
            (0..self.meshes[mesh].primitives.len()).map(move |primitive| SurfaceId { node, primitive })
        })
    }

    /// The primitive of a surface; `None` if there is no such surface.
    pub fn primitive(&self, surface: SurfaceId) -> Option<&CharacterPrimitive> {
        Some(self.surface(surface)?.1)
    }

    /// Whether joints move a surface, rather than its node.
    pub fn is_skinned(&self, surface: SurfaceId) -> bool {
        self.surface(surface)
            .is_some_and(|(node, primitive)| self.nodes[node].skin.is_some() && primitive.weights.is_some())
    }

    /// The names of a surface: those of its node, its mesh and its material.
    pub fn names_of(&self, surface: SurfaceId) -> Vec<&str> {
        let Some(node) = self.nodes.get(surface.node) else { return Vec::new() };
        let mesh = node.mesh.and_then(|mesh| self.meshes[mesh].name.as_deref());
        let material = self.primitive(surface).and_then(|primitive| primitive.material);
        let material = material.and_then(|material| self.materials.get(material)?.name.as_deref());
        [node.name.as_deref(), mesh, material].into_iter().flatten().collect()
    }

    /// The animation of this name, or of this index; the first one if `wanted` is `None`, and none if there are none.
    pub fn find_animation(&self, wanted: Option<&str>) -> Result<Option<usize>, CharacterError> {
        let Some(wanted) = wanted else { return Ok((!self.animations.is_empty()).then_some(0)) };
        // as it is written, else in upper or lower case
        let named = |fits: &dyn Fn(&str) -> bool| {
            self.animations.iter().position(|animation| animation.name.as_deref().is_some_and(fits))
        };
        let lower = wanted.to_lowercase();
        let by_name = named(&|name| name == wanted).or_else(|| named(&|name| name.to_lowercase() == lower));
        let by_number = wanted.parse().ok().filter(|i: &usize| *i < self.animations.len());
        by_name.or(by_number).map(Some).ok_or_else(|| {
            let named = |(i, a): (usize, &CharacterAnimation)| {
                format!("{i} ({})", a.name.as_deref().unwrap_or("without a name"))
            };
            let names = self.animations.iter().enumerate().map(named).collect::<Vec<_>>().join(", ");
            let there = if names.is_empty() { "none".to_owned() } else { names };
            let message = format!("there is no animation '{wanted}': the file has {there}");
            CharacterError::of(FaultyPart::Animation, message)
        })
    }

    /// The node and the primitive of a surface.
    pub(crate) fn surface(&self, surface: SurfaceId) -> Option<(usize, &CharacterPrimitive)> {
        let mesh = &self.meshes[self.nodes.get(surface.node)?.mesh?];
        Some((surface.node, mesh.primitives.get(surface.primitive)?))
    }
}
