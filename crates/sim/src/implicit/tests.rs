//! Tests of implicit steps of small bodies.

mod arm;
mod barrier;
mod beam;
mod budget;
mod deformation_damping;
mod descent;
mod energy;
mod free_obstacles;
mod gradient;
mod hessian;
mod locking;
mod pick;
mod second_order;
mod soft_friction;

pub(crate) use arm::arm_world;
