//! The decisions of models that a batch rests on, in the form that they are kept in, and their seal.
//!
//! The batch's header holds the root of a Merkle tree with a leaf for each decision. A leaf covers every fact by a salted
//! digest, so that a decision can be shown without the facts that are nobody's business but the bank's. The row itself may
//! be deleted: the header stays what it was.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{Decision, Deployed, KeptFact, Role};
use crate::domain::model::{Digest as ModelDigest, ModelKind};
use crate::domain::risk::CutOffs;
use crate::sealing::digest::{Digest, Hash};
use crate::sealing::merkle;

/// Who does not know it cannot try which value a fact has. Postgres keeps it with the decisions.
pub type Salt = [u8; 16];

/// Set in the place of a fact that only the client says.
const CLAIMED: u8 = 0x80;

/// Amounts have at most two digits after the point.
const CENTAVOS: f64 = 100.0;

#[derive(Serialize, Deserialize)]
struct Stored {
    salt: Salt,
    deployed: Vec<StoredDeployed>,
    decisions: Vec<StoredDecision>,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct StoredDeployed {
    kind: u8,
    digest: [u8; 32],
    epoch: i64,
    role: u8,
    cut_offs: Option<[f64; 2]>,
}

#[derive(Serialize, Deserialize)]
struct StoredDecision {
    subject: Uuid,
    /// Place in `deployed`.
    by: u8,
    facts: Vec<(u8, Value)>,
    answer: Vec<u8>,
}

/// A number in as few bytes as it needs.
#[derive(Serialize, Deserialize)]
enum Value {
    Whole(i64),
    Centavos(i64),
    Any(f64),
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        let is_same = |other: f64| other.to_bits() == number.to_bits();
        let (whole, centavos) = (number as i64, (number * CENTAVOS).round() as i64);
        if is_same(whole as f64) {
            Self::Whole(whole)
        } else if is_same(centavos as f64 / CENTAVOS) {
            Self::Centavos(centavos)
        } else {
            Self::Any(number)
        }
    }
}

impl From<Value> for f64 {
    fn from(value: Value) -> Self {
        match value {
            Value::Whole(number) => number as Self,
            Value::Centavos(number) => number as Self / CENTAVOS,
            Value::Any(number) => number,
        }
    }
}

impl From<&Deployed> for StoredDeployed {
    fn from(Deployed { kind, digest, epoch, role, cut_offs }: &Deployed) -> Self {
        let is_default = *cut_offs == CutOffs::DEFAULT;
        Self {
            kind: *kind as u8,
            digest: digest.0,
            epoch: *epoch,
            role: *role as u8,
            cut_offs: (!is_default).then_some([cut_offs.medium_from, cut_offs.high_from]),
        }
    }
}

impl StoredDeployed {
    fn read(&self) -> Option<Deployed> {
        let cut_offs = self.cut_offs.map(|[medium_from, high_from]| CutOffs { medium_from, high_from });
        Some(Deployed {
            kind: *ModelKind::ALL.iter().find(|kind| **kind as u8 == self.kind)?,
            digest: ModelDigest(self.digest),
            epoch: self.epoch,
            role: *Role::ALL.get(usize::from(self.role))?,
            cut_offs: cut_offs.unwrap_or(CutOffs::DEFAULT),
        })
    }
}

/// Nothing for a batch without decisions.
pub fn encode(decisions: &[Decision], salt: Salt) -> Vec<u8> {
    if decisions.is_empty() {
        return Vec::new();
    }
    let mut deployed: Vec<StoredDeployed> = Vec::new();
    let mut place = |by: &Deployed| {
        let by = StoredDeployed::from(by);
        let at = deployed.iter().position(|it| *it == by).unwrap_or_else(|| {
            deployed.push(by);
            deployed.len() - 1
        });
        // A batch has one snapshot of the rules, and its orders were scored within seconds.
        u8::try_from(at).unwrap_or(u8::MAX)
    };
    let decisions = decisions.iter().map(|decision| StoredDecision {
        subject: decision.subject,
        by: place(&decision.by),
        facts: decision.facts.iter().map(|fact| (marked(fact), fact.value.into())).collect(),
        answer: decision.answer.clone(),
    });
    let decisions = decisions.collect();
    // Only what has no length in advance cannot be written.
    postcard::to_allocvec(&Stored { salt, deployed, decisions }).unwrap_or_default()
}

/// `None` if that is not what [`encode`] wrote.
pub fn decode(kept: &[u8]) -> Option<(Vec<Decision>, Salt)> {
    if kept.is_empty() {
        return Some(Default::default());
    }
    let Stored { salt, deployed, decisions } = postcard::from_bytes(kept).ok()?;
    let deployed: Vec<_> = deployed.iter().map(StoredDeployed::read).collect::<Option<_>>()?;
    let fact = |(place, value): (u8, Value)| KeptFact {
        place: place & !CLAIMED,
        value: value.into(),
        is_claimed: place & CLAIMED != 0,
    };
    let decision = |it: StoredDecision| {
        Some(Decision {
            subject: it.subject,
            by: *deployed.get(usize::from(it.by))?,
            facts: it.facts.into_iter().map(fact).collect(),
            answer: it.answer,
        })
    };
    Some((decisions.into_iter().map(decision).collect::<Option<_>>()?, salt))
}

