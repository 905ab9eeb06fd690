//! Generates the documentation of scene files from their types: every key with its values, its default and its meaning.

use super::ScenePart;
use super::checker::one_of_keys;
use super::expectation::{Expectation, listed};
use super::json_schema::scene_json_schema;
use serde_json::Value;
use std::fmt::Write;

/// A key of a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneKey {
    /// The table it belongs to.
    pub part: ScenePart,
    /// The key.
    pub name: &'static str,
    /// What it takes.
    pub takes: String,
    /// Its default.
    pub default: String,
    /// What it means.
    pub meaning: String,
}

/// All keys of scene files, table by table.
pub fn scene_keys() -> impl Iterator<Item = SceneKey> {
    let root = scene_json_schema();
    ScenePart::ALL.iter().flat_map(move |&part| {
        let schema = match part {
            ScenePart::Scene => root,
            other => &root["definitions"][other.type_name()],
        };
        part.keys().iter().map(move |name| scene_key(part, schema, name))
    })
}

fn scene_key(part: ScenePart, schema: &Value, name: &'static str) -> SceneKey {
    let property = &schema["properties"][name];
    let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
    SceneKey {
        part,
        name,
        takes: Expectation::documented(property),
        default: documented_default(schema, property, name),
        meaning: description.replace('\n', " ").trim_end_matches('.').to_owned(),
    }
}

/// The default of a key, for the documentation.
fn documented_default(schema: &Value, property: &Value, name: &str) -> String {
    if let Some(words) = property.get("x-default").and_then(Value::as_str) {
        return words.to_owned();
    }
    if let Some(value) = property.get("default") {
        return value.to_string().replace(',', ", ");
    }
    let group = one_of_keys(schema);
    match group.len() {
        _ if !group.contains(&name) => {
            let needed = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            if needed.into_iter().any(|key| key == name) { "needed".into() } else { "none".into() }
        }
        count @ 4.. => {
            format!("one of {}", ["four", "five", "six", "seven", "eight", "nine"][count.min(9) - 4])
        }
        _ => {
            let others = group.iter().filter(|key| **key != name).map(|key| format!("`{key}`"));
            listed(core::iter::once("this".to_owned()).chain(others))
        }
    }
}

/// All keys as Markdown tables.
pub fn scene_keys_table() -> String {
    let mut text = String::new();
    let mut part = None;
    for key in scene_keys() {
        if part != Some(key.part) {
            let gap = if part.is_some() { "\n" } else { "" };
            let heading = match key.part {
                ScenePart::Scene => "Top of the file".to_owned(),
                other => format!("`{}`", other.heading()),
            };
            let columns = "| key | takes | default | meaning |\n| --- | --- | --- | --- |";
            // writing to a string never fails
            let _ = writeln!(text, "{gap}### {heading}\n\n{columns}");
            part = Some(key.part);
        }
        let SceneKey { name, takes, default, meaning, .. } = key;
        let _ = writeln!(text, "| `{name}` | {takes} | {default} | {meaning} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_the_schema_is_a_part_and_every_key_is_documented() {
        let definitions = scene_json_schema()["definitions"].as_object().unwrap();
        for (name, schema) in definitions.iter().filter(|(_, schema)| schema.get("properties").is_some()) {
            assert!(ScenePart::of_type(name).is_some(), "{name} has no heading");
            assert_eq!(schema["additionalProperties"], Value::Bool(false), "{name}");
        }
        for key in scene_keys() {
            assert!(!key.meaning.is_empty() && !key.takes.is_empty() && !key.default.is_empty(), "{key:?}");
        }
        assert_eq!(scene_keys_table().matches("###").count(), ScenePart::ALL.len());
    }
}
