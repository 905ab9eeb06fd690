//! Which frame is shown when: playing at the pace of the wall clock, as far as frames are there.

/// The play head.
#[derive(Clone, Debug, PartialEq)]
pub struct Playback {
    /// Whether time passes.
    pub is_playing: bool,
    /// Whether it begins again after the end.
    pub is_looping: bool,
    /// How fast: 1 is real time.
    pub speed: f64,
    /// The frames between which it plays, if they are chosen.
    pub range: Option<[usize; 2]>,
    pub(crate) position: f64,
    /// Whether it waits for frames that are not simulated yet.
    pub is_waiting: bool,
}

impl Default for Playback {
    fn default() -> Playback {
        Playback {
            is_playing: false,
            is_looping: true,
            speed: 1.0,
            range: None,
            position: 0.0,
            is_waiting: false,
        }
    }
}

impl Playback {
    /// The frame that is shown.
    pub fn frame(&self) -> usize {
        self.position.floor().max(0.0) as usize
    }

    /// Shows a frame.
    pub fn go_to(&mut self, frame: usize) {
        self.position = frame as f64;
        self.is_waiting = false;
    }

    /// Steps by frames, within those that are there.
    pub fn step(&mut self, frames: isize, available: usize) {
        self.is_playing = false;
        let last = available.saturating_sub(1);
        self.go_to(self.frame().saturating_add_signed(frames).min(last));
    }

    /// Lets a time pass (s). `available` frames are there of `goal`; where one is missing, it waits.
    pub fn advance(&mut self, seconds: f64, fps: f64, available: usize, goal: usize) {
        if available == 0 {
            return;
        }
        let [first, last] = self.range.unwrap_or([0, goal.saturating_sub(1)]);
        self.is_waiting = false;
        if self.is_playing {
            self.position += seconds.clamp(0.0, 0.25) * fps * self.speed;
            if self.position >= last as f64 + 1.0 {
                if self.is_looping && last > first {
                    self.position = first as f64;
                } else {
                    (self.position, self.is_playing) = (last as f64, false);
                }
            }
        }
        let newest = (available - 1) as f64;
        if self.position > newest {
            self.is_waiting = self.is_playing && available < goal;
            self.position = newest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_clock_and_waits_for_frames_that_are_missing() {
        let mut playback = Playback { is_playing: true, ..Playback::default() };
        playback.advance(0.1, 60.0, 100, 100);
        assert_eq!(playback.frame(), 6);
        playback.advance(0.1, 60.0, 9, 100);
        assert_eq!((playback.frame(), playback.is_waiting), (8, true));
        playback.advance(0.1, 60.0, 100, 100);
        assert!(!playback.is_waiting && playback.frame() > 8);
    }

    #[test]
    fn it_repeats_its_range_or_stops_at_the_end() {
        let mut playback = Playback { is_playing: true, range: Some([10, 20]), ..Playback::default() };
        playback.go_to(20);
        playback.advance(0.1, 60.0, 100, 100);
        assert_eq!(playback.frame(), 10);
        let mut once = Playback { is_playing: true, is_looping: false, ..Playback::default() };
        once.go_to(99);
        once.advance(0.1, 60.0, 100, 100);
        assert_eq!((once.frame(), once.is_playing), (99, false));
    }
}