fn marked(fact: &KeptFact) -> u8 {
    fact.place | if fact.is_claimed { CLAIMED } else { 0 }
}

/// Of the Merkle tree over the decisions of a batch.
pub fn root(decisions: &[Decision], salt: Salt) -> Hash {
    merkle::root(&leaves(decisions, salt))
}

pub(crate) fn leaves(decisions: &[Decision], salt: Salt) -> Vec<Hash> {
    decisions.iter().map(|it| leaf(it, &fact_leaves(it, salt))).collect()
}

/// A decision with the digests of its facts in place of the facts.
pub(crate) fn leaf(Decision { subject, by, answer, .. }: &Decision, facts: &[Hash]) -> Hash {
    let Deployed { kind, digest, epoch, role, cut_offs } = by;
    let mut record = Digest::new(b"caudal decision 1");
    record.uuid(*subject);
    record.text(kind.as_str());
    record.bytes(&digest.0);
    record.int(*epoch);
    record.text(role.as_str());
    [cut_offs.medium_from, cut_offs.high_from].iter().for_each(|it| record.bytes(&it.to_be_bytes()));
    facts.iter().for_each(|fact| record.bytes(fact));
    record.bytes(answer);
    record.finish()
}

/// Digests of facts, each under a salt of its own: to tell one fact gives away nothing of the others. Those about the payee
/// come last.
fn fact_leaves(decision: &Decision, salt: Salt) -> Vec<Hash> {
    let kind = decision.by.kind;
    let of = |is_about_payee| decision.facts.iter().filter(move |it| it.is_about_payee(kind) == is_about_payee);
    of(false).chain(of(true)).map(|fact| fact_leaf(kind, fact, &fact_salt(decision, fact, salt))).collect()
}

pub(crate) fn fact_salt(Decision { subject, by, .. }: &Decision, fact: &KeptFact, salt: Salt) -> Hash {
    let hasher = Sha256::new().chain_update(salt).chain_update(subject.as_bytes());
    hasher.chain_update([by.kind as u8, by.role as u8, fact.place]).finalize().into()
}

/// Its name is the last part, so that it needs no length.
pub(crate) fn fact_leaf(kind: ModelKind, fact: &KeptFact, salt: &Hash) -> Hash {
    let hasher = Sha256::new().chain_update(salt).chain_update([fact.is_claimed.into()]);
    hasher.chain_update(fact.value.to_be_bytes()).chain_update(fact.name(kind)).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decision(subject: u128, role: usize, facts: Vec<(u8, f64, bool)>, answer: Vec<u8>) -> Decision {
        let cut_offs = CutOffs { medium_from: 0.1, high_from: 0.9 };
        let by = Deployed {
            kind: ModelKind::Risk,
            digest: ModelDigest([7; 32]),
            epoch: 3,
            role: Role::ALL[role],
            cut_offs: if role == 0 { CutOffs::DEFAULT } else { cut_offs },
        };
        let facts = facts.into_iter().map(|(place, value, is_claimed)| KeptFact { place, value, is_claimed });
        Decision { subject: Uuid::from_u128(subject), by, facts: facts.collect(), answer }
    }

    fn any_fact() -> impl Strategy<Value = (u8, f64, bool)> {
        let value = prop_oneof![
            any::<f64>().prop_filter("a number", |it| !it.is_nan()),
            (0..1_000_000).prop_map(|it| f64::from(it) / CENTAVOS)
        ];
        (0..CLAIMED, value, any::<bool>())
    }

    proptest! {
        #[test]
        fn decisions_are_read_as_they_were_written(
            kept in prop::collection::vec((any::<u128>(), 0..3_usize, prop::collection::vec(any_fact(), 0..40), any::<Vec<u8>>()), 1..8),
            salt: Salt, changed: prop::sample::Index, bit in 0..8_u8,
        ) {
            let decisions: Vec<_> = kept.into_iter().map(|(subject, role, facts, answer)| decision(subject, role, facts, answer)).collect();
            let bytes = encode(&decisions, salt);
            prop_assert_eq!(decode(&bytes), Some((decisions.clone(), salt)));
            // Whatever is changed changes the root, or cannot be read.
            let mut altered = bytes;
            let at = changed.index(altered.len());
            altered[at] ^= 1 << bit;
            if let Some((other, other_salt)) = decode(&altered) {
                let is_same = other == decisions && (other_salt == salt || decisions.iter().all(|it| it.facts.is_empty()));
                prop_assert!(is_same || root(&other, other_salt) != root(&decisions, salt));
            }
        }
    }

    #[test]
    fn both_decisions_of_an_order_take_little_room() {
        let facts = (0..32).map(|place| (place, f64::from(place) * 1_234.5, false)).collect();
        let (risk, rules) =
            (decision(1, 0, facts, vec![0; 24]), decision(1, 0, vec![(0, 150_050.0, false); 10], vec![0; 3]));
        let bytes = encode(&[risk, rules], [0; 16]).len();
        assert!(bytes < 400, "{bytes}");
    }
}
