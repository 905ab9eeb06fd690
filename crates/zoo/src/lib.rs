//! The characters that ship with Sinew, made by code. Each is an ordinary [`Scene`](sinew_take::Scene): the engine has no special case
//! for any of them.
//!
//! [`catalog()`] lists them all, [`find`] knows them by name, and [`Character::files`] writes one as the text of files that can be opened,
//! taken apart and changed without this crate.

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
mod take_apart;
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
pub use take_apart::SceneFiles;
pub use two_links::{two_links, two_links_moment};
pub use worm::worm;
