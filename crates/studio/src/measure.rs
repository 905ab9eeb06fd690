//! Measures how fast the interface is: the first picture, passes while a character plays, jumps, and how soon flesh reacts to a hand.
//!
//! Of jumps and of hands two times are taken: until the answer is there (the state of the frame, the simulated frame), and until a picture of it is seen.

use crate::session::{Command, Hand, HandTarget};
use crate::studio::Studio;
use sinew_math::Vec3;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long passes are measured while it plays.
const PLAYING: Duration = Duration::from_secs(5);
/// How many jumps are measured.
const JUMPS: usize = 50;
/// Frames of the take, which must be there for jumps.
pub const FRAMES: usize = 600;
/// How many grabs are measured, and how long there is peace between them.
const GRABS: usize = 8;
/// How long a hand moves, once it has grabbed.
const PULL: Duration = Duration::from_millis(700);
const REST: Duration = Duration::from_millis(1500);
/// Frames at the end of the take in which no hand grabs: more than it leads.
const END: usize = 100;
/// How often memory is looked at, and frames are jumped to, while it is watched.
const GLANCE: Duration = Duration::from_secs(2);
/// After this time a step ends, whatever is missing.
const LIMIT: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    FirstPicture,
    FirstFrame,
    Frames,
    Playing { since: Instant },
    Jump { since: Instant, to: usize },
    Grab { since: Instant, frame: usize, place: Vec3 },
    Pull { since: Instant, place: Vec3, frames: usize },
    Rest { since: Instant },
    Watch { since: Instant, next: Instant },
    Done,
}

/// A measurement in progress.
pub struct Measure {
    path: PathBuf,
    renderer: String,
    start: Instant,
    step: Step,
    last_pass: Option<Instant>,
    first_picture_ms: f64,
    first_frame_ms: f64,
    /// Time of all processors at the begin and at the end of playing (s), and the passes between.
    played_cpu: [Option<f64>; 2],
    passes: Vec<f64>,
    pictures: Vec<f64>,
    jumps: Vec<f64>,
    jump_states: Vec<f64>,
    /// Until frames are simulated that follow a hand: the first one, and later ones.
    grab_frames: Vec<f64>,
    pull_frames: Vec<f64>,
    reactions: Vec<f64>,
    first_reaction: Option<f64>,
    /// How long memory is watched, and what it was.
    watch: Duration,
    memory: Vec<f64>,
    /// When the current step began.
    step_since: Instant,
    seed: u64,
}

impl Measure {
    /// Begins to measure; the result goes to a file. Times count from the start of the program, and memory is watched for a time at the end.
    pub fn begin(path: PathBuf, start: Instant, watch: Duration) -> Measure {
        Measure {
            path,
            renderer: "software".into(),
            start,
            step: Step::FirstPicture,
            last_pass: None,
            first_picture_ms: f64::NAN,
            first_frame_ms: f64::NAN,
            played_cpu: [None; 2],
            passes: Vec::new(),
            pictures: Vec::new(),
            jumps: Vec::new(),
            jump_states: Vec::new(),
            grab_frames: Vec::new(),
            pull_frames: Vec::new(),
            reactions: Vec::new(),
            first_reaction: None,
            watch,
            memory: Vec::new(),
            step_since: Instant::now(),
            seed: 1,
        }
    }

    /// Notes the name of what draws, if that is a graphics driver.
    pub fn set_renderer(&mut self, name: String) {
        self.renderer = name;
    }

