//! Declarations as JSON Schema.

use serde_json::{Map, Value, json};

use crate::domain::model::ModelKind;
use crate::domain::money::Money;
use crate::outbox::types;
use crate::schema::{Alias, Declaration, Field, Shape, TextForm};

/// What no text may contain, within the brackets of a pattern: see `first_forbidden`.
const FORBIDDEN: &str = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069";

const WHITE_SPACE: &str = r"\t\n\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";

/// As `is_invisible`, without the characters beyond U+FFFF, which not every dialect of patterns can name.
const INVISIBLE: &str = concat!(
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u3164",
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb",
);

fn any_text() -> String {
    format!("^[^{FORBIDDEN}]*$")
}

/// Something can be seen.
fn not_blank() -> String {
    format!("^[^{FORBIDDEN}]*[^{FORBIDDEN}{WHITE_SPACE}{INVISIBLE}][^{FORBIDDEN}]*$")
}

/// Everything but white space can be seen, and there is a letter or digit.
fn account_number() -> String {
    format!(r"^[^{FORBIDDEN}{INVISIBLE}]*[^\W_{FORBIDDEN}{INVISIBLE}][^{FORBIDDEN}{INVISIBLE}]*$")
}

/// At most `chars_max` characters between white space, all of them visible or plain spaces.
fn line(chars_max: usize) -> String {
    let inner = WHITE_SPACE.replace(' ', "");
    let (edge, within) = (
        format!("[^{FORBIDDEN}{INVISIBLE}{WHITE_SPACE}]"),
        format!("[^{FORBIDDEN}{INVISIBLE}{inner}]{{0,{}}}", chars_max.saturating_sub(2)),
    );
    format!("^[{WHITE_SPACE}]*({edge}({within}{edge})?)?[{WHITE_SPACE}]*$")
}

/// The schemas of a document, by name.
#[derive(Default)]
pub(super) struct Schemas(pub(super) Map<String, Value>);

/// In a request, null counts as absent; an answer says which fields can be null.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    Answer,
}

impl Schemas {
    /// A reference to a record, which is added if it is new.
    pub(super) fn reference(&mut self, declaration: &Declaration, side: Side) -> Value {
        if !self.0.contains_key(declaration.name) {
            // Reserves the name, so that a record may refer to itself.
            self.0.insert(declaration.name.to_owned(), Value::Null);
            let schema = self.record(declaration, side);
            self.0.insert(declaration.name.to_owned(), schema);
        }
        json!({"$ref": format!("#/components/schemas/{}", declaration.name)})
    }

    pub(super) fn record(&mut self, declaration: &Declaration, side: Side) -> Value {
        let fields = declaration.wire_fields();
        let synonym = fields.iter().find_map(|field| match field.alias {
            Some(Alias::Synonym(alias)) => Some((field.name, alias)),
            _ => None,
        });
        let Some((name, alias)) = synonym.filter(|_| side == Side::Request) else {
            return self.object(declaration, side, &|field| field.required.then_some(field.name));
        };
        // Either name; with the alias, some fields may be left out.
        let full = self.object(declaration, side, &|field| field.required.then_some(field.name));
        let short = self.object(declaration, side, &|field| {
            let is_optional = !field.required || field.optional_with.is_some();
            (!is_optional).then_some(if field.name == name { alias } else { field.name })
        });
        json!({"description": declaration.sentence(), "anyOf": [full, short]})
    }

    fn object(
        &mut self,
        declaration: &Declaration,
        side: Side,
        required: &dyn Fn(&Field) -> Option<&'static str>,
    ) -> Value {
        let mut properties = Map::new();
        let mut names = Vec::new();
        for field in declaration.wire_fields() {
            let name = if side == Side::Request { required(field) } else { name_if_always_there(field) };
            names.extend(name);
            let shown = name.filter(|name| field.alias.is_some_and(|alias| alias.name() == *name));
            let described = self.field(&Field { required: name.is_some(), ..*field }, side);
            properties.insert(shown.unwrap_or(field.name).to_owned(), described);
        }
        let mut schema = json!({"type": "object", "description": declaration.sentence(), "properties": properties});
        if !names.is_empty() {
            schema["required"] = names.into();
        }
        schema
    }

    pub(super) fn field(&mut self, field: &Field, side: Side) -> Value {
        let mut schema = self.shape(&field.shape, side);
        let is_null = if side == Side::Request { !field.required } else { field.nullable };
        if is_null {
            schema = or_null(schema);
        }
        let about = match (field.sentence(), field.unit) {
            (about, "") => about,
            (about, unit) if about.is_empty() => format!("In {unit}."),
            (about, unit) => format!("{about} In {unit}."),
        };
        if !about.is_empty() {
            schema["description"] = about.into();
        }
        if let Ok(example) = serde_json::from_str::<Value>(field.example) {
            schema["examples"] = json!([example]);
        }
        schema
    }

