//! Stagnation of a descent: at a crease of the potential, as inverted flesh has them, iterations become short without end.

/// What the last iterations gained.
#[derive(Clone, Debug, Default)]
pub(super) struct Stagnation {
    /// How far the potential has fallen altogether (J).
    fallen: f64,
    /// The gradient (N) and how far the potential had fallen, of the last iterations, the oldest first.
    past: Vec<(f64, f64)>,
}

/// Iterations that are looked back upon.
const ROUNDS: usize = 6;
/// They stand if the gradient is more than this fraction of what it was,
const GRADIENT_FRACTION: f64 = 0.8;
/// and if the potential fell by less than this fraction of all it fell.
const FALL: f64 = 1e-4;

impl Stagnation {
    /// Takes what an iteration left of the gradient (N) and by how much the potential fell in it (J); whether there is no use in going on.
    pub(super) fn stands(&mut self, gradient: f64, fell: f64) -> bool {
        self.fallen += fell.max(0.0);
        self.past.push((gradient, self.fallen));
        if self.past.len() <= ROUNDS {
            return false;
        }
        let (gradient_then, fallen_then) = self.past.remove(0);
        gradient > GRADIENT_FRACTION * gradient_then && self.fallen - fallen_then < FALL * self.fallen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands_after(gains: impl Iterator<Item = (f64, f64)>) -> Option<usize> {
        let mut stagnation = Stagnation::default();
        gains.take(100).position(|(gradient, fell)| stagnation.stands(gradient, fell))
    }

    #[test]
    fn short_iterations_without_end_are_left_and_those_that_lead_somewhere_are_not() {
        // a crease: as much as ever is left, and nothing is gained
        let crease = (0..).map(|i| if i < 4 { (1.0, 1.0) } else { (0.9, 1e-6) });
        assert_eq!(stands_after(crease), Some(9));
        // a gradient that falls slowly while the potential is at its last digit, and tangled flesh whose gradient stays as the potential falls
        assert_eq!(stands_after((0..).map(|i: i32| (0.9f64.powi(i), 0.0))), None);
        assert_eq!(stands_after((0..).map(|_| (1.0, 1e-2))), None);
    }
}
