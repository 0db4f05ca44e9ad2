//! The trained models and the location of their files.

use std::path::{Path, PathBuf};

/// Kinds of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Risk,
    Nudge,
    Accessibility,
}

/// Models that are trained here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The baseline of the specification: six flags.
    Risk1,
    /// The default risk model.
    Risk2,
    /// The default nudge model.
    Nudge1,
    /// The default accessibility model.
    Accessibility2,
}

impl Model {
    pub const ALL: [Self; 4] = [Self::Risk1, Self::Risk2, Self::Nudge1, Self::Accessibility2];

    /// For example `risk-2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Risk1 => crate::risk::fit::RISK_1.name,
            Self::Risk2 => crate::risk::fit::RISK_2.name,
            Self::Nudge1 => crate::nudge::fit::NAME,
            Self::Accessibility2 => crate::accessibility::fit::NAME,
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Risk1 | Self::Risk2 => Kind::Risk,
            Self::Nudge1 => Kind::Nudge,
            Self::Accessibility2 => Kind::Accessibility,
        }
    }

    /// The folder of its weights, card and plot.
    #[must_use]
    pub fn folder(self, root: &Path) -> PathBuf {
        root.join("components").join(self.kind().name()).join("models").join(self.name())
    }

    #[must_use]
    pub fn weights(self, root: &Path) -> PathBuf {
        self.folder(root).join("weights.bin")
    }

    /// Its golden cases.
    #[must_use]
    pub fn golden(self, root: &Path) -> PathBuf {
        root.join("tests/golden").join(self.name()).with_extension("ndjson")
    }
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Risk => "risk",
            Self::Nudge => "nudge",
            Self::Accessibility => "accessibility",
        }
    }
}
