//! What the glue of pages depends on, as a fingerprint: components of a contract that have the same one run behind the same
//! glue, whatever built them, and whatever translated them.

use sha2::{Digest as _, Sha256};
use wasmparser::{BinaryReaderError, CanonicalFunction, CanonicalOption, ExternalKind, FuncType, Parser, Payload};

use crate::domain::model::{Digest, ModelKind};
use crate::models::serving::embedded::{Embedded, INTERPRETER};
use crate::wasm::{RISK_2, WIT};

/// The types of every kind in contract 1. A component that a host loads was matched against those of its contract.
const MODEL: &str = include_str!("../../../../../wit/model.wit");

/// What components of a kind are built for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contract {
    pub(super) kind: ModelKind,
    /// Of its glue.
    pub(super) name: &'static str,
    /// In WIT, with its version.
    pub(super) package: &'static str,
    types: &'static [&'static str],
    /// A component that is built for it.
    pub(super) example: &'static [u8],
}

macro_rules! contract_1 {
    ($kind:ident, $name:literal) => {
        Contract {
            kind: ModelKind::$kind,
            name: $name,
            package: WIT,
            types: &[MODEL, include_str!(concat!("../../../../../wit/", $name, ".wit"))],
            example: Embedded::default_of(ModelKind::$kind).bytes,
        }
    };
}

/// The later ones of a kind come first.
pub(super) static CONTRACTS: [Contract; 5] = [
    Contract {
        kind: ModelKind::Risk,
        name: "risk-2",
        package: RISK_2,
        types: &[include_str!("../../../../../wit/risk-2/risk.wit")],
        example: INTERPRETER,
    },
    contract_1!(Risk, "risk"),
    contract_1!(Nudge, "nudge"),
    contract_1!(Accessibility, "accessibility"),
    contract_1!(TransferRules, "transfer-rules"),
];

impl Contract {
    /// Those of scorers, which have glue.
    pub(super) fn of_scorers() -> impl Iterator<Item = &'static Self> {
        CONTRACTS.iter().filter(|it| ModelKind::SCORERS.contains(&it.kind))
    }

    /// The one of a component: as on a host, the later one if it exports the interfaces of both.
    ///
    /// # Errors
    /// When the component is not valid.
    pub(super) fn of(component: &[u8]) -> Result<Option<&'static Self>, BinaryReaderError> {
        let mut names = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            if let Payload::ComponentExportSection(section) = payload? {
                for export in section {
                    names.push(export?.name.name);
                }
            }
        }
        Ok(CONTRACTS.iter().find(|it| names.contains(&&*it.interface())))
    }

    /// The interface that scores, with its version.
    pub(super) fn interface(&self) -> String {
        let (package, version) = self.package.split_once('@').unwrap_or((self.package, ""));
        format!("{package}/{}@{version}", self.kind)
    }

    /// The fingerprint of a component with one core module: the types of the contract, and how its core passes their values.
    ///
    /// # Errors
    /// When the component is not valid.
    pub(super) fn fingerprint(&self, component: &[u8]) -> Result<Digest, BinaryReaderError> {
        let types = self.types.iter().map(|it| bare(it)).collect();
        let lines = [types, conventions(component)?].concat();
        Ok(Digest(Sha256::digest(lines.join("\n")).into()))
    }
}

/// Exports that glue uses besides functions of an interface, whose names have a `#`.
const SHARED: [&str; 2] = ["memory", "cabi_realloc"];

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
                        // Memories have numbers of their own.
                        let function = (export.kind == ExternalKind::Func).then_some(export.index as usize);
                        let ty = function.and_then(|at| functions.get(at)).and_then(|ty| types.get(*ty as usize));
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

    #[test]
    fn models_of_a_contract_share_a_fingerprint_and_contracts_do_not() {
        let all = Embedded::ALL.map(|it| (it.name, it.kind, it.bytes));
        let all = all.into_iter().chain([("interpreter", ModelKind::Risk, INTERPRETER)]);
        let all = all.map(|(name, kind, bytes)| {
            let contract = Contract::of(bytes).unwrap().unwrap();
            assert_eq!(contract.kind, kind);
            (name, contract.name, contract.fingerprint(bytes).unwrap())
        });
        let all: Vec<_> = all.collect();
        assert_eq!(all.last().map(|it| it.1), Some("risk-2"));
        for (one, contract, fingerprint) in &all {
            for (other, its, another) in &all {
                assert_eq!(fingerprint == another, contract == its, "{one} and {other}");
            }
        }
    }

    #[test]
    fn conventions_name_what_glue_calls() {
        let lines = conventions(Embedded::default_of(ModelKind::Risk).bytes).unwrap().join("\n") + "\n";
        for part in
            ["caudal:scoring/risk@1.0.0#assess Func [", "memory Memory \n", "cabi_realloc Func [", "lift memory"]
        {
            assert!(lines.contains(part), "{part}: {lines}");
        }
    }

    #[test]
    fn comments_and_layout_do_not_count() {
        assert_eq!(bare("/// Why.\ninterface a {\n    b: u8, // odd\n}\n"), bare("interface a { b: u8, }"));
        assert_ne!(bare(CONTRACTS[1].types[1]), bare(CONTRACTS[2].types[1]));
    }
}
