//! Words of a file as they may stand in a message.

/// A word of a file, printable and not too long.
pub fn quote(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().take(40).collect();
    text.escape_debug().to_string()
}
