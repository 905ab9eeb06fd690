//! Ambient occlusion that is spread over pictures: each looks into one direction of the sky, and keeps what those before it saw in the others.

/// Directions in which the visibility of the sky is sampled.
pub(crate) const SKY_DIRECTIONS: usize = 24;
/// How many directions the first picture looks into.
pub(crate) const FIRST: usize = 4;
/// From one direction to the next: 7 and 24 have no common divisor, and neighbours on the spiral are far apart in time.
const STRIDE: usize = 7;

/// What was seen of the sky from vertices and from the ground.
#[derive(Default)]
pub(crate) struct DraftSky {
    seen: Vec<SeenSky>,
    count: usize,
}

/// What was seen in one direction.
pub(crate) struct SeenSky {
    /// The light that it gives to the ground under an open sky.
    pub(crate) open: f32,
    /// The light from it at every vertex, and on the ground.
    pub(crate) at_vertices: Vec<f32>,
    pub(crate) on_ground: Vec<f32>,
}

impl DraftSky {
    /// Looks into the next direction, or into the first ones, by its index.
    pub(crate) fn sample(&mut self, mut look: impl FnMut(usize) -> SeenSky) {
        let looks = if self.seen.is_empty() { FIRST } else { 1 };
        for _ in 0..looks {
            let found = look(self.count * STRIDE % SKY_DIRECTIONS);
            if self.seen.first().is_some_and(|first| first.at_vertices.len() != found.at_vertices.len()) {
                self.seen.clear();
            }
            match self.seen.len() {
                SKY_DIRECTIONS => self.seen[self.count % SKY_DIRECTIONS] = found,
                _ => self.seen.push(found),
            }
            self.count += 1;
        }
    }

    /// The sky light at every vertex and on the ground: 1 under an open sky.
    pub(crate) fn light(&self) -> (Vec<f32>, Vec<f32>) {
        let all: f32 = self.seen.iter().map(|seen| seen.open).sum();
        let sum = |pick: fn(&SeenSky) -> &[f32]| {
            let mut sum = vec![0.0; self.seen.first().map_or(0, |first| pick(first).len())];
            for seen in &self.seen {
                sum.iter_mut().zip(pick(seen)).for_each(|(sum, light)| *sum += light / all);
            }
            sum
        };
        (sum(|seen| &seen.at_vertices), sum(|seen| &seen.on_ground))
    }
}
