//! Memory of a host while it makes a million transfers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::database::Server;
use crate::figures::Figures;
use crate::host::Host;
use crate::processor::{Used, resident};
use crate::senders::{Service, Spread, Until};
use crate::{CLIENTS, Settings};

/// How often memory is looked at on the way.
const LOOKS: usize = 10;

/// How often the way is looked at: a few transfers.
const STEP: Duration = Duration::from_millis(5);

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let count = settings.memory_transfers;
    let database = server.database("memory").await;
    let service = Service::new(Host::start(&database)).await;
    let pid = service.host.pid();
    println!("{CLIENTS} clients, {count} transfers");
    println!("transfers   resident KiB");
    println!("{:9} {:14}", 0, resident(pid));
    let left = Arc::new(AtomicUsize::new(count));
    let before = Used::now(&[pid], server.pid());
    let look = async {
        let mut seen = Vec::new();
        for part in 1..=LOOKS {
            let sent = count / LOOKS * part;
            while count - left.load(Relaxed) < sent {
                tokio::time::sleep(STEP).await;
            }
            seen.push(resident(pid));
            println!("{sent:9} {:14}", resident(pid));
        }
        seen
    };
    let (figures, seen) = tokio::join!(service.run(Spread::Uniform, Until::Sent(Arc::clone(&left))), look);
    let used = Used::now(&[pid], server.pid()).since(&before);
    println!("last / first of these: {:.3}", seen[LOOKS - 1] as f64 / seen[0] as f64);
    println!("{}", Figures::HEAD);
    println!("{}", figures.line("caudal uniform", &used));
    assert_eq!(figures.took.len() + figures.failed, count);
    service.host.stop();
    server.drop(database).await;
}
