//! Bodies that other layers write or parse: the findings of a replay, and STP's notices.

use serde_json::Value;
use uuid::Uuid;

use crate::http::ledger::accounts::ID_EXAMPLE;
use crate::schema::answer;

answer! {
    /// The result of a replay.
    pub(crate) struct FindingsJson as "Findings" {
        replayed: usize { example: "100" },
        /// Decisions whose answer was the same, bit for bit.
        equal: usize { example: "100" },
        different: Vec<FindingJson>,
    }
}

answer! {
    /// A decision that could not be reproduced.
    pub(crate) struct FindingJson as "Finding" {
        /// Its position among the decisions, from 0.
        index: usize { example: "0" },
        /// The transfer or hold that was decided on.
        id: Uuid { example: ID_EXAMPLE },
        /// What the answer was and is, or why there is none.
        differences: Vec<String> { example: "[\"no answer: the model trapped\"]" },
    }
}

answer! {
    /// What would differ.
    pub(crate) struct WhatIfJson as "WhatIf" {
        orders: usize { example: "10000" },
        risk: ComparedJson,
        rules: ComparedJson,
    }
}

answer! {
    /// The decisions of a kind.
    pub(crate) struct ComparedJson as "Compared" {
        /// Decided again.
        decisions: usize { example: "10000" },
        different: usize { example: "137" },
        /// Without a usable answer.
        failed: usize { example: "0" },
        /// The most frequent first.
        changes: Vec<ChangeJson>,
    }
}

answer! {
    /// One way in which decisions differ.
    pub(crate) struct ChangeJson as "DecisionChange" {
        was: String { example: "\"accepted\"" },
        is: String { example: "\"limit-exceeded\"" },
        count: usize { example: "137" },
        /// Of all of them, in centavos.
        amount: i64 { example: "15000050" },
        by_amount: Value,
        /// By how long the payee had been saved.
        by_payee: Value,
        /// What became of them, as far as that is known.
        by_outcome: Value,
        /// Some transfers or holds.
        examples: Vec<Uuid>,
    }
}

answer! {
    /// STP's notice of a state change (`cambioEstado`). It only makes the host ask STP; nothing but the tracking key is
    /// read.
    pub(crate) struct NoticeJson as "StpNotice" {
        /// The tracking key.
        clave_rastreo: Option<String> { named: "claveRastreo", example: "\"CAUD202611218K3M5P7R9T2V4X6Z0B\"" },
        /// The tracking key again, since orders have it here too.
        folio_origen: Option<String> { named: "folioOrigen" },
        estado: Option<String> { example: "\"LQ\"" },
        /// Why the payment was returned.
        causa_devolucion: Option<Value> { named: "causaDevolucion" },
    }
}

answer! {
    /// STP's notice of an order to this bank (`sendAbono`). It only makes the host ask STP; nothing but what identifies the
    /// order is read.
    pub(crate) struct OrderNoticeJson as "StpOrderNotice" {
        /// The tracking key.
        clave_rastreo: String { named: "claveRastreo", example: "\"MBAN01002611230012345678\"" },
        /// The operating date, as a number or a text.
        fecha_operacion: Value { named: "fechaOperacion", example: "20261123" },
        /// SPEI's code of the sending institution, as a number or a text.
        institucion_ordenante: Value { named: "institucionOrdenante", example: "40012" },
    }
}
