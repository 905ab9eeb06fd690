//! Inverse help: finds the magnitude of a metaphor that reaches a wanted response at a frame, by bracketing and the Illinois method over simulations of the frames in between.
//!
//! ```text
//! s = (a g_b − b g_a)/(g_b − g_a),    g = response − wanted;  the end that stays twice counts half
//! ```
//!
//! Responses have peaks: an ear that is wrung too hard buckles, and turns less. Where doubling has stepped over one without passing the goal, the peak is searched by bisection of the larger side.

use crate::metaphor_scale::MetaphorScale;
use crate::{Bookmark, CheckpointError, Player};
use sinew_sim::{StepError, metaphor_response};
use thiserror::Error;

/// What a metaphor is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct MagnitudeGoal {
    /// The metaphor's name.
    pub metaphor: String,
    /// The response that is wanted, as [`sinew_sim::Metaphor::response`] measures it: m, for a twist rad.
    pub response: f64,
    /// The frame at which it is wanted.
    pub frame: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct MagnitudeReport {
    /// The factor of the magnitude, over all of its time, that comes nearest.
    pub factor: f64,
    /// The response to it.
    pub response: f64,
    /// Whether it is the wanted one.
    pub is_reached: bool,
    /// The largest factor that held, of those that were tried.
    pub largest_held: f64,
    /// The smallest one that was too strong, if any was.
    pub too_strong: Option<f64>,
    /// Number of simulations.
    pub tries: usize,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum MagnitudeError {
    /// The name of no metaphor.
    #[error("there is no metaphor '{name}' at frame {frame}{}", others(.names))]
    Unknown {
        /// The name.
        name: String,
        /// The frame.
        frame: usize,
        /// The metaphors that there are.
        names: Vec<String>,
    },
    /// The frame is not after the start.
    #[error("frame {frame} is not after frame {start}, from which the metaphor acts")]
    TooEarly {
        /// The frame.
        frame: usize,
        /// The first frame that changes.
        start: usize,
    },
    /// The bookmark is not one of the player's take.
    #[error(transparent)]
    Start(#[from] CheckpointError),
    /// A step failed for another reason than the strength of the metaphor: another metaphor is too strong, for one.
    #[error(transparent)]
    Step(#[from] StepError),
}

fn others(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(": there is {}", names.join(", ")) }
}

/// The wanted response counts as reached within this fraction of the way to it.
const TOLERANCE: f64 = 0.01;
/// The largest factor that is tried, and the number of simulations in a bracket.
const MAX_FACTOR: f64 = 64.0;
const MAX_STEPS: usize = 10;
/// A peak of the response is known when what is around it is no wider than this fraction of its factor.
const PEAK_WIDTH: f64 = 0.1;

impl Player {
    /// Finds the factor of a metaphor's magnitude that reaches a goal, simulating from a bookmark before the metaphor acts. The player is at the goal's frame, or before it, afterwards.
    ///
    /// # Errors
    /// An unknown metaphor, or a step that fails for another reason than the metaphor's strength.
    pub fn find_magnitude(
        &mut self,
        start: &Bookmark,
        goal: &MagnitudeGoal,
    ) -> Result<MagnitudeReport, MagnitudeError> {
        if goal.frame <= start.frame {
            return Err(MagnitudeError::TooEarly { frame: goal.frame, start: start.frame });
        }
        let found = search(goal.response, |factor| self.try_magnitude(start, goal, factor));
        self.metaphor_scale = None;
        found
    }

    /// The response at the frame of a goal with the magnitude multiplied by a factor; none if that is too strong.
    fn try_magnitude(
        &mut self,
        start: &Bookmark,
        goal: &MagnitudeGoal,
        factor: f64,
    ) -> Result<Option<f64>, MagnitudeError> {
        self.resume_from(start)?;
        self.metaphor_scale = Some(MetaphorScale { only: goal.metaphor.clone(), factor });
        while self.frame() < goal.frame {
            match self.advance_without_search() {
                Ok(_) => {}
                // without the metaphor at all, what fails is another one's fault
                Err(StepError::TooStrong { .. } | StepError::Diverged { .. }) if factor != 0.0 => {
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let metaphors = self.model.metaphors();
        let metaphor = metaphors.iter().find(|own| own.name == goal.metaphor);
        let metaphor = metaphor.ok_or_else(|| MagnitudeError::Unknown {
            name: goal.metaphor.clone(),
            frame: goal.frame,
            names: metaphors.iter().map(|own| own.name.clone()).collect(),
        })?;
        Ok(Some(metaphor_response(&self.model, metaphor, &self.state)))
    }
}

/// Searches for the factor with a wanted response. `respond` returns none for one that is too strong.
fn search<E>(
    wanted: f64,
    mut respond: impl FnMut(f64) -> Result<Option<f64>, E>,
) -> Result<MagnitudeReport, E> {
    let mut tried = Tried { wanted, all: Vec::new(), too_strong: None };
    let mut ask = |factor: f64, tried: &mut Tried| -> Result<Option<f64>, E> {
        let response = respond(factor)?;
        tried.add(factor, response);
        Ok(response.map(|response| response - wanted))
    };

    // without the metaphor, and with it
    let Some(start) = ask(0.0, &mut tried)? else { return Ok(tried.report(0.0)) };
    let tolerance = TOLERANCE * start.abs();
    if start.abs() <= 1e-12 * wanted.abs().max(1e-9) {
        return Ok(tried.report(tolerance));
    }
    let mut low = (0.0, start);
    let mut factor = 1.0_f64;
    let mut high = None;

    // away from zero until the goal is passed, or the body gives way
    while high.is_none() && factor.abs() <= MAX_FACTOR && tried.all.len() < 3 * MAX_STEPS {
        match ask(factor, &mut tried)? {
            Some(gap) if gap * start <= 0.0 => high = Some((factor, gap)),
            Some(gap) => {
                let is_first = low.0 == 0.0;
                if is_first && gap.abs() > start.abs() && factor > 0.0 {
                    // the other way
                    factor = -1.0;
                    continue;
                }
                low = (factor, gap);
                factor = next_factor(factor, tried.too_strong);
            }
            None => factor = 0.5 * (low.0 + factor),
        }
        if tried.too_strong.is_some_and(|strong| (strong - low.0).abs() < 0.05 * strong.abs()) {
            break;
        }
    }
    // or on the way to a peak that was stepped over
    while high.is_none() {
        let Some((near, factor)) = tried.beside_peak() else { break };
        let Some(gap) = ask(factor, &mut tried)? else { break };
        if gap * start <= 0.0 {
            (low, high) = ((near.0, near.1 - wanted), Some((factor, gap)));
        }
    }
    let Some(mut high) = high else { return Ok(tried.report(tolerance)) };

    // the Illinois method
    for _ in 0..MAX_STEPS {
        if tried.best_gap() <= tolerance {
            break;
        }
        let factor = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        let Some(gap) = ask(factor, &mut tried)? else { break };
        if gap * high.1 <= 0.0 {
            low = high;
        } else {
            low.1 *= 0.5;
        }
        high = (factor, gap);
    }
    Ok(tried.report(tolerance))
}

/// Twice a factor, or half the way to one that was too strong.
fn next_factor(factor: f64, too_strong: Option<f64>) -> f64 {
    too_strong.map_or(2.0 * factor, |strong| 0.5 * (factor + strong))
}

/// The factors that were tried.
struct Tried {
    wanted: f64,
    /// Those that held, with their responses.
    all: Vec<(f64, f64)>,
    too_strong: Option<f64>,
}

impl Tried {
    fn add(&mut self, factor: f64, response: Option<f64>) {
        match response {
            Some(response) => self.all.push((factor, response)),
            None => {
                let smaller = self.too_strong.filter(|own| own.abs() < factor.abs());
                self.too_strong = Some(smaller.unwrap_or(factor));
            }
        }
    }

    fn best(&self) -> Option<(f64, f64)> {
        let gap = |own: &&(f64, f64)| (own.1 - self.wanted).abs();
        self.all.iter().min_by(|a, b| gap(a).total_cmp(&gap(b))).copied()
    }

    /// The best factor with its response, and the middle of the wider gap between it and its neighbours; none if it has no neighbours that held on both sides, or they are close.
    fn beside_peak(&self) -> Option<((f64, f64), f64)> {
        let best = self.best()?;
        let beside = |is_own: &dyn Fn(f64) -> bool| {
            let factors = self.all.iter().map(|own| own.0).filter(|own| is_own(*own));
            factors.min_by(|a, b| (a - best.0).abs().total_cmp(&(b - best.0).abs()))
        };
        let (below, above) = (beside(&|own| own < best.0)?, beside(&|own| own > best.0)?);
        let is_found = above - below <= PEAK_WIDTH * best.0.abs();
        let farther = if above - best.0 > best.0 - below { above } else { below };
        (!is_found && best.0 != 0.0).then_some((best, 0.5 * (best.0 + farther)))
    }

    fn best_gap(&self) -> f64 {
        self.best().map_or(f64::INFINITY, |(_, response)| (response - self.wanted).abs())
    }

    fn report(&self, tolerance: f64) -> MagnitudeReport {
        let (factor, response) = self.best().unwrap_or_default();
        let held = self.all.iter().map(|own| own.0);
        MagnitudeReport {
            factor,
            response,
            is_reached: self.best_gap() <= tolerance.max(1e-12 * self.wanted.abs()),
            largest_held: held.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or_default(),
            too_strong: self.too_strong,
            tries: self.all.len() + usize::from(self.too_strong.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(wanted: f64, response: impl Fn(f64) -> Option<f64>) -> MagnitudeReport {
        search::<()>(wanted, |factor| Ok(response(factor))).expect("no error")
    }

    #[test]
    fn a_factor_is_found_on_either_side() {
        for wanted in [0.1, 3.0, -0.7, -12.0] {
            let found = find(wanted, |s| Some(0.4 * s + 0.05 * s * s * s));
            assert!(found.is_reached, "{found:?}");
            assert!((found.response - wanted).abs() <= 0.011 * wanted.abs(), "{found:?}");
            assert!(found.tries < 20);
        }
    }

    /// Beyond 5 the body gives way; 2 is reached, 20 is not, and the largest that held is near 5.
    #[test]
    fn what_cannot_be_reached_is_told() {
        let response = |s: f64| (s < 5.0).then_some(s);
        assert!(find(2.0, response).is_reached);
        let found = find(20.0, response);
        assert!(!found.is_reached && found.largest_held < 5.0 && found.largest_held > 4.5, "{found:?}");
        assert!(found.too_strong.is_some_and(|strong| strong >= 5.0));
    }

    /// The response rises to a peak of 1.1 at 1.3 and falls again, as that of a part that buckles: what is below the peak is reached although 1, 2 and 4 are all below it, what is above is told with the peak.
    #[test]
    fn a_goal_below_a_peak_is_reached() {
        let response = |s: f64| (s < 5.0).then(|| 2.2 * (s / 1.3) / (1.0 + (s / 1.3).powi(2)));
        assert!([1.0, 2.0, 4.0].iter().all(|s| response(*s).is_some_and(|own| own < 1.07)));
        let found = find(1.08, response);
        assert!(found.is_reached && found.tries < 16, "{found:?}");
        let found = find(1.3, response);
        assert!(!found.is_reached && (found.response - 1.1).abs() < 0.011, "{found:?}");
    }

    /// A response that saturates ends the search.
    #[test]
    fn a_saturated_response_is_not_reached() {
        let found = find(2.0, |s| Some(s / (1.0 + s.abs())));
        assert!(!found.is_reached && found.largest_held == 64.0 && found.tries < 12, "{found:?}");
    }
}
