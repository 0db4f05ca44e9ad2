//! What one check found, and the wait for it.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use anyhow::{Result, bail};
use sqlx::migrate::MigrateError;
use tokio::time::timeout;

/// Longest wait for one reply: as long as a host waits for a connection.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Width of the names.
const WIDTH: usize = 18;

pub(super) struct Finding {
    state: &'static str,
    name: &'static str,
    seen: String,
    fix: Option<String>,
}

const FAIL: &str = "fail";
const SKIP: &str = "skip";

impl Finding {
    pub(super) fn ok(name: &'static str, seen: impl Into<String>) -> Self {
        Self { state: "ok", name, seen: seen.into(), fix: None }
    }

    pub(super) fn warn(name: &'static str, seen: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: "warn", name, seen: seen.into(), fix: Some(fix.into()) }
    }

    pub(super) fn fail(name: &'static str, seen: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: FAIL, name, seen: seen.into(), fix: Some(fix.into()) }
    }

    pub(super) fn skip(name: &'static str, why: impl Into<String>) -> Self {
        Self { state: SKIP, name, seen: why.into(), fix: None }
    }

    /// Of a check that `caudal serve` makes too. Most of its errors say what is wrong, and after a colon what to do; for
    /// the others, that is `otherwise`.
    pub(super) fn of(name: &'static str, checked: Result<String>, otherwise: &str) -> Self {
        let error = match checked {
            Ok(seen) => return Self::ok(name, seen),
            Err(error) => error,
        };
        let own: Vec<_> = error.chain().take_while(|it| !is_foreign(*it)).map(ToString::to_string).collect();
        let advice = own.iter().find_map(|text| text.rsplit_once(": "));
        match advice {
            Some((seen, fix)) => {
                let cause = error.chain().nth(own.len()).map(|cause| format!(" ({cause})")).unwrap_or_default();
                Self::fail(name, format!("{seen}{cause}"), fix)
            }
            None => Self::fail(name, format!("{error:#}"), otherwise),
        }
    }

    /// Name and reason of a check that was not made.
    pub(super) fn skipped(&self) -> Option<(&'static str, String)> {
        (self.state == SKIP).then(|| (self.name, self.seen.clone()))
    }

    pub(super) fn is_failure(&self) -> bool {
        self.state == FAIL
    }
}

/// Whether an error follows conventions of its own.
fn is_foreign(error: &(dyn Error + 'static)) -> bool {
    error.is::<sqlx::Error>()
        || error.is::<MigrateError>()
        || error.is::<rustls::Error>()
        || error.is::<std::io::Error>()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<4}  {:<WIDTH$}  {}", self.state, self.name, self.seen.replace('\n', " "))?;
        self.fix.as_ref().map_or(Ok(()), |fix| write!(f, "\n      {fix}"))
    }
}

/// Checks that an earlier failure makes impossible.
pub(super) fn skipped(names: &[&'static str], why: &str) -> Vec<Finding> {
    names.iter().map(|&name| Finding::skip(name, why)).collect()
}

/// Waits no longer than [`WAIT_MAX`].
pub(super) async fn within<T, E: Into<anyhow::Error>>(work: impl Future<Output = Result<T, E>>) -> Result<T> {
    match timeout(WAIT_MAX, work).await {
        Ok(done) => done.map_err(Into::into),
        Err(_) => bail!("no reply within {}", humantime::format_duration(WAIT_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, anyhow};

    use super::*;

    #[test]
    fn advice_follows_the_last_colon_of_an_error_of_our_own() {
        let said = |error: anyhow::Error| Finding::of("it", Err(error), "otherwise").to_string();
        let refused = anyhow!("x: y is off: turn it on").context("cannot use it");
        assert_eq!(said(refused), "fail  it                  x: y is off\n      turn it on");
        let lost = Err::<(), _>(sqlx::Error::PoolTimedOut).context("cannot connect: start it").unwrap_err();
        assert!(said(lost).ends_with(")\n      start it"));
        let foreign = Err::<(), _>(rustls::Error::General("a: b".to_owned())).context("unusable").unwrap_err();
        assert!(said(foreign).ends_with("\n      otherwise"));
        let ok = Finding::of("it", Ok("fine".to_owned()), "otherwise");
        assert!(!ok.is_failure() && ok.to_string().starts_with("ok    it "));
    }
}
