//! The contact sheet of a measured take: six frames, plain skinning on the left and flesh on the right.

use sinew_character::ShownSurfaces;
use sinew_files::{Replace, check_output};
use sinew_io::{AtomicFile, OpenedScene};
use sinew_render::{Layout, Look, PictureOptions, RenderFrame, StoredFrameSource, draw_picture, write_png};
use sinew_take::{Frame, SurfaceInfo, Up};
use std::path::Path;

/// Columns and rows, and the size of each picture (pixels).
const TILES: [usize; 2] = [3, 2];
const PICTURE: [usize; 2] = [560, 320];

/// Frames of a take, collected while it is simulated.
pub(super) struct Sheet<'a> {
    shown: ShownSurfaces<'a>,
    surfaces: Vec<SurfaceInfo>,
    looks: Vec<Look>,
    up: Up,
    frames: Vec<RenderFrame>,
}

impl<'a> Sheet<'a> {
    /// No frames so far.
    pub(super) fn new(opened: &'a OpenedScene) -> Sheet<'a> {
        let shown = opened.shown();
        let binding_infos = opened.bindings().flat_map(|binding| binding.surface_infos()).collect();
        Sheet {
            shown,
            surfaces: binding_infos,
            looks: opened.looks(),
            up: Up::against(opened.scene.world.gravity),
            frames: Vec::new(),
        }
    }

    /// Keeps a frame if it is one of those that are shown.
    pub(super) fn add(&mut self, index: usize, frame_count: usize, frame: &Frame) {
        let tiles = TILES[0] * TILES[1];
        let is_shown = (0..tiles).any(|tile| index == (tile * frame_count + (tiles - 1) / 2) / (tiles - 1));
        if is_shown {
            let (surfaces, skinned) = (self.shown.positions(frame), self.shown.skinned(frame, &[]));
            self.frames.push(RenderFrame { time: frame.time, surfaces, skinned, ..RenderFrame::default() });
        }
    }

    /// Draws the sheet and writes it.
    pub(super) fn write(self, path: &Path, replace: Replace) -> Result<(), String> {
        let said = |error: String| format!("{}: {error}", path.display());
        check_output(path, replace).map_err(|error| error.to_string())?;
        let options = PictureOptions {
            layout: Layout::Sheet { columns: TILES[0], rows: TILES[1] },
            width: PICTURE[0],
            height: PICTURE[1],
            compare: true,
            ..PictureOptions::default()
        };
        let source = StoredFrameSource::of_frames(self.surfaces, self.looks, self.frames, self.up);
        let image = draw_picture(&source, &options).map_err(|error| said(error.to_string()))?;
        let written = AtomicFile::create(path).and_then(|mut file| {
            write_png(&image, &mut file)?;
            file.commit()
        });
        written.map_err(|error| said(error.to_string()))
    }
}

/// The name of the picture of a take; other characters than letters, digits, dots, - and _ become _.
pub(super) fn file_name(file: &str, animation: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    let name: String = format!("{file}-{animation}").chars().map(plain).collect();
    format!("{}.png", name.trim_start_matches('.'))
}
