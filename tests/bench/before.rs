//! Transfers and scores of this build, compared with an earlier one, whose binary `CAUDAL_BENCH_BEFORE` names.

use crate::database::Server;
use crate::figures::Figures;
use crate::host::Host;
use crate::load::{Request, Side};
use crate::processor::Used;
use crate::report::{self, Target, say};
use crate::scores;
use crate::senders::{Service, Spread, Until};
use crate::{ACCOUNTS, CLIENTS, Settings};

/// Turns of each side, so that a bound can be judged by the interval.
const TURNS: usize = 15;

/// Student's t for a 95 % interval over that many turns.
const T: f64 = 2.145;

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let before = std::env::var("CAUDAL_BENCH_BEFORE").expect("CAUDAL_BENCH_BEFORE names a binary of an earlier build");
    say!("{CLIENTS} clients, {ACCOUNTS} accounts, {TURNS} turns of {} s each", settings.time.as_secs());
    say!("{}", Figures::HEAD);
    let databases = [server.database("before").await, server.database("now").await];
    let sides = [
        ("before", Service::new(Host::start_program(&before, &databases[0])).await),
        ("now", Service::new(Host::start(&databases[1])).await),
    ];
    let mut ratios = Vec::new();
    for turn in 0..TURNS {
        let mut rates = [0.0; 2];
        // The sides alternate in going first.
        for side in [turn % 2, 1 - turn % 2] {
            let (name, service) = &sides[side];
            let used = || Used::now(&[service.host.pid()], server.pid());
            let start = used();
            let figures = service.run(Spread::Uniform, Until::Time(settings.time)).await;
            say!("{}", figures.line(name, &used().since(&start)));
            rates[side] = figures.per_second();
        }
        ratios.push(rates[1] / rates[0]);
    }
    result("transfers", &ratios);
    let (path, body) = &scores::requests()[0];
    let request = Request { method: "POST", path, body: body.to_string(), authorizations: Vec::new() };
    let mut ratios = Vec::new();
    for _ in 0..TURNS {
        let [before, now] = [0, 1].map(|side| {
            let (name, Service { host, .. }) = &sides[side];
            let mut side = Side::new(name, host.pid(), host.assist());
            side.turn(&request, settings.time.as_secs().div_ceil(3));
            side.rate()
        });
        ratios.push(now / before);
    }
    result(path, &ratios);
    sides.into_iter().for_each(|(_, service)| service.host.stop());
    for database in databases {
        server.drop(database).await;
    }
}

/// The mean of the ratios and its 95 % interval.
fn result(what: &str, ratios: &[f64]) {
    let count = ratios.len() as f64;
    let logs: Vec<f64> = ratios.iter().map(|it| it.ln()).collect();
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = T * (variance / count).sqrt();
    say!("{what}, now / before: 95 % from {:.3} to {:.3}", (mean - half).exp(), (mean + half).exp());
    report::result(&format!("{what}, now / before"), mean.exp(), Target::AtLeast(0.92));
}
