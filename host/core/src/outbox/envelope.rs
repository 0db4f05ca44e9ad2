//! Events of all customers and of operators in the envelope of CloudEvents 1.0.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use super::data::{AccountData, HoldData, OccurrenceData, OperatorData, TransferData, TransferEvent};
use crate::db::outbox::Event;
use crate::db::outbox::operations::Operation;
use crate::db::outbox::recorded::Recorded;
use crate::domain::bank_account::{FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::money::Money;
use crate::domain::order::INSTANT_EXAMPLE;
use crate::schema::{Declaration, Flat, Record as _, answer};

/// What all types begin with.
const PREFIX: &str = "mx.caudal.";

/// A group of types: its name, what its events carry, and what the types end in.
type Group = (&'static str, &'static Declaration, &'static [&'static str]);

/// Every type of event is `mx.caudal.`, a group, a dot and an ending.
const GROUPS: &[Group] = &[
    ("transfer", &TransferData::DECLARATION, &["pending", "completed", "failed"]),
    ("hold", &HoldData::DECLARATION, &["placed", "captured", "voided", "expired"]),
    ("account", &AccountData::DECLARATION, &["frozen", "unfrozen"]),
    ("deployment", &OperatorData::DECLARATION, &["changed"]),
    (
        "rollout",
        &OperatorData::DECLARATION,
        &["started", "advanced", "paused", "resumed", "waiting", "stopped", "aborted", "ended"],
    ),
    ("approval", &OperatorData::DECLARATION, &["proposed", "approved", "resumed", "refused", "executed", "withdrawn"]),
    ("occurrence", &OccurrenceData::DECLARATION, &["sent", "refused", "skipped", "lapsed", "missed"]),
];

/// Most types in a filter: more than there are.
pub const TYPES_MAX: usize = 40;

/// Longest type.
pub const TYPE_CHARS_MAX: usize = 40;

/// Every type, with what its events carry.
pub fn types() -> impl Iterator<Item = (String, &'static Declaration)> {
    let of = |(group, data, endings): &'static Group| {
        endings.iter().map(move |ending| (format!("{PREFIX}{group}.{ending}"), *data))
    };
    GROUPS.iter().flat_map(of)
}

/// The name of the JSON Schema of a type's data.
pub fn schema_name(kind: &str) -> String {
    format!("urn:caudal:schema:{kind}")
}

/// Which types somebody wants: these, and those that begin with one of these and a dot. Without any, all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter(Vec<String>);

impl Filter {
    /// The text that selects no type is an error.
    pub fn new(wanted: Vec<String>) -> Result<Self, String> {
        let is_known = |text: &&String| types().any(|(kind, _)| selects(text, &kind));
        match wanted.iter().find(|text| !is_known(text)) {
            Some(unknown) => Err(unknown.clone()),
            None => Ok(Self(wanted)),
        }
    }

    /// As it was stored.
    pub(crate) fn stored(wanted: Vec<String>) -> Self {
        Self(wanted)
    }

    pub(super) fn has(&self, kind: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|text| selects(text, kind))
    }
}

