//! From a footage to a file.

use super::canvas::Image;
use super::colors::ColorCount;
use super::film::Film;
use super::footage::{Footage, PictureError};
use super::gif_file::{GifFile, delay_of};
use super::options::{Layout, PictureOptions};
use super::png_file::write_png;
use super::video_file::{self, VideoFile};
use crate::PendingFile;
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
pub(crate) fn draw_picture(footage: &dyn Footage, options: &PictureOptions) -> Result<Image, PictureError> {
    draw_sheet(&Film::plan(footage, options)?, options, &mut |_, _| {})
}

fn draw_sheet(
    film: &Film,
    options: &PictureOptions,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<Image, PictureError> {
    let mut tiles = Vec::with_capacity(film.shots.len());
    film.take(&all(film), &mut |image| {
        tiles.push(image);
        watch(tiles.len(), film.shots.len());
        Ok(())
    })?;
    let columns = if let Layout::Sheet { columns, .. } = options.layout { columns } else { 1 };
    Ok(Image::sheet(&tiles, columns, 2))
}

/// Writes pictures of a footage as the extension of `target` says. With `may_shrink` a GIF becomes smaller than wanted where it would be too large for
/// pages. `watch` is called after every picture with how many are done of how many.
pub fn render_picture(
    footage: &dyn Footage,
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
    let film = Film::plan(footage, options)?;
    match (format, options.layout) {
        (PictureFormat::Gif, Layout::Clip { fps }) => {
            write_gif(film, options, fps, target, may_shrink, watch)
        }
        (PictureFormat::Mp4, Layout::Clip { fps }) => write_video(film, options, fps, target, watch),
        _ => write_still(&film, options, target, watch),
    }
}

fn write_still(
    film: &Film,
    options: &PictureOptions,
    target: &Path,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<PictureReport, PictureError> {
    let mut file = PendingFile::create(target)?;
    let image = draw_sheet(film, options, watch)?;
    write_png(&image, &mut file)
        .map_err(|error| PictureError(format!("cannot write {}: {error}", target.display())))?;
    file.commit()?;
    let bytes = std::fs::metadata(target)?.len();
    Ok(PictureReport { pictures: film.shots.len(), width: image.width, height: image.height, bytes })
}

fn write_gif(
    mut film: Film,
    options: &PictureOptions,
    fps: f64,
    target: &Path,
    may_shrink: bool,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<PictureReport, PictureError> {
    let pictures = film.shots.len();
    let [mut width, mut height] = [options.width, options.height];
    loop {
        let file = PendingFile::create(target)?;
        film.resize((width / COLOR_SHRINK).max(1), (height / COLOR_SHRINK).max(1));
        let mut count = ColorCount::new();
        film.take(&spread(pictures, COLOR_SAMPLES), &mut |image| {
            count.add(&image);
            Ok(())
        })?;
        film.resize(width, height);
        let mut gif: Option<GifFile> = None;
        let mut begin = Some((file, count.choose(255)));
        let (mut size, mut done, mut too_large) = ([width, height], 0, None);
        let taken = film.take(&all(&film), &mut |image| {
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
    mut film: Film,
    options: &PictureOptions,
    fps: f64,
    target: &Path,
    watch: &mut dyn FnMut(usize, usize),
) -> Result<PictureReport, PictureError> {
    // colours of videos are shared by four pixels
    let size = [options.width.next_multiple_of(2), options.height.next_multiple_of(2)];
    film.resize(size[0], size[1]);
    let mut video = VideoFile::begin(PendingFile::create(target)?, size, fps)?;
    let (mut done, pictures) = (0, film.shots.len());
    film.take(&all(&film), &mut |image| {
        video.add(&image)?;
        done += 1;
        watch(done, pictures);
        Ok(())
    })?;
    let bytes = video.finish()?;
    Ok(PictureReport { pictures, width: size[0], height: size[1], bytes })
}

/// All pictures.
fn all(film: &Film) -> Vec<usize> {
    (0..film.shots.len()).collect()
}

/// A few numbers spread over so many, the first and the last among them.
fn spread(count: usize, few: usize) -> Vec<usize> {
    if count <= few {
        return (0..count).collect();
    }
    (0..few).map(|i| i * (count - 1) / (few - 1)).collect()
}
