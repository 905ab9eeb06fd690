//! Contact scenes: bodies fall on the ground and hit walls, and characters locomote by their joints and friction alone.

mod dancer_stairs;
mod directed;
mod duck;
mod fish_jump;
mod free_root_motion;
mod penguins;
mod pile;
mod pot;
mod soft_object;
mod starfish_cage;
mod starfish_turn;
mod worm_roll;

pub use dancer_stairs::dancer_stairs;
pub use directed::{fish_directed, starfish_directed, worm_directed};
pub use duck::duck_box;
pub use fish_jump::fish_jump;
pub use penguins::penguins;
pub use pile::pile;
pub use pot::pot;
pub use starfish_cage::starfish_cage;
pub use starfish_turn::starfish_turn;
pub use worm_roll::worm_roll;
