//! Measurements of a take of a character: how far flesh is from plain skinning, and how much its volume changes.

use crate::PlayedCharacter;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo};

/// Compares a take of a character with plain skinning, frame by frame.
#[derive(Debug)]
pub struct CharacterWatch<'a> {
    character: PlayedCharacter<'a>,
    report: CharacterReport,
    has_seen: bool,
}

/// What [`CharacterWatch`] measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CharacterReport {
    /// How far settled flesh is from where skinning puts it in the first frame, at most and on average (m).
    pub settled: [f64; 2],
    /// How far flesh was from where skinning puts it in any frame (m).
    pub farthest: f64,
    /// Volume at bind (m³).
    pub bind_volume: f64,
    /// The largest change of volume that plain skinning makes, as a fraction of that at bind.
    pub skinned_change: f64,
    /// The largest change of volume of the flesh.
    pub flesh_change: f64,
}

impl<'a> CharacterWatch<'a> {
    /// Measures a take of a character.
    pub fn new(character: PlayedCharacter<'a>) -> CharacterWatch<'a> {
        CharacterWatch { character, report: CharacterReport::default(), has_seen: false }
    }

    /// What was measured so far; `None` without a frame.
    pub fn report(&self) -> Option<CharacterReport> {
        self.has_seen.then_some(self.report)
    }
}

impl FrameSink for CharacterWatch<'_> {
    fn begin(&mut self, _: &[SurfaceInfo], _: f64) -> Result<(), SinkError> {
        let flesh = &self.character.binding.flesh.surface;
        let bind_volume = volume(&flesh.triangles, &flesh.vertices);
        self.report = CharacterReport { bind_volume, ..CharacterReport::default() };
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.has_seen = true;
        let binding = self.character.binding;
        let flesh = &binding.flesh;
        let pose = self.character.pose_in(frame);
        let skinned = binding.skinned_surfaces(&pose);
        let skinned: Vec<Vec3> =
            flesh.source.iter().map(|(part, vertex)| skinned[*part as usize][*vertex as usize]).collect();
        let parts = self.character.parts_in(frame, &pose);
        let simulated: Vec<Vec3> = flesh
            .source
            .iter()
            .map(|(part, vertex)| parts[*part as usize].vertices[*vertex as usize])
            .collect();

        let apart: Vec<f64> = skinned.iter().zip(&simulated).map(|(a, b)| (a - b).norm()).collect();
        let largest = apart.iter().copied().fold(0.0, f64::max);
        if frame.time == 0.0 {
            self.report.settled = [largest, apart.iter().sum::<f64>() / apart.len().max(1) as f64];
        }
        self.report.farthest = self.report.farthest.max(largest);
        let TriMesh { triangles, .. } = &flesh.surface;
        let change = |points: &[Vec3]| (volume(triangles, points) / self.report.bind_volume - 1.0).abs();
        let (by_skinning, by_flesh) = (change(&skinned), change(&simulated));
        self.report.skinned_change = self.report.skinned_change.max(by_skinning);
        self.report.flesh_change = self.report.flesh_change.max(by_flesh);
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
