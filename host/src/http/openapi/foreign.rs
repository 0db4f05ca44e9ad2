//! Bodies that other layers read: decisions, which carry any JSON, and what STP sends.

use serde_json::Value;

use crate::schema::{Shape, answer, request};

/// A decision's request and answer are what the API of its kind takes and gives.
const DECISIONS: Shape = Shape::Object(&<DecisionJson as crate::schema::Record>::DECLARATION);

answer! {
    /// A decision as it was.
    pub(super) struct DecisionJson as "Decision" {
        /// Shown with what is found.
        id: Option<String> { example: "\"d-1\"" },
        kind: String { example: "\"risk\"" },
        request: Value,
        response: Value,
    }
}

request! {
    /// The latest decisions that were kept.
    pub(super) struct StoredRequest as "StoredDecisions" {
        kind: String { one_of: &["risk", "transfer-rules"], example: "\"risk\"" },
        limit: u32 { at_most: 1000.0, example: "100" },
    }
}

request! {
    /// What to run again: decisions, or the latest that were kept.
    pub(super) struct ReplayRequest {
        decisions: Option<Vec<String>> { items: &DECISIONS, length_max: 1000 },
        stored: Option<StoredRequest>,
    }
}

answer! {
    /// What came of it.
    pub(super) struct FindingsJson as "Findings" {
        replayed: usize { example: "100" },
        /// Those whose answer was the same, bit for bit.
        equal: usize { example: "100" },
        different: Vec<FindingJson>,
    }
}

answer! {
    /// What is wrong with one decision.
    pub(super) struct FindingJson as "Finding" {
        /// Its place, from 0.
        index: usize { example: "0" },
        id: Option<String> { example: "\"d-1\"" },
        /// Where the answers differ, or why it could not be run.
        differences: Vec<String> { example: "[\"/result/risk_score was 0.1 and is 0.2\"]" },
    }
}

answer! {
    /// STP's notice of a change of state (`cambioEstado`).
    pub(super) struct NoticeJson as "StpNotice" {
        /// The tracking key.
        clave_rastreo: Option<String> { named: "claveRastreo", example: "\"CAUDAL0198F1C25A2B7C3D8E4F\"" },
        /// The tracking key again, as orders carry it here too.
        folio_origen: Option<String> { named: "folioOrigen" },
        estado: String { example: "\"LQ\"" },
        /// Why it came back.
        causa_devolucion: Option<Value> { named: "causaDevolucion" },
    }
}
