//! `sinew schema`: the JSON Schema of scene files, for editors.

use crate::failure::Failure;
use clap::Args;
use sinew_io::{AtomicFile, scene_json_schema};
use std::io::Write;
use std::path::PathBuf;

/// Print the JSON Schema of scene files, which lets editors check them and complete their keys.
#[derive(Args)]
pub(crate) struct Schema {
    /// Write to this file instead of printing; an existing file is replaced only with --force.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace an existing file.
    #[arg(long, requires = "output")]
    force: bool,
}

impl Schema {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let text = format!("{:#}", scene_json_schema());
        let Some(path) = self.output else {
            say!("{text}");
            return Ok(());
        };
        if path.symlink_metadata().is_ok() && !self.force {
            let path = path.display();
            return Err(Failure::input(format!(
                "{path} already exists: choose another name, or replace it with --force"
            )));
        }
        let write = || -> std::io::Result<()> {
            let mut file = AtomicFile::create(&path)?;
            writeln!(file, "{text}")?;
            file.commit()
        };
        write().map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        say!("wrote {}", path.display());
        Ok(())
    }
}
