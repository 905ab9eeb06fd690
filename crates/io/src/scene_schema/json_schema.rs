//! Generates the JSON Schema of scene files from their types.
//!
//! It is draft 7, which the TOML plugins of editors read. TOML has no null, so optional keys are optional but never null.

use super::SceneFile;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The JSON Schema of scene files (draft 7), with which editors complete and check them.
pub fn scene_json_schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let generator = SchemaSettings::draft07().into_generator();
        let mut schema = generator.into_root_schema_for::<SceneFile>().to_value();
        simplify(&mut schema);
        if let Value::Object(root) = &mut schema {
            root.insert("title".into(), json!("Sinew scene"));
        }
        schema
    })
}

/// Removes what TOML does not have (null, sizes of numbers), and default values that are empty lists.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(map) => {
            map.values_mut().for_each(simplify);
            remove_null(map);
            if map.get("format").is_some_and(|format| format != "path") {
                map.remove("format");
            }
            if map.get("default").is_some_and(|default| *default == json!([]) || default.is_null()) {
                map.remove("default");
            }
        }
        _ => {}
    }
}

/// `{ type: [T, null] }` becomes `{ type: T }`, and a choice between one schema and null becomes that schema.
fn remove_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| *choice != json!({ "type": "null" }));
        if let [only] = &choices[..] {
            let only = only.clone();
            map.remove("anyOf");
            match only {
                Value::Object(only) if !only.contains_key("$ref") => map.extend(only),
                // draft 7 ignores everything beside `$ref`
                reference => {
                    map.insert("allOf".into(), json!([reference]));
                }
            }
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// Follows the references of a schema.
pub(super) fn resolved(schema: &Value) -> &Value {
    let mut found = schema;
    while let Some(reference) = reference(found) {
        match scene_json_schema()["definitions"].get(reference) {
            Some(definition) => found = definition,
            None => break,
        }
    }
    found
}

/// The name of the type that a schema refers to.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    let plain = || schema.get("$ref");
    let wrapped = || schema.get("allOf").and_then(|all| all.get(0)).and_then(|first| first.get("$ref"));
    plain().or_else(wrapped)?.as_str()?.strip_prefix("#/definitions/")
}
