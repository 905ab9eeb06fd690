//! MP4 video by piping raw frames to `ffmpeg`.

use crate::frame_source::PictureError;
use crate::image::Image;
use sinew_files::AtomicFile;
use sinew_files::signature::WRITTEN_BY;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

/// What to do where `ffmpeg` is missing.
const MISSING: &str = "videos are encoded by the program `ffmpeg`, which is not on the PATH: install it, or write a .gif instead";

/// Options of `ffmpeg` for raw pictures without any prompts.
const RAW_INPUT: [&str; 9] =
    ["-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"];
/// Options of `ffmpeg` for a video that browsers play while it loads.
const MP4_OUTPUT: [&str; 9] =
    ["-an", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"];

/// Returns an error if `ffmpeg` cannot be run.
pub(crate) fn check() -> Result<(), PictureError> {
    let mut command = Command::new("ffmpeg");
    command.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(|_| ()).map_err(describe)
}

fn describe(error: std::io::Error) -> PictureError {
    match error.kind() {
        std::io::ErrorKind::NotFound => PictureError(MISSING.into()),
        _ => PictureError(format!("`ffmpeg` cannot be started: {error}; fix that, or write a .gif instead")),
    }
}

/// A video being written.
pub(crate) struct VideoFile {
    /// The target, until it is committed.
    file: Option<AtomicFile>,
    child: Child,
    pictures: Option<ChildStdin>,
    /// Collects the error output, so that the program never blocks on it.
    messages: Option<JoinHandle<String>>,
}

impl VideoFile {
    /// Begins a clip of pictures of a size (pixels, both even) at a rate (1/s).
    pub(crate) fn begin(file: AtomicFile, size: [usize; 2], fps: f64) -> Result<VideoFile, PictureError> {
        let spawned = Command::new("ffmpeg")
            .args(RAW_INPUT)
            .args(["-s", &format!("{}x{}", size[0], size[1]), "-r", &fps.to_string()])
            .args(["-i", "pipe:0"])
            .args(["-metadata", &format!("comment={WRITTEN_BY}")])
            .args(MP4_OUTPUT)
            .arg(file.part())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = spawned.map_err(describe)?;
        let pictures = child.stdin.take();
        let messages = child.stderr.take().map(|mut stream| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = stream.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).trim().to_owned()
            })
        });
        Ok(VideoFile { file: Some(file), child, pictures, messages })
    }

    /// Adds a picture.
    pub(crate) fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        let written = self.pictures.as_mut().map(|pictures| pictures.write_all(&image.bytes));
        match written {
            Some(Ok(())) => Ok(()),
            // the program's own message says why
            Some(Err(error)) => {
                Err(self.end().err().unwrap_or(PictureError(format!("`ffmpeg` ended early: {error}"))))
            }
            None => Err(PictureError("`ffmpeg` ended early".into())),
        }
    }

    /// Finishes the clip, gives the file its name and returns its size (bytes).
    pub(crate) fn finish(mut self) -> Result<u64, PictureError> {
        self.end()?;
        let Some(file) = self.file.take() else { return Ok(0) };
        let bytes = std::fs::metadata(file.part())?.len();
        file.commit()?;
        Ok(bytes)
    }

    /// Closes the pipe and waits for the program to end.
    fn end(&mut self) -> Result<(), PictureError> {
        drop(self.pictures.take());
        let status = self.child.wait()?;
        let messages = self.messages.take().and_then(|messages| messages.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        Err(PictureError(format!(
            "`ffmpeg` could not make the video ({status}): {messages}; try a .gif instead"
        )))
    }
}

impl Drop for VideoFile {
    fn drop(&mut self) {
        drop(self.pictures.take());
        // the program may have ended already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
