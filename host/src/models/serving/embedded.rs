//! The components that this program was built with, and the cards of their models.
//! `components/build.sh` makes the first and the build script of this crate finds them; training
//! writes the second.

use crate::domain::model::ModelKind;
use crate::models::Components;

/// A component of this program.
#[derive(Debug, Clone, Copy)]
pub struct Embedded {
    /// Kind and major version, for example `risk-2`.
    pub name: &'static str,
    /// What it is for.
    pub kind: ModelKind,
    /// Serves when nobody chose another of its kind.
    pub by_default: bool,
    /// The component.
    pub bytes: &'static [u8],
    /// The model's card; rules are not trained and have none.
    pub card: Option<Card>,
}

/// What a model is and what it was measured to do.
#[derive(Debug, Clone, Copy)]
pub struct Card {
    /// For people.
    pub markdown: &'static str,
    /// For programs.
    pub json: &'static str,
}

macro_rules! component {
    ($file:literal) => {
        include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/", $file, ".wasm"))
    };
}

macro_rules! card {
    ($folder:literal) => {
        Some(Card {
            markdown: include_str!(concat!("../../../../components/", $folder, "/card.md")),
            json: include_str!(concat!("../../../../components/", $folder, "/card.json")),
        })
    };
}

impl Embedded {
    /// All of them. Of a kind, the one that serves by default comes first.
    pub const ALL: [Self; 5] = [
        Self {
            name: "risk-2",
            kind: ModelKind::Risk,
            by_default: true,
            bytes: component!("risk"),
            card: card!("risk/models/risk-2"),
        },
        Self {
            name: "risk-1",
            kind: ModelKind::Risk,
            by_default: false,
            bytes: component!("risk-1"),
            card: card!("risk/models/risk-1"),
        },
        Self {
            name: "nudge-1",
            kind: ModelKind::Nudge,
            by_default: true,
            bytes: component!("nudge"),
            card: card!("nudge/models/nudge-1"),
        },
        Self {
            name: "accessibility-1",
            kind: ModelKind::Accessibility,
            by_default: true,
            bytes: component!("accessibility"),
            card: card!("accessibility/models/accessibility-1"),
        },
        Self {
            name: "transfer-rules-1",
            kind: ModelKind::TransferRules,
            by_default: true,
            bytes: component!("transfer-rules"),
            card: None,
        },
    ];

    /// By its name, or by its kind: then the one that serves by default.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name == name || (it.by_default && it.kind.as_str() == name))
    }
}

pub(crate) const COMPONENTS: Components<'static> = Components {
    risk: component!("risk"),
    nudge: component!("nudge"),
    accessibility: component!("accessibility"),
    rules: component!("transfer-rules"),
};
