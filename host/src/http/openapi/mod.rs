//! The OpenAPI 3.1 document of a listener, from its table of endpoints, the declarations of bodies and the table of
//! errors.

mod schemas;

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use crate::http::error::{self, Kind, Of};
use crate::http::operation::{Api, Auth, Body, Callers, Content, Header, NDJSON, Operation};
use crate::http::problem::ProblemJson;
use crate::outbox::schema_name;
use crate::schema::{Declaration, Record as _, Shape};
use schemas::{Schemas, Side, example};

/// Groups of operations, by the first prefix that matches the path. The prefixes of a group are next to each other.
const TAGS: [(&str, &str); 13] = [
    ("/api/ledger/", "Ledger"),
    ("/api/analytics/", "Analytics"),
    ("/api/profile/", "Profile"),
    ("/ai/", "Scores"),
    ("/admin/accounts/", "Accounts"),
    ("/admin/models", "Models"),
    ("/admin/replay", "Models"),
    ("/admin/what-if", "Models"),
    ("/admin/events", "Events"),
    ("/admin/sinks", "Events"),
    ("/admin/", "Operations"),
    ("/rails/", "Payment rail"),
    ("/", "Pages and health"),
];

fn tag(path: &str) -> &'static str {
    TAGS.iter().find(|(start, _)| path.starts_with(start)).map_or("", |(_, tag)| tag)
}

const REQUEST_ID: &str = "X-Request-Id";

/// The document of a listener.
pub fn document(api: &Api) -> Value {
    let operations = (api.operations)();
    let mut shared = Shared::default();
    let mut paths: Map<String, Value> = Map::new();
    for operation in &operations {
        let described = describe(operation, api.callers, &mut shared);
        // A wildcard is a parameter like any other.
        let path = operation.path.replace("{*", "{");
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[operation.method] = described;
    }
    let has = |tag: &str| operations.iter().any(|operation| self::tag(operation.path) == tag);
    let tags = TAGS.iter().map(|(_, tag)| *tag).filter(|tag| has(tag)).map(|tag| json!({"name": tag}));
    let mut tags: Vec<_> = tags.collect();
    tags.dedup();
    json!({
        "openapi": "3.1.0",
        "info": {"title": api.title, "description": api.about, "version": env!("CARGO_PKG_VERSION")},
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": shared.schemas.0,
            "responses": shared.responses,
            "headers": {REQUEST_ID: {"description": "Identifies the request in logs.", "schema": {"type": "string"}}},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    })
}

fn describe(operation: &Operation, callers: Callers, shared: &mut Shared) -> Value {
    let mut described = json!({
        "operationId": operation.id,
        "tags": [tag(operation.path)],
        "summary": operation.summary,
        "responses": responses(operation, callers, shared),
    });
    let parameters = parameters(operation, &mut shared.schemas);
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    match operation.body {
        Body::None => {}
        Body::Json(declaration) | Body::Ndjson(declaration) => {
            let schema = shared.schemas.reference(declaration, Side::Request);
            let is_lines = matches!(operation.body, Body::Ndjson(_));
            let media_type = if is_lines { NDJSON } else { "application/json" };
            let content = json!({media_type: {"schema": schema, "example": example(declaration)}});
            described["requestBody"] = json!({"required": true, "content": content});
            if is_lines {
                described["requestBody"]["description"] = "One on each line.".into();
            }
        }
        Body::Bytes(media_type) => {
            let mut content = Map::new();
            content.insert(media_type.to_owned(), json!({}));
            described["requestBody"] = json!({"required": true, "content": content});
        }
    }
    described["security"] = match operation.auth {
        Auth::Public => json!([]),
        Auth::User => json!([{"bearer": []}]),
        Auth::Operator(scopes) => scopes.iter().map(|scope| json!({"bearer": [scope]})).collect(),
    };
    described
}

