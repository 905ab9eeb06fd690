//! A library that steps a tree.

use crate::tree::Tree;

/// Acceleration of free fall along y (m/s²).
pub const GRAVITY: f64 = -9.81;

/// A tree in the hands of a library, at rest when it is made.
pub trait Peer {
    /// Builds the tree, to be stepped by `h` (s).
    fn of(tree: &Tree, h: f64) -> Self
    where
        Self: Sized;

    /// How many bodies it takes, those without mass that stand between two hinges among them.
    fn bodies(&self) -> usize;

    /// How many degrees of freedom it has.
    fn dof(&self) -> usize;

    /// Takes a step: semi-implicit Euler, springs and dampers as the library has them.
    fn step(&mut self);

    /// The angles of all hinges (rad), in the order of the tree.
    fn angles(&self) -> Vec<f64>;

    /// Their rates (rad/s).
    fn rates(&self) -> Vec<f64>;
}
