//! Pictures without a GPU or a display: stills, contact sheets, clips and turntables, all drawn by one software renderer.
//!
//! What is drawn comes from a [`FrameSource`]: frames in memory ([`StoredFrameSource`]), or takes and rigged files through the sources of `sinew-io`.
//! [`PictureOptions`] say how. [`draw_picture`] returns the pixels, [`render_picture`] writes a file, and [`Preview`] is a
//! [`FrameSink`](sinew_take::FrameSink) that draws a contact sheet while a take is played.
//!
//! A picture is made in two passes over the frames: the first measures them and fits the camera, the second rasterises, shades and encodes
//! (`render_plan.rs`, `renderer.rs`). The same source gives the same bytes on any number of threads.
//!
//! ```
//! use sinew_mesh::shapes;
//! use sinew_render::{Layout, PictureOptions, StoredFrameSource, View, draw_picture, write_png};
//!
//! // two spheres, one above the other
//! let ball = shapes::sphere(0.5, 3);
//! let mut upper = ball.clone();
//! upper.vertices.iter_mut().for_each(|vertex| vertex.y += 1.0);
//! let source = StoredFrameSource::of_meshes(&[ball, upper]);
//!
//! // seen from the front, as a PNG in memory
//! let view = View::named("front")?;
//! let options = PictureOptions { layout: Layout::Still, width: 80, height: 120, view, ..PictureOptions::default() };
//! let image = draw_picture(&source, &options)?;
//! let mut png = Vec::new();
//! write_png(&image, &mut png)?;
//! assert_eq!(image.bytes.len(), 3 * 80 * 120);
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod camera;
mod camera_path;
mod canvas;
mod color_table;
mod draft_raster;
mod draft_sky;
mod extent;
mod frame_source;
mod geometry;
mod gif_file;
mod image;
mod lighting;
mod linear_blend_skinning;
mod live_mesh;
mod live_view;
mod look;
mod obstacles;
mod options;
mod overlays;
mod picture_file;
mod png_file;
mod preview;
mod raster;
mod render_frame;
mod render_plan;
mod renderer;
mod shadow_map;
mod shots;
mod srgb;
mod stored_source;
mod strain_colors;
mod stroke_font;
mod texture;
mod video_file;
mod view;
mod view_transform;

pub use frame_source::{FrameCallback, FrameSource, PictureError, Scalar};
pub use image::Image;
pub use live_mesh::{LiveMatrices, LiveMesh, LivePart, LiveTopology, LiveVertex};
pub use live_view::{LiveOptions, LiveView, OrbitCamera};
pub use look::Look;
pub use obstacles::{ObstacleInfo, ObstacleSurfaces};
pub use options::{GHOST_LIMIT, Layout, PictureOptions};
pub use overlays::{ModelOverlays, Overlays};
pub use picture_file::{PictureFormat, PictureReport, Progress, draw_picture, render_picture};
pub use png_file::write_png;
pub use preview::{Preview, PreviewOptions};
pub use render_frame::{Arrow, Marks, RenderFrame};
pub use stored_source::StoredFrameSource;
pub use strain_colors::scalar_color;
pub use texture::Texture;
pub use view::View;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The names of all entries of a folder, sorted.
    pub(crate) fn names_in(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