fn parameters(operation: &Operation, schemas: &mut Schemas) -> Vec<Value> {
    let mut parameters = Vec::new();
    for part in operation.path.split('/') {
        if let Some(name) = part.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            let name = name.trim_start_matches('*');
            parameters.push(json!({"name": name, "in": "path", "required": true, "schema": schemas::path(name)}));
        }
    }
    for field in operation.query.iter().flat_map(|declaration| declaration.wire_fields()) {
        let mut schema = schemas.field(&crate::schema::Field { required: true, ..*field }, Side::Request);
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({"name": field.name, "in": "query", "required": field.required, "schema": schema});
        if let Some(about) = about {
            parameter["description"] = about;
        }
        parameters.push(parameter);
    }
    parameters.extend(operation.request_headers.iter().map(|header| {
        json!({
            "name": header.name,
            "in": "header",
            "required": header.required,
            "description": header.about,
            "schema": {"type": "string"},
        })
    }));
    parameters
}

fn responses(operation: &Operation, callers: Callers, shared: &mut Shared) -> Value {
    let mut responses = Map::new();
    for (status, content) in operation.answers {
        let status = StatusCode::from_u16(*status).unwrap_or_default();
        let response = responses.entry(status.as_str()).or_insert_with(
            || json!({"description": status.canonical_reason(), "headers": headers(operation.answer_headers)}),
        );
        // One status may have several media types.
        if let Some(Value::Object(content)) = content_of(*content, &mut shared.schemas) {
            content.into_iter().for_each(|(media_type, it)| response["content"][media_type] = it);
        }
    }
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in codes(operation, callers) {
        by_status.entry(status_of(code, operation, callers)).or_default().push(code);
    }
    for (status, codes) in by_status {
        match responses.get_mut(&status.to_string()) {
            // The same status can carry a report instead of a problem.
            Some(report) => report["content"]["application/problem+json"] = shared.problem(&codes),
            None => {
                responses.insert(status.to_string(), shared.failure(status, &codes));
            }
        }
    }
    responses.into()
}

fn content_of(content: Content, schemas: &mut Schemas) -> Option<Value> {
    let json = |schema: Value, example: Value| json!({"application/json": {"schema": schema, "example": example}});
    let list = |schemas: &mut Schemas, declaration: &Declaration| json!({"type": "array", "items": schemas.reference(declaration, Side::Answer)});
    Some(match content {
        Content::Empty => return None,
        Content::One(declaration) => json(schemas.reference(declaration, Side::Answer), example(declaration)),
        Content::List(declaration) => json(list(schemas, declaration), json!([example(declaration)])),
        Content::Events(declaration) => {
            let schema = json!({
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": list(schemas, declaration),
            });
            json!({"text/event-stream": {"schema": schema}})
        }
        Content::OneOrEvents(one, event) => {
            let mut content = content_of(Content::One(one), schemas)?;
            content["text/event-stream"] = content_of(Content::Events(event), schemas)?["text/event-stream"].take();
            content
        }
        Content::Bytes(media_type) => {
            let mut content = Map::new();
            content.insert(media_type.to_owned(), json!({}));
            content.into()
        }
    })
}

fn headers(headers: &[Header]) -> Value {
    let described = headers.iter().map(|it| {
        let header = json!({"description": it.about, "schema": {"type": "string"}});
        (it.name.to_owned(), header)
    });
    let id = (REQUEST_ID.to_owned(), json!({"$ref": format!("#/components/headers/{REQUEST_ID}")}));
    described.chain([id]).collect::<Map<_, _>>().into()
}

/// The JSON Schema of what an event of this type carries.
pub fn data_schema(kind: &str, declaration: &Declaration) -> Value {
    let mut schema = Schemas::default().record(declaration, Side::Answer);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["$id"] = schema_name(kind).into();
    schema["title"] = kind.into();
    schema
}

/// Definitions that operations refer to.
#[derive(Default)]
struct Shared {
    schemas: Schemas,
    responses: Map<String, Value>,
}

