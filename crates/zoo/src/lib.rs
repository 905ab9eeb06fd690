//! The bodies that ship with Sinew, made by code. Each is an ordinary [`Scene`](sinew_take::Scene): the engine has no special case
//! for any of them.

mod arm;
mod beam;
mod jelly_torus;
mod starfish;

pub use arm::{arm, arm_moment};
pub use beam::{Beam, beam};
pub use jelly_torus::jelly_torus;
pub use starfish::starfish;
