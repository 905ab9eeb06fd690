//! Flesh whose home is the skinned shape: skin weights of cage nodes, and the springs that hold nodes at home.
//!
//! What bones carry where during a step is [`crate::coupling`].

mod homes;
mod node_weights;
mod spring;

pub(crate) use homes::{HomePart, HomeParts, Homes};
pub(crate) use node_weights::{BoneWeights, PaintedCage, spread_values};
pub(crate) use spring::HomeSpring;
