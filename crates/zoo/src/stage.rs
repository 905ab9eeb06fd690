//! The stage: scenes in which bodies touch the ground, walls, and characters get about by their own joints alone.

mod act;
mod duck;
mod fish_jump;
mod pot;
mod starfish_cage;
mod starfish_turn;
mod thing;
mod worm_roll;

pub use duck::duck_box;
pub use fish_jump::fish_jump;
pub use pot::pot;
pub use starfish_cage::starfish_cage;
pub use starfish_turn::starfish_turn;
pub use worm_roll::worm_roll;
