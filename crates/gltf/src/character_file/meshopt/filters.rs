//! The filters of meshopt compression: numbers that were brought into a form that packs well, brought back.

/// How decoded bytes are brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    /// Unit vectors by their place on an octahedron.
    Octahedral,
    /// Unit quaternions by three of their components.
    Quaternion,
    /// Single precision by an exponent and a whole number.
    Exponential,
    /// Colours by luma and two differences.
    Color,
}

impl Filter {
    /// The filter of a name of glTF; without one, none.
    pub(super) fn of(name: Option<&str>) -> Option<Filter> {
        match name {
            None | Some("NONE") => Some(Filter::None),
            Some("OCTAHEDRAL") => Some(Filter::Octahedral),
            Some("QUATERNION") => Some(Filter::Quaternion),
            Some("EXPONENTIAL") => Some(Filter::Exponential),
            Some("COLOR") => Some(Filter::Color),
            Some(_) => None,
        }
    }

    /// Whether elements may have so many bytes.
    pub(super) fn fits(self, stride: usize) -> bool {
        match self {
            Filter::None | Filter::Exponential => true,
            Filter::Octahedral | Filter::Color => matches!(stride, 4 | 8),
            Filter::Quaternion => stride == 8,
        }
    }

    /// Brings elements back in place. Their stride fits the filter.
    pub(super) fn apply(self, bytes: &mut [u8], stride: usize) {
        match (self, stride) {
            (Filter::None, _) => {}

            // unit vectors of 8 and of 16 bits
            (Filter::Octahedral, 4) => bytes.chunks_exact_mut(4).for_each(|element| {
                let [x, y, z, w] = [0, 1, 2, 3].map(|i| element[i] as i8);
                let unit = unit_vector([x, y, z].map(f32::from), 127.0);
                let [x, y, z] = unit.map(|c| c as i8);
                element.copy_from_slice(&[x, y, z, w].map(|c| c as u8));
            }),
            (Filter::Octahedral, _) => each_four(bytes, |[x, y, z, w]| {
                let unit = unit_vector([x, y, z].map(|c| f32::from(c as i16)), 32767.0);
                let [x, y, z] = unit.map(|c| c as u16);
                [x, y, z, w]
            }),

            // rotations, and numbers with a common exponent
            (Filter::Quaternion, _) => {
                each_four(bytes, |four| quaternion(four.map(|c| c as i16)).map(|c| c as u16))
            }
            (Filter::Exponential, _) => bytes.chunks_exact_mut(4).for_each(|number| {
                let word = u32::from_le_bytes([number[0], number[1], number[2], number[3]]);
                number.copy_from_slice(&exponential(word).to_le_bytes());
            }),

            // colours of 8 and of 16 bits
            (Filter::Color, 4) => bytes.chunks_exact_mut(4).for_each(|element| {
                let given = [0, 1, 2, 3].map(|i| i32::from(element[i]));
                let [y, co, cg, a] = given;
                let color = color([y, i32::from(co as i8), i32::from(cg as i8), a], 255.0);
                element.copy_from_slice(&color.map(|c| c as u8));
            }),
            (Filter::Color, _) => each_four(bytes, |[y, co, cg, a]| {
                let given = [i32::from(y), i32::from(co as i16), i32::from(cg as i16), i32::from(a)];
                color(given, 65535.0).map(|c| c as u16)
            }),
        }
    }
}

/// Replaces every four 16-bit numbers.
fn each_four(bytes: &mut [u8], change: impl Fn([u16; 4]) -> [u16; 4]) {
    for element in bytes.chunks_exact_mut(8) {
        let four = [0, 2, 4, 6].map(|at| u16::from_le_bytes([element[at], element[at + 1]]));
        let changed = change(four);
        element.copy_from_slice(changed.map(u16::to_le_bytes).as_flattened());
    }
}

/// The nearest whole number, halves away from zero.
fn rounded(number: f32) -> i32 {
    (number + if number >= 0.0 { 0.5 } else { -0.5 }) as i32
}

/// The unit vector whose place on the octahedron |x| + |y| + |z| = `one` is given, times `largest`.
fn unit_vector([x, y, one]: [f32; 3], largest: f32) -> [i32; 3] {
    let z = one - x.abs() - y.abs();
    // the lower half is folded outwards
    let fold = z.min(0.0);
    let x = x + if x >= 0.0 { fold } else { -fold };
    let y = y + if y >= 0.0 { fold } else { -fold };
    let scale = largest / (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|c| rounded(c * scale))
}

/// The unit quaternion whose largest component, named by the lowest two bits of the last number, is missing.
fn quaternion([x, y, z, last]: [i16; 4]) -> [i16; 4] {
    let one = f32::from(last | 3);
    let [x, y, z] = [x, y, z].map(f32::from);
    let missing = (2.0 * one * one - x * x - y * y - z * z).max(0.0).sqrt();
    let scale = 32767.0 / 2f32.sqrt() / one;
    let found = [missing, x, y, z].map(|c| rounded(c * scale) as i16);
    let place = (last & 3) as usize;
    let mut turned = [0; 4];
    (0..4).for_each(|i| turned[(place + i) & 3] = found[i]);
    turned
}

/// m 2ᵉ of a word with e in its highest eight bits and m in the rest, both signed.
fn exponential(word: u32) -> f32 {
    let (exponent, mantissa) = (word as i32 >> 24, (word << 8) as i32 >> 8);
    f32::from_bits(((exponent + 127) as u32) << 23) * mantissa as f32
}

/// Red, green, blue and opacity, from luma, two differences, and an opacity whose highest bit says how many bits there are.
fn color([y, co, cg, a]: [i32; 4], largest: f32) -> [i32; 4] {
    let mut ones = a;
    for shift in [1, 2, 4, 8] {
        ones |= ones >> shift;
    }
    let opacity = (a << 1 & ones) | (a & 1);
    let scale = largest / ones as f32;
    [y + co - cg, y + cg, y - co - cg, opacity].map(|c| (c as f32 * scale + 0.5) as i32)
}
