//! Decides on one thread, and seals and compares on another.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};

use super::difference::{Difference, Made};
use super::engine::Fork;
use super::plan::{Keys, Plan, Recorded};
use super::report::{Executed, Report};

/// Chunks that wait to be sealed.
const WAITING_MAX: usize = 2;

/// What was decided again, or why not, to be compared.
type Decided = (Recorded, Result<Made, String>);

/// Executes batches, which come in the order of their moments and of their chains, in chunks.
pub fn run(plan: Plan, keys: &Keys, chunks: impl IntoIterator<Item = Vec<Recorded>>) -> Report {
    let period = (plan.from, plan.until);
    let mut fork = Fork::new(plan);
    let differs = AtomicBool::new(false);
    let compared = std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let comparing = scope.spawn(|| compare(receiver, keys, &differs));
        for chunk in chunks {
            let mut decided = Vec::with_capacity(chunk.len());
            for recorded in chunk {
                match fork.execute(&recorded) {
                    Ok(None) => {}
                    Ok(Some(made)) => decided.push((recorded, Ok(made))),
                    Err(why) => decided.push((recorded, Err(why))),
                }
            }
            if sender.send(decided).is_err() || differs.load(Relaxed) {
                break;
            }
        }
        drop(sender);
        comparing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match compared {
        Ok(unproven) => Report::new(period, fork.tally, &fork.books, unproven),
        Err((executed, first)) => Report::unequal(period, executed, first),
    }
}

/// How many batches were compared without their key; otherwise the first that differs, and how much was equal before it.
fn compare(decided: Receiver<Vec<Decided>>, keys: &Keys, differs: &AtomicBool) -> Result<u64, (Executed, Difference)> {
    let (mut equal, mut unproven) = (Executed::default(), 0);
    for (recorded, made) in decided.into_iter().flatten() {
        let commands = made.as_ref().map_or(0, |made| made.batch.commands.len() as u64);
        let difference = match made {
            Ok(made) => made.difference(&recorded, keys),
            Err(why) => Some(why),
        };
        if let Some(what) = difference {
            differs.store(true, Relaxed);
            return Err((equal, Difference::new(&recorded, what)));
        }
        equal.batches += 1;
        equal.commands += commands;
        unproven += u64::from(keys.of(recorded.seal.header.chain_id).is_none());
    }
    Ok(unproven)
}
