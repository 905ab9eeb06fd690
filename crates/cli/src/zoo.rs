//! `sinew zoo`: lists the characters that ship with Sinew and exports them as scene files.

use crate::failure::Failure;
use crate::gallery::Gallery;
use clap::{Args, Subcommand};
use sinew_io::SceneFiles;
use sinew_zoo::source::unknown_name;
use sinew_zoo::{Character, catalog};
use std::path::PathBuf;

/// List the characters that ship with Sinew, or export one as scene files to edit.
#[derive(Args)]
pub(crate) struct Zoo {
    #[command(subcommand)]
    command: ZooCommand,
}

#[derive(Subcommand)]
enum ZooCommand {
    /// List every character by name; `sinew simulate NAME` simulates it.
    List,
    /// Export a character as files to read and edit: its scene, mesh and motion. `sinew simulate DIR/NAME.toml` gives exactly the same result as `sinew simulate NAME`.
    Export(Export),
    /// Draw every character and write a page with the pictures. Run in the root folder of Sinew's sources, it updates docs/gallery.md.
    Gallery(Gallery),
}

#[derive(Args)]
struct Export {
    /// The character's name.
    name: String,

    /// The folder to write to; it is created if needed [default: the character's name].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Replace existing files.
    #[arg(long)]
    force: bool,
}

impl Zoo {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            ZooCommand::List => {
                list();
                Ok(())
            }
            ZooCommand::Export(export) => export.run(),
            ZooCommand::Gallery(gallery) => gallery.run(),
        }
    }
}

impl Export {
    fn run(self) -> Result<(), Failure> {
        let character = sinew_zoo::find(&self.name).ok_or_else(|| {
            Failure::input(format!(
                "there is no built-in character '{}': {}",
                self.name,
                unknown_name(&self.name)
            ))
        })?;
        let folder = self.output.unwrap_or_else(|| PathBuf::from(character.name));
        let mut files = SceneFiles::of(&(character.build)(), character.name)
            .map_err(|what| Failure::input(format!("{}: {what}", character.name)))?;
        files.comment = format!("{}: {}", character.name, character.description);
        let paths: Vec<PathBuf> = files.texts().iter().map(|(name, _)| folder.join(name)).collect();
        check_free(&paths, self.force)?;
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
        files.write(&folder).map_err(|error| Failure::input(error.to_string()))?;
        paths.iter().for_each(|path| say!("wrote {}", path.display()));
        say!("`sinew simulate {}` simulates it", paths[0].display());
        Ok(())
    }
}

/// Checks that an export replaces nothing, or with `force` only ordinary files.
fn check_free(paths: &[PathBuf], force: bool) -> Result<(), Failure> {
    for path in paths.iter().filter(|path| path.symlink_metadata().is_ok()) {
        if !path.is_file() {
            return Err(Failure::input(format!(
                "{} exists and is not an ordinary file: choose another folder",
                path.display()
            )));
        }
        if !force {
            let path = path.display();
            return Err(Failure::input(format!(
                "{path} already exists: choose another folder, or replace it with --force"
            )));
        }
    }
    Ok(())
}

fn list() {
    let width = catalog().iter().map(|character| character.name.len()).max().unwrap_or(0);
    for Character { name, description, .. } in catalog() {
        say!("{name:width$}  {description}");
    }
}
