//! A champion that never comes to an end: others do not wait for it, and neither do those who ask it.

use std::thread;
use std::time::{Duration, Instant};

use crate::load::Load;
use crate::operator::{Operator, component};
use crate::process::{DataDir, Service};
use crate::seconds;
use crate::turns::{Turns, turns};

#[test]
fn others_do_not_wait_for_a_model_that_loops() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let operator = Operator::new(&data, &service);
    let ours = operator.version("nudge-");
    let hostile = operator.push("nudge", component("fixtures/hostile"));
    // The screen that sends the hostile model into an endless loop means nothing to ours.
    let load = Load::start(&service, "loop");
    thread::sleep(Duration::from_secs(1));

    let part = seconds(2) / 2 / turns();
    let (mut epoch, mut states) = (0, Turns::new(&["quiet", "looping"]));
    for turn in 0..turns() {
        let start = Instant::now();
        thread::sleep(part);
        states.add(0, start);
        let start = Instant::now();
        epoch = operator.deploy("nudge", &hostile, epoch);
        thread::sleep(part);
        states.add(1, start);
        if turn + 1 < turns() {
            epoch = operator.deploy("nudge", &ours, epoch);
        }
    }
    let fallbacks = operator.metric("caudal_model_fallbacks_total{kind=\"nudge\"}");
    let (samples, _) = load.stop();

    println!("a nudge champion that loops; {fallbacks} of its requests were answered by the one before it");
    states.print(&samples);
    assert!(fallbacks > 10.0, "{fallbacks}");
    service.stop();
}
