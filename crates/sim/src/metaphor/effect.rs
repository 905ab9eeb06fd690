//! What a metaphor of magnitude 1 does to a body: a visible deformation, in proportion to the widget.
//!
//! With half the distance ℓ of both sets, arms of length a, and the radius ρ of the widget:
//!
//! ```text
//! stretch   15 % of 2 ℓ
//! twist     0.5 rad of one set against the other, or less where a part is so short and thick that it would be sheared by more than 15 %: 0.15 · 2 ℓ/r, r: the radius of gyration of the sets about the axis
//! bend      the middle is off by (2/3) α a, α = 0.25 rad: the height of an arm whose curvature falls linearly to its end, where its tilt is α
//! push      0.1 ρ
//! ```

use crate::desc::MetaphorKind;

/// The sizes of a widget that the effect of magnitude 1 follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effect {
    pub(crate) kind: MetaphorKind,
    /// Positions of the left and the right set along the axis (m), for a bend from the joint.
    pub(crate) ends: [f64; 2],
    /// Radius of a push (m), or the radius of gyration of the sets of a twist about the axis.
    pub(crate) radius: f64,
}

/// Strain of a stretch, angle (rad) and shear of a twist, tilt of either arm of a bend (rad), and depth of a push in radii. A St. Venant-Kirchhoff solid yields from 42 % of compression on, where the stress
/// of a stretch s, s (s² − 1)/2, has its extremum: dents of 0.4 and 0.2 radii went on to 3.4 and 3.0 times their depth on slender bodies.
const STRAIN: f64 = 0.15;
const TWIST: f64 = 0.5;
const SHEAR: f64 = 0.15;
const TILT: f64 = 0.25;
const DEPTH: f64 = 0.1;

impl Effect {
    /// The response to magnitude 1, as [`super::Metaphor::response`] measures it.
    pub(crate) fn response(&self) -> f64 {
        let [left, right] = self.ends;
        match self.kind {
            MetaphorKind::Stretch => STRAIN * (right - left),
            MetaphorKind::Twist => TWIST.min(SHEAR * (right - left) / self.radius.max(f64::MIN_POSITIVE)),
            // ∫ 2 α (t − t²/2) a dt from 0 to 1, for either arm
            MetaphorKind::Bend => 0.5 * (2.0 / 3.0) * TILT * (right - left),
            MetaphorKind::Push => DEPTH * self.radius,
        }
    }
}
