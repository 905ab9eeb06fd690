//! Animated GIF with one global palette, ordered dithering and inter-frame transparency.

use crate::color_table::ColorTable;
use crate::frame_source::PictureError;
use crate::image::Image;
use sinew_files::AtomicFile;
use sinew_files::signature::WRITTEN_BY;
use std::io::Write;

/// A pixel within this of its new colour (of 255) is left unchanged: the difference is no larger than dithering makes.
const UNCHANGED: i32 = 3;
/// The amplitude of the dithering (of 255).
const DITHER: i32 = 2;
/// The 4 × 4 Bayer matrix.
const BAYER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// A GIF being written.
pub(crate) struct GifFile {
    encoder: gif::Encoder<Counted>,
    colors: ColorTable,
    /// The palette index of each pixel so far; empty before the first picture.
    shown: Vec<u8>,
    /// The palette index that means transparent.
    clear: u8,
    width: usize,
    height: usize,
    delay: u16,
}

/// A file that counts what is written to it.
struct Counted {
    file: AtomicFile,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// The time of one picture in hundredths of a second, the unit of GIF: at least two, because players take less for ten.
pub(crate) fn delay_of(fps: f64) -> u16 {
    (100.0 / fps).round().clamp(2.0, 60_000.0) as u16
}

impl GifFile {
    /// Begins a clip of pictures of a size (pixels) with at most 255 colours and a delay between them (1/100 s).
    pub(crate) fn begin(
        file: AtomicFile,
        size: [usize; 2],
        colors: ColorTable,
        delay: u16,
    ) -> Result<GifFile, PictureError> {
        let [width, height] = size;
        let clear = colors.colors.len() as u8;
        let mut palette = colors.colors.concat();
        palette.extend([0, 0, 0]);
        let [wide, high] = size.map(|n| n.min(usize::from(u16::MAX)) as u16);
        let mut encoder =
            gif::Encoder::new(Counted { file, bytes: 0 }, wide, high, &palette).map_err(describe)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(describe)?;
        let comment = gif::AnyExtension(gif::Extension::Comment as u8);
        encoder.write_raw_extension(comment, &[WRITTEN_BY.as_bytes()]).map_err(describe)?;
        Ok(GifFile { encoder, colors, shown: Vec::new(), clear, width, height, delay })
    }

    /// Bytes written so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.encoder.get_ref().bytes
    }

    /// Adds a picture.
    pub(crate) fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        // palette indices of the changed pixels, and their bounds
        let first = self.shown.is_empty();
        if first {
            self.shown = vec![0; self.width * self.height];
        }
        let mut pixels = vec![self.clear; self.width * self.height];
        let (mut low, mut high) = ([self.width, self.height], [0, 0]);
        for (i, wanted) in image.bytes.chunks_exact(3).enumerate() {
            let pixel = [i % self.width, i / self.width];
            let wanted = [wanted[0], wanted[1], wanted[2]].map(i32::from);
            if !first && is_near(self.colors.colors[usize::from(self.shown[i])], wanted) {
                continue;
            }
            let dither = (BAYER[pixel[1] % 4][pixel[0] % 4] * 2 - 15) * DITHER / 15;
            let color = self.colors.nearest(wanted.map(|c| (c + dither).clamp(0, 255) as u8));
            if first || color != self.shown[i] {
                (pixels[i], self.shown[i]) = (color, color);
                (0..2).for_each(|k| (low[k], high[k]) = (low[k].min(pixel[k]), high[k].max(pixel[k] + 1)));
            }
        }
        if high == [0, 0] {
            // nothing changed: one transparent pixel keeps the time
            (low, high) = ([0, 0], [1, 1]);
        }

        // only the changed rectangle is stored
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let rows = pixels.chunks_exact(self.width).skip(low[1]).take(height);
        let buffer: Vec<u8> = rows.flat_map(|row| &row[low[0]..high[0]]).copied().collect();
        let frame = gif::Frame {
            delay: self.delay,
            dispose: gif::DisposalMethod::Keep,
            transparent: Some(self.clear),
            left: low[0] as u16,
            top: low[1] as u16,
            width: width as u16,
            height: height as u16,
            buffer: buffer.into(),
            ..gif::Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(describe)
    }

    /// Finishes the clip, gives the file its name and returns its size (bytes).
    pub(crate) fn finish(self) -> Result<u64, PictureError> {
        let mut counted = self.encoder.into_inner().map_err(describe)?;
        counted.flush()?;
        let bytes = counted.bytes;
        counted.file.commit()?;
        Ok(bytes)
    }
}

fn is_near(shown: [u8; 3], wanted: [i32; 3]) -> bool {
    (0..3).all(|i| (i32::from(shown[i]) - wanted[i]).abs() <= UNCHANGED)
}

fn describe(error: gif::EncodingError) -> PictureError {
    PictureError(format!("the GIF cannot be written: {error}"))
}