fn selects(text: &str, kind: &str) -> bool {
    kind.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

answer! {
    /// An event in the envelope of CloudEvents 1.0.
    pub struct Envelope as "CloudEvent" {
        /// Unique, and the same each time the event is sent: the chain, the number in it, and the place in the batch.
        pub id: String { example: "\"0-15-0\"" },
        pub source: &'static str { example: "\"/admin/events\"" },
        pub specversion: &'static str { example: "\"1.0\"" },
        pub kind: String { named: "type", example: "\"mx.caudal.transfer.completed\"" },
        /// The account, or whatever else the event is about. Events of an account are in the order of their commits.
        pub subject: String { example: "\"0198f1c2-5a2b-7c3d-8e4f-5a6b7c8d9e0f\"" },
        pub time: OffsetDateTime { example: INSTANT_EXAMPLE },
        pub datacontenttype: &'static str { example: "\"application/json\"" },
        /// The `$id` of the schema that `/admin/events/schemas/{type}` answers.
        pub dataschema: String { example: "\"urn:caudal:schema:mx.caudal.transfer.completed\"" },
        pub data: Value { example: "{\"status\": \"completed\"}" },
        /// Events with a key in common are delivered one after the other.
        pub keys: Vec<String> = Vec::new(),
    }
}

impl Envelope {
    fn new((group, ending): (&str, &str), subject: String, time: OffsetDateTime, data: impl serde::Serialize) -> Self {
        let kind = format!("{PREFIX}{group}.{ending}");
        Self {
            id: String::new(),
            source: "/admin/events",
            specversion: "1.0",
            dataschema: schema_name(&kind),
            kind,
            keys: vec![subject.clone()],
            subject,
            time,
            datacontenttype: "application/json",
            // Records are objects with texts as names.
            data: serde_json::to_value(data).unwrap_or_default(),
        }
    }

    pub(super) fn with_id(self, id: String) -> Self {
        Self { id, ..self }
    }
}

impl From<Event> for Envelope {
    fn from(event: Event) -> Self {
        let (subject, time, status) = (event.account_id.to_string(), event.created_at, event.status.clone());
        let [debit, credit] = [event.debit_account_id, event.credit_account_id];
        let is_customers = |id: &Uuid| ![FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT].contains(id);
        let keys: Vec<_> = [debit, credit].iter().filter(|id| is_customers(id)).map(Uuid::to_string).collect();
        // Between the bank's own accounts, the statuses of a transfer still keep their order.
        let keys = if keys.is_empty() { vec![event.transfer_id.to_string()] } else { keys };
        let data = TransferData {
            user: event.owner.clone(),
            debit_account_id: debit,
            credit_account_id: credit,
            transfer: Flat(TransferEvent::from(event)),
        };
        Self { keys, ..Self::new(("transfer", &status), subject, time, data) }
    }
}

impl From<Operation> for Envelope {
    fn from(it: Operation) -> Self {
        let (subject, user, account_id) = (it.account_id.to_string(), it.owner, it.account_id);
        let Some(hold_id) = it.hold_id else {
            let (by, reason) = (it.actor.unwrap_or_default(), it.reason.unwrap_or_default());
            let data = AccountData { user, account_id, by, reason };
            return Self::new(("account", &it.status), subject, it.created_at, data);
        };
        let data = HoldData {
            user,
            account_id,
            hold_id,
            amount: Money::from_minor(it.amount.unwrap_or_default()),
            beneficiary_name: it.beneficiary_name.unwrap_or_default(),
            expires_at: it.expires_at.unwrap_or(it.created_at),
            transaction_id: it.transfer_id,
        };
        Self::new(("hold", &it.status), subject, it.created_at, data)
    }
}

/// How actions in the records are called in types.
const ACTIONS: &[(&str, &str, &str)] = &[
    ("deployment", "deploy", "changed"),
    ("deployment", "cut-offs", "changed"),
    ("rollout", "start", "started"),
    ("rollout", "advance", "advanced"),
    ("rollout", "pause", "paused"),
    ("rollout", "resume", "resumed"),
    ("rollout", "propose", "waiting"),
    ("rollout", "stop", "stopped"),
    ("rollout", "abort", "aborted"),
    ("rollout", "end", "ended"),
    ("approval", "propose", "proposed"),
    ("approval", "approve", "approved"),
    ("approval", "resume", "resumed"),
    ("approval", "refuse", "refused"),
    ("approval", "execute", "executed"),
    ("approval", "withdraw", "withdrawn"),
];

/// `None` for records that are not events.
pub(super) fn of_record(it: Recorded) -> Option<Envelope> {
    let (by, time, action) = (it.actor, it.recorded_at, it.action);
    if it.subject == "schedule" {
        let data = OccurrenceData {
            user: it.owner?,
            account_id: it.account_id?,
            schedule_id: it.subject_key.clone(),
            date: it.date?,
            transaction_id: it.transfer_id,
            problem: it.problem,
        };
        return Some(Envelope::new(("occurrence", &action), it.subject_key, time, data));
    }
    let (group, _, ending) = ACTIONS.iter().find(|(subject, done, _)| (*subject, *done) == (&*it.subject, &*action))?;
    let data = OperatorData { id: it.subject_key.clone(), by, details: it.details.unwrap_or_default() };
    // A deployment is one of a kind.
    let subject = if *group == "deployment" { it.subject_key.split('/').next()? } else { &it.subject_key };
    Some(Envelope::new((*group, *ending), subject.to_owned(), time, data))
}

#[cfg(test)]
pub(crate) fn event_for_tests(id: &str, keys: &[&str], time: OffsetDateTime) -> Envelope {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    Envelope { id: id.to_owned(), keys, ..Envelope::new(("hold", "placed"), String::new(), time, ()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_selects_types_and_groups() {
        let filter = |wanted: &[&str]| Filter::new(wanted.iter().map(|text| (*text).to_owned()).collect());
        assert!(filter(&[]).unwrap().has("mx.caudal.hold.placed"));
        let some = filter(&["mx.caudal.hold", "mx.caudal.transfer.failed"]).unwrap();
        assert!(some.has("mx.caudal.hold.placed") && some.has("mx.caudal.transfer.failed"));
        assert!(!some.has("mx.caudal.transfer.completed") && !some.has("mx.caudal.account.frozen"));
        for unknown in ["", "mx.caudal.hol", "mx.caudal.hold.", "hold", "mx.caudal.hold.placed.x"] {
            assert_eq!(filter(&["mx.caudal.hold", unknown]), Err(unknown.to_owned()), "{unknown}");
        }
        assert!(types().count() <= TYPES_MAX && types().all(|(kind, _)| kind.len() <= TYPE_CHARS_MAX));
        assert!(
            ACTIONS
                .iter()
                .all(|(group, _, ending)| types().any(|(kind, _)| kind == format!("{PREFIX}{group}.{ending}")))
        );
    }
}
