//! Stagnation test of a descent method: at kinks of the potential, as inverted elements cause, step lengths tend to zero without convergence.

/// Progress of the last iterations.
#[derive(Clone, Debug, Default)]
pub(super) struct Stagnation {
    /// Total decrease of the potential (J).
    fallen: f64,
    /// Gradient norm (N) and total decrease of the potential at the last iterations, oldest first.
    past: Vec<(f64, f64)>,
}

/// Number of iterations in the window.
const WINDOW: usize = 6;
/// The descent stagnates if the gradient norm exceeds this fraction of its value at the beginning of the window,
const GRADIENT_FRACTION: f64 = 0.8;
/// and if the potential decreased over the window by less than this fraction of its total decrease.
const ENERGY_FRACTION: f64 = 1e-4;

impl Stagnation {
    /// Records the gradient norm (N) after an iteration and the decrease of the potential in it (J); returns whether the descent stagnates.
    pub(super) fn is_stagnant(&mut self, gradient: f64, fell: f64) -> bool {
        self.fallen += fell.max(0.0);
        self.past.push((gradient, self.fallen));
        if self.past.len() <= WINDOW {
            return false;
        }
        let (gradient_then, fallen_then) = self.past.remove(0);
        gradient > GRADIENT_FRACTION * gradient_then
            && self.fallen - fallen_then < ENERGY_FRACTION * self.fallen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stagnates_after(gains: impl Iterator<Item = (f64, f64)>) -> Option<usize> {
        let mut stagnation = Stagnation::default();
        gains.take(100).position(|(gradient, fell)| stagnation.is_stagnant(gradient, fell))
    }

    #[test]
    fn short_iterations_without_end_are_left_and_those_that_lead_somewhere_are_not() {
        // a kink: the gradient norm stays the same and the potential does not decrease
        let crease = (0..).map(|i| if i < 4 { (1.0, 1.0) } else { (0.9, 1e-6) });
        assert_eq!(stagnates_after(crease), Some(9));
        // a gradient norm that decreases slowly while the potential is at round-off, and a tangled body whose gradient norm stays while the potential decreases
        assert_eq!(stagnates_after((0..).map(|i: i32| (0.9f64.powi(i), 0.0))), None);
        assert_eq!(stagnates_after((0..).map(|_| (1.0, 1e-2))), None);
    }
}
