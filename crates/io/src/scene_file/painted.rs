//! `softness_points = "…"`: softness that is painted on a body or a character.

use super::section::Section;
use crate::softness_points::SoftnessPoints;
use schemars::JsonSchema;
use serde::Deserialize;
use sinew_files::ReadError;
use sinew_mesh::PointField;
use std::path::Path;

/// Reads what is painted on a body of this name; empty without a file.
pub(super) fn read_painted<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    file: &Option<String>,
    body: &str,
    folder: &Path,
) -> Result<PointField, ReadError> {
    let Some(file) = file else { return Ok(PointField::default()) };
    let points = SoftnessPoints::read(&folder.join(file))
        .map_err(|error| section.error("softness_points", error.to_string()))?;
    let own = points.of_body(body);
    if own.is_empty() {
        let message = format!("`{file}` has points of other bodies, and none of '{body}': rename them there");
        return Err(section.error("softness_points", message));
    }
    Ok(own)
}
