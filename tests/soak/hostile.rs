//! A champion that never comes to an end: others do not wait for it, and neither do those who ask it.

use std::thread;
use std::time::{Duration, Instant};

use crate::load::{Load, percentile};
use crate::operator::{Operator, component};
use crate::process::{DataDir, Service};
use crate::seconds;

#[test]
fn others_do_not_wait_for_a_model_that_loops() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let operator = Operator::new(&data, &service);
    let hostile = operator.push("nudge", component("fixtures/hostile"));
    // The screen that sends the hostile model into an endless loop means nothing to ours.
    let load = Load::start(&service, "loop");
    thread::sleep(Duration::from_secs(1));
    let quiet = Instant::now();
    thread::sleep(seconds(2) / 2);
    let looping = Instant::now();
    operator.deploy("nudge", &hostile, 0);
    thread::sleep(seconds(2) / 2);
    let fallbacks = operator.metric("caudal_model_fallbacks_total{kind=\"nudge\"}");
    let (samples, _) = load.stop();

    println!("a nudge champion that loops; {fallbacks} of its requests were answered by the one before it");
    println!("               requests   p50 ms   p99 ms");
    for path in ["/ai/risk", "/ai/nudge", "/transactions"] {
        for (name, from, to) in [("quiet", quiet, looping), ("looping", looping, Instant::now())] {
            let within = samples.iter().filter(|it| it.path == path && it.due >= from && it.due < to);
            let mut took: Vec<_> = within.map(|it| it.took).collect();
            took.sort();
            let (half, most) = (percentile(&took, 50), percentile(&took, 99));
            println!("{path:14}{:9} {half:8.2} {most:8.2} {name}", took.len());
        }
    }
    assert!(fallbacks > 10.0, "{fallbacks}");
    service.stop();
}
