//! Copies of images beside an output: the folder `NAME-textures`, or files within a folder that is written anyway.
//!
//! A list of the copies with their hashes is part of the folder, so that the next run may replace them, unless somebody has painted on them.

use crate::appearance::TextureImage;
use sinew_files::{AtomicFolder, FolderManifest, MANIFEST_NAME};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The extensions of images.
const EXTENSIONS: [&str; 5] = ["png", "jpg", "webp", "ktx2", "dds"];

/// A folder of images that appears once it is complete.
#[derive(Debug)]
pub(crate) struct TextureFolder {
    folder: AtomicFolder,
}

impl TextureFolder {
    /// The folder of the images of an output.
    pub(crate) fn path(target: &Path) -> PathBuf {
        let mut name = target.file_stem().unwrap_or_default().to_owned();
        name.push("-textures");
        target.with_file_name(name)
    }

    /// Writes images beside a target; `None` if there are none.
    pub(crate) fn create(target: &Path, images: &[TextureImage]) -> io::Result<Option<TextureFolder>> {
        if images.is_empty() {
            return Ok(None);
        }
        let folder = AtomicFolder::create(&TextureFolder::path(target), is_texture_name)?;
        write_textures(&folder, images, "")?;
        Ok(Some(TextureFolder { folder }))
    }

    /// Gives the folder its name.
    pub(crate) fn commit(self) -> io::Result<()> {
        self.folder.commit()
    }
}

/// Writes images and their list into a folder; their names begin with `prefix`.
pub(crate) fn write_textures(folder: &AtomicFolder, images: &[TextureImage], prefix: &str) -> io::Result<()> {
    if images.is_empty() {
        return Ok(());
    }
    let write = |name: &str, bytes: &[u8]| {
        let mut file = folder.file(name)?;
        file.write_all(bytes).and_then(|()| file.flush())
    };
    let mut manifest = FolderManifest::new(env!("CARGO_PKG_VERSION"));
    for image in images {
        let name = format!("{prefix}{}", image.name);
        write(&name, &image.bytes)?;
        manifest.add(&name, &image.bytes);
    }
    write(MANIFEST_NAME, manifest.to_json().as_bytes())
}

/// Whether a file of this name may be one of an earlier run.
pub(crate) fn is_texture_name(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    name == MANIFEST_NAME || extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}
