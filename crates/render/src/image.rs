//! A finished picture: 8-bit sRGB pixels.

/// A finished picture: three sRGB bytes per pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue of every pixel.
    pub bytes: Vec<u8>,
}

impl Image {
    /// Arranges pictures of one size in rows of `columns`, with a white gap (pixels) between them.
    pub(crate) fn sheet(tiles: &[Image], columns: usize, gap: usize) -> Image {
        let Some(first) = tiles.first() else { return Image { width: 0, height: 0, bytes: Vec::new() } };
        let rows = tiles.len().div_ceil(columns);
        let width = columns * first.width + (columns - 1) * gap;
        let height = rows * first.height + (rows - 1) * gap;
        let mut bytes = vec![255; 3 * width * height];
        for (i, tile) in tiles.iter().enumerate() {
            let (left, top) = ((i % columns) * (first.width + gap), (i / columns) * (first.height + gap));
            for (y, row) in tile.bytes.chunks_exact(3 * tile.width).enumerate() {
                bytes[3 * ((top + y) * width + left)..][..row.len()].copy_from_slice(row);
            }
        }
        Image { width, height, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_its_tiles_in_rows() {
        let tile = |shade: u8| Image { width: 2, height: 1, bytes: vec![shade; 6] };
        let sheet = Image::sheet(&[tile(1), tile(2), tile(3)], 2, 1);
        assert_eq!((sheet.width, sheet.height), (5, 3));
        let reds: Vec<u8> = sheet.bytes.iter().step_by(3).copied().collect();
        assert_eq!(reds, [1, 1, 255, 2, 2, 255, 255, 255, 255, 255, 3, 3, 255, 255, 255]);
    }
}
