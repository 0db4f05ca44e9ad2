//! What hosts and `verify` do about a history that is not the recorded one: recorded heads, lost records, accepted losses.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::ledger::{account_and_payee, send, sql, with_transfers};
use crate::process::{DataDir, Service, text};

/// Undoes the last batch as a replica that never had it would.
pub(crate) const LOSE_THE_LAST_BATCH: &str =
    "create temp table tail as select chain_id, seq from ledger_batch order by created_at desc, seq desc limit 1;
     update account_balance b set posted = posted - e.delta, version = b.version - 1, changed_at = (
         select max(o.created_at) from entry o where o.account_id = b.account_id and o.stripe = b.stripe
             and o.version < e.version
     ), sent = greatest(0, b.sent - 100), sent_transfers = greatest(0, b.sent_transfers - 1),
        sent_total = greatest(0, b.sent_total - 100)
         from entry e join tail using (chain_id, seq) where e.account_id = b.account_id and e.stripe = b.stripe;
     update payee_total p set transfers = p.transfers - 1, amount = p.amount - t.amount
         from transfer t join tail using (chain_id, seq) where (p.owner, p.payee_key) = (t.owner, t.payee_key);
     delete from entry e using tail t where e.chain_id = t.chain_id and e.seq = t.seq;
     delete from transfer_event e using tail t where e.chain_id = t.chain_id and e.seq = t.seq;
     delete from transfer e using tail t where e.chain_id = t.chain_id and e.seq = t.seq;
     delete from decision e using tail t where e.chain_id = t.chain_id and e.seq = t.seq;
     delete from ledger_batch e using tail t where e.chain_id = t.chain_id and e.seq = t.seq;";

const SERVE: [&str; 6] = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];

fn assert_refused(output: &Output) {
    let stderr = text(&output.stderr);
    assert!(!output.status.success() && stderr.contains("caudal verify"), "{stderr}");
}

#[test]
fn a_host_stops_when_its_history_became_shorter_and_resumes_after_the_loss_was_accepted() {
    let data = DataDir::new();
    with_transfers(&data, 3);
    let log = data.0.join("log");
    let mut service = Service::start_with(&data, Stdio::from(fs::File::create(&log).unwrap()));
    let events = text(&data.run(&["events"]).stdout);
    let read: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    sql(&data, LOSE_THE_LAST_BATCH);
    assert_eq!(service.wait(), Some(1));
    let logged = fs::read_to_string(&log).unwrap();
    assert!(logged.contains("history was shortened or rewritten"), "{logged}");

    // Neither a host nor a command goes on, and verification says why. A cursor that is ahead is refused.
    let resume = || text(&data.run(&["events", "--from", read["cursor"].as_str().unwrap()]).stderr);
    assert!(resume().contains("read again with --from 0"), "{}", resume());
    assert_refused(&data.run(&SERVE));
    assert_refused(&data.run(&["replay"]));
    let verify = data.run(&["verify"]);
    assert!(text(&verify.stdout).contains("history was truncated"), "{}", text(&verify.stdout));

    let accept = data.run(&["accept-loss", "--reason", "failover of 3 May", "--by", "rosa"]);
    let printed = text(&accept.stdout);
    assert!(accept.status.success() && printed.contains("accepted as lost: batches"), "{printed}");
    let verify = data.run(&["verify"]);
    let printed = text(&verify.stdout);
    assert!(verify.status.success(), "{printed}");
    assert!(printed.contains("LOST    batches") && printed.contains("by rosa"), "{printed}");
    assert!(printed.contains("failover of 3 May"), "{printed}");
    Service::start(&data).stop();
    assert!(resume().contains("read again with --from 0"), "{}", resume());
    assert_eq!(text(&data.run(&["events"]).stdout).lines().count(), events.lines().count() - 1);
    assert!(text(&data.run(&["accept-loss", "--reason", "x"]).stdout).contains("no loss found"));
    // A name that nobody can read is none.
    for by in ["", " ", "\u{200b}"] {
        for command in ["accept-loss", "freeze"] {
            let refused = data.run(&[command, "--reason", "x", "--by", by]);
            assert!(text(&refused.stderr).contains("'--by <BY>': must have 1 to 500"), "{}", text(&refused.stderr));
        }
    }
}

