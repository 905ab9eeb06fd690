//! The contact sheet of a fall: eight frames of it, with the stairs.

use sinew_character::ShownSurfaces;
use sinew_files::{Replace, check_output};
use sinew_io::{AtomicFile, OpenedScene};
use sinew_render::{Layout, Look, PictureOptions, StoredFrameSource, draw_picture, write_png};
use sinew_sim::Model;
use sinew_take::{Frame, SurfaceInfo, Up};
use std::path::Path;

/// Columns and rows, and the size of each picture (pixels).
const TILES: [usize; 2] = [4, 2];
const PICTURE: [usize; 2] = [400, 320];

/// Frames of a fall, collected while it is simulated.
pub(super) struct FallSheet<'a> {
    shown: ShownSurfaces<'a>,
    surfaces: Vec<SurfaceInfo>,
    looks: Vec<Look>,
    up: Up,
    frames: Vec<Frame>,
}

impl<'a> FallSheet<'a> {
    /// No frames so far.
    pub(super) fn new(opened: &'a OpenedScene, model: &Model) -> FallSheet<'a> {
        let shown = opened.shown();
        let bodies: Vec<SurfaceInfo> = model.bodies().iter().map(SurfaceInfo::of).collect();
        FallSheet {
            surfaces: shown.infos(&bodies),
            shown,
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
            let surfaces = self.shown.positions(frame);
            self.frames.push(Frame { surfaces, ..frame.clone() });
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
            ..PictureOptions::default()
        };
        let source = StoredFrameSource::new(&self.surfaces, self.looks, self.frames, self.up);
        let image = draw_picture(&source, &options).map_err(|error| said(error.to_string()))?;
        let written = AtomicFile::create(path).and_then(|mut file| {
            write_png(&image, &mut file)?;
            file.commit()
        });
        written.map_err(|error| said(error.to_string()))
    }
}
