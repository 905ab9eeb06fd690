//! `sinew zoo`: the characters that ship with Sinew, listed and written as ordinary files.

use crate::failure::Failure;
use crate::gallery::Gallery;
use clap::{Args, Subcommand};
use sinew_io::SceneFiles;
use sinew_zoo::{Character, catalog};
use std::path::PathBuf;

/// List the characters that ship with Sinew, or write one as files to take apart.
#[derive(Args)]
pub(crate) struct Zoo {
    #[command(subcommand)]
    command: ZooCommand,
}

#[derive(Subcommand)]
enum ZooCommand {
    /// Every character by name; `sinew simulate NAME` plays it.
    List,
    /// Write a character as files: a scene to read and change, its mesh and its motion. `sinew simulate DIR/NAME.toml` plays them, to the same bits.
    Export(Export),
    /// Draw every character and write a page of them: `sinew zoo gallery` in this project makes docs/gallery.md anew.
    Gallery(Gallery),
}

#[derive(Args)]
struct Export {
    /// The character's name.
    name: String,

    /// The folder that the files go to; it is made if there is none [default: the character's name].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Replace files of the same names.
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
            Failure::input(format!("'{}' is the name of no character, {}", self.name, unknown(&self.name)))
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
        say!("`sinew simulate {}` plays it.", paths[0].display());
        Ok(())
    }
}

/// What is there stays there, unless it may be replaced; what is no file is never replaced.
fn check_free(paths: &[PathBuf], force: bool) -> Result<(), Failure> {
    for path in paths.iter().filter(|path| path.symlink_metadata().is_ok()) {
        if !path.is_file() {
            return Err(Failure::input(format!(
                "{} is there and is no file: choose another folder",
                path.display()
            )));
        }
        if !force {
            let path = path.display();
            return Err(Failure::input(format!(
                "{path} is there already: choose another folder, or replace it with --force"
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

/// What to say of a name that the zoo does not know.
pub(crate) fn unknown(name: &str) -> String {
    match sinew_zoo::nearest(name) {
        Some(near) => format!("and the zoo has no such character: did you mean '{near}'?"),
        None => {
            let names: Vec<&str> = catalog().iter().map(|character| character.name).collect();
            format!("and the zoo knows only {}", names.join(", "))
        }
    }
}
