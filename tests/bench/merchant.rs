//! Everybody pays one account of the same bank through three hosts, compared with the same transfers to another bank,
//! where each writer credits a row of its own.
//!
//! Every batch wants the merchant's row. Nobody may be turned away for that, and no two batches may wait for each
//! other.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::client::Client;
use crate::database::Server;
use crate::figures::{Figures, median};
use crate::host::Host;
use crate::processor::Used;
use crate::report::say;
use crate::senders::{self, Sender, Spread, Until};
use crate::{ACCOUNTS, CLIENTS, Settings};

const HOSTS: usize = 3;

/// Turns of each side; the median counts.
const TURNS: usize = 5;

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let time = settings.time;
    let database = server.database("merchant").await;
    let deadlocks = database.deadlocks().await;
    let hosts: Vec<Host> = (0..HOSTS).map(|_| Host::start(&database)).collect();
    let addresses: Vec<SocketAddr> = hosts.iter().map(Host::address).collect();
    let elsewhere: Arc<[Sender]> = senders::open(&hosts[0], ACCOUNTS).await.into();
    let on_us: Arc<[Sender]> = pay_merchant(&hosts[0], &elsewhere).await.into();
    let pids: Vec<u32> = hosts.iter().map(Host::pid).collect();
    say!("{HOSTS} hosts, {CLIENTS} clients, {TURNS} turns of {} s each", time.as_secs());
    say!("{}", Figures::HEAD);
    let mut rates = [Vec::new(), Vec::new()];
    let mut turned_away = 0;
    for _ in 0..TURNS {
        for (side, (name, senders)) in
            [("to another bank", &elsewhere), ("to one merchant", &on_us)].into_iter().enumerate()
        {
            let before = Used::now(&pids, server.pid());
            let figures = senders::load(&addresses, senders, CLIENTS, Spread::Uniform, Until::Time(time)).await;
            say!("{}", figures.line(name, &Used::now(&pids, server.pid()).since(&before)));
            rates[side].push(figures.per_second());
            turned_away += figures.failed;
        }
    }
    let [elsewhere, merchant] = rates.map(median);
    say!("one merchant / another bank: {:.2}", merchant / elsewhere);
    hosts.into_iter().for_each(Host::stop);
    let deadlocks = database.deadlocks().await - deadlocks;
    say!("{turned_away} were turned away; deadlocks: {deadlocks}; {}", Host::verify(&database));
    assert_eq!((turned_away, deadlocks), (0, 0));
    server.drop(database).await;
}

/// The senders, paying one account whose number the bank issued.
async fn pay_merchant(host: &Host, senders: &[Sender]) -> Vec<Sender> {
    let mut client = Client::connect(host.address()).await.unwrap();
    let authorization = host.authorization("merchant").await;
    let merchant = client.create("/api/ledger/accounts", &authorization, &json!({"accountType": "checking"})).await;
    let mut payees: Vec<(String, Value)> = Vec::new();
    for sender in senders {
        if payees.last().is_none_or(|(authorization, _)| *authorization != sender.authorization) {
            let saved = json!({"name": "Shop", "accountNumber": merchant["accountNumber"], "bankName": "Caudal"});
            let payee = client.create("/api/ledger/beneficiaries", &sender.authorization, &saved).await;
            payees.push((sender.authorization.clone(), payee["id"].clone()));
        }
    }
    let paying = |sender: &Sender| {
        let (_, payee) = payees.iter().find(|(authorization, _)| *authorization == sender.authorization).unwrap();
        let body = json!({"fromAccountId": sender.account_id, "toBeneficiaryId": payee, "amount": 0.01});
        Sender { body: body.to_string(), ..sender.clone() }
    };
    senders.iter().map(paying).collect()
}
