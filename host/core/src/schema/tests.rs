//! Declarations read, write and describe the same fields.

use serde_json::json;

use super::{Columns, FieldError, Fields, Flat, ObjectError, answer, record, request};

record! {
    /// A thing
    /// with parts.
    struct Part {
        /// How many.
        count: u32 { at_least: 1.0, unit: "pieces", example: "3" },
        label: Option<String> { chars_max: 4 },
    }
}

request! {
    struct Whole in camelCase {
        is_new_device: bool,
        font_scale: f64 { at_least: 0.5, at_most: 2.0, spelling: "font_scale" },
        inner_part: Option<Part>,
        texts: Option<Vec<String>> { length_max: 2 },
        parts: Flat<Part>,
        note: &'static str = "not sent",
    }
}

answer! {
    struct Reply in camelCase {
        is_done: bool,
        left_out: Option<u32>,
        shown_as_null: Option<u32> { nullable: true },
        part: Part,
        secret: u32 = _,
    }
}

fn faults(text: &str) -> Vec<String> {
    let mut fields = Fields::from_json(text, 400).unwrap();
    let _: Whole = fields.read();
    let shown = |FieldError { field, code, detail }| format!("{field} {code}: {detail}");
    fields.into_faults().into_iter().map(shown).collect()
}

#[test]
fn a_request_is_read_by_its_declaration() {
    let text = r#"{"isNewDevice": true, "fontScale": 1.5, "innerPart": {"count": 5e9}, "count": 3.0, "label": null,
                   "texts": ["a"], "unknown": {}, "co\u0075nt2": 1}"#;
    let mut fields = Fields::from_json(text, 400).unwrap();
    let whole: Whole = fields.read();
    assert!(fields.finish().is_ok());
    let inner = Part { count: u32::MAX, label: None };
    assert_eq!(whole.inner_part, Some(inner), "counts saturate");
    assert_eq!(whole.parts, Flat(Part { count: 3, label: None }), "null counts as absent, and 3.0 as an integer");
    assert_eq!((whole.is_new_device, whole.font_scale, whole.note), (true, 1.5, "not sent"));
    assert_eq!(whole.texts, Some(vec!["a".to_owned()]));
}

