//! Softness from a grey picture.

use sinew_character::SoftnessTexture;
use sinew_files::ReadError;
use std::path::Path;

/// The longest side of a picture (pixels).
const MAX_SIDE: usize = 8192;

/// Reads a .png as softness: black is rigid, white as soft as chosen. Colours count by their mean.
pub(crate) fn read_softness_texture(path: &Path) -> Result<SoftnessTexture, ReadError> {
    let bytes = sinew_files::read_bytes(path)?;
    decode(&bytes).map_err(|message| ReadError::whole(message).within(path))
}

fn decode(bytes: &[u8]) -> Result<SoftnessTexture, String> {
    let faulty = |error: png::DecodingError| format!("not a sound .png ({error}): save the picture again");
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(faulty)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width.max(height) > MAX_SIDE {
        return Err(format!("{width} × {height} pixels: make it at most {MAX_SIDE} wide and high"));
    }
    let size = reader.output_buffer_size().ok_or("larger than memory: make it smaller")?;
    let mut pixels = vec![0; size];
    let channels = reader.next_frame(&mut pixels).map_err(faulty)?.color_type.samples();

    // opacity is no softness
    let colors = if channels < 3 { 1 } else { 3 };
    let mean =
        |pixel: &[u8]| pixel[..colors].iter().map(|c| f32::from(*c)).sum::<f32>() / (255.0 * colors as f32);
    let values = pixels[..width * height * channels].chunks_exact(channels).map(mean).collect();
    SoftnessTexture::new(width, height, values).ok_or_else(|| "an empty picture: draw something".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_of(color: png::ColorType, pixels: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(color);
        encoder.write_header().unwrap().write_image_data(pixels).unwrap();
        bytes
    }

    #[test]
    fn black_is_rigid_and_white_is_as_chosen() {
        let grey = decode(&png_of(png::ColorType::Grayscale, &[0, 255])).unwrap();
        assert_eq!([grey.sample([0.25, 0.5]), grey.sample([0.75, 0.5])], [0.0, 1.0]);
        let red = decode(&png_of(png::ColorType::Rgba, &[255, 0, 0, 9, 255, 255, 255, 0])).unwrap();
        assert_eq!([red.sample([0.25, 0.5]), red.sample([0.75, 0.5])], [1.0 / 3.0, 1.0]);
        assert!(decode(b"no picture").unwrap_err().contains("not a sound .png"));
    }
}
