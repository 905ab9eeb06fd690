//! Drawing a frame source to a file: PNG for stills and sheets, GIF or MP4 for clips.

use crate::color_table::{ColorHistogram, ColorTable};
use crate::frame_source::{FrameSource, PictureError};
use crate::gif_file::{GifFile, delay_of};
use crate::image::Image;
use crate::options::{Layout, PictureOptions};
use crate::png_file::write_png;
use crate::render_plan::RenderPlan;
use crate::video_file::{self, VideoFile};
use sinew_files::AtomicFile;
use std::path::Path;

/// The file format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// A still or a contact sheet.
    Png,
    /// A clip that plays everywhere.
    Gif,
    /// A clip encoded by `ffmpeg`.
    Mp4,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureReport {
    /// The number of pictures: tiles of a sheet, frames of a clip.
    pub pictures: usize,
    /// The width of the file (pixels).
    pub width: usize,
    /// The height of the file (pixels).
    pub height: usize,
    /// The size of the file (bytes).
    pub bytes: u64,
}

/// Called after every picture with the number done and the number in all.
pub type Progress<'a> = dyn FnMut(usize, usize) + 'a;

/// Pictures from which the colours of a GIF are chosen, and how many times smaller than in the clip.
const COLOR_SAMPLES: usize = 8;
const COLOR_SHRINK: usize = 2;
/// A GIF is never shrunk below this width (pixels).
const MIN_GIF_WIDTH: usize = 200;

impl PictureFormat {
    /// The format that the extension of a path asks for.
    pub fn of(path: &Path) -> Option<PictureFormat> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "png" => Some(PictureFormat::Png),
            "gif" => Some(PictureFormat::Gif),
            "mp4" => Some(PictureFormat::Mp4),
            _ => None,
        }
    }

    /// Returns an error if a program needed to write the format is not installed.
    pub fn check(self) -> Result<(), PictureError> {
        match self {
            PictureFormat::Mp4 => video_file::check(),
            PictureFormat::Png | PictureFormat::Gif => Ok(()),
        }
    }
}

/// Draws a still or a contact sheet.
pub fn draw_picture(source: &dyn FrameSource, options: &PictureOptions) -> Result<Image, PictureError> {
    draw_sheet(&RenderPlan::build(source, options)?, options, &mut |_, _| {})
}

/// Draws a frame source and writes it in the format that the extension of `target` asks for.
pub fn render_picture(
    source: &dyn FrameSource,
    options: &PictureOptions,
    target: &Path,
    progress: &mut Progress,
) -> Result<PictureReport, PictureError> {
    // the format must fit the layout
    let format = PictureFormat::of(target).ok_or_else(|| {
        PictureError(format!("{}: pictures are written as .png, .gif or .mp4", target.display()))
    })?;
    let is_clip = matches!(options.layout, Layout::Clip { .. });
    if is_clip == (format == PictureFormat::Png) {
        let rule =
            if is_clip { "a clip is written as .gif or .mp4" } else { "one picture is written as .png" };
        return Err(PictureError(format!("{}: {rule}", target.display())));
    }
    format.check()?;

    // the delay between pictures of a GIF is a whole number of hundredths of a second
    let mut options = options.clone();
    if let (PictureFormat::Gif, Layout::Clip { fps }) = (format, &mut options.layout)
        && *fps > 0.0
    {
        *fps = 100.0 / f64::from(delay_of(*fps));
    }

    let plan = RenderPlan::build(source, &options)?;
    match (format, options.layout) {
        (PictureFormat::Gif, Layout::Clip { fps }) => write_gif(plan, &options, fps, target, progress),
        (PictureFormat::Mp4, Layout::Clip { fps }) => write_video(plan, &options, fps, target, progress),
        _ => write_still(&plan, &options, target, progress),
    }
}

