//! The real window in a virtual display, with a real mouse and real keys.
//!
//! Needs `Xvfb`, `xdotool` and a driver for Vulkan; `.ci/studio` installs them. With `SINEW_STUDIO_PICTURES` set to a folder screenshots are left there.

#[path = "window/screen.rs"]
mod screen;

use screen::Screen;
use sinew_io::TakeFile;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const SIZE: [usize; 2] = [1280, 720];
/// The middle of the viewport in such a window (pixels).
const MIDDLE: [i32; 2] = [620, 320];

/// A studio in a virtual display.
struct Desk {
    screen: Screen,
    studio: Child,
    folder: tempfile::TempDir,
    /// How long it takes to see what the mouse does.
    pace: Duration,
}

/// One window at a time: a processor that draws several is slower than a hand.
static ALONE: Mutex<()> = Mutex::new(());

impl Desk {
    fn open(arguments: &[&str], pace: Duration) -> Desk {
        let screen = Screen::start(SIZE);
        let folder = tempfile::tempdir().unwrap();
        let studio = Command::new(env!("CARGO_BIN_EXE_sinew-studio"))
            .args(["--size", "1280x720", "--folder"])
            .arg(folder.path())
            .args(arguments)
            .env("DISPLAY", screen.display())
            .env_remove("WAYLAND_DISPLAY")
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let desk = Desk { screen, studio, folder, pace };
        desk.screen.xdotool(&[
            "search",
            "--sync",
            "--onlyvisible",
            "--name",
            "^Sinew$",
            "windowmove",
            "0",
            "0",
            "windowfocus",
        ]);
        desk
    }

    /// The take that is being recorded.
    fn take(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path().join("unsaved")).ok()?;
        entries
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "take"))
    }

    /// Frames and edits of the take so far.
    fn counts(&self) -> (usize, usize) {
        let take = self.take().and_then(|path| TakeFile::open_quickly(&path).ok());
        take.map_or((0, 0), |take| (take.frame_count(), take.history().head().edits.len()))
    }

    fn until(&self, what: &str, holds: impl Fn(&Desk) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            if start.elapsed() > Duration::from_secs(120) {
                self.screen.save("window-failed");
                panic!("waited in vain for {what}: {:?} frames and edits", self.counts());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn key(&self, key: &str) {
        self.screen.xdotool(&["key", key]);
        std::thread::sleep(self.pace);
    }

    /// Moves the mouse along places with a button down, slowly enough for a slow machine to see each.
    fn drag(&self, button: &str, places: &[[i32; 2]]) {
        self.hold(button, places, || {});
    }

    /// The same; something is waited for before the button is let go.
    fn hold(&self, button: &str, places: &[[i32; 2]], wait: impl FnOnce()) {
        let go = |place: &[i32; 2]| {
            self.screen.xdotool(&["mousemove", &place[0].to_string(), &place[1].to_string()]);
            std::thread::sleep(self.pace);
        };
        go(&places[0]);
        self.screen.xdotool(&["mousedown", button]);
        std::thread::sleep(self.pace);
        places[1..].iter().for_each(go);
        wait();
        self.screen.xdotool(&["mouseup", button]);
        std::thread::sleep(self.pace);
    }

    /// The pixels once they stay: a busy machine draws drafts first, and the picture some time later.
    fn still(&self) -> Vec<[u8; 3]> {
        let last = std::cell::RefCell::new(self.screen.pixels());
        self.until("a picture that stays while time is paused", |desk| {
            std::thread::sleep(4 * desk.pace);
            let stays = desk.changed(&last.borrow()) < 0.002;
            *last.borrow_mut() = desk.screen.pixels();
            stays
        });
        last.into_inner()
    }

    /// How many pixels of the viewport differ between two screenshots, as a fraction.
    fn changed(&self, before: &[[u8; 3]]) -> f64 {
        let after = self.screen.pixels();
        let is_view = |i: &usize| (260..1000).contains(&(i % SIZE[0])) && (60..560).contains(&(i / SIZE[0]));
        let is_other = |i: &usize| (0..3).any(|k| before[*i][k].abs_diff(after[*i][k]) > 24);
        let inside = (0..after.len()).filter(is_view);
        inside.clone().filter(is_other).count() as f64 / inside.count() as f64
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.studio.kill();
        let _ = self.studio.wait();
    }
}

fn is_set_up() -> bool {
    let has = |name: &str| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(name).is_file())
    };
    has("Xvfb") && has("xdotool")
}

/// A take is watched, paused, turned, twisted, undone and pulled, and the window is closed by its key.
fn direct_a_take(renderer: &str, name: &str, pace: Duration) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(is_set_up(), "Xvfb and xdotool are needed: .ci/studio installs them");
    let mut desk = Desk::open(&["--renderer", renderer, "jelly"], pace);
    desk.until("recorded frames", |desk| desk.counts().0 > 40);
    std::thread::sleep(4 * pace);
    desk.screen.save(name);

    // the picture stays when time is paused, and turns with the camera
    desk.key("space");
    desk.key("Home");
    let still = desk.still();
    let [x, y] = MIDDLE;
    desk.drag("2", &[[x, y], [x + 60, y + 10], [x + 120, y + 20]]);
    std::thread::sleep(4 * pace);
    desk.screen.save(&format!("{name}-turned"));
    assert!(desk.changed(&still) > 0.005, "the camera does not turn: {}", desk.changed(&still));

    // a twist where the mouse clicks, and back
    desk.key("3");
    desk.screen.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
    std::thread::sleep(pace);
    desk.screen.xdotool(&["click", "1"]);
    desk.until("the twist", |desk| desk.counts().1 == 1);
    desk.screen.save(&format!("{name}-twist"));
    desk.key("ctrl+z");
    desk.until("no twist", |desk| desk.counts().1 == 0);

    // flesh that is pulled while time runs
    desk.key("g");
    let still = desk.still();
    desk.hold("1", &[[x, y], [x + 20, y - 20], [x + 60, y - 60], [x + 80, y - 80]], || {
        // a machine that is busy sees the mouse late
        desk.until("flesh that follows the mouse", |desk| desk.changed(&still) > 0.003);
    });
    desk.until("the edits of the hand", |desk| desk.counts().1 == 2);
    desk.screen.save(&format!("{name}-pulled"));

    // and its end
    desk.key("ctrl+q");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = desk.studio.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the window does not close");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(status.success(), "{status}");
    assert!(desk.take().is_some_and(|take| take.exists()), "a take with edits is kept");
    assert!(Path::new(desk.folder.path()).join("preferences.toml").exists());
}

#[test]
fn a_take_is_directed_in_the_window() {
    direct_a_take("software", "window", Duration::from_millis(400));
}

#[test]
fn viewports_are_drawn_by_the_graphics_driver_too() {
    direct_a_take("gpu", "window-gpu", Duration::from_millis(1200));
}
