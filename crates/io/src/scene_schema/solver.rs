//! `[solver]`: how time steps are taken.

use super::whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How time steps are taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolverTable {
    /// Many small explicit steps that conserve energy; one implicit step per frame, stable for any stiffness but damped; or whichever costs less.
    #[schemars(extend("default" = "explicit"))]
    pub kind: Option<SolverChoice>,
    /// Implicit steps are solved to a thousandth (`interactive`) or to a hundred-thousandth (`accurate`).
    #[schemars(extend("default" = "accurate"))]
    pub accuracy: Option<Accuracy>,
    /// Instead of that of `accuracy`: the fraction of its start value to which the gradient of the potential falls.
    #[schemars(extend("x-default" = "of `accuracy`", "exclusiveMinimum" = 0, "maximum" = 1))]
    pub tolerance: Option<f64>,
    /// The most Newton iterations in a step.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("x-default" = "of `accuracy`", "minimum" = 1, "maximum" = 100_000))]
    pub max_newton: Option<usize>,
    /// The most conjugate-gradient iterations in each of them.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("x-default" = "of `accuracy`", "minimum" = 1, "maximum" = 100_000))]
    pub max_inner: Option<usize>,
    /// Implicit steps per frame; more of them damp motion less.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 1, "minimum" = 1, "maximum" = 1000))]
    pub substeps: Option<usize>,
    /// Order of accuracy of implicit steps: backward Euler, which damps all that oscillates, or two solves per step that preserve oscillations of ten frames or more.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 1, "enum" = [1, 2]))]
    pub order: Option<usize>,
    /// Seconds that solving an implicit step may take; the best state found is used, and runs are no longer reproducible.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub budget: Option<f64>,
}

/// Explicit or implicit steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SolverChoice {
    /// Many small steps that conserve energy.
    Explicit,
    /// One step per frame, stable for any stiffness, that damps fast motion.
    Implicit,
    /// Implicit where explicit steps would cost more.
    Auto,
}

/// How accurately implicit steps are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accuracy {
    /// To a thousandth, with bounded work.
    Interactive,
    /// To a hundred-thousandth.
    Accurate,
}
