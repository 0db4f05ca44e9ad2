//! The models that there are, and where their files lie.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

/// Kinds of scorers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Transfers.
    Risk,
    /// Visits to a screen.
    Nudge,
    /// People and their answers.
    Accessibility,
}

/// Models that are trained here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The specification's baseline: six flags.
    #[value(name = "risk-1")]
    Risk1,
    /// The risk model in force.
    #[value(name = "risk-2")]
    Risk2,
    /// The nudge model in force.
    #[value(name = "nudge-1")]
    Nudge1,
    /// The accessibility model in force.
    #[value(name = "accessibility-1")]
    Accessibility1,
}

impl Model {
    /// For example `risk-2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Risk1 => crate::risk::fit::RISK_1.name,
            Self::Risk2 => crate::risk::fit::RISK_2.name,
            Self::Nudge1 => crate::nudge::fit::NAME,
            Self::Accessibility1 => crate::accessibility::fit::NAME,
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Risk1 | Self::Risk2 => Kind::Risk,
            Self::Nudge1 => Kind::Nudge,
            Self::Accessibility1 => Kind::Accessibility,
        }
    }

    /// The folder of its weights, card and plot, below the root of the project.
    #[must_use]
    pub fn folder(self, root: &Path) -> PathBuf {
        root.join("components").join(self.kind().name()).join("models").join(self.name())
    }

    /// Its weights file.
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
    /// For example `risk`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Risk => "risk",
            Self::Nudge => "nudge",
            Self::Accessibility => "accessibility",
        }
    }
}
