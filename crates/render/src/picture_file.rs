//! From a frame source to a file.

use crate::canvas::Image;
use crate::color_table::ColorCount;
use crate::frame_source::{FrameSource, PictureError};
use crate::gif_file::{GifFile, delay_of};
use crate::options::{Layout, PictureOptions};
use crate::png_file::write_png;
use crate::render_plan::RenderPlan;
use crate::video_file::{self, VideoFile};
use sinew_files::AtomicFile;
use std::path::Path;

/// What a picture is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// A still or a sheet.
    Png,
    /// A clip that plays everywhere.
    Gif,
    /// A clip by `ffmpeg`.
    Mp4,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureReport {
    /// How many moments are seen.
    pub pictures: usize,
    /// Pixels of the whole picture, side by side.
    pub width: usize,
    /// Rows of pixels.
    pub height: usize,
    /// How large the file is (bytes).
    pub bytes: u64,
}

/// GIFs are made smaller until they are within this (bytes): what pages that show them load at once.
const GIF_LIMIT: u64 = 3_000_000;
/// Pictures that are looked at to choose colours, and how much smaller than in the clip.
const COLOR_SAMPLES: usize = 8;
const COLOR_SHRINK: usize = 2;
/// GIFs are not made narrower than this (pixels).
const GIF_WIDTH: usize = 200;

impl PictureFormat {
    /// The format that a file name asks for.
    pub fn of(path: &Path) -> Option<PictureFormat> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "png" => Some(PictureFormat::Png),
            "gif" => Some(PictureFormat::Gif),
            "mp4" => Some(PictureFormat::Mp4),
            _ => None,
        }
    }

    /// Fails if something that is needed to write it is missing on this machine.
    pub fn check(self) -> Result<(), PictureError> {
        match self {
            PictureFormat::Mp4 => video_file::check(),
            PictureFormat::Png | PictureFormat::Gif => Ok(()),
        }
    }
}

/// Draws a still or a sheet.
pub fn draw_picture(frame_source: &dyn FrameSource, options: &PictureOptions) -> Result<Image, PictureError> {
    draw_sheet(&RenderPlan::plan(frame_source, options)?, options, &mut |_, _| {})
}

