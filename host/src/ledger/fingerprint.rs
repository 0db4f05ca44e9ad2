//! Fingerprints of requests with an idempotency key, which tell a retry from another request.
//!
//! SHA-256 of the typed fields, so that notation (`1e2`, `100.00`) makes no difference. A request that uses none of
//! the fields added later keeps its original fingerprint, so that old keys still replay.

use sha2::{Digest as _, Sha256};

use super::command::{Order, PlaceHold};
use crate::domain::remittance::Remittance;
use crate::sealing::digest::Digest as Fields;

pub(super) fn of_transfer(order: &Order) -> [u8; 32] {
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
        hold_id,
        may_record_refusal: _,
    } = order;
    if order.remittance.is_none() {
        let mut hash = start(b"caudal transfer 1", order);
        if let Some(hold_id) = hold_id {
            hash.update(hold_id.as_bytes());
        }
        return hash.finalize().into();
    }
    // The second form, with everything the first one has.
    let mut fields = Fields::new(b"caudal transfer 2");
    fields.uuid(*from_account_id);
    fields.uuid(*to_beneficiary_id);
    fields.int(amount.minor());
    fields.optional_uuid(*hold_id);
    fields.optional_text(concept.as_deref());
    fields.optional_int(reference.map(i64::from));
    fields.finish()
}

pub(super) fn of_hold(place: &PlaceHold) -> [u8; 32] {
    let mut hash = start(b"caudal hold 1", &place.order);
    hash.update(place.lifetime.whole_seconds().to_be_bytes());
    hash.finalize().into()
}

fn start(domain: &[u8], order: &Order) -> Sha256 {
    let mut hash = Sha256::new();
    hash.update(domain);
    hash.update(order.from_account_id.as_bytes());
    hash.update(order.to_beneficiary_id.as_bytes());
    hash.update(order.amount.minor().to_be_bytes());
    hash
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
            hold_id: hold.map(Uuid::from_u128),
            may_record_refusal: true,
        }
    }

    /// Keys of earlier releases are stored with these.
    #[test]
    fn an_order_that_tells_the_payee_nothing_has_the_fingerprint_it_always_had() {
        let hex =
            |hold| of_transfer(&order(hold, None, None)).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(None), "5ba8f6453c3e9150411136ad154be783dade2f64ae399c0f8cb479022bba13c2");
        assert_eq!(hex(Some(3)), "503adedfcff61456b435162a28a471b239ce877847b7e2beb83eaf89f3d93d52");
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
