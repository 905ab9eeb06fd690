//! Surfaces: vertices in the order of their file, triangles, weights and morph targets.

use crate::SkinWeights;
use sinew_math::Vec3;
use std::sync::Arc;

/// A mesh: one or more primitives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterMesh {
    /// Its name.
    pub name: Option<String>,
    /// Its primitives, in the order of the file.
    pub primitives: Vec<CharacterPrimitive>,
    /// Weights of the morph targets where neither a node nor an animation sets them.
    pub morph_weights: Vec<f64>,
    /// Names of the morph targets, where the exporter wrote them.
    pub target_names: Vec<String>,
}

impl CharacterMesh {
    /// How many morph targets there are.
    pub fn target_count(&self) -> usize {
        self.primitives.iter().map(|primitive| primitive.targets.len()).max().unwrap_or(0)
    }
}

/// A part of a mesh with one material.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterPrimitive {
    /// Positions in bind space (of a mesh without skin: in its node), in the order of the file (m).
    pub positions: Arc<[Vec3]>,
    /// Three vertices per triangle; empty for points and lines.
    pub triangles: Vec<[u32; 3]>,
    /// The joints of each vertex; `None` if it follows its node.
    pub weights: Option<Arc<SkinWeights>>,
    /// What each morph target adds to positions.
    pub targets: Vec<Arc<MorphTarget>>,
    /// Its material, by its index.
    pub material: Option<usize>,
    /// How soft each vertex is painted (`_SOFTNESS`): 1 as chosen, more is softer, 0 is rigid.
    pub softness: Option<Arc<[f32]>>,
    /// Vertex colours by their set: red, green, blue and opacity, 0 to 1.
    pub colors: Vec<Option<Arc<[[f32; 4]]>>>,
    /// The first texture coordinates of each vertex.
    pub uv: Option<Arc<[[f32; 2]]>>,
}

impl Default for CharacterPrimitive {
    /// A primitive without vertices.
    fn default() -> CharacterPrimitive {
        CharacterPrimitive {
            positions: Arc::from([]),
            triangles: Vec::new(),
            weights: None,
            targets: Vec::new(),
            material: None,
            softness: None,
            colors: Vec::new(),
            uv: None,
        }
    }
}

/// What a morph target adds to the positions of some vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// The vertices that move, in increasing order.
    pub vertices: Vec<u32>,
    /// The displacement of each of them at weight 1, in bind space (m).
    pub deltas: Vec<Vec3>,
}

/// The look of a primitive, as far as previews and reports need it.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterMaterial {
    /// Its name.
    pub name: Option<String>,
    /// Red, green, blue and opacity, 0 to 1, linear.
    pub base_color: [f64; 4],
}
