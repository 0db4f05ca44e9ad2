//! Bodies that other layers parse: decisions, which contain any JSON, and STP's notifications.

use serde_json::Value;

use crate::schema::{Shape, answer, request};

/// A decision's request and response are those of its kind's API.
const DECISIONS: Shape = Shape::Object(&<DecisionJson as crate::schema::Record>::DECLARATION);

answer! {
    /// A recorded decision.
    pub(super) struct DecisionJson as "Decision" {
        /// Repeated in the findings.
        id: Option<String> { example: "\"d-1\"" },
        kind: String { example: "\"risk\"" },
        request: Value,
        response: Value,
    }
}

request! {
    /// The latest logged decisions.
    pub(super) struct StoredRequest as "StoredDecisions" {
        kind: String { one_of: &["risk", "transfer-rules"], example: "\"risk\"" },
        limit: u32 { at_most: 1000.0, example: "100" },
    }
}

request! {
    /// Decisions to replay: these, or the latest logged.
    pub(super) struct ReplayRequest {
        decisions: Option<Vec<String>> { items: &DECISIONS, length_max: 1000, example: "[]" },
        stored: Option<StoredRequest>,
    }
}

answer! {
    /// The result of a replay.
    pub(super) struct FindingsJson as "Findings" {
        replayed: usize { example: "100" },
        /// Decisions whose answer was the same, bit for bit.
        equal: usize { example: "100" },
        different: Vec<FindingJson>,
    }
}

answer! {
    /// A decision that could not be reproduced.
    pub(super) struct FindingJson as "Finding" {
        /// Its position among the decisions, from 0.
        index: usize { example: "0" },
        id: Option<String> { example: "\"d-1\"" },
        /// Where the answers differ, or why it could not be run.
        differences: Vec<String> { example: "[\"/result/risk_score was 0.1 and is 0.2\"]" },
    }
}

answer! {
    /// STP's notification of a state change (`cambioEstado`). It only makes the host ask STP: nothing but the tracking key is
    /// read.
    pub(super) struct NoticeJson as "StpNotice" {
        /// The tracking key.
        clave_rastreo: Option<String> { named: "claveRastreo", example: "\"CAUDAL0198F1C25A2B7C3D8E4F\"" },
        /// The tracking key again, since orders have it here too.
        folio_origen: Option<String> { named: "folioOrigen" },
        estado: Option<String> { example: "\"LQ\"" },
        /// Why the payment was returned.
        causa_devolucion: Option<Value> { named: "causaDevolucion" },
    }
}
