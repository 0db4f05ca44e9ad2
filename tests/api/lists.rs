//! Lists: complete, ordered, or page by page.

use futures_util::stream::{self, StreamExt as _};
use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::harness::{CLABE, Client, PAYEE_CLABE, TestApp, refused};

/// Follows `Link: rel="next"` to the end.
async fn walk(client: &Client, path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        let page = client.get(&path).await;
        items.extend(page.assert_status(200).json().as_array().unwrap().clone());
        next = page.header("link").map(|link| {
            assert!(link.ends_with(">; rel=\"next\""), "{link}");
            link.split(['<', '>']).nth(1).unwrap().to_owned()
        });
    }
    items
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn transactions_come_newest_first(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let mut sent = Vec::new();
    for amount in 1..=7 {
        sent.push(ana.transfer(&from, &to, &amount.to_string()).await.json());
        // Items of one millisecond are ordered by their ids.
        if amount % 3 == 0 {
            app.clock.advance(Duration::seconds(1));
        }
    }
    let listed = ana.get("/api/ledger/transactions").await.json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 7);
    let key = |item: &Value| (item["createdAt"].as_str().unwrap().to_owned(), item["id"].as_str().unwrap().to_owned());
    assert!(listed.is_sorted_by(|left, right| key(left) > key(right)), "{listed:?}");
    assert!(sent.iter().all(|transfer| listed.contains(transfer)));
    for limit in [1, 2, 3, 7, 1000] {
        assert_eq!(&walk(&ana, &format!("/api/ledger/transactions?limit={limit}")).await, listed, "limit {limit}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn accounts_and_payees_come_oldest_first(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    for number in 0..5 {
        ana.open_account(&number.to_string()).await;
        ana.save_payee(&number.to_string(), PAYEE_CLABE).await;
        app.clock.advance(Duration::milliseconds(1));
    }
    let numbers = |items: Vec<Value>, field: &str| items.iter().map(|item| item[field].clone()).collect::<Vec<_>>();
    let want: Vec<_> = (0..5).map(|number| json!(number.to_string())).collect();
    for limit in [1, 2, 5] {
        let accounts = walk(&ana, &format!("/api/ledger/accounts?limit={limit}")).await;
        assert_eq!(numbers(accounts, "accountNumber"), want);
        let payees = walk(&ana, &format!("/api/ledger/beneficiaries?limit={limit}")).await;
        assert_eq!(numbers(payees, "name"), want);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn lists_of_many_users_at_once_stay_apart(db: PgPool) {
    let app = TestApp::new(db).await;
    let users: Vec<_> = (0..40).map(|number| app.user(&format!("user-{number}"))).collect();
    let mut paid = Vec::new();
    for (number, user) in users.iter().enumerate() {
        let (from, to) = user.account_and_payee().await;
        let mut transfers = Vec::new();
        for _ in 0..number % 4 {
            transfers.push(user.transfer(&from, &to, "1").await.id());
        }
        // Of the same time, as the clock stands still: the later id first.
        transfers.sort_unstable_by(|left: &String, right| right.cmp(left));
        paid.push((from, transfers));
    }
    for limit in [None, Some(1), Some(2)] {
        let reads = users.iter().enumerate().flat_map(|(number, user)| {
            // Users ask for different parts at the same time.
            let query = limit.map(|limit| format!("?limit={}", limit + number % 2)).unwrap_or_default();
            let (first, second) = (format!("/api/ledger/accounts{query}"), format!("/api/ledger/transactions{query}"));
            [first, second].map(|path| async move { user.get(&path).await.assert_status(200).json() })
        });
        let answers: Vec<_> = stream::iter(reads).buffered(8).collect().await;
        for (number, (pair, (account, transfers))) in answers.chunks(2).zip(&paid).enumerate() {
            let ids = |list: &Value| {
                list.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(ids(&pair[0]), std::slice::from_ref(account), "{number}");
            let most = limit.map_or(usize::MAX, |limit| limit + number % 2);
            assert_eq!(ids(&pair[1]), &transfers[..transfers.len().min(most)], "{number}");
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_list_longer_than_a_page_is_streamed_completely(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    for count in [1_000, 1_001, 2_500] {
        sqlx::query("delete from beneficiary").execute(&app.db).await.unwrap();
        let fill = "insert into beneficiary select gen_random_uuid(), 'ana', 'n' || n, null, '1', 'b', false, \
            '2026-01-01'::timestamptz + n / 7 * interval '1 second' from generate_series(1, $1) n";
        sqlx::query(fill).bind(count).execute(&app.db).await.unwrap();
        let plain = ana.get("/api/ledger/beneficiaries").await;
        let listed = plain.assert_status(200).json();
        let gzip = ana.with("accept-encoding", "gzip");
        let packed = gzip.get("/api/ledger/beneficiaries").await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert!(packed.bytes.len() * 4 < plain.bytes.len(), "{} of {}", packed.bytes.len(), plain.bytes.len());
        assert_eq!(gzip.get("/api/ledger/accounts").await.header("content-encoding"), None, "which is short");
        let mut names: Vec<_> = listed.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), count as usize);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count as usize, "each appears once");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_cursor_leads_only_through_its_own_list(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let (account, other) = (ana.open_account(CLABE).await, ana.open_account("072691004495711499").await);
    let payee = ana.save_payee("Luis", PAYEE_CLABE).await;
    ana.save_payee("Eva", PAYEE_CLABE).await;
    for _ in 0..2 {
        ana.transfer(&account, &payee, "1").await.assert_status(200);
    }
    let entries = |account: &str| format!("/api/ledger/accounts/{account}/entries");
    let lists = ["accounts", "beneficiaries", "transactions"].map(|list| format!("/api/ledger/{list}"));
    let lists = [lists.as_slice(), &[entries(&account)]].concat();
    let foreign = [lists.clone(), vec!["/api/ledger/holds".to_owned(), entries(&other)]].concat();
    for list in &lists {
        let first = ana.get(&format!("{list}?limit=1")).await;
        let link = first.header("link").unwrap_or_else(|| panic!("{first:?}"));
        let cursor = link.split("cursor=").nth(1).unwrap().split('>').next().unwrap();
        ana.get(&format!("{list}?limit=1&cursor={cursor}")).await.assert_status(200);
        for other in foreign.iter().filter(|it| *it != list) {
            let path = format!("{other}?cursor={cursor}");
            refused(&app, ana.get(&path), 400, "validation-failed", Some("cursor")).await;
        }
        let ops = app.operator(Some("models:admin"));
        for unpaged in ["/admin/models", "/admin/models/risk/history"] {
            let path = format!("{unpaged}?cursor={cursor}");
            refused(&app, ops.get(&path), 400, "validation-failed", Some("cursor")).await;
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_pages_are_refused(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let lists = [("accounts", 'a'), ("beneficiaries", 'b'), ("transactions", 't'), ("holds", 'h')];
    for (list, letter) in lists {
        for limit in ["0", "1001", "-1", "x", "1.5", ""] {
            let path = format!("/api/ledger/{list}?limit={limit}");
            refused(&app, ana.get(&path), 400, "validation-failed", Some("limit")).await;
        }
        let far = |millis: i64| format!("{letter}{millis}_00000000-0000-0000-0000-000000000000");
        let past = far(-300_000_000_000_000);
        let cursors = ["x", "1_x", "_", "1763700000000", "%00", &"9".repeat(65), &past, &far(i64::MIN), &far(i64::MAX)];
        for cursor in cursors {
            let path = format!("/api/ledger/{list}?cursor={cursor}");
            refused(&app, ana.get(&path), 400, "validation-failed", Some("cursor")).await;
        }
        let twice = format!("/api/ledger/{list}?limit=1&limit=2");
        refused(&app, ana.get(&twice), 400, "validation-failed", Some("limit")).await;
        for millis in [0_i64, 253_402_300_799_999] {
            let path =
                format!("/api/ledger/{list}?cursor={letter}{millis}_00000000-0000-0000-0000-000000000000&unknown=1");
            ana.get(&path).await.assert_status(200);
        }
        for (_, other) in lists.iter().filter(|(it, _)| *it != list) {
            let path = format!("/api/ledger/{list}?cursor={other}0_00000000-0000-0000-0000-000000000000");
            refused(&app, ana.get(&path), 400, "validation-failed", Some("cursor")).await;
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_query_of_thousands_of_parameters_is_refused(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let distinct: Vec<_> = (0..8_000).map(|number| format!("{number:x}")).collect();
    for query in [distinct.join("&"), vec!["a"; 20_000].join("&")] {
        let path = format!("/api/ledger/transactions?{query}");
        refused(&app, ana.get(&path), 400, "validation-failed", Some("")).await;
    }
}
