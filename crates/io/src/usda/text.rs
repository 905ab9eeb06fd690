//! Values of USD text: lists, points, strings and assets.

use rayon::prelude::*;

/// Points as `[(x, y, z), …]`, in the fewest digits that read back bit for bit. Each number has a decimal point or an exponent: `-0` would be
/// read as an integer and lose its sign.
pub(super) fn point_list(points: &[[f32; 3]]) -> String {
    list(points, |[x, y, z]| format!("({x:?}, {y:?}, {z:?})"))
}

/// Items as `[a, b, …]`, formatted in parallel: formatting takes most of the time of this sink.
pub(super) fn list<T: Sync>(items: &[T], text: fn(&T) -> String) -> String {
    let joined = |items: &[T]| items.iter().map(text).collect::<Vec<_>>().join(", ");
    let parts: Vec<String> = items.par_chunks(1024).map(joined).collect();
    format!("[{}]", parts.join(", "))
}

/// A USD string; control characters become spaces.
pub(super) fn quoted(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

/// A path to a file beside the stage.
pub(super) fn asset(path: &str) -> String {
    if path.contains('@') { format!("@@@./{path}@@@") } else { format!("@./{path}@") }
}