/// Ten seconds pass between two recordings of the heads.
#[test]
fn a_host_misses_what_it_committed_since_it_last_recorded_heads() {
    let data = DataDir::new();
    let log = data.0.join("log");
    let mut service = Service::start_with(&data, Stdio::from(fs::File::create(&log).unwrap()));
    let (account, payee) = account_and_payee(&service);
    for _ in 0..2 {
        assert_eq!(send(&service, &account, &payee, "1.00"), 200);
    }
    sql(&data, LOSE_THE_LAST_BATCH);
    assert_eq!(service.wait(), Some(1));
    let logged = fs::read_to_string(&log).unwrap();
    assert!(logged.contains("history was shortened or rewritten"), "{logged}");

    let accept = data.run(&["accept-loss", "--reason", "failover of 4 May", "--by", "rosa"]);
    let printed = text(&accept.stdout);
    assert!(accept.status.success() && printed.contains("accepted as lost: batches"), "{printed}");
    let service = Service::start(&data);
    assert_eq!(send(&service, &account, &payee, "2.00"), 200);
    service.stop();
    let verify = data.run(&["verify"]);
    assert!(verify.status.success(), "{}", text(&verify.stdout));
}

#[test]
fn a_second_place_remembers_what_the_data_folder_forgot() {
    let data = DataDir::new();
    with_transfers(&data, 3);
    let copy = data.0.join("copy/heads.json");
    fs::create_dir(data.0.join("copy")).unwrap();
    fs::copy(data.0.join("ledger-heads.json"), &copy).unwrap();
    sql(&data, LOSE_THE_LAST_BATCH);
    fs::remove_file(data.0.join("ledger-heads.json")).unwrap();
    let output = data.command(&SERVE).env("CAUDAL_HEADS_COPY", &copy).output().unwrap();
    assert_refused(&output);
    assert!(text(&output.stderr).contains("copy/heads.json"), "{}", text(&output.stderr));
}

#[test]
fn a_ledger_without_its_records_is_not_a_new_one() {
    let data = DataDir::new();
    with_transfers(&data, 2);
    sql(
        &data,
        "delete from audit_record; delete from chain_origin;
         update audit_head set seq = -1, hash = decode(repeat('00', 32), 'hex');",
    );
    assert_refused(&data.run(&SERVE));
    // Nor without what the data folder remembers.
    fs::remove_file(data.0.join("ledger-heads.json")).unwrap();
    let verify = data.run(&["verify"]);
    assert!(text(&verify.stdout).contains("no record says where its chain began"), "{}", text(&verify.stdout));
    assert!(!verify.status.success());
}

#[test]
fn a_replaced_key_still_proves_what_it_sealed() {
    let data = DataDir::new();
    with_transfers(&data, 2);
    let (new, old) = (data.0.join("new-key"), data.0.join("old-key"));
    fs::write(&new, "a new key of more than thirty-two bytes\n").unwrap();
    let rotate =
        || data.run(&["rotate-key", "--new-ledger-key-file", new.to_str().unwrap(), "--by", "rosa", "--reason", "x"]);
    assert!(text(&rotate().stderr).contains("chmod 600"), "{}", text(&rotate().stderr));
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    fs::copy(data.0.join("ledger-key"), &old).unwrap();

    let service = Service::start(&data);
    let refused = rotate();
    assert!(
        !refused.status.success() && text(&refused.stderr).contains("stop every host"),
        "{}",
        text(&refused.stderr)
    );
    service.stop();
    let rotated = rotate();
    let printed = text(&rotated.stdout);
    assert!(rotated.status.success() && printed.contains("the data folder has the new key"), "{printed}");
    assert!(text(&rotate().stderr).contains("retired before"), "{}", text(&rotate().stderr));

    // A host goes on with the new key and reports the old one.
    Service::start(&data).stop();
    let output = data.command(&SERVE).env("CAUDAL_LEDGER_KEY", fs::read_to_string(&old).unwrap()).output().unwrap();
    let stderr = text(&output.stderr);
    assert!(!output.status.success() && stderr.contains("configure the key that replaced it"), "{stderr}");

    let alone = data.run(&["verify"]);
    let printed = text(&alone.stdout);
    assert!(alone.status.success() && printed.contains("NOT proven for want of retired keys"), "{printed}");
    assert!(printed.contains("retired: key") && printed.contains("by rosa"), "{printed}");
    assert!(!printed.contains("the ledger is sound"), "{printed}");
    let since = text(&data.run(&["verify", "--since", "2020-01-01T00:00:00Z"]).stdout);
    assert!(since.ends_with("since then is sound; the rest was NOT proven"), "{since}");
    let both = data.run(&["verify", "--retired-ledger-key-file", old.to_str().unwrap()]);
    let printed = text(&both.stdout);
    assert!(both.status.success() && printed.ends_with("the ledger is sound"), "{printed}");
}
