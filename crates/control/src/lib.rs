//! Who decides: controllers read a `State` and write the `Control` of the next step. They never
//! step anything themselves.

mod motion;

pub use motion::Motion;
