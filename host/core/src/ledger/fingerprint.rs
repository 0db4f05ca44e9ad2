//! Fingerprints of requests with an idempotency key, which tell a retry from another request.
//!
//! SHA-256 of the typed fields, so that notation (`1e2`, `100.00`) makes no difference.

use super::command::{Order, PlaceHold};
use crate::domain::remittance::Remittance;
use crate::sealing::digest::Digest;

pub(super) fn of_transfer(order: &Order) -> [u8; 32] {
    start(b"caudal transfer 1", order).finish()
}

pub(super) fn of_hold(place: &PlaceHold) -> [u8; 32] {
    let mut digest = start(b"caudal hold 1", &place.order);
    digest.int(place.lifetime.whole_seconds());
    digest.finish()
}

fn start(domain: &[u8], order: &Order) -> Digest {
    // Every field is named, so that a new one is hashed or left out on purpose.
    let Order {
        transfer_id: _,
        owner: _,
        key: _,
        from_account_id,
        to_beneficiary_id,
        amount,
        remittance: Remittance { concept, reference },
        risk: _,
        risk_decisions: _,
        hold_id,
        device: _,
        may_record_refusal: _,
    } = order;
    let mut digest = Digest::new(domain);
    digest.uuid(*from_account_id);
    digest.uuid(*to_beneficiary_id);
    digest.int(amount.minor());
    digest.optional_uuid(*hold_id);
    digest.optional_text(concept.as_deref());
    digest.optional_int(reference.map(i64::from));
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Money;
    use crate::domain::risk::Risk;
    use uuid::Uuid;

    fn order(hold: Option<u128>, concept: Option<&str>, reference: Option<u32>) -> Order {
        Order {
            transfer_id: Uuid::nil(),
            owner: "ana".to_owned(),
            key: None,
            from_account_id: Uuid::from_u128(1),
            to_beneficiary_id: Uuid::from_u128(2),
            amount: Money::from_minor(10_050),
            remittance: Remittance { concept: concept.map(str::to_owned), reference },
            risk: Risk::NotEnforced,
            risk_decisions: None,
            hold_id: hold.map(Uuid::from_u128),
            device: None,
            may_record_refusal: true,
        }
    }

    #[test]
    fn concept_reference_and_hold_each_make_another_order() {
        let orders = [
            order(None, None, None),
            order(None, Some("Renta"), None),
            order(None, Some("renta"), None),
            order(None, Some("7"), None),
            order(None, None, Some(7)),
            order(None, None, Some(8)),
            order(None, Some("Renta"), Some(7)),
            order(Some(3), Some("Renta"), Some(7)),
            order(Some(3), None, None),
        ];
        let fingerprints: std::collections::BTreeSet<_> = orders.iter().map(of_transfer).collect();
        assert_eq!(fingerprints.len(), orders.len());
    }
}
