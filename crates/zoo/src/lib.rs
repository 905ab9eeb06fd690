//! The characters that ship with Sinew, made by code. Each is an ordinary [`Scene`](sinew_take::Scene): the engine has no special case
//! for any of them.
//!
//! [`catalog()`] lists them all and [`find`] knows them by name. Like any scene they can be written as files (`sinew_io::write_scene`), which
//! are opened and changed without this crate.

mod arm;
mod beam;
mod catalog;
mod cow;
mod cycle;
mod cylinder;
mod dancer;
mod dragon;
mod figure;
mod fish;
mod jelly_torus;
mod penguin;
mod pudding;
mod stage;
mod starfish;
mod two_links;
mod worm;

pub use arm::arm;
pub use beam::{Beam, beam};
pub use catalog::{Character, catalog, find, nearest};
pub use cow::cow;
pub use cylinder::cylinder;
pub use dancer::dancer;
pub use dragon::dragon;
pub use fish::fish;
pub use jelly_torus::jelly_torus;
pub use penguin::penguin;
pub use pudding::jelly;
pub use stage::{duck_box, fish_jump, pot, starfish_cage, starfish_turn, worm_roll};
pub use starfish::starfish;
pub use two_links::{two_links, two_links_moment};
pub use worm::worm;
