//! Declarations as data for the npm package, whose generic reader checks requests and writes answers.

use serde_json::{Map, Value, json};

use super::field::{Alias, Declaration, Field, Shape, TextForm};
use super::spelling::kebab_case;

/// A module about one kind: its requests, its answers and the thresholds between verdicts.
pub(crate) fn module(
    kind: &str,
    request: &Declaration,
    answer: &Declaration,
    thresholds: &[(&'static str, f64)],
) -> String {
    let data = json!({
        "kind": kind,
        "request": request.fields.iter().flat_map(request_fields).collect::<Vec<_>>(),
        "answer": answer.fields.iter().map(answer_field).collect::<Vec<_>>(),
        "thresholds": thresholds.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<Map<_, _>>(),
    });
    let data = serde_json::to_string_pretty(&data).unwrap_or_default();
    format!("// Requests and answers of this kind; generated from the host's declarations.\nexport default {data};\n")
}

/// Fields beside the facts are echoed in the answer; a component does not see them.
fn request_fields(field: &Field) -> Vec<Value> {
    match field.shape {
        Shape::Flat(facts) => facts.fields.iter().map(|fact| request_field(fact, false)).collect(),
        _ => vec![request_field(field, true)],
    }
}

fn request_field(field: &Field, is_echoed: bool) -> Value {
    let mut data = bounds(&field.shape);
    data.insert("name".into(), field.name.into());
    for (name, holds) in [("echoed", is_echoed), ("optional", !field.required)] {
        if holds {
            data.insert(name.into(), true.into());
        }
    }
    if let Some(Alias::Synonym(alias)) = field.alias {
        data.insert("synonym".into(), alias.into());
    }
    if let Some((alias, name)) = field.optional_with {
        data.insert("optional_with".into(), json!([alias, name]));
    }
    data.into()
}

fn answer_field(field: &Field) -> Value {
    let mut data = match field.shape {
        Shape::Array { items, .. } => bounds(items),
        _ => bounds(&field.shape),
    };
    data.retain(|name, _| ["at_least", "at_most", "texts"].contains(&name.as_str()));
    data.insert("name".into(), field.name.into());
    if let Some(component) = field.component {
        data.insert("component".into(), component.into());
    }
    if let Shape::Object(inner) = field.shape {
        data.insert("fields".into(), inner.fields.iter().map(answer_field).collect());
    }
    data.into()
}

fn bounds(shape: &Shape) -> Map<String, Value> {
    let data = match *shape {
        Shape::Boolean => json!({"type": "boolean"}),
        Shape::Number { at_least, at_most } => json!({"type": "number", "at_least": at_least, "at_most": at_most}),
        Shape::Integer { at_least, at_most } => json!({"type": "integer", "at_least": at_least, "at_most": at_most}),
        Shape::Text { chars_max, form } => {
            json!({"type": "text", "chars_max": chars_max, "blank": (form == TextForm::Any).then_some(true)})
        }
        Shape::OneOf { texts, names } => {
            let cases: Vec<_> = names.iter().map(|name| kebab_case(name)).collect();
            json!({"type": "one_of", "texts": texts, "cases": (cases != texts).then_some(cases)})
        }
        Shape::Hidden => json!({"type": "hidden"}),
        _ => json!({}),
    };
    let Value::Object(mut data) = data else { return Map::new() };
    data.retain(|_, value| !value.is_null());
    data
}
