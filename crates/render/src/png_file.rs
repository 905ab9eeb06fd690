//! PNG encoding of a picture, 8-bit sRGB.

use crate::image::Image;
use sinew_files::signature::PROGRAM;
use std::io::Write;

/// Writes a picture as PNG.
pub fn write_png(image: &Image, out: impl Write) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(out, image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.add_text_chunk("Software".into(), PROGRAM.into())?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&image.bytes)?;
    writer.finish()
}
