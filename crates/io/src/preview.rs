//! A picture of a take without a GPU: moments spread over it, side by side in one PNG.
//!
//! All moments are seen by one camera, fitted to all of them, so that motion reads from tile to tile. It goes along with what travels farther than
//! it is large.
//! Only a few frames are kept while the take runs, however long it is. The same take gives the same bytes.

use crate::Up;
use crate::picture::{Layout, Look, PictureOptions, StoredFrameSource, View, draw_picture, write_png};
use sinew_files::AtomicFile;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo, check_frame, check_surfaces};
use std::path::PathBuf;

/// Frames kept per tile while the length of the take is unknown; the moments shown are then at most an
/// eighth of their distance from where they should be.
const KEPT_PER_TILE: usize = 4;
/// A sheet beyond this is a slip of the keyboard (pixels).
const PIXEL_LIMIT: usize = 100_000_000;

/// How a preview is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreviewOptions {
    /// Pictures side by side.
    pub columns: usize,
    /// Rows of pictures.
    pub rows: usize,
    /// The width of one picture (pixels).
    pub tile_width: usize,
    /// The height of one picture (pixels).
    pub tile_height: usize,
    /// The axis that points up in the frames.
    pub up: Up,
    /// How far the camera walks round the bodies (degrees), counter-clockwise seen from above; at 0 it stands
    /// where [`View::default`] has it, before them (at +z where y is up) and a little to their left.
    pub turn: f64,
}

impl Default for PreviewOptions {
    fn default() -> Self {
        PreviewOptions { columns: 3, rows: 2, tile_width: 480, tile_height: 400, up: Up::Y, turn: 0.0 }
    }
}

impl PreviewOptions {
    fn picture(&self) -> PictureOptions {
        PictureOptions {
            layout: Layout::Sheet { columns: self.columns, rows: self.rows },
            width: self.tile_width,
            height: self.tile_height,
            view: View { turn: View::default().turn + self.turn, ..View::default() },
            ..PictureOptions::default()
        }
    }
}

/// Writes a PNG with moments of the take side by side.
#[derive(Debug)]
pub struct Preview {
    target: PathBuf,
    options: PreviewOptions,
    looks: Vec<Look>,
    take: Option<Take>,
}

#[derive(Debug)]
struct Take {
    file: AtomicFile,
    surfaces: Vec<SurfaceInfo>,
    /// Every `stride`-th frame so far, the first included.
    kept: Vec<Frame>,
    stride: usize,
    last: Option<Frame>,
    frame_count: usize,
}

impl Preview {
    /// A picture that will appear as `target`.
    pub fn new(target: impl Into<PathBuf>, options: PreviewOptions) -> Preview {
        Preview { target: target.into(), options, looks: Vec::new(), take: None }
    }

    /// The same with looks of its own, one per surface; those that are missing have colours in turn.
    pub fn with_looks(self, looks: Vec<Look>) -> Preview {
        Preview { looks, ..self }
    }
}

impl FrameSink for Preview {
    fn begin(&mut self, surfaces: &[SurfaceInfo], _fps: f64) -> Result<(), SinkError> {
        let PreviewOptions { columns, rows, tile_width, tile_height, .. } = self.options;
        let pixels =
            [columns, rows, tile_width, tile_height].iter().fold(1usize, |all, n| all.saturating_mul(*n));
        if !self.options.turn.is_finite() {
            return Err(SinkError(format!("the camera cannot turn by {} degrees", self.options.turn)));
        }
        if pixels == 0 || pixels > PIXEL_LIMIT {
            return Err(SinkError(format!(
                "{columns} × {rows} pictures of {tile_width} × {tile_height} pixels cannot be drawn: \
                 1 to {PIXEL_LIMIT} pixels in all are accepted"
            )));
        }
        check_surfaces(surfaces)?;
        let file = AtomicFile::create(&self.target).map_err(|error| SinkError(error.to_string()))?;
        let surfaces = surfaces.to_vec();
        self.take = Some(Take { file, surfaces, kept: Vec::new(), stride: 1, last: None, frame_count: 0 });
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let most = KEPT_PER_TILE * self.options.columns * self.options.rows;
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        if take.frame_count.is_multiple_of(take.stride) {
            if take.kept.len() == most {
                // every other one goes, so that those that stay are still evenly spread
                let mut index = 0;
                take.kept.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                take.stride *= 2;
            }
            if take.frame_count.is_multiple_of(take.stride) {
                take.kept.push(frame.clone());
            }
        }
        take.last.get_or_insert_default().clone_from(frame);
        take.frame_count += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let Take { mut file, surfaces, kept, stride, last, frame_count } =
            self.take.take().ok_or_else(not_begun)?;
        let mut render_frames = kept;
        // unless the last frame was kept anyway
        if frame_count > 0 && !(frame_count - 1).is_multiple_of(stride) {
            render_frames.extend(last);
        }
        if render_frames.is_empty() {
            render_frames.push(Frame {
                time: 0.0,
                surfaces: surfaces.iter().map(|s| s.rest.clone()).collect(),
                ..Frame::default()
            });
        }
        let mut looks = Look::of_palette(surfaces.len());
        looks.iter_mut().zip(core::mem::take(&mut self.looks)).for_each(|(look, own)| *look = own);
        let frames = spread(&render_frames, self.options.columns * self.options.rows);
        let frame_source = StoredFrameSource::new(&surfaces, looks, frames, self.options.up);
        let sheet =
            draw_picture(&frame_source, &self.options.picture()).map_err(|error| SinkError(error.0))?;
        write_png(&sheet, &mut file).map_err(|error| SinkError(error.to_string()))?;
        file.commit().map_err(|error| SinkError(error.to_string()))
    }
}

