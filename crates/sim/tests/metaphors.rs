//! Control metaphors: resultants, the validation of [Transue2014, X], compound edits, solvers and determinism.

#[path = "metaphors/bodies.rs"]
mod bodies;
#[path = "metaphors/resultants.rs"]
mod resultants;
#[path = "metaphors/selection.rs"]
mod selection;
#[path = "metaphors/strength.rs"]
mod strength;
#[path = "metaphors/validation.rs"]
mod validation;