    /// Looks at the studio before each pass, and does what is measured next.
    pub fn follow(&mut self, studio: &mut Studio, context: &egui::Context) {
        // passes come when there is something to show, as always; this is for steps that only wait
        context.request_repaint_after(GLANCE / 4);
        let now = Instant::now();
        let pass = self.last_pass.replace(now).map(|last| ms(now - last));
        let before = self.step;
        if now - self.step_since > LIMIT && !matches!(self.step, Step::Done | Step::Watch { .. }) {
            self.finish(context);
        }
        match self.step {
            Step::FirstPicture if studio.shows_character() => {
                self.first_picture_ms = ms(now - self.start);
                self.step = Step::FirstFrame;
            }
            Step::FirstFrame if studio.has_picture() => {
                self.first_frame_ms = ms(now - self.start);
                self.step = Step::Frames;
            }
            Step::Frames if studio.frame_count() >= FRAMES => {
                studio.playback.is_playing = true;
                self.played_cpu[0] = cpu_seconds();
                self.step = Step::Playing { since: now };
            }
            Step::Playing { since } => {
                self.passes.extend(pass);
                self.pictures.push(studio.shown.draw_ms);
                if now - since > PLAYING {
                    self.played_cpu[1] = cpu_seconds();
                    studio.playback.is_playing = false;
                    self.jump(studio, now);
                }
            }
            Step::Jump { since, to } if studio.shown.frame == to => {
                self.jumps.push(ms(now - since));
                self.jump_states.push(studio.shown.state_ms);
                if self.jumps.len() < JUMPS {
                    self.jump(studio, now);
                } else {
                    self.step = Step::Rest { since: now };
                }
            }
            Step::Grab { since, frame, place } if studio.shown.frame > frame => {
                self.reactions.push(ms(now - since));
                self.grab_frames.extend(self.first_reaction.take());
                self.step = Step::Pull { since: now, place, frames: studio.frame_count() };
            }
            Step::Grab { .. } => {
                // the first one counts, whatever follows before it is seen
                self.first_reaction = self.first_reaction.or(studio.status.reaction_ms);
            }
            Step::Pull { since, place, frames } => self.pull(studio, now, (since, place, frames)),
            Step::Rest { since } if now - since > REST => {
                if studio.shown.frame + END > studio.frame_count() {
                    // nothing follows a hand at the end of a take
                    studio.playback.go_to(studio.frame_count() / 4);
                    self.step = Step::Rest { since: now };
                } else if self.reactions.len() < GRABS {
                    self.grab(studio, now, context);
                } else {
                    studio.playback.is_playing = true;
                    self.step = Step::Watch { since: now, next: now };
                }
            }
            Step::Watch { since, next } if now >= next => {
                if now - since >= self.watch {
                    return self.finish(context);
                }
                self.glance(studio);
                self.step = Step::Watch { since, next: now + GLANCE };
            }
            _ => {}
        }
        if core::mem::discriminant(&before) != core::mem::discriminant(&self.step) {
            self.step_since = now;
        }
    }

    /// Moves the hand on, and notes frames that follow it.
    fn pull(&mut self, studio: &mut Studio, now: Instant, (since, place, frames): (Instant, Vec3, usize)) {
        if now - since > PULL {
            studio.dialogs.held_place = None;
            studio.send(Command::Release);
            self.step = Step::Rest { since: now };
            return;
        }
        if studio.frame_count() > frames {
            self.pull_frames.extend(studio.status.reaction_ms);
            self.step = Step::Pull { since, place, frames: studio.frame_count() };
        }
        let aside = 0.05 * (now - since).as_secs_f64();
        studio.send(Command::MoveHand(place + Vec3::new(aside, aside, 0.0)));
    }

    /// Looks at memory, and scrubs to another frame.
    fn glance(&mut self, studio: &mut Studio) {
        self.memory.extend(memory_mb("VmRSS:"));
        self.seed = next_random(self.seed);
        studio.playback.go_to((self.seed >> 33) as usize % studio.frame_count().max(1));
    }

    /// Goes to another frame.
    fn jump(&mut self, studio: &mut Studio, now: Instant) {
        self.seed = next_random(self.seed);
        let count = studio.frame_count().max(2);
        let to = ((self.seed >> 33) as usize) % count;
        let to = if to == studio.shown.frame { (to + 1) % count } else { to };
        studio.playback.go_to(to);
        self.step = Step::Jump { since: now, to };
    }

