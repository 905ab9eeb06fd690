//! The frames of all bodies while they wait on disk: displacements from the skinned surface in the world, and deltas of normals in bind space.

use super::body::{Body, Part};
use super::clip::{Clip, Moment};
use super::compression::Flesh;
use super::scratch::Scratch;
use super::shading::Shading;
use super::{ErrorMeasure, SkinnedGlbOptions};
use crate::document::Document;
use sinew_character::{CharacterPose, RiggedCharacter, SurfaceId};
use sinew_files::AtomicFile;
use sinew_math::Vec3;
use sinew_take::SinkError;
use std::io;
use std::ops::Range;

/// The frames of all bodies.
#[derive(Debug)]
pub(super) struct FleshFrames {
    pub(super) surfaces: Vec<SurfaceId>,
    pub(super) bodies: Vec<Body>,
    /// For each body the normals of its surface.
    pub(super) shadings: Vec<Shading>,
    displacements: Scratch,
    directions: Scratch,
    /// For each body how far its vertices may be off (m).
    pub(super) allowed_errors: Vec<f64>,
}

/// What a frame adds, until it is kept.
pub(super) struct FrameNumbers {
    displacements: Vec<f32>,
    directions: Vec<f32>,
}

/// The bytes that describe an accessor and its view.
const ACCESSOR: usize = 400;

impl FleshFrames {
    /// No frames of some surfaces, beside a file that will be written.
    pub(super) fn new(
        character: &RiggedCharacter,
        document: &Document,
        file: &AtomicFile,
        surfaces: &[(SurfaceId, &[Vec3])],
        options: &SkinnedGlbOptions,
    ) -> Result<FleshFrames, SinkError> {
        // what is shown
        let surfaces: Vec<SurfaceId> = surfaces.iter().map(|(surface, _)| *surface).collect();
        let bodies = Body::all(character, &surfaces)?;
        let shadings: Vec<Shading> =
            bodies.iter().map(|body| Shading::new(document, character, body)).collect();

        // how near it must be
        let rest = character.rest_pose();
        let sides = |surfaces: &mut dyn Iterator<Item = SurfaceId>| {
            box_sides(surfaces.filter_map(|surface| character.world_vertices(surface, &rest)).flatten())
        };
        let sizes: Vec<f64> = match options.measure {
            ErrorMeasure::AllFlesh => vec![sides(&mut surfaces.iter().copied()).norm(); bodies.len()],
            ErrorMeasure::EachBody => bodies
                .iter()
                .map(|body| sides(&mut body.parts.iter().map(|part| part.surface)).max())
                .collect(),
        };
        let allowed_errors = sizes.iter().map(|size| options.error_fraction * size).collect();

        // where frames wait
        let scratch = |length: usize| {
            let file = file.scratch().map_err(|error| SinkError(error.to_string()))?;
            Ok::<_, SinkError>(Scratch::new(file, length))
        };
        let displacements = scratch(3 * bodies.last().map_or(0, |body| body.vertices.end))?;
        let directions = scratch(shadings.iter().map(Shading::number_count).sum())?;
        Ok(FleshFrames { surfaces, bodies, shadings, displacements, directions, allowed_errors })
    }

    /// The bytes of morph targets and their keys, at most.
    pub(super) fn byte_count(&self, found: &[Flesh]) -> u64 {
        let of_body = |((body, shading), flesh): ((&Body, &Shading), &Flesh)| {
            let parts = body.parts.iter().enumerate();
            let numbers = |(part, own): (usize, &Part)| {
                let fields = shading.fields.iter().filter(|field| field.has[part]).count();
                let bytes = flesh.storage.vector_size() + fields * flesh.direction_storage.vector_size();
                own.vertices.len() * bytes + (1 + fields) * ACCESSOR
            };
            flesh.deltas.len() * (parts.map(numbers).sum::<usize>() + 4 * flesh.keys.len())
        };
        self.bodies.iter().zip(&self.shadings).zip(found).map(of_body).sum::<usize>() as u64
    }

    /// How many vertices all bodies have.
    pub(super) fn vertex_count(&self) -> usize {
        self.bodies.last().map_or(0, |body| body.vertices.end)
    }

