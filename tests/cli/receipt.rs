//! `receipt`.

use serde_json::json;

use crate::ledger::with_transfers;
use crate::process::{DataDir, Service, text};

#[test]
fn a_receipt_is_checked_offline_and_executed_again() {
    let data = DataDir::new();
    with_transfers(&data, 1);
    let service = Service::start(&data);
    let transfers = service.must("GET", "/api/ledger/transactions", None);
    let path = format!("/api/ledger/transactions/{}/receipt", transfers[0]["id"].as_str().unwrap());
    let receipt = service.must("GET", &path, None);
    service.stop();
    let heads = data.0.join("ledger-heads.json");
    let verify = |receipt: &serde_json::Value| {
        let file = data.file("receipt.json", &receipt.to_string());
        let output = data.run(&["receipt", "verify", &file, "--heads", heads.to_str().unwrap()]);
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, said) = verify(&receipt);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("transfer-rules") && said.contains("executed again: the same answer, bit for bit"), "{said}");
    for (place, other) in [("/receipt/decisions/0/facts/0/value", json!(1.0)), ("/receipt/seq", json!(0))] {
        let mut altered = receipt.clone();
        *altered.pointer_mut(place).unwrap() = other;
        let (code, said) = verify(&altered);
        assert!(code == Some(1) && said.contains("the receipt is not valid"), "{place}: {said}");
    }
    // Another ledger's heads.
    let other = DataDir::new();
    with_transfers(&other, 1);
    std::fs::copy(other.0.join("ledger-heads.json"), &heads).unwrap();
    let (code, said) = verify(&receipt);
    assert!(code == Some(1) && said.contains("is signed with another key"), "{said}");
}
