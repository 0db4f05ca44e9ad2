//! For which contract a component was built.
//!
//! Types in WIT are structural, so each change is a new major version. Minor versions are compatible, and wasmtime links them.

use crate::domain::model::ModelKind;
use crate::wasm::error::LoadError;
use crate::wasm::{v1, v2};

/// The contract of every kind.
pub const WIT: &str = v1::PACKAGE;

/// The second contract of risk models.
pub const RISK_2: &str = v2::RISK;

/// The packages that this host supports. A component may have been built for this host and the next one.
const PACKAGES: [&str; 3] = [WIT, RISK_2, v2::RULES];

/// An exported interface of one of our packages, in any version.
struct Interface<'a> {
    package: &'a str,
    name: &'a str,
    version: &'a str,
}

impl<'a> Interface<'a> {
    /// From a name such as `caudal:scoring/risk@1.0.0`.
    fn parse(export: &'a str) -> Option<Self> {
        let (package, rest) = export.split_once('/')?;
        let (name, version) = rest.split_once('@')?;
        let is_ours = PACKAGES.iter().filter_map(|it| it.split_once('@')).any(|(ours, _)| ours == package);
        is_ours.then_some(Self { package, name, version })
    }

    fn kind(&self) -> Option<ModelKind> {
        match v2::RULES.split_once('@') {
            Some((rules, _)) if rules == self.package => Some(ModelKind::TransferRules),
            _ => ModelKind::parse(self.name),
        }
    }

    fn is_supported(&self) -> bool {
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        let ours = PACKAGES.iter().filter_map(|it| it.split_once('@')).find(|(package, _)| *package == self.package);
        ours.is_some_and(|(_, version)| major(version) == major(self.version))
    }
}

/// The kind whose interface is among the exports.
///
/// # Errors
/// When all interfaces of ours are of versions that this host does not support. Without any, linking refuses the component
/// and says what it lacks.
pub(super) fn kind_of(exports: &[String]) -> Result<Option<ModelKind>, LoadError> {
    let ours: Vec<_> = exports.iter().filter_map(|name| Interface::parse(name)).collect();
    if let Some(first) = ours.first().filter(|_| !ours.iter().any(Interface::is_supported)) {
        let found = format!("{}@{}", first.package, first.version);
        return Err(LoadError::UnknownMajor { found, supported: PACKAGES.join(", ") });
    }
    Ok(ours.iter().filter(|it| it.is_supported()).find_map(Interface::kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(names: &[&str]) -> Result<Option<ModelKind>, LoadError> {
        kind_of(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_kind_follows_from_supported_exports() {
        for (names, expected) in [
            (&["caudal:scoring/model@1.0.0", "caudal:scoring/nudge@1.0.0"][..], Some(ModelKind::Nudge)),
            (&["caudal:scoring/transfer-rules@1.2.0"], Some(ModelKind::TransferRules)),
            (&["caudal:risk/risk@2.0.0"], Some(ModelKind::Risk)),
            (&["caudal:rules/rules@2.0.0"], Some(ModelKind::TransferRules)),
            // Built for the next host as well.
            (
                &["caudal:risk/risk@3.0.0", "caudal:scoring/model@1.0.0", "caudal:scoring/risk@1.0.0"],
                Some(ModelKind::Risk),
            ),
            (&["caudal:scoring/model@1.0.0", "other:scoring/risk@1.0.0", "risk"], None),
            (&["wasi:cli/run@0.2.0"], None),
            (&[], None),
        ] {
            assert_eq!(kind(names).unwrap(), expected, "{names:?}");
        }
    }

    #[test]
    fn another_major_version_is_refused_by_name() {
        let error = kind(&["caudal:scoring/model@2.0.0", "caudal:scoring/risk@2.0.0"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the component was built for caudal:scoring@2.0.0; this host supports caudal:scoring@1.0.0, caudal:risk@2.0.0, \
             caudal:rules@2.0.0"
        );
        for other in ["caudal:scoring/model@10.0.0", "caudal:scoring/model@x", "caudal:risk/risk@1.0.0"] {
            assert!(kind(&[other]).is_err(), "{other}");
        }
    }
}
