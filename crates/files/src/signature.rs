//! How an output of Sinew is known as one: the signature that every writer puts into its format, and the test for it.
//!
//! | format | signature |
//! | --- | --- |
//! | glTF binary | `asset.generator` is [`PROGRAM`], or `asset.extras` has the key `sinew` (files of others with flesh added) |
//! | OBJ, MTL | the first line is a comment by Sinew |
//! | USD text | `doc` is [`WRITTEN_BY`] |
//! | Alembic | `_ai_Description` is [`WRITTEN_BY`] |
//! | PNG | a `tEXt` chunk, `Software` is [`PROGRAM`] |
//! | GIF | a comment, [`WRITTEN_BY`] |
//! | MP4 | metadata with [`WRITTEN_BY`] |
//! | JSON | the key `sinew` of the outermost object |
//! | take | its first eight bytes |
//! | PC2, MDD | no room for one: a sound header, and beside it the mesh at rest that Sinew writes with it |
//! | page of the viewer | `<meta name="generator">` is [`PROGRAM`], within the first bytes |
//! | gallery page | its first sentence |
//! | copies of images in a folder | their hash in its [`FolderManifest`] |
//!
//! Scenes and meshes of `sinew zoo export` are there to be changed and have none.

use crate::folder_manifest::FolderManifest;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The name of the program, in fields for names.
pub const PROGRAM: &str = "Sinew";
/// The signature in fields for sentences.
pub const WRITTEN_BY: &str = "Written by Sinew";
/// What the comment at the top of an OBJ begins with.
pub const OBJ_COMMENT: &str = "# Sinew, ";
/// What a take begins with.
pub const TAKE_MAGIC: &[u8; 8] = b"SNWTAKE\n";
/// The element of a page of the viewer that says who wrote it.
pub const PAGE_GENERATOR: &str = "<meta name=\"generator\" content=\"Sinew\">";
/// What the page of the gallery begins with.
pub const GALLERY_HEAD: &str = "# Gallery\n\nThe characters that ship with Sinew,";

/// Bytes at the start of a file that are looked at first: more than the header of any format here.
const HEAD_BYTES: usize = 4096;
/// JSON and metadata above this are not Sinew's (bytes): read at once, they must fit into memory.
const MAX_TEXT_BYTES: u64 = 256 << 20;

/// Whether a file was written by Sinew, or a folder holds nothing but such files. A file without bytes holds nothing of anybody's and counts as ours.
pub fn is_ours(path: &Path) -> bool {
    if path.is_dir() {
        let Ok(entries) = fs::read_dir(path) else { return false };
        let copies = FolderManifest::read(path);
        let is_ours = |path: &Path| is_ours_as_file(path) || copies.holds(path);
        return entries.into_iter().all(|entry| entry.is_ok_and(|entry| is_ours(&entry.path())));
    }
    is_ours_as_file(path)
}

fn is_ours_as_file(path: &Path) -> bool {
    path.is_file() && has_signature(path).unwrap_or(false)
}

/// The table: what a file begins with decides where its signature is looked for.
fn has_signature(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(match head.as_slice() {
        [] => true,
        [b'g', b'l', b'T', b'F', ..] => is_our_glb(&mut file)?,
        [b'G', b'I', b'F', ..] => contains(&head, &gif_comment()),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => is_our_mp4(&mut file)?,
        _ if head.starts_with(TAKE_MAGIC) => true,
        _ if head.starts_with(OBJ_COMMENT.as_bytes()) => true,
        _ if head.starts_with(GALLERY_HEAD.as_bytes()) => true,
        _ if head.starts_with(b"<!doctype html>") => contains(&head, PAGE_GENERATOR.as_bytes()),
        _ if head.starts_with(b"\x89PNG\r\n\x1a\n") => is_our_png(&head),
        _ if head.starts_with(b"#usda") => contains(&head, format!("doc = \"{WRITTEN_BY}\"").as_bytes()),
        _ if head.starts_with(b"Ogawa") => {
            contains(&head, format!("_ai_Description={WRITTEN_BY}").as_bytes())
        }
        _ if head.starts_with(b"POINTCACHE2\0") => is_sound_pc2(&head, &file)? && has_our_rest_mesh(path),
        _ if has_extension(path, "mdd") => is_sound_mdd(&head, &file)? && has_our_rest_mesh(path),
        _ if head.trim_ascii_start().starts_with(b"{") => is_our_json(&mut file)?,
        _ => false,
    })
}

/// The comment of a GIF as it stands in the file, for its writer too.
fn gif_comment() -> Vec<u8> {
    [&[0x21, 0xfe, WRITTEN_BY.len() as u8], WRITTEN_BY.as_bytes()].concat()
}

