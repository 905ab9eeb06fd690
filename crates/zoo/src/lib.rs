//! The bodies that ship with Sinew, made by code. Each is an ordinary [`Scene`](sinew_take::Scene): the engine has no special case
//! for any of them.

mod beam;
mod jelly_torus;
mod starfish;

pub use beam::{Beam, beam};
pub use jelly_torus::jelly_torus;
pub use starfish::starfish;
