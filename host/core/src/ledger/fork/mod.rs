//! Executes the sealed history again, in memory: as it was decided, or from a moment on under other rules or another risk
//! model.
//!
//! Without a candidate the fork is null: it keeps the recorded batches, ids and times, runs the rules that decided, and seals
//! what it makes, which has to be what was recorded. With a candidate everything before the moment is such a null fork, and
//! what follows goes its own way: recorded commands come at their times, and meet other balances, totals and holds.
//!
//! Nobody knows what people would have done then. A command that cannot be carried out any more is dropped. A payment that
//! only the fork makes settles at once, and a hold that only the fork has expires. Who would have been asked to acknowledge a
//! risk is taken to do so, and is counted. A refused order may have come again under another key: then the fork has both.

mod books;
mod border;
mod course;
mod days;
mod difference;
mod engine;
mod judged;
mod plan;
mod recent;
mod report;
mod run;
mod tally;

pub use difference::Difference;
pub use plan::{Keys, Plan, Recorded, Rules, ScoreRisk};
pub use report::{Balances, Candidate, Report};
pub use run::run;
