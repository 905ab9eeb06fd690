//! Facts about implicit steps of small bodies.

mod arm;
mod beam;
mod budget;
mod curvature;
mod descent;
mod energy;
mod locking;
mod pick;
mod second_order;
mod slope;

pub(crate) use arm::arm_world;
