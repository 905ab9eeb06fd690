//! Measurements of a take of a character against plain skinning: distances, roll about the bones, stretch, and change of volume.

use crate::PlayedCharacter;
use crate::roll::RolledBones;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo};

/// Edges shorter than this fraction of the character are not measured for stretch: a hair's breadth of noise would stretch them twofold.
const SHORT_EDGE: f64 = 2e-3;
/// A vertex is at its limit from this fraction of it on.
const AT_LIMIT: f64 = 0.95;

/// Compares a take of a character with plain skinning, frame by frame.
#[derive(Debug)]
pub struct CharacterWatch<'a> {
    character: PlayedCharacter<'a>,
    /// The distance from its skinned place that each vertex may not exceed (m); empty if there is none.
    limits: &'a [f64],
    /// For each vertex of the flesh the bone that carries most of it.
    carrier: Vec<Option<u32>>,
    rolled: RolledBones,
    /// Sum of the mean distances of all frames (m), and their number.
    sum: (f64, usize),
    report: CharacterReport,
}

/// The largest value of a measure in a take, with its place and time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peak {
    /// The value.
    pub value: f64,
    /// When it was reached (s).
    pub time: f64,
    /// The bone whose flesh it is.
    pub bone: Option<String>,
}

/// What [`CharacterWatch`] measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterReport {
    /// The largest extent of the character at bind (m).
    pub size: f64,
    /// The mean distance between flesh and its skinned place in the first frame (m).
    pub first_frame_mean: f64,
    /// The largest such distance in the first frame (m).
    pub first_frame_max: f64,
    /// The mean distance over all frames (m).
    pub take_mean: f64,
    /// The largest distance in any frame (m).
    pub take_max: Peak,
    /// The largest angle by which the flesh of a bone is rotated against its skinned place (rad).
    pub roll: Peak,
    /// The largest ratio of the length of an edge to its length at bind or as it is skinned, whichever is longer.
    pub stretch: Peak,
    /// The largest fraction of vertices that were at their limit at the same time.
    pub at_limit: f64,
    /// Volume at bind (m³).
    pub bind_volume: f64,
    /// The largest change of volume that plain skinning makes, as a fraction of that at bind.
    pub skinning_volume_change: f64,
    /// The largest change of volume of the flesh.
    pub volume_change: f64,
}

impl Peak {
    /// Keeps the larger of this and a new value.
    fn raise(&mut self, value: f64, time: f64, bone: impl FnOnce() -> Option<String>) {
        if value > self.value {
            *self = Peak { value, time, bone: bone() };
        }
    }
}

impl<'a> CharacterWatch<'a> {
    /// Measures a take of a character.
    pub fn new(character: PlayedCharacter<'a>) -> CharacterWatch<'a> {
        let binding = character.binding;
        let weights = binding.flesh.weights(&binding.rigged, &binding.bones.of_node);
        let heaviest = |weights: &Vec<(u32, f32)>| {
            weights.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(bone, _)| *bone)
        };
        CharacterWatch {
            character,
            limits: &[],
            carrier: weights.iter().map(heaviest).collect(),
            rolled: RolledBones::of(binding.bones.desc.bones.len(), &weights),
            sum: (0.0, 0),
            report: CharacterReport::default(),
        }
    }