/// As many frames as wanted, spread evenly in time from the first to the last.
fn spread(render_frames: &[Frame], count: usize) -> Vec<&Frame> {
    let (first, last) = (render_frames[0].time, render_frames[render_frames.len() - 1].time);
    let at = |i: usize| first + (last - first) * i as f64 / count.saturating_sub(1).max(1) as f64;
    let nearest = |time: f64| {
        render_frames
            .iter()
            .min_by(|a, b| (a.time - time).abs().total_cmp(&(b.time - time).abs()))
            .unwrap_or(&render_frames[0])
    };
    (0..count).map(|i| nearest(at(i))).collect()
}

fn not_begun() -> SinkError {
    SinkError("the preview was given a frame outside of begin and finish".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::names_in;
    use sinew_mesh::shapes;
    use std::path::Path;

    const SMALL: PreviewOptions =
        PreviewOptions { columns: 2, rows: 1, tile_width: 48, tile_height: 40, up: Up::Y, turn: 0.0 };

    fn ball() -> SurfaceInfo {
        let mesh = shapes::sphere(0.5, 3);
        let rest = mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        SurfaceInfo { name: "ball".into(), triangles: mesh.triangles, rest }
    }

    fn falling(f: usize) -> Frame {
        let drop = 0.02 * f as f32;
        let surface = ball().rest.iter().map(|[x, y, z]| [*x, y - drop, *z]).collect();
        Frame { time: f as f64 / 60.0, surfaces: vec![surface], ..Frame::default() }
    }

    fn write(target: &Path, options: PreviewOptions, count: usize) -> Vec<u8> {
        let mut sink = Preview::new(target, options);
        sink.begin(&[ball()], 60.0).unwrap();
        (0..count).for_each(|f| sink.frame(&falling(f)).unwrap());
        sink.finish().unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(std::fs::read(target).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    }

    /// The rows of a tile in which anything is far from grey; tiles are two pixels apart.
    fn colored_rows(pixels: &[u8], tile: usize) -> Vec<usize> {
        let colored = |y: usize| {
            (50 * tile..50 * tile + 48).any(|x| {
                let [r, _, b] = [0, 1, 2].map(|i| i32::from(pixels[3 * (y * 98 + x) + i]));
                (r - b).abs() > 60
            })
        };
        (0..40).filter(|&y| colored(y)).collect()
    }

    #[test]
    fn a_falling_ball_is_high_in_the_first_picture_and_low_in_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let pixels = write(&folder.path().join("a.png"), SMALL, 40);
        let [first, last] = [0, 1].map(|tile| colored_rows(&pixels, tile));
        assert!(first.len() > 8 && last.len() > 8, "{first:?} {last:?}");
        assert!(first[0] < last[0] && first[first.len() - 1] < last[last.len() - 1]);
        // and nothing is cut off
        assert!(first[0] > 0 && last[last.len() - 1] < 39);
    }

    #[test]
    fn the_same_take_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a.png", "b.png"].map(|name| folder.path().join(name));
        write(&a, SMALL, 9);
        write(&b, SMALL, 9);
        assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
    }

    #[test]
    fn a_take_of_any_length_is_spread_from_first_to_last() {
        let folder = tempfile::tempdir().unwrap();
        for count in [0, 1, 2, 7, 8, 9, 17, 100] {
            write(&folder.path().join("a.png"), SMALL, count);
        }
        let mut sink = Preview::new(folder.path().join("b.png"), SMALL);
        sink.begin(&[ball()], 60.0).unwrap();
        for f in 0..1000 {
            sink.frame(&falling(f)).unwrap();
            assert!(sink.take.as_ref().unwrap().kept.len() <= KEPT_PER_TILE * 2);
        }
        drop(sink);
        assert_eq!(names_in(folder.path()), ["a.png"]);
    }

    #[test]
    fn a_sheet_that_cannot_be_drawn_or_written_is_refused_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (target, options) in [
            (folder.path().to_owned(), SMALL),
            (at("missing/a.png"), SMALL),
            (at("a.png"), PreviewOptions { columns: 0, ..SMALL }),
            (at("a.png"), PreviewOptions { tile_width: usize::MAX, ..SMALL }),
        ] {
            assert!(Preview::new(target, options).begin(&[ball()], 60.0).is_err());
        }
        assert!(names_in(folder.path()).is_empty());
    }
}
