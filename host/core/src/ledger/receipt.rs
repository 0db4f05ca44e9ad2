//! The decisions about one transfer in a form that others can check, and run again: with the facts that concern its sender,
//! the way to the root that their batch was sealed with, and the ledger's signature of that root.

use uuid::Uuid;

use super::chain::Header;
use crate::answer;
use crate::decision::kept::{self, fact_leaf, fact_salt, leaf, leaves};
use crate::decision::{Decision, Deployed, KeptFact, Role};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::risk::CutOffs;
use crate::sealing::digest::Hash;
use crate::sealing::{ChainKey, PublicKey, is_signed, merkle};

answer! {
    /// The decisions about a transfer. Digests, salts and signatures are in hexadecimal.
    #[derive(serde::Deserialize)]
    pub struct Receipt {
        /// The transfer, or the hold that it captured.
        pub id: Uuid { example: "\"0191e0c2-7b7a-7c3e-9f5d-2f4f4c1f0a11\"" },
        pub decisions: Vec<ReceiptDecision>,
        /// Number of decisions that the batch rests on.
        pub leaves: usize { example: "4" },
        /// Root of the Merkle tree over them.
        pub root: String { example: "\"9f86d081...\"" },
        /// The batch.
        pub chain: Uuid { example: "\"6f1b7c1e-52d8-4a0c-8b41-0f5a3c9d2e77\"" },
        pub seq: i64 { example: "812" },
        pub hash: String { example: "\"2c26b46b...\"" },
        /// The ledger's public key.
        pub signer: String { example: "\"d75a9801...\"" },
        /// By this key, with Ed25519, of a line that names the batch, its hash, the root and the number of leaves.
        pub signature: String { example: "\"e5564300...\"" },
    }
}

answer! {
    /// A decision of a model.
    #[derive(serde::Deserialize)]
    pub struct ReceiptDecision {
        pub kind: String { example: "\"transfer-rules\"" },
        /// SHA-256 of the component that decided.
        pub component: String { example: "\"7f31c2a9...\"" },
        /// Of the deployment.
        pub epoch: i64 { example: "3" },
        pub role: String { example: "\"champion\"" },
        /// From where on a score is a medium and a high risk.
        pub medium: f64 { example: "0.3" },
        pub high: f64 { example: "0.7" },
        pub facts: Vec<ReceiptFact>,
        /// Digests of facts about somebody else, which follow the others.
        pub withheld: Vec<String>,
        /// The component's own, in bytes.
        pub answer: String { example: "\"00000000\"" },
        /// Among the leaves.
        pub place: usize { example: "2" },
        /// From the leaf to the root.
        pub path: Vec<String>,
    }
}

answer! {
    /// A fact that a decision rests on.
    #[derive(serde::Deserialize)]
    pub struct ReceiptFact {
        pub name: String { example: "\"amount\"" },
        pub value: f64 { example: "150050" },
        /// Whether only the client says so.
        pub claimed: bool { example: "false" },
        pub salt: String { example: "\"fcde2b2e...\"" },
    }
}

/// What a receipt does not prove, in a sentence.
pub type Flaw = &'static str;

impl Receipt {
    /// `None` if no decision about it is kept as the batch was sealed.
    pub fn of((header, hash): &(Header, Hash), kept: &[u8], id: Uuid, key: &ChainKey) -> Option<Self> {
        let (decisions, salt) = kept::decode(kept)?;
        let leaves = leaves(&decisions, salt);
        if key.hash(header) != *hash || merkle::root(&leaves) != header.decisions {
            return None;
        }
        let about = decisions.iter().enumerate().filter(|(_, it)| it.subject == id);
        let about = about.map(|(place, it)| ReceiptDecision::of(it, salt, (place, merkle::path(&leaves, place))));
        let mut receipt = Self {
            id,
            decisions: about.collect(),
            leaves: leaves.len(),
            root: hex::encode(header.decisions),
            chain: header.chain_id,
            seq: header.seq,
            hash: hex::encode(hash),
            signer: hex::encode(key.fingerprint()),
            signature: String::new(),
        };
        receipt.signature = hex::encode(key.sign(receipt.signed().as_bytes()));
        (!receipt.decisions.is_empty()).then_some(receipt)
    }

    /// That decided.
    pub fn components(&self) -> impl Iterator<Item = (ModelKind, Digest)> {
        self.decisions.iter().filter_map(|it| Some((ModelKind::parse(&it.kind)?, Digest(hash(&it.component)?))))
    }

    fn signed(&self) -> String {
        let Self { chain, seq, hash, root, leaves, .. } = self;
        format!("caudal receipt 1 {chain} {seq} {hash} {root} {leaves}")
    }