fn is_our_glb(file: &mut File) -> io::Result<bool> {
    #[derive(Deserialize)]
    struct Document {
        asset: Asset,
    }
    #[derive(Deserialize)]
    struct Asset {
        generator: Option<String>,
        extras: Option<serde_json::Value>,
    }
    // magic, version and length of the file; length and kind of the first chunk, which is the JSON
    let mut header = [0; 20];
    file.rewind()?;
    file.read_exact(&mut header)?;
    let json = read_text(file, u64::from(little_word(&header, 12)))?;
    let ours = |asset: Asset| {
        asset.generator.as_deref() == Some(PROGRAM)
            || asset.extras.is_some_and(|extras| extras.get("sinew").is_some())
    };
    Ok(serde_json::from_slice::<Document>(&json).is_ok_and(|document| ours(document.asset)))
}

fn is_our_json(file: &mut File) -> io::Result<bool> {
    #[derive(Deserialize)]
    struct Report {
        #[serde(rename = "sinew")]
        _version: IgnoredAny,
    }
    file.rewind()?;
    let length = file.metadata()?.len();
    Ok(serde_json::from_slice::<Report>(&read_text(file, length)?).is_ok())
}

/// Walks over the chunks before the pixels.
fn is_our_png(head: &[u8]) -> bool {
    let mut rest = head.get(8..).unwrap_or_default();
    while let [a, b, c, d, kind @ ..] = rest {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        let Some(data) = kind.get(4..).and_then(|data| data.get(..length)) else { return false };
        match &kind[..4] {
            b"tEXt" if data == [b"Software\0", PROGRAM.as_bytes()].concat() => return true,
            b"IDAT" => return false,
            // its bytes, then a checksum
            _ => rest = kind.get(4 + length + 4..).unwrap_or_default(),
        }
    }
    false
}

/// Walks over the boxes of an MP4 to the one with its metadata.
fn is_our_mp4(file: &mut File) -> io::Result<bool> {
    let (mut at, end) = (0, file.metadata()?.len());
    while at + 8 <= end {
        let mut header = [0; 16];
        file.seek(SeekFrom::Start(at))?;
        let read = file.by_ref().take(16).read(&mut header)?;
        let length = match u32::from_be_bytes([header[0], header[1], header[2], header[3]]) {
            1 if read == 16 => header[8..].iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
            0 => end - at,
            length => u64::from(length),
        };
        if &header[4..8] == b"moov" {
            file.seek(SeekFrom::Start(at))?;
            return Ok(contains(&read_text(file, length)?, WRITTEN_BY.as_bytes()));
        }
        at = at.saturating_add(length.max(8));
    }
    Ok(false)
}

/// Whether the file is as long as its header says: magic, version, points, first frame, frames a sample, samples.
fn is_sound_pc2(head: &[u8], file: &File) -> io::Result<bool> {
    if head.len() < 32 {
        return Ok(false);
    }
    let (points, samples) = (u128::from(little_word(head, 16)), u128::from(little_word(head, 28)));
    Ok(u128::from(file.metadata()?.len()) == 32 + 12 * points * samples)
}

/// Whether the file is as long as its header says: frames, points, then the time of every frame.
fn is_sound_mdd(head: &[u8], file: &File) -> io::Result<bool> {
    let [a, b, c, d, e, f, g, h, ..] = *head else { return Ok(false) };
    let frames = u128::from(u32::from_be_bytes([a, b, c, d]));
    let points = u128::from(u32::from_be_bytes([e, f, g, h]));
    Ok(u128::from(file.metadata()?.len()) == 8 + 4 * frames + 12 * frames * points)
}

