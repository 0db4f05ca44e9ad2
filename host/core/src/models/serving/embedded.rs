//! The components that this program was built with, and the cards of their models. `components/build.sh`
//! builds the components, and training writes the cards.

use crate::domain::model::ModelKind;

/// An embedded component.
#[derive(Debug, Clone, Copy)]
pub struct Embedded {
    /// Kind and major version, for example `risk-2`.
    pub name: &'static str,
    pub kind: ModelKind,
    /// In service until another version of its kind is deployed.
    pub by_default: bool,
    pub bytes: &'static [u8],
    /// Rules are not trained, so they have none.
    pub card: Option<Card>,
}

/// A model card: what a model is for, and how it was measured.
#[derive(Debug, Clone, Copy)]
pub struct Card {
    pub markdown: &'static str,
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
            markdown: include_str!(concat!("../../../../../components/", $folder, "/card.md")),
            json: include_str!(concat!("../../../../../components/", $folder, "/card.json")),
        })
    };
}

/// Evaluates a model that is put into its memory.
pub const INTERPRETER: &[u8] = component!("interpreter");

/// Evaluates a table of rules that is put into its memory.
pub const DECISION_TABLE: &[u8] = component!("decision-table");

impl Embedded {
    /// The default of each kind comes first.
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
            name: "accessibility-2",
            kind: ModelKind::Accessibility,
            by_default: true,
            bytes: component!("accessibility"),
            card: card!("accessibility/models/accessibility-2"),
        },
        Self {
            name: "transfer-rules-1",
            kind: ModelKind::TransferRules,
            by_default: true,
            bytes: component!("transfer-rules"),
            card: None,
        },
    ];

    /// The default of a kind.
    pub const fn default_of(kind: ModelKind) -> Self {
        let mut at = 0;
        while Self::ALL[at].kind as u8 != kind as u8 {
            at += 1;
        }
        Self::ALL[at]
    }

    /// The components of a kind, the default first.
    pub fn of(kind: ModelKind) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |it| it.kind == kind)
    }

    /// Finds a component by its name, or the default one of a kind.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name == name || (it.by_default && it.kind.as_str() == name))
    }
}

/// Each kind has a default, or this does not compile.
const _: () = {
    let mut at = 0;
    while at < ModelKind::ALL.len() {
        assert!(Embedded::default_of(ModelKind::ALL[at]).by_default);
        at += 1;
    }
};