    /// The decisions as their batch was sealed with them, and by whom.
    ///
    /// # Errors
    /// What does not fit.
    pub fn proven(&self) -> Result<(Vec<Decision>, PublicKey), Flaw> {
        let signer = hash(&self.signer).ok_or("the key is not one")?;
        let signature = bytes(&self.signature).unwrap_or_default();
        if !is_signed(self.signed().as_bytes(), &signature, &signer) {
            return Err("the signature is not of this batch by this key");
        }
        let decisions: Vec<_> = self.decisions.iter().map(|it| self.sealed(it)).collect::<Result<_, _>>()?;
        if decisions.is_empty() { Err("it holds no decision") } else { Ok((decisions, signer)) }
    }

    fn sealed(&self, given: &ReceiptDecision) -> Result<Decision, Flaw> {
        let (decision, facts) = given.read(self.id).ok_or("a decision cannot be read")?;
        let path: Option<Vec<_>> = given.path.iter().map(|it| hash(it)).collect();
        let mut path = path.ok_or("a path cannot be read")?.into_iter();
        let root = merkle::climb(leaf(&decision, &facts), (given.place, self.leaves), &mut path);
        let is_sealed = root.is_some() && root == hash(&self.root) && path.next().is_none();
        if is_sealed { Ok(decision) } else { Err("a decision is not the one that the batch was sealed with") }
    }
}

impl ReceiptDecision {
    fn of(decision: &Decision, salt: kept::Salt, (place, path): (usize, Vec<Hash>)) -> Self {
        let Decision { by: Deployed { kind, digest, epoch, role, cut_offs }, facts, answer, .. } = decision;
        let salted = |fact| (fact, fact_salt(decision, fact, salt));
        let (withheld, told): (Vec<_>, Vec<_>) =
            facts.iter().map(salted).partition(|(fact, _)| fact.is_about_payee(*kind));
        let told = told.into_iter().map(|(fact, salt)| ReceiptFact {
            name: fact.name(*kind).to_owned(),
            value: fact.value,
            claimed: fact.is_claimed,
            salt: hex::encode(salt),
        });
        Self {
            kind: kind.as_str().to_owned(),
            component: digest.to_string(),
            epoch: *epoch,
            role: role.as_str().to_owned(),
            medium: cut_offs.medium_from,
            high: cut_offs.high_from,
            facts: told.collect(),
            withheld: withheld.iter().map(|(fact, salt)| hex::encode(fact_leaf(*kind, fact, salt))).collect(),
            answer: hex::encode(answer),
            place,
            path: path.iter().map(hex::encode).collect(),
        }
    }

    /// The decision without what is withheld, and the digests of all its facts.
    fn read(&self, subject: Uuid) -> Option<(Decision, Vec<Hash>)> {
        let kind = ModelKind::parse(&self.kind)?;
        let (mut facts, mut leaves) = (Vec::new(), Vec::new());
        for ReceiptFact { name, value, claimed, salt } in &self.facts {
            let at = |place| KeptFact { place, value: *value, is_claimed: *claimed };
            let fact = (0..u8::MAX).map(at).find(|it| it.name(kind) == name && !name.is_empty())?;
            leaves.push(fact_leaf(kind, &fact, &hash(salt)?));
            facts.push(fact);
        }
        leaves.extend(self.withheld.iter().map(|it| hash(it)).collect::<Option<Vec<_>>>()?);
        let cut_offs = CutOffs { medium_from: self.medium, high_from: self.high };
        let (digest, role) = (Digest(hash(&self.component)?), Role::parse(&self.role)?);
        let by = Deployed { kind, digest, epoch: self.epoch, role, cut_offs };
        Some((Decision { subject, by, facts, answer: bytes(&self.answer)? }, leaves))
    }
}

/// Each value has one spelling.
fn bytes(text: &str) -> Option<Vec<u8>> {
    hex::decode(text).ok().filter(|bytes| hex::encode(bytes) == text)
}