#[test]
fn all_faults_are_reported_at_once_in_the_order_of_the_declaration() {
    assert_eq!(
        faults(r#"{"count": 0, "label": "12345", "fontScale": 3, "innerPart": {"label": 1}, "texts": [1]}"#),
        [
            "isNewDevice required: is required",
            "fontScale out-of-range: must be from 0.5 to 2",
            "innerPart.count required: is required",
            "innerPart.label wrong-type: must be a string",
            "texts wrong-type: must be a string",
            "count out-of-range: must be at least 1",
            "label too-long: must have at most 4 characters",
        ]
    );
    assert_eq!(faults(r#"{"isNewDevice": true, "fontScale": 1, "innerPart": 1, "count": 1}"#).len(), 1);
}

#[test]
fn another_spelling_is_taken_unless_both_are_sent() {
    assert!(faults(r#"{"isNewDevice": true, "font_scale": 1, "count": 1}"#).is_empty());
    assert_eq!(
        faults(r#"{"isNewDevice": true, "font_scale": 1, "fontScale": 1, "count": 1}"#),
        ["font_scale conflict: is the same field as fontScale: send one of them"]
    );
}

request! {
    struct Parts {
        parts: Vec<Part> { length_min: 1, length_max: 150 },
    }
}

fn faults_of_parts(text: &str) -> Vec<String> {
    let mut fields = Fields::from_json(format!(r#"{{"parts": {text}}}"#), 400).unwrap();
    let _: Parts = fields.read();
    fields.into_faults().into_iter().map(|fault| format!("{} {}", fault.field, fault.code)).collect()
}

#[test]
fn faults_in_a_list_of_objects_name_the_item() {
    assert_eq!(faults_of_parts(r#"[{"count": 1}, {"count": 2, "label": "l"}]"#), [""; 0]);
    assert_eq!(
        faults_of_parts(r#"[{}, {"count": 1}, 7, {"count": 0, "label": 1}, {"count": 1, "count": 1}]"#),
        [
            "parts[0].count required",
            "parts[2] wrong-type",
            "parts[3].count out-of-range",
            "parts[3].label wrong-type",
            "parts[4] wrong-type",
        ]
    );
    for (text, code) in [("[]", "too-short"), ("{}", "wrong-type"), ("1", "wrong-type"), ("null", "required")] {
        assert_eq!(faults_of_parts(text), [format!("parts {code}")]);
    }
    let many = |count| format!("[{}]", vec!["{}"; count].join(","));
    assert_eq!(faults_of_parts(&many(151)), ["parts too-long"]);
    assert_eq!(faults_of_parts(&many(150)).len(), 100, "a mistake in every item is not repeated without end");
}

#[test]
fn an_object_names_each_field_once() {
    for text in [r#"{"a": 1, "a": 1}"#, r#"{"a": 1, "\u0061": 1}"#, "{", r#"{"a": 1} 2"#, "[1", "\"\u{1}\""] {
        assert!(matches!(Fields::from_json(text, 400), Err(ObjectError::Malformed(_))), "{text}");
    }
    let many: String = (0..40).map(|at| format!(r#""f{at}": 1, "#)).collect();
    assert!(Fields::from_json(format!(r#"{{{many} "last": 1}}"#), 400).is_ok());
    assert!(Fields::from_json(format!(r#"{{{many} "f39": 1}}"#), 400).is_err());
    for text in ["[]", "1", "null", "\"a\""] {
        assert!(matches!(Fields::from_json(text, 400), Err(ObjectError::NotAnObject(_))), "{text}");
    }
}

#[test]
fn a_row_of_a_table_is_read_like_a_query() {
    let read = |names: &[&str], values: &[Option<&str>]| {
        let mut fields = Fields::from_columns(&Columns::new(names), values.iter().copied());
        (fields.read::<Part>(), fields.into_faults().into_iter().map(|fault| fault.code).collect::<Vec<_>>())
    };
    let part = |count, label: Option<&str>| Part { count, label: label.map(str::to_owned) };
    assert_eq!(read(&["label", "other", "count"], &[Some("a"), Some("b"), Some("3")]), (part(3, Some("a")), vec![]));
    assert_eq!(read(&["count", "label"], &[Some("3"), None]), (part(3, None), vec![]));
    assert_eq!(read(&["count", "label"], &[None, Some("a")]).1, ["required"]);
    // A name that the header has twice is refused only where both have a value.
    assert_eq!(read(&["count", "count"], &[Some("3"), Some("4")]).1, ["conflict"]);
    assert_eq!(read(&["count", "count"], &[None, Some("4")]), (part(4, None), vec![]));
}

#[test]
fn an_answer_is_written_by_its_declaration() {
    let part = Part { count: 3, label: Some("l".to_owned()) };
    let reply = Reply { is_done: true, left_out: None, shown_as_null: None, part, secret: 1 };
    let json = json!({"isDone": true, "shownAsNull": null, "part": {"count": 3, "label": "l"}});
    assert_eq!(serde_json::to_value(&reply).unwrap(), json);
    assert_eq!(reply.secret, 1);
}

#[test]
fn a_declaration_says_what_the_comment_says() {
    let declaration = <Part as super::Record>::DECLARATION;
    assert_eq!((declaration.name, declaration.sentence()), ("Part", "A thing with parts.".to_owned()));
    let names: Vec<_> = <Whole as super::Record>::DECLARATION.wire_fields().iter().map(|field| field.name).collect();
    assert_eq!(names, ["isNewDevice", "fontScale", "innerPart", "texts", "count", "label"]);
}
