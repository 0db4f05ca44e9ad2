//! A host's memory during a million transfers, and what executing them again takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::database::Server;
use crate::figures::Figures;
use crate::host::Host;
use crate::processor::{Used, resident};
use crate::report::say;
use crate::senders::{Service, Spread, Until};
use crate::{CLIENTS, Settings};

/// Number of measurements.
const SAMPLES: usize = 10;

/// A few transfers.
const POLL_EVERY: Duration = Duration::from_millis(5);

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let count = settings.memory_transfers;
    let database = server.database("memory").await;
    let service = Service::new(Host::start(&database)).await;
    let pid = service.host.pid();
    say!("{CLIENTS} clients, {count} transfers");
    say!("transfers   resident KiB");
    say!("{:9} {:14}", 0, resident(pid));
    let left = Arc::new(AtomicUsize::new(count));
    let before = Used::now(&[pid], server.pid());
    let measure = async {
        let mut samples = Vec::new();
        for sample in 1..=SAMPLES {
            let sent = count / SAMPLES * sample;
            while count - left.load(Relaxed) < sent {
                tokio::time::sleep(POLL_EVERY).await;
            }
            samples.push(resident(pid));
            say!("{sent:9} {:14}", resident(pid));
        }
        samples
    };
    let (figures, samples) = tokio::join!(service.run(Spread::Uniform, Until::Sent(Arc::clone(&left))), measure);
    let used = Used::now(&[pid], server.pid()).since(&before);
    say!("last / first: {:.3}", samples[SAMPLES - 1] as f64 / samples[0] as f64);
    say!("{}", Figures::HEAD);
    say!("{}", figures.line("caudal uniform", &used));
    assert_eq!(figures.took.len() + figures.failed, count);
    service.host.stop();
    for command in ["verify", "fork"] {
        say!("{}", Host::measure(&database, command));
    }
    server.drop(database).await;
}