fn draw_sheet(
    plan: &RenderPlan,
    options: &PictureOptions,
    progress: &mut Progress,
) -> Result<Image, PictureError> {
    let mut tiles = Vec::with_capacity(plan.shots.len());
    plan.draw(&all(plan), &mut |image| {
        tiles.push(image);
        progress(tiles.len(), plan.shots.len());
        Ok(())
    })?;
    let columns = if let Layout::Sheet { columns, .. } = options.layout { columns } else { 1 };
    Ok(Image::sheet(&tiles, columns, 2))
}

fn write_still(
    plan: &RenderPlan,
    options: &PictureOptions,
    target: &Path,
    progress: &mut Progress,
) -> Result<PictureReport, PictureError> {
    let mut file = AtomicFile::create(target)?;
    let image = draw_sheet(plan, options, progress)?;
    write_png(&image, &mut file)
        .map_err(|error| PictureError(format!("cannot write {}: {error}", target.display())))?;
    file.commit()?;
    let bytes = std::fs::metadata(target)?.len();
    Ok(PictureReport { pictures: plan.shots.len(), width: image.width, height: image.height, bytes })
}

/// Writes a GIF, smaller and smaller until it is within the limit of the options.
fn write_gif(
    mut plan: RenderPlan,
    options: &PictureOptions,
    fps: f64,
    target: &Path,
    progress: &mut Progress,
) -> Result<PictureReport, PictureError> {
    let [mut width, mut height] = [options.width, options.height];
    loop {
        let file = AtomicFile::create(target)?;
        let colors = choose_colors(&mut plan, width, height)?;
        plan.resize(width, height);
        let limit = options.max_gif_bytes.filter(|_| width > MIN_GIF_WIDTH).unwrap_or(u64::MAX);
        match draw_gif(&plan, GifStart { file, colors, delay: delay_of(fps) }, limit, progress)? {
            GifEnd::Written(report) => return Ok(report),
            GifEnd::TooLarge { expected } => {
                // bytes grow with the area
                let shrink = (0.9 * limit as f64 / expected as f64).sqrt().min(0.9);
                let narrower = ((width as f64 * shrink) as usize).max(MIN_GIF_WIDTH);
                height = (height * narrower / width).max(1);
                width = narrower;
            }
        }
    }
}

/// Chooses the colours of a GIF from a few small pictures spread over the clip.
fn choose_colors(plan: &mut RenderPlan, width: usize, height: usize) -> Result<ColorTable, PictureError> {
    plan.resize((width / COLOR_SHRINK).max(1), (height / COLOR_SHRINK).max(1));
    let mut histogram = ColorHistogram::new();
    plan.draw(&spread(plan.shots.len(), COLOR_SAMPLES), &mut |image| {
        histogram.add(&image);
        Ok(())
    })?;
    // one of the 256 entries stands for transparency
    Ok(histogram.quantise(255))
}

/// What a GIF needs before its first picture.
struct GifStart {
    file: AtomicFile,
    colors: ColorTable,
    /// Hundredths of a second per picture.
    delay: u16,
}

/// How drawing a GIF ended.
enum GifEnd {
    Written(PictureReport),
    TooLarge {
        /// The expected size of the whole file (bytes).
        expected: u64,
    },
}

/// Draws a GIF unless it is going to be larger than `limit` (bytes), which is judged from the first quarter on.
fn draw_gif(
    plan: &RenderPlan,
    start: GifStart,
    limit: u64,
    progress: &mut Progress,
) -> Result<GifEnd, PictureError> {
    let pictures = plan.shots.len();
    let (mut start, mut gif) = (Some(start), None);
    let (mut size, mut done, mut too_large) = ([0, 0], 0, None);
    let drawn = plan.draw(&all(plan), &mut |image| {
        // the first picture determines the size
        if let Some(GifStart { file, colors, delay }) = start.take() {
            size = [image.width, image.height];
            gif = Some(GifFile::begin(file, size, colors, delay)?);
        }
        let Some(gif) = &mut gif else { return Ok(()) };
        gif.add(&image)?;
        done += 1;
        progress(done, pictures);

        // stop as soon as the file is known to be too large
        let expected = gif.bytes() * pictures as u64 / done as u64;
        if expected > limit && (4 * done >= pictures || gif.bytes() > limit) {
            too_large = Some(expected);
            return Err(PictureError("the GIF is too large".into()));
        }
        Ok(())
    });
    if let Some(expected) = too_large {
        return Ok(GifEnd::TooLarge { expected });
    }
    drawn?;
    let gif = gif.ok_or_else(|| PictureError("there are no frames to draw".into()))?;
    let bytes = gif.finish()?;
    Ok(GifEnd::Written(PictureReport { pictures, width: size[0], height: size[1], bytes }))
}

