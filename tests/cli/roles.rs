//! Hosts, verification and migrations as the roles that `caudal roles` creates.

use serde_json::json;

use crate::process::{DataDir, eventually, is_running, text};
use crate::server::{SET, Server, accepted, start, token};

const FREE: [&str; 4] = ["--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];

#[test]
fn a_host_serves_with_few_rights_and_not_as_the_owner() {
    let (server, host) = (Server::start(), DataDir::new());
    let serve = [&["serve"], &FREE[..]].concat();
    // An empty database, and a role that may do everything.
    server.refuses("caudal", &host, &serve, &["caudal is a superuser", "migrate` as caudal_owner"]);
    let roles = server.must("caudal", &host, &["roles"]);
    server.sql(&roles);
    server.sql(&roles);
    server.refuses("caudal_serve", &host, &serve, &["has no ledger", "caudal migrate"]);
    server.refuses("caudal_serve", &host, &["migrate"], &["caudal_serve does not own", "DATABASE_URL"]);
    let said = server.must("caudal_owner", &host, &["migrate"]);
    assert!(said.contains("granted the necessary rights to caudal_serve and caudal_verify"), "{said}");
    server.refuses("caudal_owner", &host, &serve, &["caudal_owner owns", "caudal migrate"]);
    server.refuses("caudal_verify", &host, &serve, &["caudal_serve", "caudal migrate"]);
    server.sql("create role curious in role caudal_owner login");
    server.refuses("curious", &host, &serve, &["curious owns"]);
    server.refuses("caudal_serve", &host, &serve, &["caudal policy set --rail"]);
    server.refuses("caudal_serve", &host, &SET, &["caudal_serve does not own", "DATABASE_URL"]);
    server.must("caudal_owner", &host, &SET);

    let mut service = start(server.command("caudal_serve", &host, &serve));
    service.token = token(&host, "ana", "api:read api:write");
    service.must("PUT", "/api/analytics/consent", Some(json!({"granted": true})));
    let account = service.must("POST", "/api/ledger/accounts", Some(json!({"accountType": "checking"})));
    let account = account["id"].as_str().unwrap();
    let asked = ["--admin-url", &service.assist];
    server.must("caudal_serve", &host, &[&["fund", "--account", account, "--amount", "20.00"], &asked[..]].concat());
    server.must("caudal_serve", &host, &[&["limits", "--user", "ana", "--per-day", "15.00"], &asked[..]].concat());
    let payee = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
    let payee = service.must("POST", "/api/ledger/beneficiaries", Some(payee));
    let transfer = |amount: u32| json!({"fromAccountId": account, "toBeneficiaryId": payee["id"], "amount": amount});
    service.must("POST", "/api/ledger/transactions", Some(transfer(10)));
    assert_eq!(service.call("POST", "/api/ledger/transactions", Some(transfer(6))).0, 400);
    server.refuses("caudal_verify", &host, &["replay"], &["caudal_serve"]);
    service.stop();

    for (change, back, said) in [
        ("alter system set full_page_writes = off", "alter system reset full_page_writes", "full_page_writes = off"),
        (
            "update pg_database set datcollversion = '0'",
            "update pg_database set datcollversion = null",
            "refresh collation version",
        ),
    ] {
        server.sql(change);
        server.sql("select pg_reload_conf()");
        // Postgres may warn, too.
        let refused = server.run("caudal_serve", &host, &serve);
        assert!(refused.status.code() == Some(1) && text(&refused.stderr).contains(said), "{}", text(&refused.stderr));
        server.sql(back);
        server.sql("select pg_reload_conf()");
    }

    let key = ["--ledger-key-file", host.0.join("ledger-key").to_str().unwrap()].map(str::to_owned);
    let verify = ["verify", &key[0], &key[1]];
    let sound = server.must("caudal_verify", &host, &verify);
    assert!(sound.contains("the ledger is sound"), "{sound}");

    // The verifier is sent elsewhere: it reads the same tables all the same.
    server.sql(
        "create schema mirror; create view mirror.beneficiary as select * from public.beneficiary where false;
        grant usage on schema mirror to caudal_verify; grant select on mirror.beneficiary to caudal_verify;
        alter role caudal_verify set search_path = mirror, public",
    );
    let said = text(&server.run("caudal_verify", &host, &verify).stdout);
    assert!(said.contains("BROKEN  the schema is what the migrations make"), "{said}");
    assert!(said.contains("setting of caudal_verify, search_path=mirror, public is additional"), "{said}");
    assert!(said.contains("ok      what audit records cover is as recorded"), "{said}");
    server.refuses("caudal_serve", &host, &serve, &["setting of caudal_verify", "caudal verify"]);
    server.sql("alter role caudal_verify reset search_path; drop schema mirror cascade");

    let new_key = host.0.join("new-key");
    std::fs::write(&new_key, "k".repeat(32)).unwrap();
    std::fs::set_permissions(&new_key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let rotate = ["rotate-key", "--new-ledger-key-file", new_key.to_str().unwrap(), "--by", "ops", "--reason", "test"];
    server.refuses("caudal_serve", &host, &rotate, &["caudal rotate-key", "owner of the tables"]);
    server.must("caudal_owner", &host, &rotate);

    // A release whose tables are not there yet, and rights that were lost.
    server.sql("revoke insert on entry from caudal_serve");
    server.refuses("caudal_serve", &host, &serve, &["the table entry", "caudal migrate"]);
    server.must("caudal_owner", &host, &["migrate"]);
    server.sql("delete from _sqlx_migrations where version = 6");
    server.refuses("caudal_serve", &host, &serve, &["lack migration 6", "caudal migrate"]);
}

#[test]
fn hosts_keep_to_one_policy() {
    let (server, host) = (Server::start(), DataDir::new());
    server.sql(&server.must("caudal", &host, &["roles"]));
    server.must("caudal_owner", &host, &[&SET[..], &["--approvals", "--day-limit", "15.00"]].concat());
    let serve = [&["serve"], &FREE[..]].concat();
    let begin = || start(server.command("caudal_serve", &host, &serve));
    let weaken = ["policy", "set", "--approvals=false", "--by", "rosa"];
    server.refuses("caudal_serve", &host, &weaken, &["caudal_serve does not own"]);
    let set = server.must("caudal_owner", &host, &weaken);
    assert!(set.starts_with("--rail=instant\n--clabe-range=64618011040000000-64618011049999999\n--day-limit=15.00\n--approvals=false\nset by rosa at "), "{set}");
    assert_eq!(server.must("caudal_serve", &host, &["policy", "show"]), set);
    // Nor is it a sandbox that gives money away.
    server.refuses("caudal_serve", &host, &[&["serve", "--sandbox"], &FREE[..]].concat(), &["leave out --sandbox"]);

    let mut service = begin();
    server.must("caudal_owner", &host, &["policy", "set", "--transfer-limit", "5", "--by", "rosa"]);
    eventually("the host ends, to keep to the new policy", || !is_running(service.pid().cast_signed()));
    service = begin();
    let later = "update policy set content = content || '--of-a-later-release'";
    assert!(text(&server.psql("caudal_serve", later).stderr).contains("permission denied"));
    server.sql(later);
    eventually("the host ends again", || !is_running(service.pid().cast_signed()));
    server.refuses("caudal_serve", &host, &serve, &["does not know all settings of the policy"]);
    server.sql(
        "update policy set content = replace(replace(content, '--of-a-later-release', ''), 'limit=15', 'limit=99')",
    );
    server.refuses("caudal_serve", &host, &serve, &["somebody without the ledger key changed the policy"]);
}

#[test]
fn the_private_postgres_needs_roles_too() {
    let host = DataDir::new();
    let serve = [&["serve"], &FREE[..]].concat();
    let output = host.command(&serve).envs(accepted(&host)).output().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("DATABASE_URL"), "{said}");
    assert_eq!(host.postgres(), None);
}

#[test]
fn the_private_postgres_does_not_see_the_environment() {
    let data = DataDir::new();
    let planted = "caudal-planted-variable";
    let script = "psql -XqAt -v ON_ERROR_STOP=1 \"$DATABASE_URL\" -c 'create temp table seen (line text)' \
        -c \"copy seen from program 'env'\" -c 'select line from seen'";
    let mut command = data.command(&["postgres", "--", "sh", "-c", script]);
    let output = command.env("CAUDAL_LEDGER_KEY", planted).env("PLANTED", planted).output().unwrap();
    let seen = text(&output.stdout);
    assert!(output.status.success() && seen.contains("PATH="), "{seen}{}", text(&output.stderr));
    assert!(!seen.contains(planted), "{seen}");
    eventually("the server stops", || data.postgres().is_none());
}
