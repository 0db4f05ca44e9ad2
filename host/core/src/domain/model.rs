//! Kinds of components, their identity and their versions.

use std::fmt;

super::text_enum! {
    ModelKind {
        /// Scores a transfer.
        Risk = "risk",
        /// Decides whether a person needs help.
        Nudge = "nudge",
        /// Recommends an accessibility profile.
        Accessibility = "accessibility",
        /// Decides whether a transfer is allowed.
        TransferRules = "transfer-rules",
    }
}

impl ModelKind {
    /// The kinds that score: all but transfer rules, which decide.
    pub const SCORERS: &'static [Self] = match Self::ALL.split_last() {
        Some((Self::TransferRules, scorers)) => scorers,
        _ => panic!("transfer rules come last"),
    };
}

super::text_enum! {
    /// What a component may import and how it runs.
    PolicyClass {
        /// Imports nothing and is small: called inline, within microseconds.
        Pure = "pure",
        /// Contains a language runtime: its WASI imports are stubs without effect and stopped clocks, and it
        /// runs on dedicated threads.
        DenyAll = "deny-all",
    }
}

/// Hex digits of the digest in a [`ModelVersion`].
const SHOWN_DIGITS: usize = 8;

/// SHA-256 of a component's bytes, which identifies it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The `model_version` of an answer: `risk-1.0.0+9f2c41aa`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelVersion(String);

impl ModelVersion {
    /// `version` is the component's own semantic version.
    pub fn new(kind: ModelKind, version: &str, digest: Digest) -> Self {
        let digest = digest.to_string();
        Self(format!("{kind}-{version}+{}", &digest[..SHOWN_DIGITS]))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The component's own version: `1.0.0`.
    pub fn semantic_version(&self) -> &str {
        let with_digest = self.0.rsplit('-').next().unwrap_or_default();
        with_digest.split('+').next().unwrap_or_default()
    }
}

impl From<ModelVersion> for String {
    fn from(version: ModelVersion) -> Self {
        version.0
    }
}

impl fmt::Display for ModelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether this is MAJOR.MINOR.PATCH, in decimal without leading zeros.
pub fn is_semantic_version(version: &str) -> bool {
    let parts: Vec<&str> = version.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|part| {
            let digits = (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
            digits && (part.len() == 1 || !part.starts_with('0'))
        })
}

/// Whether a version, as a component or a `model_version` has it, is older than another.
pub fn is_older(version: &str, than: &str) -> bool {
    fn numbers(version: &str) -> impl Iterator<Item = u32> {
        let version = version.rsplit('-').next().and_then(|it| it.split('+').next()).unwrap_or_default();
        version.split('.').map(|part| part.parse().unwrap_or_default())
    }
    numbers(version).lt(numbers(than))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_names_kind_semver_and_the_start_of_the_digest() {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&[0x9f, 0x2c, 0x41, 0xaa]);
        let version = ModelVersion::new(ModelKind::TransferRules, "1.2.3", Digest(bytes));
        assert_eq!(version.as_str(), "transfer-rules-1.2.3+9f2c41aa");
        assert_eq!(version.semantic_version(), "1.2.3");
    }

    #[test]
    fn versions_are_ordered_by_number() {
        assert!(is_older("transfer-rules-1.9.0+9f2c41aa", "1.10.0"));
        assert!(!is_older("risk-2.0.0+9f2c41aa", "2.0.0") && !is_older("10.0.0", "2.0.0"));
    }

    #[test]
    fn semantic_versions_are_three_plain_numbers() {
        for good in ["1.0.0", "0.10.3", "12.0.999"] {
            assert!(is_semantic_version(good), "{good}");
        }
        for bad in ["", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.x", "1.0.0-rc1", "1..0", "1.0.99999999999"] {
            assert!(!is_semantic_version(bad), "{bad}");
        }
    }
}
