//! Differences between a recorded response and a replayed one.

use serde_json::Value;

/// Where two values differ, by JSON pointer. Numbers are equal when their bits are.
pub(super) fn differences(recorded: &Value, replayed: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    compare("", recorded, replayed, &mut differences);
    differences
}

fn compare(pointer: &str, recorded: &Value, replayed: &Value, differences: &mut Vec<String>) {
    match (recorded, replayed) {
        (Value::Object(was), Value::Object(is)) => {
            for name in was.keys().chain(is.keys().filter(|name| !was.contains_key(*name))) {
                let part = |of: &serde_json::Map<String, Value>| of.get(name).cloned().unwrap_or_default();
                compare(&format!("{pointer}/{name}"), &part(was), &part(is), differences);
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (at, (was, is)) in was.iter().zip(is).enumerate() {
                compare(&format!("{pointer}/{at}"), was, is, differences);
            }
        }
        (Value::Number(was), Value::Number(is)) => {
            let bits = |number: &serde_json::Number| number.as_f64().map(f64::to_bits);
            if bits(was) != bits(is) {
                differences.push(format!("{pointer} was {was} and is {is}"));
            }
        }
        (was, is) if was == is => {}
        (was, is) => differences.push(format!("{pointer} was {was} and is {is}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_differ_by_their_bits_and_not_by_their_spelling() {
        let found = |recorded: &str, replayed: &Value| differences(&serde_json::from_str(recorded).unwrap(), replayed);
        assert!(found(r#"{"score": 0.1, "factors": ["A"]}"#, &json!({"factors": ["A"], "score": 0.1})).is_empty());
        assert!(found(r#"{"score": 1.0}"#, &json!({"score": 1})).is_empty(), "the same number");
        assert_eq!(found("0.1", &json!(0.1_f64.next_up())), [" was 0.1 and is 0.10000000000000002"]);
        assert_eq!(found("-0.0", &json!(0.0)), [" was -0.0 and is 0.0"]);
        assert_eq!(found(r#"{"a": 1}"#, &json!({"b": 1})), ["/a was 1 and is null", "/b was null and is 1"]);
        assert_eq!(found("[1, 2]", &json!([1])), [" was [1,2] and is [1]"]);
    }
}
