//! Which version of the WIT package `caudal:scoring` a component was built for.
//!
//! Types in WIT are structural, so each change is a new major version with its own folder beside
//! `v1`. Minor versions are compatible, and wasmtime links them.

use crate::domain::model::ModelKind;
use crate::wasm::error::LoadError;
use crate::wasm::v1;

/// Start of the names of exported interfaces.
const INTERFACES: &str = "caudal:scoring/";

/// The latest version of the contract between a host and its components.
pub const WIT: &str = v1::PACKAGE;

/// The major versions that this host supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Major {
    V1,
}

impl Major {
    fn parse(version: &str) -> Option<Self> {
        match version.split('.').next() {
            Some("1") => Some(Self::V1),
            _ => None,
        }
    }

    /// The major version of a component with these exports: the first supported one. Without an interface
    /// of ours, linking refuses the component and says what it lacks.
    pub(super) fn of(exports: &[String]) -> Result<Self, LoadError> {
        let mut versions = exports.iter().filter_map(|name| interface(name)).map(|(_, version)| version).peekable();
        let Some(first) = versions.peek().copied() else { return Ok(Self::V1) };
        let unknown = || LoadError::UnknownMajor { found: format!("caudal:scoring@{first}"), supported: WIT };
        versions.find_map(Self::parse).ok_or_else(unknown)
    }
}

/// The kind whose interface is among the exports.
pub(super) fn kind_of(exports: &[String]) -> Option<ModelKind> {
    exports.iter().filter_map(|name| interface(name)).find_map(|(name, _)| ModelKind::parse(name))
}

/// Name and version of an interface of `caudal:scoring`: `risk` and `1.0.0`.
fn interface(export: &str) -> Option<(&str, &str)> {
    export.strip_prefix(INTERFACES)?.split_once('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exports(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_major_version_follows_from_the_exports() {
        for names in [
            &["caudal:scoring/model@1.0.0", "caudal:scoring/risk@1.0.0"][..],
            &["caudal:scoring/model@1.3.0"],
            // Built for the next host as well.
            &["caudal:scoring/model@2.0.0", "caudal:scoring/model@1.0.0"],
            &["wasi:cli/run@0.2.0"],
            &[],
        ] {
            assert_eq!(Major::of(&exports(names)).unwrap(), Major::V1, "{names:?}");
        }
        let error = Major::of(&exports(&["caudal:scoring/model@2.0.0", "caudal:scoring/risk@2.0.0"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the component was built for caudal:scoring@2.0.0; this host supports caudal:scoring@1.0.0"
        );
        for odd in ["caudal:scoring/model@10.0.0", "caudal:scoring/model@x"] {
            assert!(Major::of(&exports(&[odd])).is_err(), "{odd}");
        }
    }

    #[test]
    fn the_kind_follows_from_the_exports() {
        let kind = |names: &[&str]| kind_of(&exports(names));
        assert_eq!(kind(&["caudal:scoring/model@1.0.0", "caudal:scoring/nudge@1.0.0"]), Some(ModelKind::Nudge));
        assert_eq!(kind(&["caudal:scoring/transfer-rules@1.2.0"]), Some(ModelKind::TransferRules));
        assert_eq!(kind(&["caudal:scoring/model@1.0.0", "other:scoring/risk@1.0.0", "risk"]), None);
    }
}