impl Shared {
    /// A reference to an error response with one of these codes.
    fn failure(&mut self, status: u16, codes: &[&str]) -> Value {
        let name = format!("{status}-{}", codes.join("."));
        if !self.responses.contains_key(&name) {
            let about: Vec<_> = codes.iter().map(|code| format!("`{code}`: {}.", title_of(code))).collect();
            let mut extra: Vec<_> = codes.iter().filter_map(|code| header_of(code)).collect();
            extra.dedup_by_key(|header| header.name);
            let response = json!({
                "description": about.join(" "),
                "headers": headers(&extra),
                "content": {"application/problem+json": self.problem(codes)},
            });
            self.responses.insert(name.clone(), response);
        }
        json!({"$ref": format!("#/components/responses/{name}")})
    }

    fn problem(&mut self, codes: &[&str]) -> Value {
        let problem = self.schemas.reference(&ProblemJson::DECLARATION, Side::Answer);
        json!({"schema": {"allOf": [problem, {"properties": {"code": {"enum": codes}}}]}})
    }
}

/// Every code that an operation can fail with.
fn codes(operation: &Operation, callers: Callers) -> Vec<&'static str> {
    let mut codes = operation.errors.to_vec();
    for kind in error::ALL.iter().filter(|kind| is_of(kind.of, operation, callers)) {
        codes.extend(kind.codes());
    }
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Whether an operation is one of those.
fn is_of(of: Of, operation: &Operation, callers: Callers) -> bool {
    let Operation { body, query, .. } = operation;
    match of {
        Of::Any => true,
        // Operators are not limited.
        Of::Public => callers == Callers::Public,
        Of::Internal => callers == Callers::Internal,
        Of::Token => operation.auth != Auth::Public,
        Of::Path => operation.path.contains('{'),
        Of::Body => !matches!(body, Body::None),
        Of::Json => matches!(body, Body::Json(_)),
        Of::Fields => !matches!(body, Body::None) || !query.is_empty(),
        Of::Amount => {
            query.iter().any(|it| has_amount(it)) || matches!(body, Body::Json(declaration) if has_amount(declaration))
        }
        Of::Transfer => operation.is_transfer,
        Of::Named => false,
    }
}

fn has_amount(declaration: &Declaration) -> bool {
    declaration.wire_fields().iter().any(|field| match field.shape {
        Shape::Money { positive } => positive,
        Shape::Array { items: Shape::Object(inner), .. } => has_amount(inner),
        _ => false,
    })
}

fn kinds(code: &str) -> impl Iterator<Item = &'static Kind> {
    error::ALL.iter().filter(move |kind| kind.code == code)
}

/// Invalid fields of a body are a 422 on the assistance listener; violations of rules are a 400.
fn status_of(code: &str, operation: &Operation, callers: Callers) -> u16 {
    let statuses: Vec<_> = kinds(code).map(|kind| kind.status.as_u16()).collect();
    let is_last = callers == Callers::Internal && matches!(operation.body, Body::Json(_) | Body::Ndjson(_));
    let status = if is_last { statuses.last() } else { statuses.first() };
    status.copied().unwrap_or(400)
}

fn title_of(code: &str) -> &'static str {
    kinds(code).next().map_or("The transfer was refused", |kind| kind.title)
}

fn header_of(code: &str) -> Option<Header> {
    let (name, _) = kinds(code).find_map(|kind| kind.header.clone())?;
    Some(match name.as_str() {
        "retry-after" => Header::new("Retry-After", "Seconds to wait."),
        "accept-encoding" => Header::new("Accept-Encoding", "`identity`, if the body was compressed."),
        _ => Header::new("WWW-Authenticate", "How to authenticate."),
    })
}

/// Every code of every operation of a listener, for the test that none is missing.
pub fn documented_codes(api: &Api) -> Vec<&'static str> {
    (api.operations)().iter().flat_map(|it| codes(it, api.callers)).collect()
}

/// Every code.
pub fn all_codes() -> impl Iterator<Item = &'static str> {
    error::ALL.iter().flat_map(Kind::codes)
}
