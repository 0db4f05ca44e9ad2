//! What a host adds to the score of a risk model. Where a page or a worker adds the same, it gives the same answers.

use std::collections::BTreeMap;

use crate::domain::fact::FACTS;
use crate::domain::model::ModelKind;
use crate::domain::reason::{Words, words};
use crate::domain::risk::CutOffs;
use crate::schema::answer;
use crate::wasm::digest_of;

answer! {
    /// What belongs to the answers of a kind, whichever model gives the score.
    pub struct Terms {
        pub cut_offs: CutOffs,
        /// SHA-256 of the catalogue of facts: names, kinds and units, in their order.
        pub facts: String { example: "\"5d0c7e2a...\"" },
        /// What the codes of factors and reasons say.
        pub words: BTreeMap<&'static str, Words>,
    }
}

impl Terms {
    /// `None` for kinds whose answers are entirely the component's.
    pub fn of(kind: ModelKind, cut_offs: CutOffs) -> Option<Self> {
        let row = |name, kind, unit| format!("{name} {kind} {unit}\n");
        let rows = || FACTS.iter().map(|it| row(it.name, it.measure.kind(), it.measure.unit())).collect::<String>();
        let facts = || digest_of(rows().as_bytes()).to_string();
        (kind == ModelKind::Risk).then(|| Self { cut_offs, facts: facts(), words: words() })
    }
}
