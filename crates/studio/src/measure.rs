//! Measures how fast the interface is: the first picture, passes while a character plays, jumps, and how soon flesh reacts to a hand.

use crate::session::{Command, Hand, HandTarget};
use crate::studio::Studio;
use sinew_math::Vec3;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long passes are measured while it plays.
const PLAYING: Duration = Duration::from_secs(5);
/// How many jumps are measured.
const JUMPS: usize = 50;
/// Frames that must be there for jumps.
const FRAMES: usize = 120;
/// After this time it ends, whatever is missing.
const LIMIT: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    FirstPicture,
    Frames,
    Playing { since: Instant },
    Jump { since: Instant, to: usize },
    Grab { since: Instant, frame: usize },
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
    passes: Vec<f64>,
    pictures: Vec<f64>,
    jumps: Vec<f64>,
    reactions: Vec<f64>,
    seed: u64,
}

impl Measure {
    /// Begins to measure; the result goes to a file, with the name of what draws.
    pub fn begin(path: PathBuf, renderer: String) -> Measure {
        Measure {
            path,
            renderer,
            start: Instant::now(),
            step: Step::FirstPicture,
            last_pass: None,
            first_picture_ms: f64::NAN,
            passes: Vec::new(),
            pictures: Vec::new(),
            jumps: Vec::new(),
            reactions: Vec::new(),
            seed: 1,
        }
    }

    /// Looks at the studio before each pass, and does what is measured next.
    pub fn follow(&mut self, studio: &mut Studio, context: &egui::Context) {
        context.request_repaint();
        let now = Instant::now();
        let pass = self.last_pass.replace(now).map(|last| ms(now - last));
        if now - self.start > LIMIT && self.step != Step::Done {
            self.finish(context);
        }
        match self.step {
            Step::FirstPicture if studio.has_picture() => {
                self.first_picture_ms = ms(now - self.start);
                self.step = Step::Frames;
            }
            Step::Frames if studio.frame_count() > FRAMES => {
                studio.playback.is_playing = true;
                self.step = Step::Playing { since: now };
            }
            Step::Playing { since } => {
                self.passes.extend(pass);
                self.pictures.push(studio.shown.draw_ms);
                if now - since > PLAYING {
                    studio.playback.is_playing = false;
                    self.jump(studio, now);
                }
            }
            Step::Jump { since, to } if studio.shown.frame == to => {
                self.jumps.push(ms(now - since));
                if self.jumps.len() < JUMPS {
                    self.jump(studio, now);
                } else {
                    self.grab(studio, now, context);
                }
            }
            Step::Grab { since, frame } if studio.shown.frame > frame => {
                self.reactions.push(ms(now - since));
                studio.send(Command::Release);
                self.finish(context);
            }
            _ => {}
        }
    }

    /// Goes to another frame.
    fn jump(&mut self, studio: &mut Studio, now: Instant) {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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
        studio.send(Command::Grab(Hand { frame, target, place }));
        self.step = Step::Grab { since: now, frame };
    }

    fn finish(&mut self, context: &egui::Context) {
        self.step = Step::Done;
        let quantile = |values: &[f64], fraction: f64| {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            let index = ((sorted.len() as f64 * fraction) as usize).min(sorted.len().saturating_sub(1));
            sorted.get(index).copied()
        };
        let row = serde_json::json!({
            "renderer": self.renderer,
            "first_picture_ms": self.first_picture_ms,
            "pass_ms_p50": quantile(&self.passes, 0.5),
            "pass_ms_p99": quantile(&self.passes, 0.99),
            "picture_ms_p50": quantile(&self.pictures, 0.5),
            "jumps": self.jumps.len(),
            "jump_ms_p50": quantile(&self.jumps, 0.5),
            "jump_ms_p99": quantile(&self.jumps, 0.99),
            "drag_reaction_ms": quantile(&self.reactions, 0.5),
            "peak_memory_mb": peak_memory_mb(),
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

/// The largest resident memory of this process (MB), as Linux counts it.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}
