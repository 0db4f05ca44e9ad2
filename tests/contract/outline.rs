//! A document's operations, responses and schemas, one to a line, so that a change of the contract shows as a few lines.
//! Descriptions and examples are left out.

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Keywords that a schema's line writes in its own form or leaves out. Any other keyword is written as it is.
const KNOWN: [&str; 12] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "description",
    "enum",
    "examples",
    "items",
    "pattern",
    "properties",
    "required",
    "type",
];

pub(crate) fn outline(document: &Value) -> String {
    let mut lines = Vec::new();
    for (path, methods) in members(&document["paths"]) {
        for (method, operation) in members(methods) {
            lines.push(format!("{} {path}{}", method.to_uppercase(), request(operation)));
            let answers = members(&operation["responses"]);
            lines.extend(answers.map(|(status, answer)| format!("  {status}{}", response(resolve(document, answer)))));
        }
    }
    let schemas = members(&document["components"]["schemas"]);
    lines.extend(schemas.map(|(name, schema)| format!("{name}: {}", shape(schema))));
    let mut patterns = BTreeSet::new();
    walk(document, "", &mut |path, value| {
        if let (true, Some(pattern)) = (path.ends_with("/pattern"), value.as_str()) {
            patterns.insert(format!("{} {pattern}", label(pattern)));
        }
    });
    lines.extend(patterns);
    lines.join("\n") + "\n"
}

/// Every place in a document, with the value that it has.
pub(crate) fn walk<'a>(value: &'a Value, path: &str, visit: &mut impl FnMut(&str, &'a Value)) {
    visit(path, value);
    match value {
        Value::Object(members) => members.iter().for_each(|(name, it)| walk(it, &format!("{path}/{name}"), visit)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, it)| walk(it, &format!("{path}/{at}"), visit)),
        _ => {}
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    value["$ref"].as_str().and_then(|target| document.pointer(target.trim_start_matches('#'))).unwrap_or(value)
}

fn joined(values: &Value, by: &str, one: impl Fn(&Value) -> String) -> Option<String> {
    Some(values.as_array()?.iter().map(one).collect::<Vec<_>>().join(by))
}

/// `?` follows the name of what may be left out.
fn optional(is_required: bool) -> &'static str {
    if is_required { "" } else { "?" }
}

fn request(operation: &Value) -> String {
    let scopes = |way: &Value| members(way).map(|(name, scopes)| format!("{name} {scopes}")).collect::<String>();
    let mut parts = vec![format!(" {}", operation["operationId"].as_str().unwrap())];
    parts.extend(joined(&operation["security"], " | ", scopes).filter(|ways| !ways.is_empty()));
    parts.extend(joined(&operation["parameters"], "; ", |it| {
        let (place, name) = (it["in"].as_str().unwrap(), it["name"].as_str().unwrap());
        format!("{place} {name}{}: {}", optional(it["required"] == true), shape(&it["schema"]))
    }));
    let body = &operation["requestBody"];
    parts.extend(content(body).map(|it| format!("body{}: {it}", optional(body["required"] == true))));
    parts.join("; ")
}

fn response(answer: &Value) -> String {
    let headers = members(&answer["headers"]).map(|(name, _)| format!("; {name}")).collect::<String>();
    content(answer).map(|it| format!(" {it}")).unwrap_or_default() + &headers
}

fn content(about: &Value) -> Option<String> {
    about.get("content")?;
    let types = members(&about["content"]).map(|(name, it)| format!("{name} {}", shape(&it["schema"])));
    Some(types.collect::<Vec<_>>().join(" | "))
}

fn shape(schema: &Value) -> String {
    let mut parts: Vec<_> =
        schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()).map(str::to_owned).into_iter().collect();
    parts.extend(joined(&schema["allOf"], " & ", shape));
    parts.extend(joined(&schema["anyOf"], " | ", shape).map(|any| format!("({any})")));
    if schema.get("properties").is_none() {
        let name = |it: &Value| it.as_str().unwrap().to_owned();
        parts.extend(schema["type"].as_str().map(str::to_owned).or_else(|| joined(&schema["type"], "|", name)));
    }
    parts.extend(joined(&schema["enum"], "|", Value::to_string));
    parts.extend(schema.get("items").map(|items| format!("[{}]", shape(items))));
    // A boolean or a schema.
    let more = schema.get("additionalProperties");
    parts.extend(
        more.map(|it| if it.is_boolean() { it.to_string() } else { shape(it) }).map(|it| format!("{{*: {it}}}")),
    );
    if let Some(fields) = schema["properties"].as_object() {
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let field = |(name, of): (&String, &Value)| {
            format!("{name}{}: {}", optional(required.iter().any(|it| it == name)), shape(of))
        };
        parts.push(format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", ")));
    }
    parts.extend(schema["pattern"].as_str().map(label));
    let others = members(schema).filter(|(name, _)| !KNOWN.contains(&name.as_str()));
    parts.extend(others.map(|(name, value)| format!("{name}={value}")));
    if parts.is_empty() { "any".to_owned() } else { parts.join(" ") }
}

/// Patterns are long and shared: each is written once, under the start of its digest.
fn label(pattern: &str) -> String {
    format!("pattern-{}", hex::encode(&Sha256::digest(pattern)[..4]))
}
