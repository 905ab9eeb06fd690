//! Facts about implicit steps of small bodies.

mod arm;
mod beam;
mod curvature;
mod pick;
