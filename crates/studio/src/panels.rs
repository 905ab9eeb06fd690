//! The panels of the studio, each in a file of its own.

mod builder;
mod curve_editor;
mod inspector;
mod menu_bar;
mod messages;
pub(crate) mod muscles;
mod obstacles;
mod outliner;
mod paint;
mod shortcuts;
pub(crate) mod skin;
mod status_bar;
mod timeline;
mod tool_bar;
mod viewport_area;

pub(crate) use shortcuts::KEYS;