fn write_video(
    mut plan: RenderPlan,
    options: &PictureOptions,
    fps: f64,
    target: &Path,
    progress: &mut Progress,
) -> Result<PictureReport, PictureError> {
    // chroma is subsampled in blocks of 2 × 2 pixels
    let size = [options.width.next_multiple_of(2), options.height.next_multiple_of(2)];
    plan.resize(size[0], size[1]);
    let mut video = VideoFile::begin(AtomicFile::create(target)?, size, fps)?;
    let (mut done, pictures) = (0, plan.shots.len());
    plan.draw(&all(&plan), &mut |image| {
        video.add(&image)?;
        done += 1;
        progress(done, pictures);
        Ok(())
    })?;
    let bytes = video.finish()?;
    Ok(PictureReport { pictures, width: size[0], height: size[1], bytes })
}

/// The indices of all shots.
fn all(plan: &RenderPlan) -> Vec<usize> {
    (0..plan.shots.len()).collect()
}

/// At most `max_count` of `count` indices, evenly spread from the first to the last.
fn spread(count: usize, max_count: usize) -> Vec<usize> {
    if count <= max_count {
        return (0..count).collect();
    }
    (0..max_count).map(|i| i * (count - 1) / (max_count - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::names_in;
    use crate::{Look, StoredFrameSource, View};
    use sinew_mesh::shapes;
    use sinew_take::{Frame, SurfaceInfo, Up};

    fn ball() -> SurfaceInfo {
        let mesh = shapes::sphere(0.5, 3);
        let rest = mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        SurfaceInfo { name: "ball".into(), triangles: mesh.triangles, rest }
    }

    /// A ball that is flattened and moved aside, frame by frame.
    fn flattened(count: usize) -> Vec<Frame> {
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
        work(&StoredFrameSource::new(&[ball()], Look::palette(1), flattened(count), Up::Y))
    }

    const SMALL: PictureOptions = PictureOptions {
        layout: Layout::Sheet { columns: 2, rows: 1 },
        width: 64,
        height: 48,
        span: None,
        time: None,
        view: View { azimuth: 28.0, elevation: 15.0, zoom: 1.0 },
        turntable: None,
        compare: false,
        ghosts: 0,
        later_ghosts: 0,
        ghost_spacing: 0.15,
        max_gif_bytes: None,
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

    /// Every kind of picture against a reference that was inspected by eye. A mean difference of 2 of 255 is more than small changes of the lights make
    /// and far less than a missing light, shadow or body would. `SINEW_KEEP_PICTURES=1` replaces the references.
    #[test]
    fn pictures_match_the_references() {
        let still = PictureOptions { layout: Layout::Still, time: Some(3.0), ..SMALL };
        let kinds = [
            ("sheet", SMALL),
            ("ghosts", PictureOptions { ghosts: 3, ..still.clone() }),
            (
                "later",
                PictureOptions { time: Some(0.0), later_ghosts: 3, ghost_spacing: 1.0, ..still.clone() },
            ),
            ("top", PictureOptions { view: View::named("top").unwrap(), ..still.clone() }),
            ("turntable", PictureOptions { turntable: Some(1.0), ..SMALL }),
        ];
        for (name, options) in kinds {
            let image = with_ball(4, |source| draw_picture(source, &options).unwrap());
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
        let clip = PictureOptions { layout: Layout::Clip { fps: 5.0 }, ghosts: 2, later_ghosts: 2, ..SMALL };
        for (name, options) in [("a.png", SMALL), ("a.gif", clip)] {
            let draw = |threads: usize| {
                let target = folder.path().join(name);
                on_threads(threads, || {
                    with_ball(3, |source| render_picture(source, &options, &target, &mut |_, _| {})).unwrap();
                });
                std::fs::read(&target).unwrap()
            };
            let one = draw(1);
            assert_eq!(one, draw(2), "{name}");
            assert_eq!(one, draw(5), "{name}");
        }
    }

    #[test]
    fn a_gif_has_the_pictures_and_delays_that_were_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.gif");
        let options = PictureOptions { layout: Layout::Clip { fps: 10.0 }, ..SMALL };
        let report =
            with_ball(3, |source| render_picture(source, &options, &target, &mut |_, _| {})).unwrap();
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
        let sheet = with_ball(3, |source| draw_picture(source, &last).unwrap());
        let mut apart = 0.0;
        for (i, pixel) in seen.iter().enumerate() {
            let wanted = &sheet.bytes[3 * (i / 64 * sheet.width + 66 + i % 64)..][..3];
            apart += (0..3).map(|k| f64::from(pixel[k].abs_diff(wanted[k]))).sum::<f64>();
        }
        // unchanged pixels are at most 3 off, the others have the nearest of 255 colours
        assert!(apart / (3.0 * 64.0 * 48.0) < 5.0, "{apart}");
    }

    #[test]
    fn invalid_options_are_rejected_and_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let clip = Layout::Clip { fps: 10.0 };

        // options that do not fit
        let wrong = [
            ("a.bmp", SMALL, "written as .png, .gif or .mp4"),
            ("a.png", PictureOptions { layout: clip, ..SMALL }, "written as .gif or .mp4"),
            ("a.gif", SMALL, "written as .png"),
            ("a.png", PictureOptions { width: 0, ..SMALL }, "cannot be drawn"),
            ("a.png", PictureOptions { height: usize::MAX, ..SMALL }, "cannot be drawn"),
            ("a.gif", PictureOptions { layout: clip, width: 10_000, ..SMALL }, "too many"),
            ("a.gif", PictureOptions { layout: Layout::Clip { fps: f64::NAN }, ..SMALL }, "per second"),
            ("a.png", PictureOptions { time: Some(7.0), ..SMALL }, "times from 0 to 2.000 s"),
            ("a.png", PictureOptions { time: Some(f64::NAN), ..SMALL }, "no frame at NaN s"),
            ("a.png", PictureOptions { span: Some([2.0, 1.0]), ..SMALL }, "backwards"),
            (
                "a.png",
                PictureOptions { view: View { zoom: f64::NAN, ..View::default() }, ..SMALL },
                "zoom of NaN",
            ),
            ("a.png", PictureOptions { turntable: Some(0.0), ..SMALL }, "go round"),
            ("a.png", PictureOptions { ghosts: 1000, ..SMALL }, "too many"),
            ("a.png", PictureOptions { later_ghosts: 1000, ..SMALL }, "too many"),
            ("a.png", PictureOptions { ghost_spacing: 0.0, ..SMALL }, "give a time above 0"),
            ("a.png", PictureOptions { compare: true, ..SMALL }, "are not those at the start"),
            ("missing/a.png", SMALL, "there is no folder"),
        ];

        // each is told, and nothing is written
        for (name, options, words) in wrong {
            let target = folder.path().join(name);
            let drawn = with_ball(3, |source| render_picture(source, &options, &target, &mut |_, _| {}));
            let error = drawn.unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
        assert!(names_in(folder.path()).is_empty());
        let empty = with_ball(0, |source| draw_picture(source, &SMALL)).unwrap_err();
        assert!(empty.0.contains("no frames"), "{empty}");
    }

    #[test]
    fn indices_are_spread_from_the_first_to_the_last() {
        assert_eq!((spread(3, 8), spread(9, 3)), (vec![0, 1, 2], vec![0, 4, 8]));
    }
}
