//! The sRGB transfer function, with highlight compression, and its inverse.

use sinew_math::real;
use std::sync::OnceLock;

/// Steps of the lookup table over linear values from 0 to [`TABLE_END`]: the steepest part of the curve crosses one byte in two of them.
const STEPS: usize = 16_384;
const TABLE_END: f64 = 2.0;

/// Encodes a linear value as an sRGB byte; highlights are compressed rather than clipped.
pub(crate) fn to_srgb(linear: f32) -> u8 {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    let table =
        TABLE.get_or_init(|| (0..=STEPS).map(|i| encode(i as f64 / STEPS as f64 * TABLE_END)).collect());
    // the cast saturates, and maps NaN to 0
    let index = (linear * (STEPS as f32 / TABLE_END as f32) + 0.5) as usize;
    table.get(index).copied().unwrap_or(255)
}

/// Above the knee values approach 1 along a hyperbola that continues the line below with the same derivative.
fn encode(linear: f64) -> u8 {
    let knee = 0.8;
    let over = linear - knee;
    let room = 1.0 - knee;
    let compressed = if over > 0.0 { knee + room * over / (over + room) } else { linear.max(0.0) };
    let encoded = if compressed <= 0.003_130_8 {
        12.92 * compressed
    } else {
        1.055 * real::pow(compressed, 1.0 / 2.4) - 0.055
    };
    (encoded * 255.0 + 0.5) as u8
}

/// The linear value of each sRGB byte.
pub(crate) fn linear_of_bytes() -> &'static [f32; 256] {
    static TABLE: OnceLock<[f32; 256]> = OnceLock::new();
    TABLE.get_or_init(|| {
        core::array::from_fn(|byte| {
            let encoded = byte as f64 / 255.0;
            let linear =
                if encoded <= 0.04045 { encoded / 12.92 } else { real::pow((encoded + 0.055) / 1.055, 2.4) };
            linear as f32
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_grow_with_light_and_end_at_white() {
        let bytes: Vec<u8> = (0..300).map(|i| to_srgb(i as f32 / 100.0)).collect();
        assert!(bytes.is_sorted());
        assert_eq!((bytes[0], to_srgb(-1.0), to_srgb(1e9), to_srgb(f32::NAN)), (0, 0, 255, 0));
    }

    #[test]
    fn bytes_come_back_as_they_were_below_the_knee() {
        for byte in 0..=230u8 {
            assert_eq!(to_srgb(linear_of_bytes()[usize::from(byte)]), byte);
        }
    }
}
