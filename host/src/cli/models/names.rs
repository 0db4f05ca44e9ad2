//! Versions as operators type them: in full, or an unambiguous prefix.

use anyhow::{Result, bail};
use serde_json::Value;

use super::registry::items;

/// The kind and the full name of a version.
///
/// # Errors
/// With the candidates, if it is a prefix of several.
pub(super) fn resolve<'a>(kinds: &'a [Value], typed: &str) -> Result<(&'a str, &'a str)> {
    find(kinds.iter(), typed)
}

fn find<'a>(kinds: impl Iterator<Item = &'a Value>, typed: &str) -> Result<(&'a str, &'a str)> {
    let versions =
        |kind: &'a Value| items(kind, "versions").iter().map(move |it| (&kind["kind"], &it["model_version"]));
    let all = kinds.flat_map(versions).filter_map(|(kind, version)| Some((kind.as_str()?, version.as_str()?)));
    let found: Vec<_> = all.filter(|(_, version)| version.starts_with(typed)).collect();
    if let Some(exact) = found.iter().find(|(_, version)| *version == typed) {
        return Ok(*exact);
    }
    match found[..] {
        [only] => Ok(only),
        [] => bail!("no registered component is called {typed}: see `caudal models list`"),
        _ => {
            let candidates: Vec<_> = found.iter().map(|(_, version)| format!("  {version}")).collect();
            bail!("{typed} is ambiguous; it matches:\n{}", candidates.join("\n"))
        }
    }
}

/// The full name of a version of this kind.
///
/// # Errors
/// As [`resolve`], or if it is of another kind.
pub(super) fn resolve_of(kinds: &[Value], kind: &str, typed: &str) -> Result<String> {
    match find(kinds.iter().filter(|it| it["kind"] == kind), typed) {
        Ok((_, version)) => Ok(version.to_owned()),
        Err(error) => match resolve(kinds, typed) {
            Ok((other, version)) => bail!("{version} belongs to {other}, not to {kind}"),
            Err(_) => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_is_typed_as_far_as_it_is_unambiguous() {
        let kind = |kind: &str, names: &[&str]| {
            let versions: Vec<_> = names.iter().map(|it| json!({"model_version": it})).collect();
            json!({"kind": kind, "versions": versions})
        };
        let kinds = [
            kind("nudge", &["nudge-1.0.0+aaaaaaaa", "nudge-1.0.0+aabbbbbb"]),
            kind("risk", &["risk-1.0.0+cccccccc", "risk-1.0.0+cccccccc-2", "risk-2.0.0+dddddddd"]),
        ];
        assert_eq!(resolve(&kinds, "risk-2").unwrap(), ("risk", "risk-2.0.0+dddddddd"));
        assert_eq!(resolve(&kinds, "nudge-1.0.0+aaa").unwrap().1, "nudge-1.0.0+aaaaaaaa");
        // A full name counts, even if another begins with it.
        assert_eq!(resolve(&kinds, "risk-1.0.0+cccccccc").unwrap().1, "risk-1.0.0+cccccccc");
        let ambiguous = resolve(&kinds, "nudge-1").unwrap_err().to_string();
        assert!(ambiguous.ends_with("it matches:\n  nudge-1.0.0+aaaaaaaa\n  nudge-1.0.0+aabbbbbb"), "{ambiguous}");
        assert!(resolve(&kinds, "risk-3").unwrap_err().to_string().starts_with("no registered component is called"));
        assert!(
            resolve_of(&kinds, "nudge", "risk-2").unwrap_err().to_string().contains("belongs to risk, not to nudge")
        );
        assert_eq!(resolve_of(&kinds, "risk", "risk-2").unwrap(), "risk-2.0.0+dddddddd");
    }
}
