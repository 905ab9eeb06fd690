//! A virtual display, its mouse and keys, and what it shows.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A virtual display.
pub(crate) struct Screen {
    server: Child,
    display: String,
    /// Where the server keeps its pixels.
    folder: tempfile::TempDir,
    size: [usize; 2],
}

impl Screen {
    /// Starts one of a size (pixels), with a number that is free.
    pub(crate) fn start(size: [usize; 2]) -> Screen {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{}x{}x24", size[0], size[1]))
            .arg("-fbdir")
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // it writes its number when it is ready
        let mut number = String::new();
        let mut output = server.stdout.take().unwrap();
        let mut byte = [0u8];
        while output.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            number.push(char::from(byte[0]));
        }
        Screen { server, display: format!(":{}", number.trim()), folder, size }
    }

    /// Its name.
    pub(crate) fn display(&self) -> &str {
        &self.display
    }

    /// Moves the mouse or presses keys.
    pub(crate) fn xdotool(&self, arguments: &[&str]) {
        let mut child = Command::new("xdotool")
            .args(arguments)
            .env("DISPLAY", &self.display)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(60) {
                let _ = child.kill();
                panic!("xdotool {arguments:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The colours of all pixels, row by row, from the server's file in the format of `xwd`.
    pub(crate) fn pixels(&self) -> Vec<[u8; 3]> {
        let bytes = std::fs::read(self.folder.path().join("Xvfb_screen0")).unwrap();
        let number = |i: usize| u32::from_be_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()) as usize;
        let (header, width, height, per_line, colors) =
            (number(0), number(4), number(5), number(12), number(19));
        assert_eq!([width, height], self.size);
        let start = header + 12 * colors;
        let pixel = |i: usize| {
            let at = start + i / width * per_line + 4 * (i % width);
            // blue first, as on all little-endian servers
            [bytes[at + 2], bytes[at + 1], bytes[at]]
        };
        (0..width * height).map(pixel).collect()
    }

    /// Leaves a screenshot in the folder that the environment names; nothing without one.
    pub(crate) fn save(&self, name: &str) {
        let Some(folder) = std::env::var_os("SINEW_STUDIO_PICTURES") else { return };
        std::fs::create_dir_all(&folder).unwrap();
        let file = std::fs::File::create(Path::new(&folder).join(format!("{name}.png"))).unwrap();
        let mut encoder = png::Encoder::new(file, self.size[0] as u32, self.size[1] as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(&self.pixels().concat()).unwrap();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
