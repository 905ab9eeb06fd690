//! The motion of a body as morph targets: shapes and weights as they are stored, rounded, with the errors that are left.
//!
//! Whole numbers stand for −1 to 1, and weights for 0 to 1, so every target is divided by the largest number in it, of positions or of normals, and its weights multiplied by that:
//!
//! ```text
//! ω e = (σ ω) (e/σ),   σ = max(max |e|, max |n|) ≤ 1
//! ```
//!
//! Where positions are so small in the unit of the mesh that sixteen bits would not keep the error, or larger than one unit, they stay in single precision, and so do weights.

use super::clip::{Clip, Moment};
use super::direction_fit::{self, DirectionDeltas};
use super::flesh_frames::FleshFrames;
use super::residuals::{Residuals, Shapes};
use super::shading_targets;
use crate::components::Effort;
use crate::document::Storage;
use sinew_character::RiggedCharacter;
use std::io;

/// The largest number of keys per frame, where flesh swings so fast that straight lines between frames miss it.
const MAX_KEYS: usize = 4;
/// Where frames miss the error too, errors between them that are this many times theirs come from straight lines between keys.
const BETWEEN: f64 = 1.25;
/// Parts of a frame at which errors are measured.
const PARTS: usize = 4;
/// What rounding may add to an error that is too large already.
const SLACK: f64 = 1.02;

/// How numbers of morph targets are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantization {
    /// Positions in 16 bits, normals in 8, weights in 16 (`KHR_mesh_quantization`).
    Quantized,
    /// Single precision, which every reader of glTF knows.
    #[default]
    Floats,
}

/// The morph targets of a body as they are written.
pub(super) struct Flesh {
    /// What each target adds to positions, as it is read again.
    pub(super) deltas: Vec<Vec<[f32; 3]>>,
    /// For each field of directions what each target adds to it.
    pub(super) directions: DirectionDeltas,
    /// How positions are stored; directions are in bytes, or in floats with them.
    pub(super) storage: Storage,
    pub(super) direction_storage: Storage,
    /// The moments of keys.
    pub(super) keys: Vec<Moment>,
    /// For each key the weights of targets.
    pub(super) weights: Vec<Vec<f32>>,
    /// Whether weights are sixteen bits from 0 to 1.
    pub(super) has_fractions: bool,
    /// For each clip the largest distance of a vertex from where it was given, at frames and at quarters between them (m).
    pub(super) errors: Vec<ClipError>,
    /// The mean angle between normals as they should be and as they are shown (rad).
    pub(super) normal_angle: Option<f64>,
    /// Vertices whose way back was damped at some moment.
    pub(super) damped: usize,
}

/// The largest errors in a clip (m).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClipError {
    pub(super) at_frames: f64,
    pub(super) between: f64,
}

/// Finds the morph targets of one of the bodies. Clips that miss the error between frames, and not as much at them, get more keys.
pub(super) fn compress(
    character: &RiggedCharacter,
    clips: &[Clip],
    frames: &FleshFrames,
    body: usize,
    (effort, quantization): (Effort, Quantization),
) -> io::Result<Flesh> {
    let mut per_frame = vec![1; clips.len()];
    loop {
        let residuals = Residuals::new(character, clips, frames, body, &per_frame);
        let flesh = compress_keys(&residuals, body, effort, quantization)?;
        let is_missed = |error: &ClipError| {
            let by_lines = error.at_frames <= effort.allowed || error.between > BETWEEN * error.at_frames;
            error.between > effort.allowed && by_lines
        };
        let mut missed =
            per_frame.iter_mut().zip(&flesh.errors).filter(|(_, error)| is_missed(error)).peekable();
        if missed.peek().is_none_or(|(count, _)| **count >= MAX_KEYS) {
            return Ok(flesh);
        }
        missed.for_each(|(count, _)| *count = (2 * *count).min(MAX_KEYS));
    }
}

