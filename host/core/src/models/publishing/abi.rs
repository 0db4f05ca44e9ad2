//! What the glue of pages depends on, as a fingerprint: components of a kind that have the same one run behind the same
//! glue, whatever built them, and whatever translated them.

use sha2::{Digest as _, Sha256};
use wasmparser::{BinaryReaderError, CanonicalFunction, CanonicalOption, FuncType, Parser, Payload};

use crate::domain::model::{Digest, ModelKind};

/// The types of every kind. A component that a host loads was matched against them.
const MODEL: &str = include_str!("../../../../../wit/model.wit");
const RISK: &str = include_str!("../../../../../wit/risk.wit");
const NUDGE: &str = include_str!("../../../../../wit/nudge.wit");
const ACCESSIBILITY: &str = include_str!("../../../../../wit/accessibility.wit");
const TRANSFER_RULES: &str = include_str!("../../../../../wit/transfer-rules.wit");

/// Exports that glue uses besides functions of an interface, whose names have a `#`.
const SHARED: [&str; 2] = ["memory", "cabi_realloc"];

/// The fingerprint of a component with one core module: the types of its kind, and how its core passes their values.
///
/// # Errors
/// When the component is not valid.
pub(super) fn fingerprint(kind: ModelKind, component: &[u8]) -> Result<Digest, BinaryReaderError> {
    let own = match kind {
        ModelKind::Risk => RISK,
        ModelKind::Nudge => NUDGE,
        ModelKind::Accessibility => ACCESSIBILITY,
        ModelKind::TransferRules => TRANSFER_RULES,
    };
    let lines = [vec![bare(MODEL), bare(own)], conventions(component)?].concat();
    Ok(Digest(Sha256::digest(lines.join("\n")).into()))
}

/// Text in WIT without comments and layout.
fn bare(wit: &str) -> String {
    let code = wit.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The signatures of the core's exports and the options of functions that are lifted, each in one line, sorted.
fn conventions(component: &[u8]) -> Result<Vec<String>, BinaryReaderError> {
    let (mut types, mut functions, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::TypeSection(section) => {
                types = section.into_iter_err_on_gc_types().collect::<Result<Vec<FuncType>, _>>()?;
            }
            Payload::FunctionSection(section) => functions = section.into_iter().collect::<Result<Vec<u32>, _>>()?,
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    if export.name.contains('#') || SHARED.contains(&export.name) {
                        let ty = functions.get(export.index as usize).and_then(|ty| types.get(*ty as usize));
                        let signature = ty.map(|ty| format!("{:?} -> {:?}", ty.params(), ty.results()));
                        lines.push(format!("{} {:?} {}", export.name, export.kind, signature.unwrap_or_default()));
                    }
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    if let CanonicalFunction::Lift { options, .. } = function? {
                        let mut options: Vec<_> = options.iter().filter_map(option).collect();
                        options.sort_unstable();
                        lines.push(format!("lift {}", options.join(" ")));
                    }
                }
            }
            _ => {}
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

/// An option without indices; UTF-8 is what is meant where no encoding is named.
fn option(it: &CanonicalOption) -> Option<String> {
    match it {
        CanonicalOption::UTF8 => None,
        CanonicalOption::Memory(_) => Some("memory".to_owned()),
        CanonicalOption::Realloc(_) => Some("realloc".to_owned()),
        CanonicalOption::PostReturn(_) => Some("post-return".to_owned()),
        other => Some(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::serving::embedded::Embedded;

    #[test]
    fn models_of_a_kind_share_a_fingerprint_and_kinds_do_not() {
        let of = |it: &Embedded| fingerprint(it.kind, it.bytes).unwrap();
        for one in &Embedded::ALL {
            for other in &Embedded::ALL {
                assert_eq!(of(one) == of(other), one.kind == other.kind, "{} and {}", one.name, other.name);
            }
        }
    }

    #[test]
    fn conventions_name_what_glue_calls() {
        let lines = conventions(Embedded::default_of(ModelKind::Risk).bytes).unwrap().join("\n");
        for part in ["caudal:scoring/risk@1.0.0#assess Func [", "memory Memory", "cabi_realloc Func [", "lift memory"] {
            assert!(lines.contains(part), "{part}: {lines}");
        }
    }

    #[test]
    fn comments_and_layout_do_not_count() {
        assert_eq!(bare("/// Why.\ninterface a {\n    b: u8, // odd\n}\n"), bare("interface a { b: u8, }"));
        assert_ne!(bare(RISK), bare(NUDGE));
    }
}
