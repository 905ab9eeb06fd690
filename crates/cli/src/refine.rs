//! `sinew refine`: a character with more triangles.

use crate::failure::Failure;
use crate::outputs::{atomic_file, plan_files};
use clap::Args;
use sinew_files::Replace;
use sinew_io::{Loaded, open_character};
use std::io::Write;
use std::path::PathBuf;

/// Divide every triangle of a character into four, so that skin over its flesh shows finer wrinkles (--skin).
///
/// Its shape, skeleton, materials and animations stay as they are; vertices in the middle of edges have the mean of what both ends have.
#[derive(Args)]
pub(crate) struct Refine {
    /// A character file (.glb, .gltf, .vrm, .fbx).
    input: PathBuf,

    /// The file to write [default: NAME-fine.glb].
    #[arg(short, long, value_name = "OUT.glb")]
    output: Option<PathBuf>,

    /// How many times: each makes four triangles of one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    times: u8,

    /// Also replace a file that Sinew did not write. Input files are never replaced.
    #[arg(long)]
    force: bool,
}

impl Refine {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // the output
        let name = self.input.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let output = self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}-fine.glb")));
        if !output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("glb")) {
            return Err(Failure::input(format!("{}: a finer character is a .glb", output.display())));
        }
        sinew_files::register_input(&self.input);
        plan_files([&output], if self.force { Replace::Any } else { Replace::Ours })?;
        let mut file = atomic_file(&output)?;

        // the character
        let Loaded { value: mut character, notes } = open_character(&self.input).map_err(Failure::input)?;
        notes.iter().for_each(|note| note!("{note}"));
        for _ in 0..self.times {
            character = character.finer().map_err(Failure::input)?.value;
        }
        let written = file.write_all(character.source.bytes()).and_then(|()| file.commit());
        written.map_err(|error| Failure::input(format!("{}: {error}", output.display())))?;
        let count = |of: fn(&sinew_character::CharacterPrimitive) -> usize| -> usize {
            character.rigged.meshes.iter().flat_map(|mesh| &mesh.primitives).map(of).sum()
        };
        tell!(
            "wrote {}: {} vertices, {} triangles",
            output.display(),
            count(|primitive| primitive.positions.len()),
            count(|primitive| primitive.triangles.len())
        );
        Ok(())
    }
}