    /// Fails unless a frame has the surfaces of the first, and finite positions for all their vertices.
    pub(super) fn check(
        &self,
        character: &RiggedCharacter,
        surfaces: &[(SurfaceId, &[Vec3])],
    ) -> Result<(), String> {
        if !surfaces.iter().map(|(surface, _)| surface).eq(&self.surfaces) {
            return Err(
                "has other surfaces than the first frame: give the same ones in the same order".into()
            );
        }
        for (SurfaceId { node, primitive }, vertices) in surfaces {
            let surface = SurfaceId { node: *node, primitive: *primitive };
            let name = format!("primitive {primitive} of node '{}'", character.nodes[*node].label);
            let wanted = character.primitive(surface).map_or(0, |primitive| primitive.positions.len());
            if vertices.len() != wanted {
                let has = vertices.len();
                return Err(format!("{name} has {has} positions and {wanted} vertices: give one for each"));
            }
            if let Some(bad) = vertices.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
                return Err(format!(
                    "{name}: vertex {bad} is at {:?}: the simulation has failed",
                    vertices[bad].as_slice()
                ));
            }
        }
        Ok(())
    }

    /// What a frame is beyond the pose that will be played.
    pub(super) fn numbers(
        &self,
        character: &RiggedCharacter,
        pose: &CharacterPose,
        surfaces: &[(SurfaceId, &[Vec3])],
    ) -> Result<FrameNumbers, String> {
        let (mut displacements, mut directions) = (Vec::new(), Vec::new());
        for (body, shading) in self.bodies.iter().zip(&self.shadings) {
            // u = x − x_p
            let mut positions = Vec::with_capacity(body.vertex_count());
            for part in &body.parts {
                let carried = character.world_vertices(part.surface, pose).unwrap_or_default();
                let (_, given) = surfaces[part.given];
                let beyond = given.iter().zip(&carried).flat_map(|(x, p)| <[f64; 3]>::from(x - p));
                displacements.extend(beyond.map(|u| u as f32));
                positions.extend_from_slice(given);
            }

            // m − n
            let joints = body.joints(character, pose);
            let own = own_weights(character, body.node, pose);
            directions.extend(shading.deltas(body, &joints, &positions, own));
        }
        match displacements.iter().position(|u| u.is_nan() || u.abs() > 1e15) {
            None => Ok(FrameNumbers { displacements, directions }),
            Some(bad) => {
                Err(format!("a vertex is {} m from its skin: the simulation has failed", displacements[bad]))
            }
        }
    }

    /// Keeps a frame.
    pub(super) fn write(&self, frame: usize, numbers: &FrameNumbers) -> io::Result<()> {
        self.displacements.write(frame, &numbers.displacements)?;
        self.directions.write(frame, &numbers.directions)
    }

    /// The displacements of a body at a moment. Between frames they are a Catmull–Rom spline in time:
    ///
    /// ```text
    /// u(s) = u₁ + ½ s (u₂ − u₀) + ½ s² (2u₀ − 5u₁ + 4u₂ − u₃) + ½ s³ (−u₀ + 3u₁ − 3u₂ + u₃)
    /// ```
    ///
    /// with u₀ and u₃ on straight lines beyond the ends of the clip.
    pub(super) fn displacements(&self, body: &Body, clips: &[Clip], moment: &Moment) -> io::Result<Vec<f32>> {
        let numbers = 3 * body.vertices.start..3 * body.vertices.end;
        let read = |frame: usize| self.displacements.read(frame, numbers.clone());
        let (frame, s) = (moment.frame, moment.fraction as f32);
        let mut found = read(frame)?;
        let frames = &clips[moment.clip].frames;
        if s == 0.0 || frame + 1 >= frames.end {
            return Ok(found);
        }
        let next = read(frame + 1)?;
        let before = if frame > frames.start { Some(read(frame - 1)?) } else { None };
        let after = if frame + 2 < frames.end { Some(read(frame + 2)?) } else { None };
        for (i, u) in found.iter_mut().enumerate() {
            let (u1, u2) = (*u, next[i]);
            let u0 = before.as_ref().map_or(2.0 * u1 - u2, |before| before[i]);
            let u3 = after.as_ref().map_or(2.0 * u2 - u1, |after| after[i]);
            let second = 2.0 * u0 - 5.0 * u1 + 4.0 * u2 - u3;
            let third = -u0 + 3.0 * u1 - 3.0 * u2 + u3;
            *u = u1 + 0.5 * s * (u2 - u0 + s * (second + s * third));
        }
        Ok(found)
    }

    /// Where the vertices of a body are in the world in a pose (m): on the skinned surface, and beyond it where there is flesh at a moment.
    pub(super) fn places(
        &self,
        character: &RiggedCharacter,
        body: &Body,
        (clips, moment): (&[Clip], Option<&Moment>),
        pose: &CharacterPose,
    ) -> io::Result<Vec<Vec3>> {
        let carried = |surface| character.world_vertices(surface, pose).unwrap_or_default();
        let mut places: Vec<Vec3> = body.parts.iter().flat_map(|part| carried(part.surface)).collect();
        if let Some(moment) = moment {
            let beyond = self.displacements(body, clips, moment)?;
            for (place, u) in places.iter_mut().zip(beyond.as_chunks::<3>().0) {
                *place += Vec3::from(u.map(f64::from));
            }
        }
        Ok(places)
    }

    /// The deltas of directions of a body in a frame, field after field.
    pub(super) fn directions(&self, body: usize, frame: usize) -> io::Result<Vec<f32>> {
        let start: usize = self.shadings[..body].iter().map(Shading::number_count).sum();
        let numbers: Range<usize> = start..start + self.shadings[body].number_count();
        self.directions.read(frame, numbers)
    }
}

/// The weights of the file's own morph targets of a node in a pose.
pub(super) fn own_weights<'a>(
    character: &'a RiggedCharacter,
    node: usize,
    pose: &'a CharacterPose,
) -> &'a [f64] {
    let of_mesh = character.nodes[node].mesh.map_or(&[][..], |mesh| &character.meshes[mesh].morph_weights);
    pose.morph_weights[node].as_deref().unwrap_or(of_mesh)
}

/// The sides of the box around points.
fn box_sides(points: impl Iterator<Item = Vec3>) -> Vec3 {
    let empty = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (low, high) = points.fold(empty, |(low, high), x| (low.inf(&x), high.sup(&x)));
    if low.x <= high.x { high - low } else { Vec3::zeros() }
}
