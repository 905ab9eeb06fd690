//! The studio: a window to watch, direct and bake takes.
//!
//! [`Studio`] is the whole interface over an `egui` context; the binary puts it into a window, tests use it without one. Nothing here computes physics: a [`session`] simulates and records a take in a
//! thread of its own, with the same player, edits and take files as the command line; [`pictures`] draws it in another one. The interface reads what both have published and never waits for them.

pub mod autosave;
mod body_frame;
mod builder;
mod dialogs;
mod drafts;
mod edit_words;
mod file_browser;
mod folders;
mod gizmo;
#[cfg(feature = "window")]
pub mod gpu_views;
mod icons;
mod jobs;
pub mod measure;
mod metaphor_widget;
mod open_dialogs;
mod painting;
mod panels;
pub mod pictures;
pub mod playback;
pub mod preferences;
mod scene_copy;
mod scene_overlays;
mod selection;
pub mod session;
pub mod software_painter;
#[cfg(feature = "window")]
pub mod software_window;
mod studio;
mod theme;
mod tools;
mod view_painter;
pub mod viewport;

pub use folders::studio_folder;
pub use open_dialogs::Dialog;
pub use selection::Selection;
pub use studio::{Arrangement, Studio};
pub use theme::background;
pub use tools::Tool;
pub use view_painter::{ViewPainter, ViewScene};
