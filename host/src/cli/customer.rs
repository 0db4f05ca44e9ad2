//! `caudal customer`: looks up a customer by what they quote. `caudal statement`: an account on a day. Also finds the
//! account that a command names.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::Value;
use uuid::Uuid;

use crate::cli::admin::{AdminApi, found, pesos};
use crate::cli::limits::{describe, segment};
use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table, text};
use crate::config::{Common, Customer, Statement};
use crate::domain::clabe::Clabe;

pub(super) async fn run(common: &Common, customer: Customer) -> Result<ExitCode> {
    let Customer { quoted, limit, json, admin } = customer;
    let api = AdminApi::new(common, &admin)?;
    let (name, wanted) = match (quoted.user, quoted.account_number, quoted.tracking_key) {
        (Some(user), ..) => ("user", user),
        (_, Some(number), _) => ("accountNumber", number),
        (.., key) => ("trackingKey", key.unwrap_or_default()),
    };
    let mut customer = look_up(&api, name, &wanted).await?;
    let user = text(&customer["user"]);
    let path = format!("/admin/users/{}", segment(&user));
    for list in ["transactions", "beneficiaries", "holds"] {
        customer[list] = api.get(&format!("{path}/{list}?limit={limit}")).await?;
    }
    if json {
        print_json(&customer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let limits = &customer["limits"];
    print(&format!(
        "{user}, verified name {}, limits: per transfer {}, per day {}",
        text(&customer["holder"]),
        describe(&limits["perTransfer"]),
        describe(&limits["perDay"])
    ))?;
    let lists: [(&str, &[Column<Value>]); 6] = [
        ("payments", PAYMENT),
        ("accounts", ACCOUNT),
        ("freezes", FREEZE),
        ("transactions", TRANSACTION),
        ("beneficiaries", PAYEE),
        ("holds", HOLD),
    ];
    for (list, columns) in lists {
        let rows = items(&customer, list);
        if !rows.is_empty() {
            print(&format!("\n{}", table(columns, rows)))?;
        }
        if ["transactions", "beneficiaries", "holds"].contains(&list) && rows.len() >= limit as usize {
            print(&format!("the first {limit} {list}; there may be others"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn statement(common: &Common, statement: Statement) -> Result<ExitCode> {
    let Statement { account, date, format, admin } = statement;
    let api = AdminApi::new(common, &admin)?;
    let id = account_id(&api, &account).await?;
    let path = format!("/admin/accounts/{id}/statement?date={}&format={format}", segment(&date));
    let answer = api.get_text(&path).await;
    print(found(answer, || format!("there is no customer account {account}"))?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

const ACCOUNT: &[Column<Value>] = &[
    ("ACCOUNT", |it| text(&it["id"])),
    ("NUMBER", |it| text(&it["accountNumber"])),
    ("TYPE", |it| text(&it["accountType"])),
    ("MXN", |it| pesos(&it["balance"])),
    ("HELD", |it| pesos(&it["held"])),
    ("STATE", |it| if it["frozen"] == true { "frozen" } else { "-" }.to_owned()),
];

const FREEZE: &[Column<Value>] = &[
    ("WHEN", |it| text(&it["createdAt"])),
    ("ACCOUNT", |it| text(&it["accountId"])),
    ("EVENT", |it| text(&it["event"])),
    ("BY", |it| text(&it["by"])),
    ("REASON", |it| text(&it["reason"])),
];

const PAYMENT: &[Column<Value>] = &[
    ("PAYMENT", |it| text(&it["id"])),
    ("TYPE", |it| text(&it["type"])),
    ("ACCOUNT", |it| text(&it["accountId"])),
    ("MXN", |it| pesos(&it["amount"])),
    ("STATUS", |it| text(&it["status"])),
    ("NAME", |it| text(&it["name"])),
    ("MADE", |it| text(&it["createdAt"])),
];

const TRANSACTION: &[Column<Value>] = &[
    ("TRANSACTION", |it| text(&it["id"])),
    ("ACCOUNT", |it| text(&it["fromAccountId"])),
    ("PAYEE", |it| text(&it["beneficiaryName"])),
    ("MXN", |it| pesos(&it["amount"])),
    ("STATUS", |it| text(&it["status"])),
    ("TRACKING KEY", |it| text(&it["speiReference"])),
    ("MADE", |it| text(&it["createdAt"])),
];

const PAYEE: &[Column<Value>] = &[
    ("PAYEE", |it| text(&it["name"])),
    ("NUMBER", |it| text(&it["accountNumber"])),
    ("BANK", |it| text(&it["bankName"])),
];

const HOLD: &[Column<Value>] = &[
    ("HOLD", |it| text(&it["id"])),
    ("ACCOUNT", |it| text(&it["fromAccountId"])),
    ("PAYEE", |it| text(&it["beneficiaryName"])),
    ("MXN", |it| pesos(&it["amount"])),
    ("STATUS", |it| text(&it["status"])),
    ("EXPIRES", |it| text(&it["expiresAt"])),
];

async fn look_up(api: &AdminApi, name: &str, wanted: &str) -> Result<Value> {
    let answer = api.get(&format!("/admin/customers?{name}={}", segment(wanted))).await;
    found(answer, || format!("no customer has the {} {wanted}", described(name)))
}

fn described(name: &str) -> &str {
    match name {
        "accountNumber" => "account number",
        "trackingKey" => "tracking key",
        name => name,
    }
}

fn items<'a>(customer: &'a Value, list: &str) -> &'a [Value] {
    customer[list].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The id of the account that an operator names by its id or by the CLABE that the bank gave it.
pub(super) async fn account_id(api: &AdminApi, named: &str) -> Result<Uuid> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let clabe = Clabe::read(named).context("--account must be the id of an account, or its CLABE")?;
    let customer = look_up(api, "accountNumber", named).await?;
    let has_it = |it: &&Value| it["accountNumber"].as_str().and_then(Clabe::read) == Some(clabe);
    let id = items(&customer, "accounts").iter().find(has_it).and_then(|it| it["id"].as_str()?.parse().ok());
    id.with_context(|| format!("the bank has issued no account with the number {named}"))
}
