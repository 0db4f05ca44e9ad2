//! Why a version should not be promoted: it was withdrawn as a canary or rolled back, and has not served well
//! since.

use time::OffsetDateTime;

use crate::db::deployments::{AUTOMATIC, Deployment};
use crate::domain::model::Digest;

crate::domain::text_enum! {
    Cause {
        /// As a canary it failed, or differed too often.
        Withdrawn = "withdrawn",
        /// As the champion it was left by a rollback.
        RolledBack = "rolled-back",
    }
}

impl Cause {
    /// What happened to the version, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Withdrawn => "was withdrawn as a canary",
            Self::RolledBack => "was rolled back",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setback {
    pub version: Digest,
    pub cause: Cause,
    /// The change that ended its service, its reason, who made it and when.
    pub epoch: i64,
    pub reason: String,
    pub by: String,
    pub at: OffsetDateTime,
}

/// The versions whose last service as champion ended with a rollback, or that were withdrawn as a canary after it. Of a
/// kind's whole history, newest first.
pub fn setbacks(history: &[Deployment]) -> Vec<Setback> {
    let mut found: Vec<Setback> = Vec::new();
    // Versions already judged by a newer change. The present champion is one: it serves.
    let mut judged: Vec<Digest> = history.first().map(|it| it.champion).into_iter().collect();
    for pair in history.windows(2) {
        let [after, before] = pair else { continue };
        let withdrawn = before.canary.filter(|_| after.canary.is_none() && after.changed_by == AUTOMATIC);
        let rolled_back = !after.has_fallback && after.champion != before.champion;
        let ended = [
            withdrawn.map(|canary| (canary.version, Some(Cause::Withdrawn))),
            Some((before.champion, rolled_back.then_some(Cause::RolledBack))),
        ];
        for (version, cause) in ended.into_iter().flatten() {
            if judged.contains(&version) {
                continue;
            }
            judged.push(version);
            let Deployment { epoch, changed_at: at, .. } = *after;
            let (reason, by) = (after.reason.clone(), after.changed_by.clone());
            found.extend(cause.map(|cause| Setback { version, cause, epoch, reason, by, at }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::deployments::Canary;
    use crate::domain::model::ModelKind;

    fn digest(name: u8) -> Digest {
        Digest([name; 32])
    }

    /// Champion and canary of each change, the oldest first, and how it was made.
    fn history(changes: &[(u8, Option<u8>, &str)]) -> Vec<Deployment> {
        let change = |(at, (champion, canary, how)): (usize, &(u8, Option<u8>, &str))| Deployment {
            epoch: i64::try_from(at).unwrap() + 1,
            canary: canary.map(|name| Canary { version: digest(name), percent: 5, max_flip_percent: 10 }),
            has_fallback: *how != "rollback",
            changed_by: (*how).to_owned(),
            ..Deployment::nothing(ModelKind::Risk, digest(*champion))
        };
        let mut history: Vec<_> = changes.iter().enumerate().map(change).collect();
        history.reverse();
        history
    }

    fn found(changes: &[(u8, Option<u8>, &str)]) -> Vec<(u8, Cause, i64)> {
        setbacks(&history(changes)).iter().map(|it| (it.version.0[0], it.cause, it.epoch)).collect()
    }

    #[test]
    fn a_version_has_a_setback_until_it_has_served_well() {
        let back = [(1, None, "ops"), (2, None, "ops"), (1, None, "rollback")];
        assert_eq!(found(&back), [(2, Cause::RolledBack, 3)]);
        // A trial does not clear a setback, neither while it runs nor afterwards.
        let tried = [&back[..], &[(1, Some(2), "rollback"), (1, None, "rollback")]].concat();
        assert_eq!(found(&tried), [(2, Cause::RolledBack, 3)]);
        let promoted = [&back[..], &[(2, None, "ops")]].concat();
        assert_eq!(found(&promoted), [], "it serves");
        let replaced = [&promoted[..], &[(3, None, "ops")]].concat();
        assert_eq!(found(&replaced), [], "it served, and another replaced it");
    }

    #[test]
    fn a_withdrawn_canary_has_one_and_a_stopped_one_has_none() {
        assert_eq!(found(&[(1, Some(2), "ops"), (1, None, "ops")]), []);
        let withdrawn = [(1, Some(2), "ops"), (1, None, AUTOMATIC)];
        assert_eq!(found(&withdrawn), [(2, Cause::Withdrawn, 2)]);
        let again = [&withdrawn[..], &[(1, Some(2), "ops"), (3, None, "ops")]].concat();
        assert_eq!(found(&again), [(2, Cause::Withdrawn, 2)]);
        let both = [&withdrawn[..], &[(3, None, "ops"), (1, None, "rollback")]].concat();
        assert_eq!(found(&both), [(3, Cause::RolledBack, 4), (2, Cause::Withdrawn, 2)]);
        assert_eq!(found(&[]), []);
    }
}