    /// Grabs the first vertex of the first body.
    fn grab(&mut self, studio: &mut Studio, now: Instant, context: &egui::Context) {
        let found = studio.document().and_then(|document| {
            let body = document.model.bodies().first()?;
            let place = studio
                .shown
                .surfaces
                .surfaces
                .first()?
                .first()
                .map(|p| Vec3::new(p[0].into(), p[1].into(), p[2].into()))?;
            Some((
                HandTarget::Flesh { body: body.name.clone(), rest: *body.surface.vertices.first()? },
                place,
            ))
        });
        let Some((target, place)) = found else { return self.finish(context) };
        let frame = studio.shown.frame;
        // as a mouse that drags
        studio.dialogs.held_place = Some(place);
        studio.send(Command::Grab(Hand { frame, target, place }));
        self.first_reaction = None;
        self.step = Step::Grab { since: now, frame, place };
    }

    fn finish(&mut self, context: &egui::Context) {
        self.step = Step::Done;
        let quantile = |values: &[f64], fraction: f64| {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            let index = ((sorted.len() as f64 * fraction) as usize).min(sorted.len().saturating_sub(1));
            sorted.get(index).copied()
        };
        let [begin, end] = self.played_cpu;
        let cpu = end.zip(begin).map(|(end, begin)| 1e3 * (end - begin) / self.passes.len().max(1) as f64);
        let row = serde_json::json!({
            "renderer": self.renderer,
            "first_picture_ms": self.first_picture_ms,
            "first_frame_ms": self.first_frame_ms,
            "passes": self.passes.len(),
            "cpu_ms_per_pass": cpu,
            "pass_ms_p50": quantile(&self.passes, 0.5),
            "pass_ms_p99": quantile(&self.passes, 0.99),
            "picture_ms_p50": quantile(&self.pictures, 0.5),
            "jumps": self.jumps.len(),
            "jump_state_ms_p50": quantile(&self.jump_states, 0.5),
            "jump_state_ms_p99": quantile(&self.jump_states, 0.99),
            "jump_ms_p50": quantile(&self.jumps, 0.5),
            "jump_ms_p99": quantile(&self.jumps, 0.99),
            "frames": FRAMES,
            "drags": self.reactions.len(),
            "grab_frame_ms_p50": quantile(&self.grab_frames, 0.5),
            "grab_frame_ms_max": quantile(&self.grab_frames, 1.0),
            "drag_frame_ms_p50": quantile(&self.pull_frames, 0.5),
            "drag_frame_ms_p99": quantile(&self.pull_frames, 0.99),
            "drag_reaction_ms_p50": quantile(&self.reactions, 0.5),
            "drag_reaction_ms_max": quantile(&self.reactions, 1.0),
            "peak_memory_mb": memory_mb("VmHWM:"),
            "watched_minutes": self.watch.as_secs_f64() / 60.0,
            "memory_mb_by_tenths": tenths(&self.memory),
        });
        let text = serde_json::to_string_pretty(&serde_json::json!({ "rows": [row] })).unwrap_or_default();
        // the exit code and the missing file tell a script
        let _ = std::fs::write(&self.path, text);
        context.send_viewport_cmd(egui::ViewportCommand::Close);
    }
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

/// The mean of each tenth of some numbers.
fn tenths(numbers: &[f64]) -> Vec<f64> {
    let part = numbers.chunks(numbers.len().div_ceil(10).max(1));
    part.map(|own| (own.iter().sum::<f64>() / own.len() as f64).round()).collect()
}

fn next_random(seed: u64) -> u64 {
    seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// The resident memory of this process now (`VmRSS:`) or at its largest (`VmHWM:`), as Linux counts it (MB).
fn memory_mb(key: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().trim_end_matches("kB").trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

/// The time that all threads of this process have spent on processors, as Linux counts it (s).
fn cpu_seconds() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let spent = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    Some(1e-9 * spent.sum::<f64>())
}
