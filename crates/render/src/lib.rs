//! Pictures without a GPU or a display: stills, contact sheets, clips and turntables, all drawn by one renderer.

mod camera;
mod canvas;
mod color_table;
mod extent;
mod frame_source;
mod geometry;
mod gif_file;
mod lighting;
mod linear_blend_skinning;
mod look;
mod obstacles;
mod options;
mod picture_file;
mod png_file;
mod preview;
mod raster;
mod render_frame;
mod render_plan;
mod renderer;
mod shadow_map;
mod srgb;
mod stored_source;
mod strain_colors;
mod stroke_font;
mod video_file;
mod view;

pub use canvas::Image;
pub use frame_source::{FrameCallback, FrameSource, PictureError};
pub use linear_blend_skinning::{PlainSkinning, bone_segments};
pub use look::{Look, Texture};
pub use obstacles::{Obstacles, ShownObstacle};
pub use options::{Layout, PictureOptions};
pub use picture_file::{PictureFormat, PictureReport, draw_picture, render_picture};
pub use png_file::write_png;
pub use preview::{Preview, PreviewOptions};
pub use render_frame::{Arrow, Marks, RenderFrame};
pub use stored_source::StoredFrameSource;
pub use view::View;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The names of all that is in a folder, sorted.
    pub(crate) fn names_in(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
