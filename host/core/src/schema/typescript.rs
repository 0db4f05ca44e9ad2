//! Declarations as TypeScript, for the types of the npm package and of both pages.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::field::{Alias, Declaration, Field, Shape};

/// A request: optional fields may be left out or null.
fn request(declaration: &Declaration) -> String {
    let fields = declaration.wire_fields();
    let Some((name, alias)) = fields.iter().find_map(|field| match field.alias {
        Some(Alias::Synonym(alias)) => Some((field.name, alias)),
        _ => None,
    }) else {
        let members: Vec<_> = fields.iter().map(|field| member(field, field.name, !field.required)).collect();
        return interface(declaration, &members.concat());
    };
    // One name or the other; with the alias, some fields may be left out.
    let full = fields.iter().map(|field| member(field, field.name, !field.required)).collect::<String>()
        + &fields.iter().filter(|field| field.name == name).map(|field| member(field, alias, true)).collect::<String>();
    let short = fields.iter().map(|field| match field.name == name {
        true => format!("{}  {name}?: null;\n", member(field, alias, false)),
        false => member(field, field.name, !field.required || field.optional_with.is_some()),
    });
    let about = declaration.sentence();
    let [full, short] = [full, short.collect()].map(|members| members.replace('\n', "\n    ").replace("    \n", "\n"));
    let [full, short] = [full, short].map(|members| format!("  | {{\n    {}\n    }}", members.trim_end()));
    format!("/** {about} */\nexport type {} =\n{full}\n{short};\n", declaration.name)
}

/// Requests, answers and what they consist of, each as an interface that names the others. One that is both is what the
/// host writes.
pub fn interfaces(
    requests: impl IntoIterator<Item = &'static Declaration>,
    answers: impl IntoIterator<Item = &'static Declaration>,
) -> String {
    let mut named = BTreeMap::new();
    let (requests, answers) = (requests.into_iter().collect(), answers.into_iter().collect());
    for (mut waiting, write) in [(answers, answer as fn(&Declaration) -> String), (requests, request)] {
        while let Some(declaration) = Vec::pop(&mut waiting) {
            if let Entry::Vacant(place) = named.entry(declaration.name) {
                place.insert(write(declaration));
                waiting.extend(declaration.wire_fields().iter().filter_map(|field| object_in(&field.shape)));
            }
        }
    }
    named.into_values().collect::<Vec<_>>().join("\n")
}

/// An answer: optional fields may be left out, or are null.
fn answer(declaration: &Declaration) -> String {
    let members = declaration.wire_fields().into_iter().map(|field| {
        let (mark, null) = match (field.required, field.nullable) {
            (true, _) => ("", ""),
            (false, true) => ("", " | null"),
            (false, false) => ("?", ""),
        };
        format!("{}  {}{mark}: {}{null};\n", comment(field), field.name, type_of(&field.shape))
    });
    interface(declaration, &members.collect::<String>())
}

fn object_in(shape: &Shape) -> Option<&'static Declaration> {
    match *shape {
        Shape::Object(declaration) => Some(declaration),
        Shape::Array { items, .. } => object_in(items),
        Shape::Map(values) => object_in(values),
        _ => None,
    }
}

fn interface(declaration: &Declaration, members: &str) -> String {
    format!("/** {} */\nexport interface {} {{\n{members}}}\n", declaration.sentence(), declaration.name)
}

fn member(field: &Field, name: &str, is_optional: bool) -> String {
    let kind = type_of(&field.shape);
    let (mark, null) = if is_optional { ("?", " | null") } else { ("", "") };
    format!("{}  {name}{mark}: {kind}{null};\n", comment(field))
}

fn type_of(shape: &Shape) -> String {
    match *shape {
        Shape::Boolean => "boolean".to_owned(),
        Shape::Number { .. } | Shape::Integer { .. } | Shape::Money { .. } => "number".to_owned(),
        Shape::Text { .. } => "string".to_owned(),
        Shape::OneOf { texts, .. } => texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(" | "),
        Shape::Array { items, .. } => format!("Array<{}>", type_of(items)),
        Shape::Object(declaration) | Shape::Flat(declaration) => declaration.name.to_owned(),
        Shape::Map(values) => format!("Record<string, {}>", type_of(values)),
        Shape::Any | Shape::Hidden => "unknown".to_owned(),
    }
}

fn comment(field: &Field) -> String {
    let parts = [field.sentence(), bounds(&field.shape, field.unit)];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!("  /** {} */\n", parts.join(" ")) }
}

fn bounds(shape: &Shape, unit: &str) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
    match *shape {
        Shape::Number { at_least: Some(min), at_most: Some(max) } => format!("From {min} to {max}{unit}."),
        Shape::Number { at_least: Some(min), at_most: None } => format!("Finite, at least {min}{unit}."),
        Shape::Integer { at_least: Some(min), at_most: Some(max) } => format!("An integer from {min} to {max}{unit}."),
        Shape::Integer { at_least: Some(min), at_most: None } => {
            format!("An integer of at least {min}{unit}.")
        }
        Shape::Text { chars_max: Some(chars), .. } => format!("At most {chars} characters."),
        _ => String::new(),
    }
}
