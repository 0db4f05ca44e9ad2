//! A champion that loops forever delays neither other requests nor its own callers, who get the fallback.

use std::thread;
use std::time::{Duration, Instant};

use crate::load::Load;
use crate::operator::{Operator, component};
use crate::process::{DataDir, Service};
use crate::seconds;
use crate::turns::{Turns, turns};

#[test]
fn a_looping_model_delays_no_request() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let operator = Operator::new(&data, &service);
    let ours = operator.version("nudge-");
    let hostile = operator.push("nudge", component("fixtures/hostile"));
    // This screen sends the hostile model into an endless loop; ours ignores it.
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

    println!("a nudge champion that loops; the fallback answered {fallbacks} of its requests");
    states.print(&samples);
    assert!(fallbacks > 10.0, "{fallbacks}");
    service.stop();
}
