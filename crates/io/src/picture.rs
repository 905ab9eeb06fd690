//! Pictures without a GPU or a display: stills, contact sheets, clips and turntables, all by one renderer.
//!
//! What is seen comes from a [`Footage`]; what is wanted of it stands in [`PictureOptions`]. `film.rs` plans pictures and takes them one after the other,
//! `stage.rs` draws one. The same footage gives the same pictures on any number of threads.

mod bodies;
mod camera;
mod canvas;
mod character_footage;
mod colors;
mod depth_map;
pub(crate) mod file_looks;
mod film;
mod footage;
mod gif_file;
mod heat;
mod lettering;
mod light;
mod look;
mod moment;
mod obstacles;
mod options;
mod outline;
mod plain_skinning;
mod png_file;
mod raster;
mod render;
mod stage;
mod stored;
mod take_footage;
mod tone;
mod video_file;
mod view;

pub use canvas::Image;
pub use character_footage::CharacterFootage;
pub use footage::{Footage, PictureError, See};
pub use look::{Look, Texture};
pub use moment::{Arrow, Marks, Moment};
pub use options::{Layout, PictureOptions};
pub use render::{PictureFormat, PictureReport, render_picture};
pub use take_footage::{Overlays, TakeFootage};
pub use view::View;

pub(crate) use png_file::write_png;
pub(crate) use render::draw_picture;
pub(crate) use stored::StoredFootage;
