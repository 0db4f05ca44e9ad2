//! Examinations under way: one at a time, the same bytes once, and nobody has to wait on the line for
//! one that takes half a minute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{Semaphore, watch};

use crate::clock::Clock;
use crate::db::components::Registered;
use crate::domain::model::{Digest, ModelKind, ModelVersion};
use crate::gate::report::{Gate, Report};
use crate::models::deploying::catalog;

/// Examinations at the same moment: each takes a processor.
const AT_ONCE: usize = 1;

/// Examinations that wait for their turn, with their bytes.
const WAITING_MAX: usize = 8;

/// Examinations that are under way or whose end is remembered.
const REMEMBERED_MAX: usize = 64;

/// How long a push waits for its end before it says where to look for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// How an examination ended.
#[derive(Debug, Clone)]
pub enum Pushed {
    /// It was accepted.
    Accepted {
        /// Its name.
        version: ModelVersion,
        /// Whether it was new.
        registered: Registered,
        /// What the gate found.
        report: Report,
    },
    /// It was refused, or is of another kind than it was pushed as.
    Refused(Report),
    /// The examination or the registration failed; nothing is known of the component.
    Failed(String),
}

type Ending = watch::Receiver<Option<Arc<Pushed>>>;

/// Examinations; cheap to clone.
#[derive(Clone)]
pub struct Pushes(Arc<Inner>);

struct Inner {
    gate: Gate,
    db: PgPool,
    clock: Clock,
    turn: Semaphore,
    known: Mutex<HashMap<(ModelKind, Digest), Ending>>,
}

/// There are too many examinations under way.
#[derive(Debug)]
pub struct TooMany;

impl Pushes {
    /// None under way.
    pub fn new(gate: Gate, db: PgPool, clock: Clock) -> Self {
        let (turn, known) = (Semaphore::new(AT_ONCE), Mutex::default());
        Self(Arc::new(Inner { gate, db, clock, turn, known }))
    }

    /// Examines and registers a component, unless that is under way already, and waits a while for the end.
    /// It goes on when nobody waits any longer.
    ///
    /// # Errors
    /// When too many are under way.
    pub async fn push(
        &self,
        kind: ModelKind,
        bytes: Vec<u8>,
        by: String,
    ) -> Result<(Digest, Option<Arc<Pushed>>), TooMany> {
        let digest = catalog::digest_of(&bytes);
        let mut ending = self.start(kind, digest, bytes, by)?;
        let ended = tokio::time::timeout(PATIENCE, ending.wait_for(Option::is_some)).await;
        Ok((digest, ended.ok().and_then(|ended| ended.ok()?.clone())))
    }

    fn start(&self, kind: ModelKind, digest: Digest, bytes: Vec<u8>, by: String) -> Result<Ending, TooMany> {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ending) = known.get(&(kind, digest)).filter(|ending| ending.borrow().is_none()) {
            return Ok(ending.clone());
        }
        if known.values().filter(|ending| ending.borrow().is_none()).count() >= WAITING_MAX {
            return Err(TooMany);
        }
        if known.len() >= REMEMBERED_MAX {
            known.retain(|_, ending| ending.borrow().is_none());
        }
        let (tell, ending) = watch::channel(None);
        known.insert((kind, digest), ending.clone());
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let pushed = inner.examine(kind, &bytes, &by).await;
            tell.send_replace(Some(Arc::new(pushed)));
        });
        Ok(ending)
    }

    /// How the examination of these bytes stands; none when this host knows of none.
    pub fn look(&self, kind: ModelKind, digest: &str) -> Option<Option<Arc<Pushed>>> {
        let known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|((of, it), _)| *of == kind && it.to_string() == digest);
        found.map(|(_, ending)| ending.borrow().clone())
    }
}

impl Inner {
    async fn examine(&self, kind: ModelKind, bytes: &[u8], by: &str) -> Pushed {
        let Ok(_turn) = self.turn.acquire().await else { return Pushed::Failed("the host stops".to_owned()) };
        let mut report = match self.gate.examine(bytes).await {
            Ok(report) => report,
            Err(error) => return Pushed::Failed(format!("the gate does not start: {error}")),
        };
        report.expect_kind(kind);
        if !report.is_accepted() {
            return Pushed::Refused(report);
        }
        let registered = match self.db.acquire().await {
            Ok(mut db) => catalog::register(&mut db, bytes, &report, by, self.clock.now()).await,
            Err(error) => Err(error),
        };
        match registered {
            Ok(Some((version, registered))) => Pushed::Accepted { version, registered, report },
            Ok(None) => Pushed::Failed("an accepted report names no version".to_owned()),
            Err(error) => Pushed::Failed(error.to_string()),
        }
    }
}
