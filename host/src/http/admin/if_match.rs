//! The `If-Match` header of a change, as in RFC 9110, section 13.1.1.

use axum::http::{HeaderMap, header};

use crate::http::error::Error;

/// What a change requires of the present ETag.
#[derive(Debug)]
pub(crate) struct IfMatch(Vec<String>);

impl IfMatch {
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Error> {
        let lines: Vec<_> = headers.get_all(header::IF_MATCH).iter().collect();
        if lines.is_empty() {
            return Err(Error::IfMatchMissing);
        }
        // Text that is not ASCII cannot be an ETag of this service: it matches nothing.
        Ok(Self(lines.iter().filter_map(|line| line.to_str().ok()).flat_map(tags).collect()))
    }

    /// By the strong comparison: a weak tag matches nothing.
    pub(crate) fn matches(&self, etag: &str) -> bool {
        self.0.iter().any(|tag| tag == "*" || tag == etag)
    }
}

/// The items of a list. A comma within quotes belongs to its tag.
fn tags(list: &str) -> Vec<String> {
    let mut is_quoted = false;
    let items = list.split(|character| {
        is_quoted ^= character == '"';
        character == ',' && !is_quoted
    });
    items.map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_character_by_character() {
        for (lines, matches) in [
            (&["\"0\""][..], true),
            (&["\"3\", \"0\""], true),
            (&["\"3\"", " \"0\" "], true),
            (&["\"a,b\",\"0\""], true),
            (&["*"], true),
            (&["\"00\""], false),
            (&["\"+0\""], false),
            (&["W/\"0\""], false),
            (&["0"], false),
            (&["\",\"0\""], false),
            (&["\"*\""], false),
            (&["\"3\",,"], false),
            (&[""], false),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::IF_MATCH, line.parse().unwrap());
            }
            assert_eq!(IfMatch::read(&headers).unwrap().matches("\"0\""), matches, "{lines:?}");
        }
        assert!(matches!(IfMatch::read(&HeaderMap::new()), Err(Error::IfMatchMissing)));
    }
}
