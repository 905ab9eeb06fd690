//! The physics: a [`WorldDesc`] is checked and built into a `Model` that never changes; a `State`
//! moves under a `Control`, one `Stepper::step` at a time. No files, clocks or printing.

pub mod desc;

pub use desc::WorldDesc;