fn draw_sheet(
    render_plan: &RenderPlan,
    options: &PictureOptions,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<Image, PictureError> {
    let mut tiles = Vec::with_capacity(render_plan.shots.len());
    render_plan.take(&all(render_plan), &mut |image| {
        tiles.push(image);
        watch(tiles.len(), render_plan.shots.len());
        Ok(())
    })?;
    let columns = if let Layout::Sheet { columns, .. } = options.layout { columns } else { 1 };
    Ok(Image::sheet(&tiles, columns, 2))
}

/// Writes pictures of a frame source as the extension of `target` says. With `may_shrink` a GIF becomes smaller than wanted where it would be too large for
/// pages. `watch` is called after every picture with how many are done of how many.
pub fn render_picture(
    frame_source: &dyn FrameSource,
    options: &PictureOptions,
    target: &Path,
    may_shrink: bool,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<PictureReport, PictureError> {
    let format = PictureFormat::of(target).ok_or_else(|| {
        PictureError(format!("{}: pictures are written as .png, .gif or .mp4", target.display()))
    })?;
    let moves = matches!(options.layout, Layout::Clip { .. });
    if moves == (format == PictureFormat::Png) {
        let what = if moves {
            "pictures that move are written as .gif or .mp4"
        } else {
            "one picture is written as .png"
        };
        return Err(PictureError(format!("{}: {what}", target.display())));
    }
    format.check()?;
    let mut options = options.clone();
    if let (PictureFormat::Gif, Layout::Clip { fps }) = (format, &mut options.layout)
        && *fps > 0.0
    {
        // as fast as GIF can say it, so that time runs as it should
        *fps = 100.0 / f64::from(delay_of(*fps));
    }
    let options = &options;
    let render_plan = RenderPlan::plan(frame_source, options)?;
    match (format, options.layout) {
        (PictureFormat::Gif, Layout::Clip { fps }) => {
            write_gif(render_plan, options, fps, target, may_shrink, watch)
        }
        (PictureFormat::Mp4, Layout::Clip { fps }) => write_video(render_plan, options, fps, target, watch),
        _ => write_still(&render_plan, options, target, watch),
    }
}

fn write_still(
    render_plan: &RenderPlan,
    options: &PictureOptions,
    target: &Path,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<PictureReport, PictureError> {
    let mut file = AtomicFile::create(target)?;
    let image = draw_sheet(render_plan, options, watch)?;
    write_png(&image, &mut file)
        .map_err(|error| PictureError(format!("cannot write {}: {error}", target.display())))?;
    file.commit()?;
    let bytes = std::fs::metadata(target)?.len();
    Ok(PictureReport { pictures: render_plan.shots.len(), width: image.width, height: image.height, bytes })
}

fn write_gif(
    mut render_plan: RenderPlan,
    options: &PictureOptions,
    fps: f64,
    target: &Path,
    may_shrink: bool,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<PictureReport, PictureError> {
    let pictures = render_plan.shots.len();
    let [mut width, mut height] = [options.width, options.height];
    loop {
        let file = AtomicFile::create(target)?;
        render_plan.resize((width / COLOR_SHRINK).max(1), (height / COLOR_SHRINK).max(1));
        let mut count = ColorCount::new();
        render_plan.take(&spread(pictures, COLOR_SAMPLES), &mut |image| {
            count.add(&image);
            Ok(())
        })?;
        render_plan.resize(width, height);
        let mut gif: Option<GifFile> = None;
        let mut begin = Some((file, count.choose(255)));
        let (mut size, mut done, mut too_large) = ([width, height], 0, None);
        let taken = render_plan.take(&all(&render_plan), &mut |image| {
            if let Some((file, colors)) = begin.take() {
                size = [image.width, image.height];
                gif = Some(GifFile::begin(file, size, colors, delay_of(fps))?);
            }
            let Some(gif) = &mut gif else { return Ok(()) };
            gif.add(&image)?;
            done += 1;
            watch(done, pictures);
            // as large as all will be if the rest is like what there is, judged once there is a quarter
            let expected = gif.bytes() * pictures as u64 / done as u64;
            if may_shrink
                && expected > GIF_LIMIT
                && (4 * done >= pictures || gif.bytes() > GIF_LIMIT)
                && width > GIF_WIDTH
            {
                too_large = Some(expected);
                return Err(PictureError(String::new()));
            }
            Ok(())
        });
        if let Some(expected) = too_large {
            // bytes grow with the area
            let shrink = (0.9 * GIF_LIMIT as f64 / expected as f64).sqrt().min(0.9);
            let narrower = ((width as f64 * shrink) as usize).max(GIF_WIDTH);
            height = (height * narrower / width).max(1);
            width = narrower;
            continue;
        }
        taken?;
        let gif = gif.ok_or_else(|| PictureError("there are no frames to be seen".into()))?;
        let bytes = gif.finish()?;
        return Ok(PictureReport { pictures, width: size[0], height: size[1], bytes });
    }
}

fn write_video(
    mut render_plan: RenderPlan,
    options: &PictureOptions,
    fps: f64,
    target: &Path,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<PictureReport, PictureError> {
    // colours of videos are shared by four pixels
    let size = [options.width.next_multiple_of(2), options.height.next_multiple_of(2)];
    render_plan.resize(size[0], size[1]);
    let mut video = VideoFile::begin(AtomicFile::create(target)?, size, fps)?;
    let (mut done, pictures) = (0, render_plan.shots.len());
    render_plan.take(&all(&render_plan), &mut |image| {
        video.add(&image)?;
        done += 1;
        watch(done, pictures);
        Ok(())
    })?;
    let bytes = video.finish()?;
    Ok(PictureReport { pictures, width: size[0], height: size[1], bytes })
}

/// All pictures.
fn all(render_plan: &RenderPlan) -> Vec<usize> {
    (0..render_plan.shots.len()).collect()
}

/// A few numbers spread over so many, the first and the last among them.
fn spread(count: usize, few: usize) -> Vec<usize> {
    if count <= few {
        return (0..count).collect();
    }
    (0..few).map(|i| i * (count - 1) / (few - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::names_in;
    use crate::{Look, StoredFrameSource, View};
    use sinew_mesh::shapes;
    use sinew_take::Up;
    use sinew_take::{Frame, SurfaceInfo};

    fn ball() -> SurfaceInfo {
        let mesh = shapes::sphere(0.5, 3);
        let rest = mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        SurfaceInfo { name: "ball".into(), triangles: mesh.triangles, rest }
    }

    /// A ball that is pressed flat and pushed aside, frame by frame.
    fn pressed(count: usize) -> Vec<Frame> {
        let frame = |i: usize| {
            let fraction = i as f32 / count as f32;
            let moved = |[x, y, z]: &[f32; 3]| {
                [x * (1.0 + 0.3 * fraction) + 0.6 * fraction, y * (1.0 - 0.4 * fraction), *z]
            };
            Frame {
                time: i as f64,
                surfaces: vec![ball().rest.iter().map(moved).collect()],
                bones: Vec::new(),
                ..Frame::default()
            }
        };
        (0..count).map(frame).collect()
    }

    fn with_ball<T>(count: usize, work: impl FnOnce(&StoredFrameSource) -> T) -> T {
        let (surfaces, frames) = ([ball()], pressed(count));
        let looks = Look::of_palette(1);
        work(&StoredFrameSource::new(&surfaces, looks, frames.iter().collect(), Up::Y))
    }

    const SMALL: PictureOptions = PictureOptions {
        layout: Layout::Sheet { columns: 2, rows: 1 },
        width: 64,
        height: 48,
        span: None,
        held: None,
        view: View { turn: 28.0, rise: 15.0, zoom: 1.0 },
        turntable: None,
        compare: false,
        ghosts: 0,
    };

    fn on_threads<T: Send>(count: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap().install(work)
    }

    fn decode(bytes: &[u8]) -> Vec<u8> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    }

    /// Every kind of picture against one that was looked at and found good. Lights may be tuned by a hair; a mean of 2 of 255 is more than that moves and
    /// far less than a missing light, shade or body would. `SINEW_KEEP_PICTURES=1` replaces the stored ones.
    #[test]
    fn pictures_look_as_they_did_when_they_were_found_good() {
        let still = PictureOptions { layout: Layout::Still, held: Some(3.0), ..SMALL };
        let kinds = [
            ("sheet", SMALL),
            ("ghosts", PictureOptions { ghosts: 3, ..still.clone() }),
            ("top", PictureOptions { view: View::named("top").unwrap(), ..still.clone() }),
            ("turntable", PictureOptions { turntable: Some(1.0), ..SMALL }),
        ];
        for (name, options) in kinds {
            let image = with_ball(4, |frame_source| draw_picture(frame_source, &options).unwrap());
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
            let path = folder.join(format!("{name}.png"));
            if std::env::var_os("SINEW_KEEP_PICTURES").is_some() {
                std::fs::create_dir_all(&folder).unwrap();
                let mut bytes = Vec::new();
                write_png(&image, &mut bytes).unwrap();
                std::fs::write(&path, bytes).unwrap();
            }
            let expected = decode(&std::fs::read(&path).unwrap());
            assert_eq!(expected.len(), image.bytes.len(), "{name}");
            let apart: u64 = expected.iter().zip(&image.bytes).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
            let mean = apart as f64 / expected.len() as f64;
            assert!(mean < 2.0, "{name} is off by {mean}");
        }
    }

    #[test]
    fn any_number_of_threads_draws_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let clip = PictureOptions { layout: Layout::Clip { fps: 5.0 }, ghosts: 2, ..SMALL };
        for (name, options) in [("a.png", SMALL), ("a.gif", clip)] {
            let draw = |threads: usize| {
                let target = folder.path().join(name);
                on_threads(threads, || {
                    with_ball(3, |frame_source| {
                        render_picture(frame_source, &options, &target, true, &mut |_, _| {})
                    })
                    .unwrap();
                });
                std::fs::read(&target).unwrap()
            };
            let one = draw(1);
            assert_eq!(one, draw(2), "{name}");
            assert_eq!(one, draw(5), "{name}");
        }
    }

    #[test]
    fn a_gif_shows_what_was_drawn_for_as_long_as_it_should() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.gif");
        let options = PictureOptions { layout: Layout::Clip { fps: 10.0 }, ..SMALL };
        let report = with_ball(3, |frame_source| {
            render_picture(frame_source, &options, &target, true, &mut |_, _| {})
        })
        .unwrap();
        // from 0 to 2 s at 10 a second, both ends included
        assert_eq!(report.pictures, 21);
        let mut decoder = gif::DecodeOptions::new();
        decoder.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = decoder.read_info(std::fs::File::open(&target).unwrap()).unwrap();
        let mut seen = vec![[0u8; 3]; 64 * 48];
        let mut count = 0;
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            assert_eq!(frame.delay, 10);
            for (i, pixel) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, pixel)| pixel[3] > 0) {
                let width = usize::from(frame.width);
                let (x, y) = (usize::from(frame.left) + i % width, usize::from(frame.top) + i / width);
                seen[y * 64 + x] = [pixel[0], pixel[1], pixel[2]];
            }
            count += 1;
        }
        assert_eq!(count, 21);
        let last = PictureOptions { layout: Layout::Sheet { columns: 2, rows: 1 }, ..SMALL };
        let sheet = with_ball(3, |frame_source| draw_picture(frame_source, &last).unwrap());
        let mut apart = 0.0;
        for (i, pixel) in seen.iter().enumerate() {
            let wanted = &sheet.bytes[3 * (i / 64 * sheet.width + 66 + i % 64)..][..3];
            apart += (0..3).map(|k| f64::from(pixel[k].abs_diff(wanted[k]))).sum::<f64>();
        }
        // colours are at most 3 off where they are kept, and the nearest of 255 otherwise
        assert!(apart / (3.0 * 64.0 * 48.0) < 5.0, "{apart}");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let clip = Layout::Clip { fps: 10.0 };
        let wrong = [
            ("a.bmp", SMALL, "written as .png, .gif or .mp4"),
            ("a.png", PictureOptions { layout: clip, ..SMALL }, "written as .gif or .mp4"),
            ("a.gif", SMALL, "written as .png"),
            ("a.png", PictureOptions { width: 0, ..SMALL }, "cannot be drawn"),
            ("a.png", PictureOptions { height: usize::MAX, ..SMALL }, "cannot be drawn"),
            ("a.gif", PictureOptions { layout: clip, width: 10_000, ..SMALL }, "too many"),
            ("a.gif", PictureOptions { layout: Layout::Clip { fps: f64::NAN }, ..SMALL }, "per second"),
            ("a.png", PictureOptions { held: Some(7.0), ..SMALL }, "times from 0 to 2.000 s"),
            ("a.png", PictureOptions { held: Some(f64::NAN), ..SMALL }, "nothing at NaN s"),
            ("a.png", PictureOptions { span: Some([2.0, 1.0]), ..SMALL }, "backwards"),
            (
                "a.png",
                PictureOptions { view: View { zoom: f64::NAN, ..View::default() }, ..SMALL },
                "zoom of NaN",
            ),
            ("a.png", PictureOptions { turntable: Some(0.0), ..SMALL }, "go round"),
            ("a.png", PictureOptions { ghosts: 1000, ..SMALL }, "too many"),
            ("a.png", PictureOptions { compare: true, ..SMALL }, "are not those at the start"),
            ("missing/a.png", SMALL, "there is no folder"),
        ];
        for (name, options, words) in wrong {
            let target = folder.path().join(name);
            let drawn = with_ball(3, |frame_source| {
                render_picture(frame_source, &options, &target, true, &mut |_, _| {})
            });
            let error = drawn.unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
        assert!(names_in(folder.path()).is_empty());
        let empty = with_ball(0, |frame_source| draw_picture(frame_source, &SMALL)).unwrap_err();
        assert!(empty.0.contains("no frames"), "{empty}");
    }

    #[test]
    fn numbers_are_spread_from_the_first_to_the_last() {
        assert_eq!((spread(3, 8), spread(9, 3)), (vec![0, 1, 2], vec![0, 4, 8]));
    }
}