    /// The same, counting the vertices that reach their limits (m).
    pub fn with_limits(self, limits: &'a [f64]) -> CharacterWatch<'a> {
        CharacterWatch { limits, ..self }
    }

    /// What was measured so far; `None` without a frame.
    pub fn report(&self) -> Option<CharacterReport> {
        let (sum, frames) = self.sum;
        (frames > 0).then(|| CharacterReport { take_mean: sum / frames as f64, ..self.report.clone() })
    }

    fn bone_name(&self, bone: usize) -> Option<String> {
        self.character.binding.bones.desc.bones.get(bone).map(|bone| bone.name.clone())
    }

    fn carrier_name(&self, vertex: usize) -> Option<String> {
        self.carrier.get(vertex).copied().flatten().and_then(|bone| self.bone_name(bone as usize))
    }

    /// How far vertices are from their skinned places.
    fn measure_distances(&mut self, time: f64, skinned: &[Vec3], simulated: &[Vec3]) {
        let apart: Vec<f64> = skinned.iter().zip(simulated).map(|(a, b)| (a - b).norm()).collect();
        let farthest = (0..apart.len()).max_by(|a, b| apart[*a].total_cmp(&apart[*b])).unwrap_or(0);
        let largest = apart.get(farthest).copied().unwrap_or(0.0);
        let mean = apart.iter().sum::<f64>() / apart.len().max(1) as f64;
        if time == 0.0 {
            (self.report.first_frame_max, self.report.first_frame_mean) = (largest, mean);
        }
        self.sum = (self.sum.0 + mean, self.sum.1 + 1);
        let bone = self.carrier_name(farthest);
        self.report.take_max.raise(largest, time, || bone);
        let at_limit = apart.iter().zip(self.limits).filter(|(d, limit)| **d >= AT_LIMIT * **limit).count();
        self.report.at_limit = self.report.at_limit.max(at_limit as f64 / apart.len().max(1) as f64);
    }

    /// How much edges are stretched, and how far the flesh of bones is rotated.
    fn measure_shape(&mut self, time: f64, skinned: &[Vec3], simulated: &[Vec3]) {
        let shortest = SHORT_EDGE * self.report.size;
        let TriMesh { vertices: bind, triangles } = &self.character.binding.flesh.surface;
        let mut largest = (0.0, 0);
        for triangle in triangles {
            for (a, b) in [(0, 1), (1, 2), (2, 0)].map(|(i, j)| (triangle[i] as usize, triangle[j] as usize))
            {
                let length = (skinned[a] - skinned[b]).norm().max((bind[a] - bind[b]).norm());
                let ratio = (simulated[a] - simulated[b]).norm() / length;
                if length > shortest && ratio > largest.0 {
                    largest = (ratio, a);
                }
            }
        }
        let bone = self.carrier_name(largest.1);
        self.report.stretch.raise(largest.0, time, || bone);
        if let Some((angle, bone)) = self.rolled.largest_angle(skinned, simulated) {
            let name = self.bone_name(bone);
            self.report.roll.raise(angle, time, || name);
        }
    }

    fn measure_volume(&mut self, skinned: &[Vec3], simulated: &[Vec3]) {
        let TriMesh { triangles, .. } = &self.character.binding.flesh.surface;
        let change = |points: &[Vec3]| (volume(triangles, points) / self.report.bind_volume - 1.0).abs();
        let (by_skinning, by_flesh) = (change(skinned), change(simulated));
        self.report.skinning_volume_change = self.report.skinning_volume_change.max(by_skinning);
        self.report.volume_change = self.report.volume_change.max(by_flesh);
    }
}

impl FrameSink for CharacterWatch<'_> {
    fn begin(&mut self, _: &[SurfaceInfo], _: f64) -> Result<(), SinkError> {
        let flesh = &self.character.binding.flesh;
        let bind_volume = volume(&flesh.surface.triangles, &flesh.surface.vertices);
        self.report =
            CharacterReport { bind_volume, size: flesh.extent.amax(), ..CharacterReport::default() };
        self.sum = (0.0, 0);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        // where skinning puts the vertices, and where they are
        let binding = self.character.binding;
        let pose = self.character.pose_in(frame);
        let skinned = binding.skinned_surfaces(&pose);
        let parts = self.character.parts_in(frame, &pose);
        let source = || binding.flesh.source.iter().map(|(part, vertex)| (*part as usize, *vertex as usize));
        let skinned: Vec<Vec3> = source().map(|(part, vertex)| skinned[part][vertex]).collect();
        let simulated: Vec<Vec3> = source().map(|(part, vertex)| parts[part].vertices[vertex]).collect();

        // how the two differ
        self.measure_distances(frame.time, &skinned, &simulated);
        self.measure_shape(frame.time, &skinned, &simulated);
        self.measure_volume(&skinned, &simulated);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// ∫ dV over what a surface encloses, about its first vertex.
fn volume(triangles: &[[u32; 3]], points: &[Vec3]) -> f64 {
    let Some(origin) = points.first() else { return 0.0 };
    let wedge = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| points[v as usize] - origin);
        a.cross(&b).dot(&c) / 6.0
    };
    triangles.iter().map(wedge).sum()
}
