//! What a take tells about a metaphor that is too strong: the largest magnitude that holds, by bisection over simulations from where it began to act.

use crate::metaphor_scale::MetaphorScale;
use crate::{Bookmark, Player};
use sinew_sim::StepError;

/// Number of bisections: the largest factor that held is found to 3 % of the magnitude.
const BISECTIONS: usize = 5;
/// Frames beyond the one that failed through which a body must hold without a metaphor for that to be the cause: any change delays what another one does by a few.
const MARGIN: usize = 15;

impl Player {
    /// Keeps the current frame as the one before metaphors act, unless one acts already.
    pub(crate) fn remember_metaphor_start(&mut self) {
        let acts = self.last_control().metaphors.iter().any(|ends| *ends != [0.0; 2]);
        if !acts || self.metaphor_start.is_none() {
            self.metaphor_start = Some(Box::new(self.bookmark()));
        }
    }

    /// Completes the error about a metaphor that is too strong: names the one without which the body holds, and the largest magnitude of it that holds. The player stays at its frame.
    pub(crate) fn with_held_magnitude(&mut self, mut error: StepError) -> StepError {
        let StepError::TooStrong { metaphor, magnitude, beside, held: held @ None, .. } = &mut error else {
            return error;
        };
        let Some(start) = self.metaphor_start.take() else { return error };
        let failed_at = self.bookmark();
        if !beside.is_empty()
            && let Some(name) = self.find_culprit(&start, failed_at.frame + 1, &named(metaphor, beside))
            && let Some((other, own)) = beside.iter_mut().find(|(other, _)| *other == name)
        {
            core::mem::swap(metaphor, other);
            core::mem::swap(magnitude, own);
        }
        let factor = self.find_held_factor(&start, &failed_at, metaphor);
        self.metaphor_scale = None;
        let is_back = self.resume_from(&failed_at).is_ok();
        self.metaphor_start = Some(start);
        *held = is_back.then_some(factor * *magnitude);
        error
    }

    /// The last of some metaphors without which a body holds beyond a frame.
    fn find_culprit(&mut self, start: &Bookmark, frame: usize, names: &[String]) -> Option<String> {
        let order = self.model.metaphors().iter().rev().map(|own| own.name.clone());
        let candidates: Vec<String> = order.filter(|name| names.contains(name)).collect();
        let end = (frame + MARGIN).min(self.frame_count());
        candidates.into_iter().find(|name| self.holds(start, name, 0.0, end))
    }

    /// The largest factor of the magnitude of a metaphor with which the frame that failed holds.
    fn find_held_factor(&mut self, start: &Bookmark, failed_at: &Bookmark, metaphor: &str) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let factor = 0.5 * (low + high);
            if self.holds(start, metaphor, factor, failed_at.frame + 1) {
                low = factor
            } else {
                high = factor
            }
        }
        low
    }

    /// Whether a frame is reached with a factor of the magnitude of a metaphor.
    fn holds(&mut self, start: &Bookmark, metaphor: &str, factor: f64, frame: usize) -> bool {
        self.metaphor_scale = Some(MetaphorScale { only: metaphor.to_owned(), factor });
        self.resume_from(start).is_ok() && self.reaches(frame)
    }

    fn reaches(&mut self, frame: usize) -> bool {
        while self.frame() < frame {
            if self.advance_without_search().is_err() {
                return false;
            }
        }
        true
    }
}

fn named(metaphor: &str, beside: &[(String, f64)]) -> Vec<String> {
    beside.iter().map(|own| own.0.clone()).chain([metaphor.to_owned()]).collect()
}
