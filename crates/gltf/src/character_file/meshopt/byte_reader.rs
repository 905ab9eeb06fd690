//! Bytes read one after another; nothing past their end.

/// What is left of some bytes.
pub(super) struct ByteReader<'a> {
    left: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { left: bytes }
    }

    /// The next so many bytes.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.left.split_at_checked(count)?;
        self.left = left;
        Some(taken)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    /// A whole number in up to five groups of seven bits, the lowest first; a set high bit says that another follows.
    pub(super) fn variable_length(&mut self) -> Option<u32> {
        let mut number = 0u32;
        for group in 0..5 {
            let byte = self.byte()?;
            number |= u32::from(byte & 127) << (7 * group);
            if byte < 128 {
                break;
            }
        }
        Some(number)
    }
}

/// The signed number that a folded one stands for: 0, −1, 1, −2, 2, …
pub(super) fn unfold(number: u32) -> u32 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}