/// Whether `NAME-rest.obj` beside `NAME.pc2` is ours.
fn has_our_rest_mesh(cache: &Path) -> bool {
    let mut name = cache.file_stem().unwrap_or_default().to_owned();
    name.push("-rest.obj");
    is_ours_as_file(&cache.with_file_name(name))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

fn read_text(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(length.min(MAX_TEXT_BYTES)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn little_word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder_manifest::MANIFEST_NAME;

    fn glb(json: &str) -> Vec<u8> {
        let length = (json.len() as u32).to_le_bytes();
        [b"glTF\x02\0\0\0\0\0\0\0", &length[..], b"JSON", json.as_bytes()].concat()
    }

    fn png(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let length = (data.len() as u32).to_be_bytes();
        let last = [&0_u32.to_be_bytes()[..], b"IDAT", &[0; 4]].concat();
        [b"\x89PNG\r\n\x1a\n", &length[..], kind, data, &[0; 4], &last].concat()
    }

    fn mp4(metadata: &str) -> Vec<u8> {
        let length = (8 + metadata.len() as u32).to_be_bytes();
        [&8_u32.to_be_bytes()[..], b"ftyp", &length, b"moov", metadata.as_bytes()].concat()
    }

    #[test]
    fn files_with_a_signature_are_ours_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let gif = [b"GIF89a\0\0\0\0\0\0\0", &gif_comment()[..]].concat();

        // with and without the signature, in every format
        let cases: [(&str, Vec<u8>, bool); 26] = [
            ("empty.glb", Vec::new(), true),
            ("a.glb", glb(r#"{"nodes":[],"asset":{"version":"2.0","generator":"Sinew"}}"#), true),
            ("b.glb", glb(r#"{"asset":{"generator":"Blender","extras":{"sinew":"0.1.0"}}}"#), true),
            ("c.glb", glb(r#"{"asset":{"generator":"Blender","extras":["Sinew"]}}"#), false),
            ("d.glb", glb(r#"{"asset":{"generator":"Sinew"}"#), false),
            ("e.glb", b"glTF".to_vec(), false),
            ("a.obj", b"# Sinew, at rest\nv 0 0 0".to_vec(), true),
            ("b.obj", b"# Blender\nv 0 0 0".to_vec(), false),
            ("a.usda", b"#usda 1.0\n(\n    doc = \"Written by Sinew\"\n)".to_vec(), true),
            ("b.usda", b"#usda 1.0\n(\n    doc = \"Blender\"\n)".to_vec(), false),
            ("a.abc", b"Ogawa\xff\0\x01........_ai_Description=Written by Sinew".to_vec(), true),
            ("b.abc", b"Ogawa\xff\0\x01........_ai_Application=Maya".to_vec(), false),
            ("a.png", png(b"tEXt", b"Software\0Sinew"), true),
            ("b.png", png(b"tEXt", b"Software\0Krita"), false),
            ("c.png", b"\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXt".to_vec(), false),
            ("a.gif", gif, true),
            ("b.gif", b"GIF89a Written by Sinew".to_vec(), false),
            ("a.mp4", mp4("udta Written by Sinew"), true),
            ("b.mp4", mp4("udta Lavf"), false),
            ("a.json", br#" {"sinew": "0.1.0", "bodies": []}"#.to_vec(), true),
            ("b.json", br#"{"name": "sinew"}"#.to_vec(), false),
            ("a.take", b"SNWTAKE\n\x03".to_vec(), true),
            ("a.md", format!("{GALLERY_HEAD} as drawn").into_bytes(), true),
            ("a.html", format!("<!doctype html>\n<html>\n{PAGE_GENERATOR}").into_bytes(), true),
            ("b.html", b"<!doctype html>\n<title>Sinew</title>".to_vec(), false),
            ("thesis.txt", b"It was a dark and stormy night".to_vec(), false),
        ];

        // each by itself, a folder, and nothing
        for (name, bytes, expected) in cases {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            assert_eq!(is_ours(&path), expected, "{name}");
        }
        assert!(!is_ours(folder.path()));
        assert!(!is_ours(&folder.path().join("missing")));
    }

    #[test]
    fn a_point_cache_is_ours_with_our_rest_mesh_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let pc2 = [b"POINTCACHE2\0", &1_u32.to_le_bytes()[..], &2_u32.to_le_bytes(), &[0; 8]].concat();
        let pc2 = [&pc2[..], &1_u32.to_le_bytes(), &[0; 24]].concat();
        let mdd = [&1_u32.to_be_bytes()[..], &2_u32.to_be_bytes(), &[0; 28]].concat();
        fs::write(at("a.pc2"), &pc2).unwrap();
        fs::write(at("a.mdd"), &mdd).unwrap();
        assert!(!is_ours(&at("a.pc2")) && !is_ours(&at("a.mdd")));
        fs::write(at("a-rest.obj"), "v 0 0 0").unwrap();
        assert!(!is_ours(&at("a.pc2")));
        fs::write(at("a-rest.obj"), "# Sinew, at rest\n").unwrap();
        assert!(is_ours(&at("a.pc2")) && is_ours(&at("a.mdd")));
        fs::write(at("a.pc2"), &pc2[1..]).unwrap();
        fs::write(at("a.mdd"), &mdd[1..]).unwrap();
        assert!(!is_ours(&at("a.pc2")) && !is_ours(&at("a.mdd")));
    }

    #[test]
    fn a_folder_is_ours_if_all_in_it_is() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_ours(folder.path()));
        fs::write(folder.path().join("frame_0001.obj"), "# Sinew, 0 s\n").unwrap();
        assert!(is_ours(folder.path()));
        fs::write(folder.path().join("frame_0002.obj"), "v 0 0 0\n").unwrap();
        assert!(!is_ours(folder.path()));
    }

    #[test]
    fn a_copied_image_is_ours_until_somebody_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("skin.png");
        fs::write(&image, "pixels").unwrap();
        assert!(!is_ours(folder.path()));
        let mut manifest = FolderManifest::new("0.1.0");
        manifest.add("skin.png", b"pixels");
        fs::write(folder.path().join(MANIFEST_NAME), manifest.to_json()).unwrap();
        assert_eq!(FolderManifest::read(folder.path()), manifest);
        assert!(is_ours(folder.path()));
        fs::write(&image, "painted over").unwrap();
        assert!(!is_ours(folder.path()));
        fs::write(&image, "pixels").unwrap();
        fs::write(folder.path().join("other.png"), "pixels").unwrap();
        assert!(!is_ours(folder.path()));
    }
}
