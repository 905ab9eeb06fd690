//! Two takes at their common times.

use super::played::{Performer, Points, TakeFacts};
use super::variant::{Against, REFERENCE_RATE, Variant};
use crate::interrupt::FrameLoop;

/// All frames of a take at the default frame rate.
pub(super) struct Reference {
    frames: Vec<Points>,
    pub(super) facts: TakeFacts,
}

/// How far a variant is from its reference.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Distance {
    /// The largest distance of a vertex at a common time (% of size).
    pub(super) largest: f64,
    /// The time of the reference at which it is (s).
    pub(super) time: f64,
    /// The largest distance of plain skinning alone, at any vertex and common time (% of size).
    pub(super) skinned: f64,
    /// How many times are common.
    pub(super) common: usize,
    pub(super) retries: usize,
}

impl Reference {
    pub(super) fn play(
        performer: &Performer,
        variant: Variant,
        max_seconds: f64,
        frame_loop: &FrameLoop,
    ) -> Result<Reference, String> {
        let mut frames = Vec::new();
        let facts =
            performer.play(variant, max_seconds, frame_loop, |_| true, |_, points| frames.push(points))?;
        Ok(Reference { frames, facts })
    }

    /// Plays a variant beside the reference. Frame k of it, at the time k/fps, is frame k · speed · 60/fps of a reference at 60 fps, where that is whole; `speed` is how many times
    /// as fast as the reference it goes.
    pub(super) fn compare(
        &self,
        performer: &Performer,
        (variant, against): (Variant, Against),
        max_seconds: f64,
        frame_loop: &FrameLoop,
    ) -> Result<Distance, String> {
        let speed = if against == Against::Itself { 1 } else { variant.change.speed() };
        let place = |frame: usize| {
            let scaled = frame * speed * REFERENCE_RATE;
            scaled
                .is_multiple_of(variant.fps)
                .then(|| scaled / variant.fps)
                .filter(|i| *i < self.frames.len())
        };
        let mut distance = Distance::default();
        // the reference of a unit other than metres is in metres too
        let percent = 100.0 / self.facts.size;
        let visit = |frame: usize, points: Points| {
            let Some(index) = place(frame) else { return };
            let there = &self.frames[index];
            distance.common += 1;
            for vertex in 0..points.flesh.len().min(there.flesh.len()) {
                let skinned = points.skinned[vertex] - there.skinned[vertex];
                let flesh = points.flesh[vertex] - there.flesh[vertex];
                let apart = if against == Against::OriginalSwing { flesh - skinned } else { flesh };
                distance.skinned = distance.skinned.max(percent * skinned.norm());
                // NaN counts as the largest
                let apart = percent * apart.norm();
                if apart.total_cmp(&distance.largest).is_gt() {
                    distance.largest = apart;
                    distance.time = index as f64 / REFERENCE_RATE as f64;
                }
            }
        };
        let facts =
            performer.play(variant, max_seconds, frame_loop, |frame| place(frame).is_some(), visit)?;
        Ok(Distance { retries: facts.retries, ..distance })
    }
}
