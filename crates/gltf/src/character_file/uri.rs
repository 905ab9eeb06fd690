//! URIs of buffers and images: data within the document, or a file beside it, never outside of its folder.

use std::path::{Component, Path, PathBuf};

/// What a URI of a buffer means.
#[derive(Debug, PartialEq)]
pub(super) enum Uri {
    /// The bytes themselves.
    Bytes(Vec<u8>),
    /// A file, relative to the folder of the document.
    Beside(PathBuf),
}

/// Reads a URI; fails on any that leads out of the folder.
pub(super) fn read(uri: &str) -> Result<Uri, String> {
    if uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        return data(&uri[5..]).map(Uri::Bytes);
    }
    if uri.contains(':') {
        return Err(
            "is an address of its own: put the buffer beside the file and name it by a relative path".into(),
        );
    }
    let bytes = percent_decoded(uri.as_bytes());
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8: rename the buffer's file".to_string())?;
    // a backslash parts folders on some systems and not on others
    if text.is_empty() || text.contains(['\\', '\0', ':']) {
        return Err("is no relative path of plain names: rename the buffer's file".into());
    }
    let path = PathBuf::from(&text);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays || Path::new(&text).is_absolute() {
        return Err("leads out of the file's folder: put the buffer beside the file".into());
    }
    Ok(Uri::Beside(path))
}

/// What follows `data:`.
fn data(rest: &str) -> Result<Vec<u8>, String> {
    let Some((kind, content)) = rest.split_once(',') else {
        return Err("has no comma before its data: export the file again".into());
    };
    if kind.to_ascii_lowercase().ends_with(";base64") {
        base64(content.as_bytes())
    } else {
        Ok(percent_decoded(content.as_bytes()))
    }
}

/// Bytes with each `%41` as the byte it stands for.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match (text[at], digit(text.get(at + 1)), digit(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((16 * high + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    bytes
}

/// The bytes that base64 (either alphabet, padding as you like) stands for.
fn base64(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut bit_count) = (0u32, 0u32);
    let end = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
    for (at, byte) in text[..end].iter().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\r' | b'\n' => continue,
            _ => return Err(format!("is not base64 at its character {at}: export the file again")),
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_remainder_is_decoded() {
        for (text, bytes) in
            [("", &b""[..]), ("TQ==", b"M"), ("TWE=", b"Ma"), ("TWFu", b"Man"), ("_-8", b"\xff\xef")]
        {
            assert_eq!(base64(text.as_bytes()).unwrap(), bytes, "{text}");
        }
        assert!(base64(b"T*Fu").unwrap_err().contains("character 1"));
    }

    #[test]
    fn a_uri_never_leads_out_of_the_folder() {
        for uri in [
            "../a.bin",
            "a/../../b.bin",
            "/etc/a",
            "file:///a",
            "http://a/b",
            "C:\\a",
            "%2e%2e/a",
            "a\\b",
            "",
            "%2fetc/a",
            "b/%2E%2E",
        ] {
            assert!(read(uri).is_err(), "{uri}");
        }
        assert_eq!(read("b/my%20bar.bin"), Ok(Uri::Beside("b/my bar.bin".into())));
        assert_eq!(read("DATA:text/plain;BASE64,TWFu"), Ok(Uri::Bytes(b"Man".to_vec())));
        assert_eq!(read("data:,M%61n"), Ok(Uri::Bytes(b"Man".to_vec())));
    }
}