/// Finds the morph targets of one of the bodies, with keys that are given.
fn compress_keys(
    residuals: &Residuals,
    body: usize,
    effort: Effort,
    quantization: Quantization,
) -> io::Result<Flesh> {
    // shapes, and the normals that go with them
    let mut shapes = residuals.components(effort)?;
    let mut directions = direction_fit::fit(residuals, body, &shapes.weights)?;
    shading_targets::add(residuals, body, effort, (&mut shapes, &mut directions))?;

    // as they are stored
    let mut flesh = Flesh::rounded(&shapes, &directions, quantization, Storage::Short);
    if flesh.storage == Storage::Short {
        let rounded = residuals.measure(&residuals.keys, &flesh.deltas, &flesh.weights, 0)?.largest()[0];
        if rounded > effort.allowed.max(SLACK * shapes.error) {
            flesh = Flesh::rounded(&shapes, &directions, quantization, Storage::Float);
        }
    }

    // what is lost
    let clips = residuals.clips.iter().enumerate();
    let moments: Vec<Moment> = clips.flat_map(|(clip, of)| of.parts_of_frames(clip, PARTS)).collect();
    let measured = residuals.measure(&moments, &flesh.deltas, &flesh.weights, 0)?;
    flesh.damped = measured.damped;
    flesh.errors = vec![ClipError::default(); residuals.clips.len()];
    for (moment, errors) in moments.iter().zip(&measured.errors) {
        let of_clip = &mut flesh.errors[moment.clip];
        let largest = if moment.fraction == 0.0 { &mut of_clip.at_frames } else { &mut of_clip.between };
        *largest = largest.max(errors[0]);
    }
    flesh.normal_angle = direction_fit::mean_angle(residuals, body, &flesh.directions, &flesh.weights)?;
    flesh.keys.clone_from(&residuals.keys);
    Ok(flesh)
}

impl Flesh {
    /// Shapes and directions as they are read again; positions are stored so if they fit.
    fn rounded(
        shapes: &Shapes,
        directions: &DirectionDeltas,
        quantization: Quantization,
        storage: Storage,
    ) -> Flesh {
        // how they are stored
        let largest =
            |shape: &[[f32; 3]]| shape.as_flattened().iter().fold(0.0f32, |most, c| most.max(c.abs()));
        let of_positions: Vec<f32> = shapes.deltas.iter().map(|delta| largest(delta)).collect();
        let is_quantized = quantization == Quantization::Quantized;
        let fits = is_quantized && of_positions.iter().all(|most| *most <= 1.0);
        let storage = if fits { storage } else { Storage::Float };
        let direction_storage = if is_quantized { Storage::Byte } else { Storage::Float };

        // σ of each target
        let scale = |k: usize| {
            let of_directions = directions.iter().map(|field| largest(&field[k])).fold(0.0, f32::max);
            let of_positions = if storage == Storage::Short { of_positions[k] } else { 0.0 };
            let most = of_directions.max(of_positions);
            if is_quantized && most > 0.0 { most.min(1.0) } else { 1.0 }
        };
        let scales: Vec<f32> = (0..shapes.deltas.len()).map(scale).collect();
        let divided = |shape: &[[f32; 3]], scale: f32, storage: Storage| -> Vec<[f32; 3]> {
            shape.iter().map(|v| v.map(|c| storage.rounded(c / scale))).collect()
        };
        let deltas = shapes.deltas.iter().zip(&scales).map(|(delta, scale)| divided(delta, *scale, storage));
        let field = |field: &Vec<Vec<[f32; 3]>>| {
            field
                .iter()
                .zip(&scales)
                .map(|(delta, scale)| divided(delta, *scale, direction_storage))
                .collect()
        };

        // σ ω
        let has_fractions = storage == Storage::Short
            && shapes.weights.iter().flatten().all(|weight| (0.0..=1.0).contains(weight));
        let weight = |(weight, scale): (&f32, &f32)| {
            let weight = weight * scale;
            if has_fractions { (weight * 65535.0).round() / 65535.0 } else { weight }
        };
        let weights = shapes.weights.iter().map(|key| key.iter().zip(&scales).map(weight).collect());
        Flesh {
            deltas: deltas.collect(),
            directions: directions.iter().map(field).collect(),
            storage,
            direction_storage,
            keys: Vec::new(),
            weights: weights.collect(),
            has_fractions,
            errors: Vec::new(),
            normal_angle: None,
            damped: 0,
        }
    }

    /// The largest error in any clip (m), at frames and between them.
    pub(super) fn largest_error(&self) -> f64 {
        self.errors.iter().map(|error| error.at_frames.max(error.between)).fold(0.0, f64::max)
    }
}
