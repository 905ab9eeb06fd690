//! Clips as MP4, by a program of another project: pictures are handed to `ffmpeg` as it asks for them.

use super::canvas::Image;
use super::frame_source::PictureError;
use crate::AtomicFile;
use sinew_files::signature::WRITTEN_BY;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

/// What to do where the program is missing.
const MISSING: &str = "videos are made by the program `ffmpeg`, and there is none on this machine's PATH: install it, or write a .gif instead";

/// Fails if there is no program to make videos.
pub(super) fn check() -> Result<(), PictureError> {
    let mut command = Command::new("ffmpeg");
    command.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(|_| ()).map_err(in_words)
}

fn in_words(error: std::io::Error) -> PictureError {
    match error.kind() {
        std::io::ErrorKind::NotFound => PictureError(MISSING.into()),
        _ => PictureError(format!("`ffmpeg` cannot be started: {error}; mend that, or write a .gif instead")),
    }
}

/// A video being written.
pub(super) struct VideoFile {
    /// Until the video has its name.
    file: Option<AtomicFile>,
    child: Child,
    pictures: Option<ChildStdin>,
    /// What the program says, read as it says it so that it never waits for us.
    words: Option<JoinHandle<String>>,
}

impl VideoFile {
    /// Begins a clip of pictures of this size, both sides even, so many a second.
    pub(super) fn begin(file: AtomicFile, size: [usize; 2], fps: f64) -> Result<VideoFile, PictureError> {
        let spawned = Command::new("ffmpeg")
            .args([
                "-hide_banner",
                "-loglevel",
                "error",
                "-nostdin",
                "-y",
                "-f",
                "rawvideo",
                "-pix_fmt",
                "rgb24",
            ])
            .arg("-s")
            .arg(format!("{}x{}", size[0], size[1]))
            .arg("-r")
            .arg(fps.to_string())
            .args(["-i", "pipe:0", "-an", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"])
            .arg("-metadata")
            .arg(format!("comment={WRITTEN_BY}"))
            .args(["-f", "mp4"])
            .arg(file.part())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = spawned.map_err(in_words)?;
        let pictures = child.stdin.take();
        let words = child.stderr.take().map(|mut stream| {
            std::thread::spawn(move || {
                let mut words = Vec::new();
                let _ = stream.read_to_end(&mut words);
                String::from_utf8_lossy(&words).trim().to_owned()
            })
        });
        Ok(VideoFile { file: Some(file), child, pictures, words })
    }

    /// Adds a picture.
    pub(super) fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        let written = self.pictures.as_mut().map(|pictures| pictures.write_all(&image.bytes));
        match written {
            Some(Ok(())) => Ok(()),
            // why it went away it says itself
            Some(Err(error)) => {
                Err(self.end().err().unwrap_or(PictureError(format!("`ffmpeg` ended early: {error}"))))
            }
            None => Err(PictureError("`ffmpeg` ended early".into())),
        }
    }

    /// Ends the clip and gives the file its name. Returns how large it is (bytes).
    pub(super) fn finish(mut self) -> Result<u64, PictureError> {
        self.end()?;
        let Some(file) = self.file.take() else { return Ok(0) };
        let bytes = std::fs::metadata(file.part())?.len();
        file.commit()?;
        Ok(bytes)
    }

    /// Waits until the program has done its work.
    fn end(&mut self) -> Result<(), PictureError> {
        drop(self.pictures.take());
        let status = self.child.wait()?;
        let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        Err(PictureError(format!(
            "`ffmpeg` could not make the video ({status}): {words}; try a .gif instead"
        )))
    }
}

impl Drop for VideoFile {
    fn drop(&mut self) {
        drop(self.pictures.take());
        // nothing to do about a program that has ended already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
