//! Pictures without a GPU or a display: stills, contact sheets, clips and turntables, all by one renderer.
//!
//! What is seen comes from a [`FrameSource`]; what is wanted of it stands in [`PictureOptions`]. `film.rs` plans pictures and takes them one after the other,
//! `stage.rs` draws one. The same frame source gives the same pictures on any number of threads.

mod bodies;
mod camera;
mod canvas;
mod character_source;
mod colors;
mod depth_map;
pub(crate) mod file_looks;
mod frame_source;
mod gif_file;
mod heat;
mod lettering;
mod light;
mod look;
mod obstacles;
mod options;
mod outline;
mod plain_skinning;
mod png_file;
mod raster;
mod render;
mod render_frame;
mod render_plan;
mod renderer;
mod stored_source;
mod take_source;
mod tone;
mod video_file;
mod view;

pub use canvas::Image;
pub use character_source::CharacterFrameSource;
pub use frame_source::{FrameCallback, FrameSource, PictureError};
pub use look::{Look, Texture};
pub use options::{Layout, PictureOptions};
pub use render::{PictureFormat, PictureReport, render_picture};
pub use render_frame::{Arrow, Marks, RenderFrame};
pub use take_source::{Overlays, TakeFrameSource};
pub use view::View;

pub(crate) use png_file::write_png;
pub(crate) use render::draw_picture;
pub(crate) use stored_source::StoredFrameSource;
