//! The surfaces of a scene as the objects that other programs make of them: one for each node of a character's file that shows a mesh, one
//! for each other body.
//!
//! An object has the vertices of all primitives of its mesh, one primitive after another. Vertices without a triangle are left out. Blender's
//! importer does the same, so that a cache of an object fits the mesh that was imported from the original file. Primitives without triangles
//! (points, lines) are not part of it.

use crate::binding::single;
use crate::transform::{Mat4, apply};
use crate::{CharacterBinding, CharacterPart, CharacterPose, PlayedCharacter};
use sinew_math::Vec3;
use sinew_take::{Frame, FrameSink, Scene, SinkError, SurfaceInfo};

/// The space that the vertices of objects are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectSpace {
    /// The world of the scene.
    #[default]
    World,
    /// That of the imported object: the armature of a skinned mesh, the node of any other. Bodies that are no characters are in the world.
    Own,
}

/// All objects of a scene, in the order of its surfaces.
#[derive(Clone, Debug)]
pub struct ShownObjects<'a> {
    body_names: Vec<&'a str>,
    /// For each body the character whose flesh it is, and its objects.
    characters: Vec<Option<(PlayedCharacter<'a>, Vec<NodeObject>)>>,
    space: ObjectSpace,
}

/// Where the vertices of an object came from: consecutive surfaces of the scene, with the vertices of each that the object has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSource {
    /// The first of its surfaces, by its index among all shown surfaces.
    pub first_surface: usize,
    /// For each of its surfaces the vertices that are part of the object, in increasing order; `None` for all of them.
    pub vertices: Vec<Option<Vec<u32>>>,
}

/// The mesh of a node.
#[derive(Clone, Debug)]
struct NodeObject {
    name: String,
    /// The node in whose space it is; `None` for the world.
    space: Option<usize>,
    /// Its surfaces, by the index of the first part.
    first_part: usize,
    /// For each of its surfaces the vertices that triangles use.
    used: Vec<Vec<u32>>,
    triangles: Vec<[u32; 3]>,
    /// In its space (m).
    rest: Vec<[f32; 3]>,
}

impl<'a> ShownObjects<'a> {
    /// The objects of a scene and the characters in it.
    pub fn new(
        scene: &'a Scene,
        bindings: impl IntoIterator<Item = &'a CharacterBinding>,
        space: ObjectSpace,
    ) -> ShownObjects<'a> {
        let body_names: Vec<&str> = scene.world.bodies.iter().map(|body| body.name.as_str()).collect();
        let mut characters = vec![None; body_names.len()];
        for binding in bindings {
            let before =
                if body_names.len() > 1 { format!("{} ", body_names[binding.body]) } else { String::new() };
            characters[binding.body] = Some((binding.played(scene), objects_of(binding, space, &before)));
        }
        ShownObjects { body_names, characters, space }
    }

    /// What stays the same about the objects, given the surfaces of all bodies.
    pub fn infos(&self, bodies: &[SurfaceInfo]) -> Vec<SurfaceInfo> {
        let of_body = |(body, info): (usize, &SurfaceInfo)| match &self.characters[body] {
            Some((_, objects)) => objects.iter().map(NodeObject::info).collect(),
            None => vec![info.clone()],
        };
        bodies.iter().enumerate().flat_map(of_body).collect()
    }

    /// The names of the objects.
    pub fn names(&self) -> Vec<String> {
        let of_body = |(body, name): (usize, &&str)| match &self.characters[body] {
            Some((_, objects)) => objects.iter().map(|object| object.name.clone()).collect(),
            None => vec![(*name).to_owned()],
        };
        self.body_names.iter().enumerate().flat_map(of_body).collect()
    }

    /// Where the vertices of each object came from.
    pub fn sources(&self) -> Vec<ObjectSource> {
        let mut sources = Vec::new();
        let mut first_surface = 0;
        for character in &self.characters {
            let Some((character, objects)) = character else {
                sources.push(ObjectSource { first_surface, vertices: vec![None] });
                first_surface += 1;
                continue;
            };
            sources.extend(objects.iter().map(|object| ObjectSource {
                first_surface: first_surface + object.first_part,
                vertices: object.used.iter().cloned().map(Some).collect(),
            }));
            first_surface += character.binding.surface_ids().len();
        }
        sources
    }

    /// Where the vertices of all objects are in a frame (m).
    pub fn positions(&self, frame: &Frame) -> Vec<Vec<[f32; 3]>> {
        let of_body = |(body, surface): (usize, &Vec<[f32; 3]>)| match &self.characters[body] {
            Some((character, objects)) => {
                let pose = character.pose_in(frame);
                let parts = character.parts_in(frame, &pose);
                objects.iter().map(|object| object.positions(&parts, &pose, self.space)).collect()
            }
            None => vec![surface.clone()],
        };
        frame.surfaces.iter().enumerate().flat_map(of_body).collect()
    }
}

