//! Clips as GIF: few colours for all of it, and in each picture only what has changed since the last.

use super::canvas::Image;
use super::colors::Colors;
use super::frame_source::PictureError;
use crate::AtomicFile;
use sinew_files::signature::WRITTEN_BY;
use std::io::Write;

/// A pixel that shows nearly the right colour stays as it is: differences up to this are no more than the pattern below makes (of 255).
const SAME: i32 = 3;
/// How far colours are moved to either side so that areas of few colours look like one of many (of 255).
const PATTERN: i32 = 2;
/// The order in which places of a square of four get the next colour.
const ORDER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// A GIF being written.
pub(super) struct GifFile {
    encoder: gif::Encoder<Counted>,
    colors: Colors,
    /// What is seen now; none before the first picture.
    shown: Vec<u8>,
    /// The number of the colour that is none.
    clear: u8,
    width: usize,
    height: usize,
    delay: u16,
}

/// A file that knows how much was written to it.
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

/// The time of one picture in hundredths of a second, as GIF has it: two at least, as players make less of it ten.
pub(super) fn delay_of(fps: f64) -> u16 {
    (100.0 / fps).round().clamp(2.0, 60_000.0) as u16
}

impl GifFile {
    /// Begins a clip of pictures of this size with these colours, at most 255.
    pub(super) fn begin(
        file: AtomicFile,
        size: [usize; 2],
        colors: Colors,
        delay: u16,
    ) -> Result<GifFile, PictureError> {
        let [width, height] = size;
        let clear = colors.colors.len() as u8;
        let mut palette = colors.colors.concat();
        palette.extend([0, 0, 0]);
        let [wide, high] = size.map(|n| n.min(usize::from(u16::MAX)) as u16);
        let mut encoder =
            gif::Encoder::new(Counted { file, bytes: 0 }, wide, high, &palette).map_err(in_words)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(in_words)?;
        let comment = gif::AnyExtension(gif::Extension::Comment as u8);
        encoder
            .write_raw_extension(comment, &[WRITTEN_BY.as_bytes()])
            .map_err(|error| in_words(error.into()))?;
        Ok(GifFile { encoder, colors, shown: Vec::new(), clear, width, height, delay })
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.encoder.get_ref().bytes
    }

    /// Adds a picture.
    pub(super) fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        let first = self.shown.is_empty();
        if first {
            self.shown = vec![0; self.width * self.height];
        }
        let mut pixels = vec![self.clear; self.width * self.height];
        let (mut low, mut high) = ([self.width, self.height], [0, 0]);
        for (i, wanted) in image.bytes.chunks_exact(3).enumerate() {
            let place = [i % self.width, i / self.width];
            let wanted = [wanted[0], wanted[1], wanted[2]].map(i32::from);
            if !first && is_near(self.colors.colors[usize::from(self.shown[i])], wanted) {
                continue;
            }
            let moved = (ORDER[place[1] % 4][place[0] % 4] * 2 - 15) * PATTERN / 15;
            let color = self.colors.nearest(wanted.map(|c| (c + moved).clamp(0, 255) as u8));
            if first || color != self.shown[i] {
                (pixels[i], self.shown[i]) = (color, color);
                (0..2).for_each(|k| (low[k], high[k]) = (low[k].min(place[k]), high[k].max(place[k] + 1)));
            }
        }
        if high == [0, 0] {
            // nothing changed: one pixel of nothing keeps the time
            (low, high) = ([0, 0], [1, 1]);
        }
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
        self.encoder.write_frame(&frame).map_err(in_words)
    }

    /// Ends the clip and gives the file its name. Returns how large it is (bytes).
    pub(super) fn finish(self) -> Result<u64, PictureError> {
        let mut counted = self.encoder.into_inner().map_err(in_words)?;
        counted.flush()?;
        let bytes = counted.bytes;
        counted.file.commit()?;
        Ok(bytes)
    }
}

fn is_near(shown: [u8; 3], wanted: [i32; 3]) -> bool {
    (0..3).all(|i| (i32::from(shown[i]) - wanted[i]).abs() <= SAME)
}

fn in_words(error: gif::EncodingError) -> PictureError {
    PictureError(format!("the GIF cannot be written: {error}"))
}
