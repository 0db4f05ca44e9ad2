//! What hosts do with rows that somebody without the key altered and may put back before anybody verifies: nothing.

use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

use crate::harness::TestApp;
use crate::stand_in::{INQUIRE, REGISTER, StandIn};
use crate::stp::{MONDAY, app, notify, pass, send, status, wait};

/// Alterations of an order on its way to the rail, which belongs to transfer `$1`.
const ORDERS: [&str; 10] = [
    "update transfer set beneficiary_account_number = '646180110400000007' where transfer_id = $1",
    "update transfer set beneficiary_bank = 'Banorte' where transfer_id = $1",
    "update transfer set beneficiary_name = 'Eva' where transfer_id = $1",
    "update transfer set amount = amount + 1 where transfer_id = $1",
    "update transfer set spei_reference = 'CAUD1' where transfer_id = $1",
    "update transfer set concept = 'Otro' where transfer_id = $1",
    "update transfer set created_at = created_at + interval '3 days' where transfer_id = $1",
    "update account set issued = left(number_key, 17)::bigint
        where account_id = (select debit_account_id from transfer where transfer_id = $1)",
    "update rail_payment set seal = sha256('') where transfer_id = $1",
    "update app_user set holder_name = 'Presidencia' where owner = (select owner from transfer where transfer_id = $1)",
];

/// Puts another payee into every order as it is entered, and the payee back once it is handed over.
const TRIGGERS: &str = "
    create table kept as select transfer_id, beneficiary_account_number as number from transfer limit 0;
    create function redirect() returns trigger language plpgsql security definer as $$ begin
        insert into kept select transfer_id, beneficiary_account_number from transfer
            where transfer_id = new.transfer_id;
        update transfer set beneficiary_account_number = '646180110400000007' where transfer_id = new.transfer_id;
        return null;
    end $$;
    create function restore() returns trigger language plpgsql security definer as $$ begin
        update transfer t set beneficiary_account_number = number from kept k
            where t.transfer_id = new.transfer_id and k.transfer_id = new.transfer_id;
        return null;
    end $$;
    create trigger redirect after insert on rail_payment for each row execute function redirect();
    create trigger restore after insert on rail_order for each row execute function restore()";

async fn pay(app: &TestApp, user: &str) -> Uuid {
    let user = app.user(user);
    let (from, to) = user.account_and_payee().await;
    user.transfer(&from, &to, "1").await.assert_status(200).id().parse().unwrap()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_order_that_was_altered_waits_for_a_person(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let made = app(db.clone(), &stp).await;
    made.stop_courier();
    pay(&made, "ana").await;
    for (number, alter) in ORDERS.iter().enumerate() {
        let transfer_id = pay(&made, &format!("user-{number}")).await;
        let altered = sqlx::query(*alter).bind(transfer_id).execute(&db).await.unwrap();
        assert_eq!(altered.rows_affected(), 1, "{alter}");
    }
    sqlx::raw_sql(TRIGGERS).execute(&db).await.unwrap();
    pay(&made, "luis").await;
    let host = app(db, &stp).await;
    let parked = "select count(*) from rail_payment where last_error like '%caudal verify%' and parked_at is not null";
    wait("the others are parked", async || host.count(parked).await == ORDERS.len() as i64 + 1).await;
    wait("the one that nobody altered is sent", async || stp.orders().len() == 1).await;
    assert_eq!(stp.requests(REGISTER).len(), 1);
}

/// On another day it would be a second payment.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_order_is_not_sent_for_a_second_day(db: PgPool) {
    for (number, (user, alter)) in (1..).zip([
        ("ana", "delete from rail_order"),
        ("luis", "update rail_order set operating_date = operating_date + 1"),
        ("eva", "update rail_order set operating_date = operating_date + 9"),
    ]) {
        let stp = StandIn::start(MONDAY).await;
        let made = app(db.clone(), &stp).await;
        let user = made.user(user);
        send(&user, &stp).await;
        pass(&made, time::Duration::ZERO).await;
        made.stop_courier();
        sqlx::query(alter).execute(&db).await.unwrap();
        sqlx::query("update rail_payment set attempts = 0, due_at = 'epoch' where due_at < 'infinity'")
            .execute(&db)
            .await
            .unwrap();
        stp.begin_day("20261124");
        let later = app(db.clone(), &stp).await;
        // Tuesday.
        later.clock.advance(time::Duration::days(3));
        let tried = "select count(*) from rail_payment where attempts = 0";
        wait("it is looked at", async || later.count(tried).await == 0).await;
        pass(&later, time::Duration::ZERO).await;
        later.stop_courier();
        assert_eq!((stp.orders().len(), stp.requests(REGISTER).len()), (1, 1), "{alter}");
        assert_eq!(status(&user).await, "pending", "{alter}");
        let sealed = "select count(*) from rail_order where seal is not null";
        assert_eq!(later.count(sealed).await, number, "one that was deleted is there again");
        // Out of the way of the next.
        sqlx::query("update rail_payment set due_at = 'infinity'").execute(&db).await.unwrap();
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn nothing_is_asked_and_booked_about_an_altered_payment(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db.clone(), &stp).await;
    let ana = app.user("ana");
    let key = send(&ana, &stp).await;
    stp.set_state("LQ", Value::Null);
    pass(&app, time::Duration::minutes(1)).await;
    wait("it settles", async || status(&ana).await == "completed").await;
    sqlx::query("update transfer set beneficiary_name = 'Eva' where kind = 'spei'").execute(&db).await.unwrap();
    let asked = stp.requests(INQUIRE).len();
    stp.set_state("D", Value::Null);
    notify(&app, &key, "D").await;
    let done = "select count(*) from rail_order where inquired_at is not null and inquiries = 0";
    wait("the notice is through", async || app.count(done).await == 1).await;
    assert_eq!(
        (stp.requests(INQUIRE).len(), app.count("select count(*) from transfer where kind = 'return'").await),
        (asked, 0)
    );
}
