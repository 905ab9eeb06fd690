//! Flesh whose home is the skinned shape: the bones that carry nodes home, and the springs that hold them there.
//!
//! What bones carry where during a step is [`crate::coupling`].

mod blend_stiffness;
mod homes;
mod spring;

pub(crate) use blend_stiffness::blend_stiffness;
pub(crate) use homes::{HomePart, HomeParts, Homes};
pub(crate) use spring::HomeSpring;
