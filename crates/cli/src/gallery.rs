//! `sinew zoo gallery`: a Markdown page with a picture of every built-in character.

use crate::failure::Failure;
use crate::outputs::plan_files;
use crate::render::Render;
use clap::Args;
use sinew_files::Replace;
use sinew_files::signature::GALLERY_HEAD;
use sinew_io::AtomicFile;
use sinew_zoo::source::unknown_name;
use sinew_zoo::{Character, catalog};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Columns and rows of frames in a contact sheet, and the size of each frame (pixels).
const SHEET: [usize; 2] = [4, 1];
const TILE: [usize; 2] = [240, 240];
/// The size of a clip (pixels), and its frames per second.
const CLIP: [usize; 2] = [360, 270];
const CLIP_FPS: f64 = 12.5;

#[derive(Args)]
pub(crate) struct Gallery {
    /// The folder to write to: the page goes to DIR/gallery.md, its pictures to DIR/gallery.
    #[arg(short, long, value_name = "DIR", default_value = "docs")]
    output: PathBuf,

    /// Draw only these characters; the page always lists all of them [default: all].
    names: Vec<String>,

    /// Also replace a page and pictures that Sinew did not write.
    #[arg(long)]
    force: bool,
}

impl Gallery {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // names
        for name in &self.names {
            if sinew_zoo::find(name).is_none() {
                return Err(Failure::input(format!(
                    "there is no built-in character '{name}': {}",
                    unknown_name(name)
                )));
            }
        }

        // outputs, checked before the first picture is drawn
        let pictures = self.output.join("gallery");
        std::fs::create_dir_all(&pictures)
            .map_err(|error| Failure::input(format!("{}: {error}", pictures.display())))?;
        let path = self.output.join("gallery.md");
        let is_drawn = |character: &&Character| {
            self.names.is_empty() || self.names.iter().any(|name| name == character.name)
        };
        let drawn = catalog().iter().filter(is_drawn).map(|character| pictures.join(picture_name(character)));
        let outputs: Vec<PathBuf> = drawn.chain([path.clone()]).collect();
        plan_files(&outputs, if self.force { Replace::Any } else { Replace::Ours })?;

        // pictures and page
        for character in catalog().iter().filter(is_drawn) {
            draw(character, &pictures, self.force)?;
        }
        let written = AtomicFile::create(&path).and_then(|mut file| {
            file.write_all(page().as_bytes())?;
            file.commit()
        });
        written.map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        say!("wrote {}", path.display());
        Ok(())
    }
}

/// The file name of a character's picture: a clip if the scene has obstacles or muscles, or is directed by edits, otherwise a contact sheet.
fn picture_name(character: &Character) -> String {
    let scene = (character.build)();
    let world = &scene.world;
    let is_clip = !world.obstacles.is_empty() || !world.muscles.is_empty() || !scene.edits.is_empty();
    format!("{}.{}", character.name, if is_clip { "gif" } else { "png" })
}

fn draw(character: &Character, folder: &Path, force: bool) -> Result<(), Failure> {
    let name = picture_name(character);
    let mut render = Render::of(PathBuf::from(character.name), folder.join(&name));
    render.force = force;
    if name.ends_with(".gif") {
        (render.size, render.fps) = (Some(CLIP), Some(CLIP_FPS));
    } else {
        (render.sheet, render.size) = (Some(SHEET), Some(TILE));
    }
    Box::new(render).run()
}

fn page() -> String {
    let mut page = format!(
        "{GALLERY_HEAD} as `sinew zoo gallery` draws them. `sinew simulate NAME` plays one, `sinew zoo export NAME` \
         writes it as files\nto take apart, and [zoo.md](zoo.md) has their numbers.\n",
    );
    for character in catalog() {
        let Character { name, description, .. } = character;
        // writing to a string does not fail
        let _ =
            write!(page, "\n## {name}\n\n{description}\n\n![{name}](gallery/{})\n", picture_name(character));
    }
    page
}