    fn shape(&mut self, shape: &Shape, side: Side) -> Value {
        match *shape {
            Shape::Boolean => json!({"type": "boolean"}),
            Shape::Number { at_least, at_most } => {
                bounded("number", at_least.map(Value::from), at_most.map(Value::from))
            }
            Shape::Integer { at_least, at_most } => {
                bounded("integer", at_least.map(Value::from), at_most.map(Value::from))
            }
            Shape::Money { positive: false } => json!({"type": "number"}),
            Shape::Money { positive: true } => {
                json!({"type": "number", "minimum": 0.01, "maximum": Money::MAX.to_f64(), "multipleOf": 0.01})
            }
            Shape::Text { chars_max, form } => text(chars_max.filter(|_| side == Side::Request), form, side),
            Shape::OneOf { texts, .. } => json!({"type": "string", "enum": texts}),
            Shape::Array { items, length_min, length_max } => {
                let mut schema = json!({"type": "array", "items": self.shape(items, side)});
                if length_min > 0 {
                    schema["minItems"] = length_min.into();
                }
                if let Some(length_max) = length_max {
                    schema["maxItems"] = length_max.into();
                }
                schema
            }
            Shape::Object(declaration) | Shape::Flat(declaration) => self.reference(declaration, side),
            Shape::Map(values) => json!({"type": "object", "additionalProperties": self.shape(values, side)}),
            Shape::Any | Shape::Hidden => json!({}),
        }
    }
}

fn name_if_always_there(field: &Field) -> Option<&'static str> {
    (field.required || field.nullable).then_some(field.name)
}

fn bounded(kind: &str, at_least: Option<Value>, at_most: Option<Value>) -> Value {
    let mut schema = json!({"type": kind});
    for (name, bound) in [("minimum", at_least), ("maximum", at_most)] {
        if let Some(bound) = bound {
            schema[name] = bound;
        }
    }
    schema
}

fn text(chars_max: Option<usize>, form: TextForm, side: Side) -> Value {
    let mut schema = match form {
        TextForm::Uuid => return json!({"type": "string", "format": "uuid"}),
        TextForm::Instant => return json!({"type": "string", "format": "date-time"}),
        TextForm::Date => return json!({"type": "string", "format": "date"}),
        TextForm::Constant(only) => return json!({"type": "string", "enum": [only]}),
        _ if side == Side::Answer => return json!({"type": "string"}),
        TextForm::NotBlank => json!({"type": "string", "minLength": 1, "pattern": not_blank()}),
        TextForm::AccountNumber => json!({"type": "string", "minLength": 1, "pattern": account_number()}),
        TextForm::Visible => json!({"type": "string", "minLength": 1, "pattern": "^[!-~]+$"}),
        TextForm::Any => json!({"type": "string", "pattern": any_text()}),
        // The bound is in the pattern: what is around the line does not count.
        TextForm::Line => return json!({"type": "string", "pattern": line(chars_max.unwrap_or(usize::MAX))}),
    };
    if let Some(chars_max) = chars_max {
        schema["maxLength"] = chars_max.into();
    }
    schema
}

fn or_null(mut schema: Value) -> Value {
    match schema.get("type").cloned() {
        Some(kind) => {
            schema["type"] = json!([kind, "null"]);
            if let Some(Value::Array(texts)) = schema.get_mut("enum") {
                texts.push(Value::Null);
            }
            schema
        }
        None if schema == json!({}) => schema,
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

/// The schema of a path parameter.
pub(super) fn path(name: &str) -> Value {
    match name {
        "id" => json!({"type": "string", "format": "uuid"}),
        "kind" => json!({"type": "string", "enum": ModelKind::TEXTS}),
        "type" => json!({"type": "string", "enum": types().map(|(kind, _)| kind).collect::<Vec<_>>()}),
        "sha256" => json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        _ => json!({"type": "string"}),
    }
}

/// An object with the examples of a record's fields.
pub(super) fn example(declaration: &Declaration) -> Value {
    let mut example = Map::new();
    for field in declaration.wire_fields() {
        let value = match field.shape {
            Shape::Object(inner) => self::example(inner),
            Shape::Array { items: Shape::Object(inner), .. } if field.example.is_empty() => {
                json!([self::example(inner)])
            }
            _ => match serde_json::from_str(field.example) {
                Ok(value) => value,
                Err(_) => continue,
            },
        };
        example.insert(field.name.to_owned(), value);
    }
    example.into()
}
