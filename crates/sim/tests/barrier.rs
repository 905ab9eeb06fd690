//! Implicit steps with barriers: no intersection in any frame, energy, friction, determinism.

#[path = "barrier/bodies.rs"]
mod bodies;
#[path = "barrier/energy.rs"]
mod energy;
#[path = "barrier/friction.rs"]
mod friction;
#[path = "barrier/mode.rs"]
mod mode;
#[path = "barrier/violent.rs"]
mod violent;
