//! What a take tells about a metaphor that is too strong: the largest magnitude that holds, by bisection over simulations from where it began to act.

use crate::Player;
use crate::metaphor_scale::MetaphorScale;
use sinew_sim::StepError;

/// Number of bisections: the largest factor that held is found to 3 % of the magnitude.
const BISECTIONS: usize = 5;

impl Player {
    /// Keeps the current frame as the one before metaphors act, unless one acts already.
    pub(crate) fn remember_metaphor_start(&mut self) {
        let acts = self.last_control().metaphors.iter().any(|ends| *ends != [0.0; 2]);
        if !acts || self.metaphor_start.is_none() {
            self.metaphor_start = Some(Box::new(self.bookmark()));
        }
    }

    /// Adds the largest magnitude that holds to the error about a metaphor that is too strong. The player stays at its frame.
    pub(crate) fn with_held_magnitude(&mut self, error: StepError) -> StepError {
        let StepError::TooStrong { metaphor, magnitude, body, time, what, held: None } = error else {
            return error;
        };
        let held = self.find_held_factor(&metaphor).map(|factor| factor * magnitude);
        StepError::TooStrong { metaphor, magnitude, body, time, what, held }
    }

    /// The largest factor of the magnitude of a metaphor with which the frame that failed holds; none if that cannot be tried.
    fn find_held_factor(&mut self, metaphor: &str) -> Option<f64> {
        let start = self.metaphor_start.take()?;
        let (failed_at, end) = (self.bookmark(), self.frame() + 1);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let factor = 0.5 * (low + high);
            self.metaphor_scale = Some(MetaphorScale { only: metaphor.to_owned(), factor });
            let holds = self.resume_from(&start).is_ok() && self.reaches(end);
            if holds { low = factor } else { high = factor }
        }
        self.metaphor_scale = None;
        let is_back = self.resume_from(&failed_at).is_ok();
        self.metaphor_start = Some(start);
        is_back.then_some(low)
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
