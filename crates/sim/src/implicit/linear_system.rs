//! The linear system of an iteration of Newton's method, as its solvers see it.

use super::deadline::Deadline;
use super::preconditioner::Preconditioner;
use super::problem::{Point, Problem};
use crate::{Model, NodeEnergy};

/// The linear system.
pub(super) struct System<'a, 'b> {
    pub(super) model: &'a Model,
    pub(super) problem: &'a mut Problem,
    pub(super) preconditioner: &'a mut Preconditioner,
    pub(super) point: &'a Point,
    pub(super) extras: &'a mut [&'b mut dyn NodeEnergy],
    /// When to return the direction found so far.
    pub(super) deadline: &'a Deadline,
}