fn hash(text: &str) -> Option<Hash> {
    bytes(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use time::OffsetDateTime;

    use super::*;
    use crate::domain::rules::Verdict;
    use crate::ledger::apply::apply;
    use crate::ledger::batch::{Context, Policy, State, Terms};
    use crate::ledger::writer::Writer;

    const ID: Uuid = Uuid::from_u128(7);

    fn decision(subject: Uuid, kind: ModelKind) -> Decision {
        let by = Deployed { kind, digest: Digest([8; 32]), epoch: 3, role: Role::Champion, cut_offs: CutOffs::DEFAULT };
        let fact = |place| KeptFact { place, value: f64::from(place) + 0.5, is_claimed: place % 2 == 0 };
        let last = if kind == ModelKind::Risk { 32 } else { 10 };
        Decision { subject, by, facts: (0..last).map(fact).collect(), answer: vec![0, 3, 7] }
    }

    /// Of a batch that rests on four decisions, two of which are about the transfer.
    fn receipt() -> Receipt {
        let key = ChainKey::new(&[1; 32]).unwrap();
        let policy = Policy { decide: &|_, _, _| Ok(Verdict::Accepted), transition: &|_, _| Ok(None) };
        let context = Context { now: OffsetDateTime::UNIX_EPOCH, stripe: 0, terms: Terms::OPEN };
        let (mut batch, _) = apply(&mut State::default(), &[], &context, &policy);
        let kinds = [ModelKind::Risk, ModelKind::TransferRules];
        batch.decisions =
            [Uuid::from_u128(1), ID].into_iter().flat_map(|id| kinds.map(|kind| decision(id, kind))).collect();
        let writer =
            Writer { chain_id: Uuid::nil(), stripe: 0, next_seq: 4, head: Hash::default(), holder: Uuid::nil() };
        let seal = key.seal(&batch, Uuid::from_u128(5), &writer, &context);
        assert_eq!(Receipt::of(&(seal.header.clone(), seal.hash), &seal.kept, Uuid::from_u128(2), &key), None);
        assert_eq!(Receipt::of(&(seal.header.clone(), Hash::default()), &seal.kept, ID, &key), None);
        Receipt::of(&(seal.header, seal.hash), &seal.kept, ID, &key).unwrap()
    }

    #[test]
    fn a_receipt_tells_everything_but_the_facts_about_the_payee() {
        let receipt = receipt();
        let (decisions, signer) = receipt.proven().unwrap();
        assert_eq!(hex::encode(signer), receipt.signer);
        let [risk, rules] = &decisions[..] else { panic!("{decisions:?}") };
        assert_eq!(*rules, decision(ID, ModelKind::TransferRules));
        let withheld = decision(ID, ModelKind::Risk).facts.split_off(risk.facts.len());
        let names: Vec<_> = withheld.iter().map(|it| it.name(ModelKind::Risk)).collect();
        assert_eq!(names, ["payee_senders_24h", "payee_received_24h", "payee_minutes_to_sending"]);
        assert_eq!(receipt.decisions[0].withheld.len(), names.len());
    }

    /// The places of what a value consists of.
    fn parts(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, it)| parts(it, &format!("{at}/{name}"), found)),
            Value::Array(all) => all.iter().enumerate().for_each(|(n, it)| parts(it, &format!("{at}/{n}"), found)),
            _ => found.push(at.to_owned()),
        }
    }

    #[test]
    fn nothing_in_a_receipt_can_be_altered() {
        let sound = serde_json::to_value(receipt()).unwrap();
        let is_accepted = |value: Value| serde_json::from_value::<Receipt>(value).is_ok_and(|it| it.proven().is_ok());
        assert!(is_accepted(sound.clone()));
        let (mut places, mut altered) = (Vec::new(), 0);
        parts(&sound, "", &mut places);
        for place in places {
            let part = sound.pointer(&place).unwrap();
            let others: Vec<Value> = match part {
                Value::String(text) => (0..text.len().min(8))
                    .map(|at| {
                        let mut other = text.clone().into_bytes();
                        let at = at * text.len() / 8;
                        other[at] = if other[at] == b'0' { b'1' } else { b'0' };
                        json!(String::from_utf8(other).unwrap())
                    })
                    .chain([json!(""), json!(text.to_uppercase()), json!(format!("{text}00"))])
                    .collect(),
                Value::Bool(is) => vec![json!(!is)],
                number => {
                    let number = number.as_f64().unwrap();
                    vec![json!(number as i64 + 1), json!(-number - 1.0), json!(number + 1e-9)]
                }
            };
            for other in others.into_iter().filter(|other| other != part) {
                let mut value = sound.clone();
                *value.pointer_mut(&place).unwrap() = other.clone();
                assert!(!is_accepted(value), "{place} is {other} instead of {part}");
                altered += 1;
            }
        }
        for list in ["facts", "withheld", "path"] {
            for (at, to) in [(0, 1), (1, 0)] {
                let mut value = sound.clone();
                let place = format!("/decisions/0/{list}");
                let moved = value.pointer_mut(&place).and_then(Value::as_array_mut).unwrap().remove(at);
                let shorter = value.clone();
                value.pointer_mut(&place).and_then(Value::as_array_mut).unwrap().insert(to, moved);
                assert!(!is_accepted(shorter) && !is_accepted(value), "{place}");
                altered += 2;
            }
        }
        assert!(altered >= 1_000, "{altered}");
    }
}
