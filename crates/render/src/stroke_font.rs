//! A single-stroke vector font for labels.

use crate::canvas::Canvas;

/// The colour of letters (linear RGB).
const INK: [f32; 3] = [0.06, 0.07, 0.09];
/// The strokes of each character, separated by spaces: points of two digits, x then y. The baseline is at y = 2, lower-case letters end at 6 and tall ones at 8.
const LETTERS: [(char, &str); 40] = [
    ('a', "3526160503122233 3632"),
    ('b', "0208 0516263533221203"),
    ('c', "3526160503122233"),
    ('d', "3526160503122233 3832"),
    ('e', "04343526160503122233"),
    ('f', "281712 0626"),
    ('g', "3526160503122233 3631201001"),
    ('h', "0208 0516263532"),
    ('i', "0206 0808"),
    ('j', "0601 0808"),
    ('k', "0208 360432"),
    ('l', "0802"),
    ('m', "0206 0516263532 3546566562"),
    ('n', "0206 0516263532"),
    ('o', "051626353322120305"),
    ('p', "0006 0516263533221203"),
    ('q', "3526160503122233 3630"),
    ('r', "0206 051626"),
    ('s', "35261605142433221203"),
    ('t', "181322 0626"),
    ('u', "0603122233 3632"),
    ('v', "062246"),
    ('w', "0612253246"),
    ('x', "0632 3602"),
    ('y', "0622 4610"),
    ('z', "06360232"),
    ('0', "182837332212030718"),
    ('1', "071812"),
    ('2', "07182837360232"),
    ('3', "07182837362515 253433221203"),
    ('4', "280434 2622"),
    ('5', "3808052534332202"),
    ('6', "2818060312223334251504"),
    ('7', "083812"),
    ('8', "150607182837362515 1504031222333425"),
    ('9', "1222343728180706152536"),
    ('.', "0202"),
    ('-', "0535"),
    ('%', "0248 0708181707 3233434232"),
    (' ', ""),
];
/// The gap between characters and the width of a space, in grid units.
const GAP: f64 = 1.7;
const SPACE: f64 = 2.6;
/// Grid units from the baseline to the top of tall letters.
const CAP_HEIGHT: f64 = 6.0;

/// A readable height of letters for a picture (pixels).
pub(crate) fn height_in(canvas: &Canvas) -> f64 {
    (canvas.height as f64 / 32.0).clamp(8.0, 60.0)
}

/// The width of a text in letters of a height (pixels).
pub(crate) fn width_of(text: &str, height: f64) -> f64 {
    let units: f64 = text.chars().map(|letter| advance(strokes_of(letter))).sum();
    (units - GAP).max(0.0) * height / CAP_HEIGHT
}

/// Draws a text whose baseline begins at `origin`, in letters of a height (pixels). Unknown characters are left out.
pub(crate) fn write(canvas: &mut Canvas, origin: [f64; 2], height: f64, text: &str) {
    let unit = height / CAP_HEIGHT;
    let radius = (0.42 * unit).max(0.55);
    let mut left = origin[0];
    for strokes in text.chars().map(strokes_of) {
        for stroke in strokes.split(' ') {
            let points: Vec<[f64; 2]> =
                points_of(stroke).map(|[x, y]| [left + x * unit, origin[1] - (y - 2.0) * unit]).collect();
            for pair in points.windows(2) {
                canvas.stroke([pair[0], pair[1]], [radius; 2], INK, 1.0);
            }
        }
        left += advance(strokes) * unit;
    }
}

fn strokes_of(letter: char) -> &'static str {
    LETTERS.iter().find(|(known, _)| *known == letter).map_or("", |(_, strokes)| strokes)
}

fn advance(strokes: &str) -> f64 {
    let widest = strokes.split(' ').flat_map(points_of).map(|[x, _]| x).fold(f64::NEG_INFINITY, f64::max);
    if widest.is_finite() { widest + GAP } else { SPACE }
}

fn points_of(stroke: &str) -> impl Iterator<Item = [f64; 2]> + '_ {
    stroke.as_bytes().chunks_exact(2).map(|pair| [f64::from(pair[0] - b'0'), f64::from(pair[1] - b'0')])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_marks_its_own_box_and_nothing_else() {
        let mut canvas = Canvas::filled(60, 20, |_, _| [1.0; 3]);
        write(&mut canvas, [4.0, 15.0], 10.0, "a1%");
        let inked: Vec<usize> = (0..1200).filter(|i| canvas.color[*i][0] < 0.6).collect();
        let right = 4.0 + width_of("a1%", 10.0);
        assert!(inked.len() > 40);
        assert!(inked.iter().all(|i| (i % 60) as f64 <= right + 1.0 && i / 60 >= 3 && i / 60 <= 16));
    }

    #[test]
    fn every_stroke_is_a_list_of_digit_pairs() {
        for (letter, strokes) in LETTERS {
            let sound = |s: &str| s.len().is_multiple_of(2) && s.bytes().all(|b| b.is_ascii_digit());
            assert!(strokes.split(' ').all(sound), "{letter}");
        }
    }
}
