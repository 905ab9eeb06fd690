//! A frame sink that draws a contact sheet of a take while it is played.
//!
//! All tiles share one camera, fitted to all of them, so that motion is comparable between tiles. However long the take is, only a few frames are in
//! memory: every `stride`-th, with the stride doubled whenever there are too many. The same take gives the same bytes.

use crate::look::Look;
use crate::options::{Layout, PictureOptions};
use crate::picture_file::draw_picture;
use crate::png_file::write_png;
use crate::stored_source::StoredFrameSource;
use crate::view::View;
use sinew_files::AtomicFile;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo, Up, check_frame, check_surfaces};
use std::path::PathBuf;

/// Frames in memory per tile while the length of the take is unknown: the frame of a tile is then at most an eighth of
/// the distance between tiles from where it should be.
const FRAMES_PER_TILE: usize = 4;

/// The layout and the camera of a preview.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreviewOptions {
    /// Tiles per row.
    pub columns: usize,
    /// Rows of tiles.
    pub rows: usize,
    /// The width of a tile (pixels).
    pub tile_width: usize,
    /// The height of a tile (pixels).
    pub tile_height: usize,
    /// The axis that points up in the frames.
    pub up: Up,
    /// Where the camera stands.
    pub view: View,
}

impl Default for PreviewOptions {
    fn default() -> Self {
        let view = View::default();
        PreviewOptions { columns: 3, rows: 2, tile_width: 480, tile_height: 400, up: Up::Y, view }
    }
}

impl PreviewOptions {
    fn picture(&self) -> PictureOptions {
        PictureOptions {
            layout: Layout::Sheet { columns: self.columns, rows: self.rows },
            width: self.tile_width,
            height: self.tile_height,
            view: self.view,
            ..PictureOptions::default()
        }
    }
}

/// Writes a PNG with frames of the take side by side.
#[derive(Debug)]
pub struct Preview {
    target: PathBuf,
    options: PreviewOptions,
    looks: Vec<Look>,
    followed: Vec<usize>,
    take: Option<Take>,
}

#[derive(Debug)]
struct Take {
    file: AtomicFile,
    surfaces: Vec<SurfaceInfo>,
    /// Every `stride`-th frame so far, the first included.
    sampled: Vec<Frame>,
    stride: usize,
    last: Option<Frame>,
    frame_count: usize,
}

impl Preview {
    /// A preview that will appear as `target`.
    pub fn new(target: impl Into<PathBuf>, options: PreviewOptions) -> Preview {
        Preview { target: target.into(), options, looks: Vec::new(), followed: Vec::new(), take: None }
    }

    /// The same with a camera that follows only these surfaces, by their indices; all of them if there are none.
    pub fn following(self, followed: Vec<usize>) -> Preview {
        Preview { followed, ..self }
    }

    /// The same with looks for the first surfaces; the others have the default colours.
    pub fn with_looks(self, looks: Vec<Look>) -> Preview {
        Preview { looks, ..self }
    }
}

impl FrameSink for Preview {
    fn begin(&mut self, surfaces: &[SurfaceInfo], _fps: f64) -> Result<(), SinkError> {
        self.options.picture().check().map_err(|error| SinkError(error.0))?;
        check_surfaces(surfaces)?;
        let file = AtomicFile::create(&self.target).map_err(|error| SinkError(error.to_string()))?;
        let surfaces = surfaces.to_vec();
        self.take = Some(Take { file, surfaces, sampled: Vec::new(), stride: 1, last: None, frame_count: 0 });
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let max_count = FRAMES_PER_TILE * self.options.columns * self.options.rows;
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        take.sample(frame, max_count);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let take = self.take.take().ok_or_else(not_begun)?;
        let mut looks = Look::palette(take.surfaces.len());
        looks.iter_mut().zip(core::mem::take(&mut self.looks)).for_each(|(look, own)| *look = own);
        let (mut file, surfaces, frames) = take.into_frames();
        let tiles = spread(&frames, self.options.columns * self.options.rows);
        let source =
            StoredFrameSource::new(&surfaces, looks, tiles, self.options.up).following(&self.followed);
        let sheet = draw_picture(&source, &self.options.picture()).map_err(|error| SinkError(error.0))?;
        write_png(&sheet, &mut file).map_err(|error| SinkError(error.to_string()))?;
        file.commit().map_err(|error| SinkError(error.to_string()))
    }
}

impl Take {
    /// Stores the frame if its turn has come, with at most `max_count` in all.
    fn sample(&mut self, frame: &Frame, max_count: usize) {
        if self.frame_count.is_multiple_of(self.stride) {
            if self.sampled.len() == max_count {
                // drop every second one, which keeps the others evenly spaced
                let mut index = 0;
                self.sampled.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.stride *= 2;
            }
            if self.frame_count.is_multiple_of(self.stride) {
                self.sampled.push(frame.clone());
            }
        }
        self.last.get_or_insert_default().clone_from(frame);
        self.frame_count += 1;
    }

    /// The file, the surfaces, and the sampled frames with the last one; the surfaces at rest if there are no frames.
    fn into_frames(self) -> (AtomicFile, Vec<SurfaceInfo>, Vec<Frame>) {
        let mut frames = self.sampled;
        // unless the last frame was sampled anyway
        if self.frame_count > 0 && !(self.frame_count - 1).is_multiple_of(self.stride) {
            frames.extend(self.last);
        }
        if frames.is_empty() {
            let surfaces = self.surfaces.iter().map(|surface| surface.rest.clone()).collect();
            frames.push(Frame { surfaces, ..Frame::default() });
        }
        (self.file, self.surfaces, frames)
    }
}

/// The frames nearest to `count` times evenly spread from the first to the last.
fn spread(frames: &[Frame], count: usize) -> Vec<Frame> {
    let (first, last) = (frames[0].time, frames[frames.len() - 1].time);
    let at = |i: usize| first + (last - first) * i as f64 / count.saturating_sub(1).max(1) as f64;
    let nearest = |time: f64| {
        let distance = |frame: &Frame| (frame.time - time).abs();
        frames.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(&frames[0])
    };
    (0..count).map(|i| nearest(at(i)).clone()).collect()
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

    const SMALL: PreviewOptions = PreviewOptions {
        columns: 2,
        rows: 1,
        tile_width: 48,
        tile_height: 40,
        up: Up::Y,
        view: View { azimuth: 28.0, elevation: 15.0, zoom: 1.0 },
    };

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
            assert!(sink.take.as_ref().unwrap().sampled.len() <= FRAMES_PER_TILE * 2);
        }
        drop(sink);
        assert_eq!(names_in(folder.path()), ["a.png"]);
    }

    #[test]
    fn a_sheet_that_cannot_be_drawn_or_written_is_rejected_at_the_start() {
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
