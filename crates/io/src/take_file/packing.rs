//! Lossless compression of a sequence of states: each word of eight bytes is predicted from the frame before, and only the bytes in which it differs are kept.
//!
//! ```text
//! x̂ₖ = xₖ₋₁ + Δt vₖ₋₁,    v̂ₖ = 2 (xₖ − xₖ₋₁)/Δt − vₖ₋₁
//! ```
//!
//! Positions are predicted by the velocity before, velocities by the trapezoidal rule; all other words by themselves in the frame before. The difference of the bit patterns, as an integer with its sign in
//! the last bit, has leading zeros where the prediction is good. Layout of a frame: number of words n, ⌈n/2⌉ bytes with the number of bytes of two differences each, then these bytes.
//!
//! The arithmetic is `f64` without fused operations, the same on every platform.

use sinew_take::NodeWords;

/// Compresses frame after frame, or decompresses them.
#[derive(Clone, Debug, Default)]
pub(super) struct Predictor {
    /// The words of the frame before.
    before: Vec<u64>,
    /// Where its nodes are among them; none before the first frame.
    nodes: Option<NodeWords>,
}

impl Predictor {
    /// Forgets all frames: the next one is predicted from nothing.
    pub(super) fn clear(&mut self) {
        self.before.clear();
        self.nodes = None;
    }

    /// Appends the next frame. `nodes` says where its nodes are.
    pub(super) fn pack(&mut self, words: &[u64], nodes: Option<NodeWords>, out: &mut Vec<u8>) {
        out.extend_from_slice(&(words.len() as u64).to_le_bytes());
        let sizes_at = out.len();
        out.resize(sizes_at + words.len().div_ceil(2), 0);
        out.reserve(8 * words.len());
        for (i, word) in words.iter().enumerate() {
            let difference = signed_last(word.wrapping_sub(self.predict(i, words)));
            let size = (71 - difference.leading_zeros() as usize) / 8;
            out[sizes_at + i / 2] |= (size as u8) << (4 * (i % 2));
            out.extend_from_slice(&difference.to_le_bytes()[..size]);
        }
        self.remember(words, nodes);
    }

    /// Reads the next frame and returns the number of its bytes; `None` if they are not a frame. `nodes_of` says where its nodes are.
    pub(super) fn unpack(
        &mut self,
        bytes: &[u8],
        words: &mut Vec<u64>,
        nodes_of: impl FnOnce(&[u64]) -> Option<NodeWords>,
    ) -> Option<usize> {
        let (count, rest) = bytes.split_at_checked(8)?;
        let count = usize::try_from(super::chunk::number(count)).ok()?;
        let (sizes, rest) = rest.split_at_checked(count.div_ceil(2))?;
        words.clear();
        words.reserve(count);
        let mut at = 0;
        let mut next = |i: usize| {
            let size = usize::from(sizes[i / 2] >> (4 * (i % 2)) & 15);
            let difference = short_number(rest, at, size)?;
            at += size;
            Some(signed_first(difference))
        };

        // words before the nodes, positions, velocities, and words after them, each with its own prediction
        let known = count.min(self.before.len());
        let in_order = |own: &NodeWords| {
            let (x, v) = (&own.positions, &own.velocities);
            own.time < x.start && x.end == v.start && x.len() == v.len() && v.end <= known
        };
        let nodes = self.nodes.clone().filter(in_order);
        let (x, v) =
            nodes.as_ref().map_or((0..0, 0..0), |own| (own.positions.clone(), own.velocities.clone()));
        for i in 0..x.start {
            words.push(self.before[i].wrapping_add(next(i)?));
        }
        let old = |i: usize| f64::from_bits(self.before[i]);
        let or_before = |predicted: f64, i: usize| {
            if predicted.is_finite() { predicted.to_bits() } else { self.before[i] }
        };
        let dt = nodes.as_ref().map_or(0.0, |own| f64::from_bits(words[own.time]) - old(own.time));
        for i in x.start..v.start {
            let predicted = old(i) + dt * old(i - x.start + v.start);
            words.push(or_before(predicted, i).wrapping_add(next(i)?));
        }
        for i in v.clone() {
            let k = i - v.start + x.start;
            let predicted = 2.0 * (f64::from_bits(words[k]) - old(k)) / dt - old(i);
            words.push(or_before(predicted, i).wrapping_add(next(i)?));
        }
        for i in v.end..count {
            words.push(self.predict(i, words).wrapping_add(next(i)?));
        }
        self.remember(words, nodes_of(words));
        Some(8 + sizes.len() + at)
    }

    fn remember(&mut self, words: &[u64], nodes: Option<NodeWords>) {
        self.before.clear();
        self.before.extend_from_slice(words);
        self.nodes = nodes;
    }

