//! Morph targets that move no vertex and turn normals: for what the targets of positions leave.
//!
//! Where flesh hardly moves, few targets carry its positions, and normals that follow their weights stay as they are skinned, which across bent joints is far from the normals of the surface. The rest of what normals are asked for,
//! R − W D of [`super::direction_fit`], has principal components of its own.

use super::direction_fit::{DirectionDeltas, at_frames, mean_angle};
use super::residuals::{Residuals, Shapes};
use crate::components::{Components, Effort, Fitted, Frames, add_scaled, to_unit_shapes, to_unit_weights};
use std::borrow::Cow;
use std::io;

/// The mean angle of normals that is near enough (rad): 2.5°.
const NEAR_ENOUGH: f64 = 2.5 / 180.0 * core::f64::consts::PI;
/// How many targets are tried, one number after the other.
const TRIED: [usize; 5] = [4, 8, 12, 16, 24];

/// Adds targets that bring the normals of a body near enough, if the limit has room for them.
pub(super) fn add(
    residuals: &Residuals,
    body: usize,
    effort: Effort,
    (shapes, directions): (&mut Shapes, &mut DirectionDeltas),
) -> io::Result<()> {
    // whether there is something to do, and room for it
    let room = effort.limit.saturating_sub(shapes.deltas.len() + 1);
    let is_near = |angle: Option<f64>| angle.is_none_or(|angle| angle <= NEAR_ENOUGH);
    if room < TRIED[0] || is_near(mean_angle(residuals, body, directions, &shapes.weights)?) {
        return Ok(());
    }

    // principal components of what is left, at frames
    let frames = at_frames(residuals, &shapes.weights);
    let rest = Rest { residuals, body, frames: &frames, directions };
    let vertex_count = residuals.body.vertex_count();
    let nothing = vec![[0.0; 3]; directions.len() * vertex_count];
    let limit = room.min(TRIED[TRIED.len() - 1]);
    let found =
        Components::find(&rest, nothing, Effort { allowed: 0.0, limit, fitted: Fitted::Mean, ..effort })?;

    // weights at all keys: those between frames are on straight lines
    let places: Vec<usize> = frames.iter().map(|(frame, _)| *frame).collect();
    let last_of_clip = |key: usize| residuals.clips[residuals.keys[key].clip].frames.end - 1;
    let at_key = |key: usize| {
        let moment = &residuals.keys[key];
        let of_frame = |frame: usize| {
            places.binary_search(&frame.min(last_of_clip(key))).unwrap_or_else(|at| at.min(places.len() - 1))
        };
        let (now, next) =
            (&found.weights[of_frame(moment.frame)], &found.weights[of_frame(moment.frame + 1)]);
        let fraction = moment.fraction as f32;
        now.iter().zip(next).map(|(a, b)| a + fraction * (b - a)).collect::<Vec<f32>>()
    };
    let mut weights: Vec<Vec<f32>> = (0..residuals.keys.len()).map(at_key).collect();

    // as few as are near enough, with weights from 0 to 1; what is there always is one target more
    let ranges = to_unit_weights(&mut weights);
    let counts: Vec<usize> = TRIED.into_iter().filter(|count| *count <= found.deltas.len()).collect();
    for &count in &counts {
        let mut deltas = found.deltas[..count].to_vec();
        let always = to_unit_shapes(&ranges[..count], &mut deltas);
        deltas.push(always);
        let mut tried = directions.clone();
        for (field, own) in tried.iter_mut().enumerate() {
            own.extend(deltas.iter().map(|delta| delta[field * vertex_count..][..vertex_count].to_vec()));
        }
        let both = shapes.weights.iter().zip(&weights);
        let with = |(own, added): (&Vec<f32>, &Vec<f32>)| -> Vec<f32> {
            own.iter().chain(&added[..count]).copied().chain([1.0]).collect()
        };
        let with: Vec<Vec<f32>> = both.map(with).collect();
        if Some(&count) == counts.last() || is_near(mean_angle(residuals, body, &tried, &with)?) {
            shapes.deltas.extend(vec![vec![[0.0; 3]; vertex_count]; count + 1]);
            (shapes.weights, *directions) = (with, tried);
            break;
        }
    }
    Ok(())
}

/// What normals are asked for beyond what targets give them, at frames.
struct Rest<'a> {
    residuals: &'a Residuals<'a>,
    body: usize,
    frames: &'a [(usize, &'a [f32])],
    directions: &'a DirectionDeltas,
}

impl Frames for Rest<'_> {
    fn count(&self) -> usize {
        self.frames.len()
    }

    fn read(&self, frame: usize) -> io::Result<Cow<'_, [f32]>> {
        let (frame, weights) = self.frames[frame];
        let mut rest = self.residuals.frames.directions(self.body, frame)?;
        let width = 3 * self.residuals.body.vertex_count();
        for (field, own) in self.directions.iter().zip(rest.chunks_mut(width)) {
            for (delta, weight) in field.iter().zip(weights) {
                add_scaled(-weight, delta.as_flattened(), own);
            }
        }
        Ok(Cow::Owned(rest))
    }
}
