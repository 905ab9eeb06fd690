//! The studio: a window to watch, direct and bake takes.
//!
//! [`Studio`] is the whole interface over an `egui` context; the binary puts it into a window, tests use it without one. Nothing here computes physics: a [`session`] simulates and records a take in a
//! thread of its own, with the same player, edits and take files as the command line; [`pictures`] draws it in another one. The interface reads what both have published and never waits for them.

pub mod autosave;
mod body_frame;
mod builder;
mod dialogs;
mod edit_words;
mod file_browser;
mod folders;
mod icons;
mod jobs;
pub mod measure;
mod metaphor_widget;
mod panels;
pub mod pictures;
pub mod playback;
pub mod preferences;
pub mod session;
mod studio;
mod theme;
mod tools;
pub mod viewport;

pub use dialogs::Dialog;
pub use folders::studio_folder;
pub use studio::{Arrangement, Selection, Studio};
pub use tools::Tool;