    /// The prediction of word `i` of a frame whose words before it are known.
    fn predict(&self, i: usize, words: &[u64]) -> u64 {
        let Some(before) = self.before.get(i).copied() else { return 0 };
        let Some(nodes) = &self.nodes else { return before };
        let (x_at, v_at) = (nodes.positions.start, nodes.velocities.start);
        if i < x_at || i >= nodes.velocities.end {
            return before;
        }
        let old = |i: usize| f64::from_bits(self.before[i]);
        let own = |i: usize| f64::from_bits(words[i]);
        let dt = own(nodes.time) - old(nodes.time);
        let predicted = if i < v_at {
            old(i) + dt * old(i - x_at + v_at)
        } else {
            let x = i - v_at + x_at;
            2.0 * (own(x) - old(x)) / dt - old(i)
        };
        if predicted.is_finite() { predicted.to_bits() } else { before }
    }
}

/// The sign in the last bit, so that small numbers of either sign have leading zeros.
fn signed_last(difference: u64) -> u64 {
    difference << 1 ^ ((difference as i64) >> 63) as u64
}

/// The inverse of [`signed_last`].
#[inline]
fn signed_first(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// The number in `size` bytes, 8 at most.
#[inline]
fn short_number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    if let (Some(word), true) = (bytes.get(at..at + 8), (1..8).contains(&size)) {
        return Some(super::chunk::number(word) & (u64::MAX >> (64 - 8 * size)));
    }
    let mut word = [0; 8];
    word.get_mut(..size)?.copy_from_slice(bytes.get(at..at + size)?);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers (xorshift).
    fn random(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    /// Three words, time among them, then two nodes, then words of any number.
    fn frame(k: usize, seed: &mut u64) -> (Vec<u64>, NodeWords) {
        let t = k as f64 / 60.0;
        let mut words = vec![7, k as u64, t.to_bits()];
        let swing = |i: usize| (1.0 + i as f64, 3.0 * t + i as f64);
        let own = |f: fn((f64, f64)) -> f64| (0..6).map(move |i| f(swing(i)).to_bits());
        words.extend(own(|(a, p)| a * sinew_math::real::sin(p)));
        words.extend(own(|(a, p)| 3.0 * a * sinew_math::real::cos(p)));
        words.extend((0..random(seed) % 5).map(|_| random(seed)));
        (words, NodeWords { time: 2, positions: 3..9, velocities: 9..15 })
    }

    #[test]
    fn frames_come_back_to_the_bit_and_are_smaller() {
        let (mut packer, mut unpacker) = (Predictor::default(), Predictor::default());
        let (mut seed, mut found) = (42, Vec::new());
        for k in 0..200 {
            let (mut words, nodes) = frame(k, &mut seed);
            // all that a number can be
            let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 3.0];
            if k % 20 == 19 {
                words[3 + k % 12] = special[k / 20 % 5].to_bits();
            }
            let mut bytes = Vec::new();
            packer.pack(&words, Some(nodes.clone()), &mut bytes);
            bytes.extend_from_slice(&[0xff; 3]);
            assert_eq!(unpacker.unpack(&bytes, &mut found, |_| Some(nodes)), Some(bytes.len() - 3));
            assert_eq!(found, words, "frame {k}");
            // ωΔt = 0.05: predictions are off by 10⁻³ and 10⁻⁴, so ten or more of 52 bits are known, which leaves six bytes and a half for their number
            if k > 0 && k % 20 > 1 && words.len() == 15 {
                assert!(bytes.len() - 3 < 8 + 8 + 12 * 13 / 2 + 8, "frame {k}: {} bytes", bytes.len() - 3);
            }
        }
    }

    #[test]
    fn signs_go_to_the_last_bit_and_back() {
        for (number, expected) in [(0, 0), (u64::MAX, 1), (1, 2), (u64::MAX - 1, 3), (1 << 63, u64::MAX)] {
            assert_eq!(signed_last(number), expected);
            assert_eq!(signed_first(expected), number);
        }
    }

    #[test]
    fn bytes_that_are_no_frame_are_refused() {
        let mut seed = 3;
        let (words, nodes) = frame(1, &mut seed);
        let mut bytes = Vec::new();
        Predictor::default().pack(&words, Some(nodes), &mut bytes);
        let unpack = |bytes: &[u8]| Predictor::default().unpack(bytes, &mut Vec::new(), |_| None);
        assert_eq!(unpack(&bytes), Some(bytes.len()));
        (0..bytes.len()).for_each(|end| assert_eq!(unpack(&bytes[..end]), None, "{end}"));
        let sizes = [&2u64.to_le_bytes()[..], &[0x99], &[0; 30]].concat();
        assert_eq!(unpack(&sizes), None, "nine bytes of a word");
        assert_eq!(unpack(&u64::MAX.to_le_bytes()), None);
    }
}
