//! `[contact]`: how contact is resolved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How contact is resolved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactTable {
    /// Coulomb's coefficient of friction where neither side of a contact has its own.
    #[schemars(extend("default" = 0.6, "minimum" = 0))]
    pub friction: Option<f64>,
    /// A factor on the stiffness of contact; above 1, time steps are shorter.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub stiffness: Option<f64>,
    /// Whether bodies collide with each other.
    #[schemars(extend("default" = true))]
    pub bodies: Option<bool>,
    /// The longest sub-step where contact is possible (s).
    #[schemars(extend("default" = 0.002, "exclusiveMinimum" = 0))]
    pub longest_step: Option<f64>,
}
