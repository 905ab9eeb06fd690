//! `[solver]`: how time steps are taken.

use super::whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How time steps are taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolverTable {
    /// The time integration: many small explicit steps that conserve energy; one implicit step per frame, stable for any stiffness but damped; or whichever costs less (`auto`).
    #[schemars(extend("default" = "explicit"))]
    pub kind: Option<SolverChoice>,
    /// The relative tolerance of implicit steps: a thousandth (`interactive`) or a hundred-thousandth (`accurate`).
    #[schemars(extend("default" = "accurate"))]
    pub accuracy: Option<Accuracy>,
    /// The relative tolerance in place of that of `accuracy`: how far the norm of the gradient must fall, as a fraction of its start value.
    #[schemars(extend("x-default" = "of `accuracy`", "exclusiveMinimum" = 0, "maximum" = 1))]
    pub tolerance: Option<f64>,
    /// The most Newton iterations in a step.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("x-default" = "of `accuracy`", "minimum" = 1, "maximum" = 100_000))]
    pub max_newton: Option<usize>,
    /// The most conjugate-gradient iterations in a Newton iteration.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("x-default" = "of `accuracy`", "minimum" = 1, "maximum" = 100_000))]
    pub max_inner: Option<usize>,
    /// Implicit steps per frame; more of them damp motion less.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 1, "minimum" = 1, "maximum" = 1000))]
    pub substeps: Option<usize>,
    /// Order of accuracy of implicit steps: 1 is backward Euler, which damps oscillations; 2 is SDIRK2, two solves per step, which preserves oscillations of ten frames or more.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 1, "enum" = [1, 2]))]
    pub order: Option<usize>,
    /// How implicit steps keep surfaces apart: by springs, which yield a little and can be pushed through; by barriers, which no step passes but which need a start without intersections; or by barriers in steps that begin without intersections and springs in others (`auto`).
    #[schemars(extend("default" = "springs"))]
    pub contact: Option<ContactChoice>,
    /// How implicit steps hold points of constraints with `exact`: by projection inside conjugate gradients, or by Lagrange multipliers. The answer is the same to the tolerance.
    #[schemars(extend("default" = "projection"))]
    pub exact: Option<ExactChoice>,
    /// Time limit for solving an implicit step (s); the best state found is used, and runs are no longer reproducible.
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

/// How implicit steps keep surfaces apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContactChoice {
    /// Barriers in steps that begin without intersections, springs in others.
    Auto,
    /// Springs.
    Springs,
    /// Barriers; intersections at the start are an error.
    Barrier,
}

/// How implicit steps hold points exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExactChoice {
    /// Projection inside conjugate gradients.
    Projection,
    /// Lagrange multipliers.
    Multipliers,
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
