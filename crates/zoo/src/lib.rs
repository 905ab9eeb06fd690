//! The built-in characters of Sinew, made by code. Each is an ordinary [`Scene`](sinew_take::Scene): the engine has no special case
//! for any of them.
//!
//! [`catalog()`] lists them all, and [`find`] looks one up by name. Like any scene they can be written as files (`sinew_io::write_scene`),
//! which are opened and changed without this crate.
//!
//! ```
//! use sinew_take::Player;
//!
//! let starfish = sinew_zoo::find("starfish-coarse").expect("a built-in character");
//! let mut scene = (starfish.build)();
//! scene.preroll = 0.0;
//!
//! let mut player = Player::build(&scene)?;
//! let report = player.advance()?;
//! assert_eq!(player.frame(), 1);
//! assert_eq!(player.model.rigs()[0].skeleton.bones().len(), 16);
//! assert!(report.substeps > 0);
//! # Ok::<(), sinew_take::PlayError>(())
//! ```

mod arm;
mod beam;
mod catalog;
mod character_desc;
mod cloth;
mod contact_scenes;
mod cow;
mod cycle;
mod cylinder;
mod dancer;
mod dragon;
mod fish;
mod jelly;
mod jelly_torus;
mod muscle_arm;
mod penguin;
mod rabbit;
mod skins;
pub mod source;
mod starfish;
mod two_links;
mod worm;

pub use arm::arm;
pub use beam::{Beam, beam};
pub use catalog::{Character, catalog, find, likeness, nearest};
pub use cloth::{cloth, cloth_ball, cloth_fold, cloth_stretch};
pub use contact_scenes::{
    dancer_stairs, duck_box, fish_jump, penguins, pile, pot, starfish_cage, starfish_turn, worm_roll,
};
pub use contact_scenes::{fish_directed, starfish_directed, worm_directed};
pub use cow::cow;
pub use cylinder::cylinder;
pub use dancer::dancer;
pub use dragon::dragon;
pub use fish::fish;
pub use jelly::jelly;
pub use jelly_torus::jelly_torus;
pub use muscle_arm::muscle_arm;
pub use penguin::penguin;
pub use rabbit::{rabbit_flap, rabbit_twist};
pub use skins::{arm_skin, arm_skin_with, penguin_skin, penguin_skin_of};
pub use starfish::starfish;
pub use two_links::{two_links, two_links_moment};
pub use worm::worm;