/// The objects of a character.
fn objects_of(binding: &CharacterBinding, space: ObjectSpace, name_start: &str) -> Vec<NodeObject> {
    let (rigged, pose) = (&binding.rigged, binding.rigged.rest_pose());
    let spaces = rigged.object_spaces();
    let mut objects: Vec<NodeObject> = Vec::new();
    let mut last_node = None;
    for (part, id) in binding.surface_ids().into_iter().enumerate() {
        // a new object for every node
        if last_node != Some(id.node) {
            last_node = Some(id.node);
            let name = format!("{name_start}{}", rigged.nodes[id.node].label);
            let (space, first_part) = (spaces[id.node], part);
            let (used, triangles, rest) = (Vec::new(), Vec::new(), Vec::new());
            objects.push(NodeObject { name, space, first_part, used, triangles, rest });
        }
        let (Some(object), Some(primitive)) = (objects.last_mut(), rigged.primitive(id)) else { continue };

        // its vertices that triangles use, and where they are at bind
        let vertices =
            rigged.bind_vertices(id).or_else(|| rigged.world_vertices(id, &pose)).unwrap_or_default();
        let (used, triangles) = used_vertices(&primitive.triangles, vertices.len());
        let first = object.rest.len() as u32;
        object.triangles.extend(triangles.iter().map(|triangle| triangle.map(|v| v + first)));
        let own_from_world = object.own_from_world(&pose, space).unwrap_or_else(Mat4::identity);
        object.rest.extend(used.iter().map(|v| single(&apply(&own_from_world, &vertices[*v as usize]))));
        object.used.push(used);
    }
    objects
}

/// The vertices that triangles use, and the triangles with these alone.
fn used_vertices(triangles: &[[u32; 3]], vertex_count: usize) -> (Vec<u32>, Vec<[u32; 3]>) {
    let mut place = vec![None; vertex_count];
    triangles.iter().flatten().for_each(|v| place[*v as usize] = Some(0));
    let mut used = Vec::new();
    for (vertex, place) in place.iter_mut().enumerate().filter(|(_, place)| place.is_some()) {
        *place = Some(used.len() as u32);
        used.push(vertex as u32);
    }
    let renumbered = |triangle: &[u32; 3]| triangle.map(|v| place[v as usize].unwrap_or_default());
    (used, triangles.iter().map(renumbered).collect())
}

impl NodeObject {
    fn info(&self) -> SurfaceInfo {
        SurfaceInfo { name: self.name.clone(), triangles: self.triangles.clone(), rest: self.rest.clone() }
    }

    /// The map from the world into the space of the object in a pose; `None` if that space has no volume.
    fn own_from_world(&self, pose: &CharacterPose, space: ObjectSpace) -> Option<Mat4> {
        match (space, self.space) {
            (ObjectSpace::Own, Some(node)) => pose.world_from_node[node].try_inverse(),
            _ => Some(Mat4::identity()),
        }
    }

    /// Its vertices in its space. An object that is scaled to nothing cannot be seen: it stays at rest.
    fn positions(&self, parts: &[CharacterPart], pose: &CharacterPose, space: ObjectSpace) -> Vec<[f32; 3]> {
        let Some(own_from_world) = self.own_from_world(pose, space) else { return self.rest.clone() };
        let place = |v: &Vec3| match space {
            ObjectSpace::World => single(v),
            ObjectSpace::Own => single(&apply(&own_from_world, v)),
        };
        let of_part = |(used, part): (&Vec<u32>, &CharacterPart)| -> Vec<[f32; 3]> {
            used.iter().map(|v| place(&part.vertices[*v as usize])).collect()
        };
        self.used.iter().zip(&parts[self.first_part..]).flat_map(of_part).collect()
    }
}

/// Hands the surfaces of a scene on to a sink as [`ShownObjects`] has them.
pub struct ObjectFrames<'a, S> {
    objects: ShownObjects<'a>,
    sink: S,
    frame: Frame,
}

impl<'a, S: FrameSink> ObjectFrames<'a, S> {
    /// Hands the frames of a scene on to a sink.
    pub fn new(objects: ShownObjects<'a>, sink: S) -> ObjectFrames<'a, S> {
        ObjectFrames { objects, sink, frame: Frame::default() }
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }
}

impl<S: FrameSink> FrameSink for ObjectFrames<'_, S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.sink.begin(&self.objects.infos(surfaces), fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.frame.time = frame.time;
        self.frame.bones.clone_from(&frame.bones);
        self.frame.obstacles.clone_from(&frame.obstacles);
        self.frame.surfaces = self.objects.positions(frame);
        self.sink.frame(&self.frame)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_without_a_triangle_are_left_out_and_the_others_keep_their_order() {
        let (used, triangles) = used_vertices(&[[5, 2, 3], [3, 2, 0]], 7);
        assert_eq!(used, [0, 2, 3, 5]);
        assert_eq!(triangles, [[3, 1, 2], [2, 1, 0]]);
    }
}
