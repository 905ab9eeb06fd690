//! A sequential colour map for strain or softness, with its legend.

use crate::canvas::Canvas;
use crate::frame_source::Scalar;
use crate::stroke_font;

/// Colours (linear RGB) from no strain to the end of the scale: slate, teal, sand, orange, crimson.
const STOPS: [[f64; 3]; 5] =
    [[0.055, 0.095, 0.26], [0.045, 0.32, 0.36], [0.66, 0.60, 0.24], [0.86, 0.27, 0.05], [0.50, 0.01, 0.03]];
/// Round strains at which a scale may end.
const SCALES: [f64; 10] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0];

/// Softness at which a scale may end: 1, as chosen, is in the middle of the first.
const SOFTNESS_SCALES: [f64; 3] = [2.0, 5.0, 10.0];

/// The strain of every vertex, and the strain at which the scale ends.
#[derive(Clone, Copy)]
pub(crate) struct StrainField<'a> {
    pub(crate) strain: &'a [f32],
    pub(crate) scale: f64,
}

/// The colour (linear RGB) of a fraction of the scale, from 0 to 1.
pub(crate) fn color(fraction: f64) -> [f64; 3] {
    let position = fraction.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let stop = (position as usize).min(STOPS.len() - 2);
    let within = position - stop as f64;
    [0, 1, 2].map(|i| STOPS[stop][i] + within * (STOPS[stop + 1][i] - STOPS[stop][i]))
}

/// The colour of a fraction of the scale as sRGB bytes, for legends.
pub fn scalar_color(fraction: f64) -> [u8; 3] {
    color(fraction).map(|c| crate::srgb::to_srgb(c as f32))
}

/// The scale for some values: the next round number above their 98th percentile.
pub(crate) fn scale_of(scalar: Scalar, mut values: Vec<f32>) -> f64 {
    let scales = match scalar {
        Scalar::Strain => &SCALES[..],
        Scalar::Softness | Scalar::Fat => &SOFTNESS_SCALES[..],
    };
    values.retain(|value| value.is_finite());
    if values.is_empty() {
        return scales[0];
    }
    values.sort_unstable_by(f32::total_cmp);
    let percentile = f64::from(values[(values.len() - 1) * 98 / 100]);
    scales.iter().copied().find(|scale| *scale >= percentile).unwrap_or(scales[scales.len() - 1])
}

/// Draws the legend into the lower left corner.
pub(crate) fn draw_legend(canvas: &mut Canvas, scalar: Scalar, scale: f64) {
    let unit = stroke_font::height_in(canvas);
    let (left, bottom) = (1.2 * unit, canvas.height as f64 - 1.2 * unit);
    let (width, thickness) = (9.0 * unit, 0.5 * unit);

    // the bar
    for x in left as usize..((left + width) as usize).min(canvas.width) {
        let fraction = (x as f64 + 0.5 - left) / width;
        let rgb = color(fraction).map(|c| c as f32);
        for y in (bottom - thickness) as usize..(bottom as usize).min(canvas.height) {
            canvas.blend(x, y, rgb, 1.0);
        }
    }

    // its ends
    let baseline = bottom - thickness - 0.5 * unit;
    let (begin, end) = match scalar {
        Scalar::Strain => ("strain 0", format!("{} %", (1000.0 * scale).round() / 10.0)),
        Scalar::Softness => ("softness 0", format!("{scale}")),
        Scalar::Fat => ("fat 0", format!("{scale}")),
    };
    stroke_font::write(canvas, [left, baseline], unit, begin);
    let at = left + width - stroke_font::width_of(&end, unit);
    stroke_font::write(canvas, [at, baseline], unit, &end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round_and_cover_the_98th_percentile() {
        let strains: Vec<f32> = (0..1000).map(|i| i as f32 * 1e-4).collect();
        let scale_of_strains = |strains| scale_of(Scalar::Strain, strains);
        assert_eq!(scale_of_strains(strains), 0.1);
        assert_eq!(scale_of_strains(vec![0.0, f32::NAN]), 0.01);
        assert_eq!(scale_of_strains(vec![1e9]), 5.0);
        assert_eq!(scale_of_strains(Vec::new()), 0.01);
        assert_eq!(scale_of(Scalar::Softness, vec![1.0; 9]), 2.0);
        assert_eq!(scale_of(Scalar::Softness, vec![7.0; 9]), 10.0);
    }

    #[test]
    fn the_colour_map_begins_and_ends_at_its_outer_stops() {
        assert_eq!((color(-1.0), color(0.0)), (STOPS[0], STOPS[0]));
        // one rounding of a difference and one of a sum
        assert!((0..3).all(|i| (color(2.0)[i] - STOPS[4][i]).abs() < 1e-15));
    }
}
