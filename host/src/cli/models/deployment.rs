//! `caudal models deploy` and `rollback`, through the admin API.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use hyper::Method;
use serde_json::{Value, json};

use super::caution::agree;
use super::names::{resolve, resolve_of};
use super::registry::{Progress, items, kind_of, kinds};
use crate::cli::admin::{AdminApi, if_match};
use crate::cli::output::print;
use crate::config::{Deploy, RollBack};
use crate::domain::risk::CutOffs;
use crate::http::admin::confirmation::SetbackJson;
use crate::http::admin::deployment::{CanaryJson, DeploymentJson, HistoryJson, PresentJson};
use crate::models::deploying::catalog::MAX_FLIP_PERCENT;
use crate::models::deploying::setback::Cause;
use crate::schema::{Fields, FromFields};
use crate::wasm::digest_of;

/// How often `--wait` polls what the hosts serve.
const POLL_EVERY: Duration = Duration::from_millis(200);

pub(super) fn digest_of_file(path: Option<&Path>) -> Result<Option<String>> {
    let digest = |path: &Path| {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(digest_of(&bytes).to_string())
    };
    path.map(digest).transpose()
}

/// An answer as it is declared.
async fn read<T: FromFields>(api: &AdminApi, path: &str) -> Result<T> {
    let unexpected = "the host's answer has an unexpected format";
    let answer = api.get(path).await?.to_string();
    let mut fields = Fields::from_json(answer, 0).context(unexpected)?;
    let answer = fields.read();
    let faults = fields.into_faults();
    if faults.is_empty() { Ok(answer) } else { bail!("{unexpected}: {faults:?}") }
}

impl PresentJson {
    pub(super) async fn read(api: &AdminApi, kind: &str) -> Result<Self> {
        read(api, &format!("/admin/models/{kind}/deployment")).await
    }

    /// Why a version that does not serve everybody should not.
    fn setback(&self, version: &str) -> Option<&SetbackJson> {
        self.setbacks.iter().find(|it| it.version.as_deref() == Some(version))
    }

    /// Asks whether to end the canary, unless it is one of those that stay.
    pub(super) fn confirm_end(&self, stay: &[Option<&str>], is_given: bool, change: &mut Value) -> Result<()> {
        let ended = self.now.0.canary.as_ref().filter(|it| !stay.contains(&it.version.as_deref()));
        let Some(CanaryJson { version: Some(version), percent, .. }) = ended else { return Ok(()) };
        let warning = format!("this ends the canary {version}, which answers {percent}% of the users");
        agree(&warning, "--end-canary", is_given)?;
        change["ends_canary"] = json!(version);
        Ok(())
    }

    /// Asks whether to promote a version that has a setback.
    pub(super) fn confirm_setback(&self, version: &str, is_given: bool, change: &mut Value) -> Result<()> {
        let Some(setback) = self.setback(version) else { return Ok(()) };
        agree(&setback.describe(version), "--despite-setback", is_given)?;
        change["despite_setback"] = json!(version);
        Ok(())
    }

    /// The one before, if the change to this one left the champion as it was.
    async fn before_same_champion(&self, api: &AdminApi, kind: &str) -> Result<Option<DeploymentJson>> {
        let HistoryJson { history } = read(api, &format!("/admin/models/{kind}/history")).await?;
        let before = history.into_iter().find(|it| it.epoch + 1 == self.now.0.epoch);
        Ok(before.filter(|it| it.champion == self.now.0.champion))
    }
}

impl DeploymentJson {
    fn has_challengers(&self) -> bool {
        self.canary.is_some() || !self.shadows.is_empty()
    }

    /// Says what a change ended, given the versions that still have a role.
    fn tell_ended(&self, stay: &[&str]) -> Result<()> {
        let is_gone = |version: &&String| !stay.contains(&version.as_str());
        if let Some(version) = self.canary.as_ref().and_then(|it| it.version.as_ref()).filter(is_gone) {
            print(&format!("ended the canary {version}"))?;
        }
        self.shadows.iter().filter(is_gone).try_for_each(|it| print(&format!("removed the shadow {it}")))
    }
}

pub(super) async fn deploy(api: &AdminApi, arguments: &Deploy) -> Result<ExitCode> {
    let Deploy { percent, max_flip_percent, reason, wait, .. } = arguments;
    let kinds = kinds(api).await?;
    let (kind, version) = resolve(&kinds, &arguments.version)?;
    let canary = arguments.canary.as_ref().map(|it| resolve_of(&kinds, kind, it)).transpose()?;
    let canary = canary.map(|version| CanaryJson {
        version: Some(version),
        percent: percent.unwrap_or_default(),
        max_flip_percent: max_flip_percent.unwrap_or(MAX_FLIP_PERCENT),
    });
    let shadows = arguments.shadows.iter().map(|it| resolve_of(&kinds, kind, it)).collect::<Result<Vec<_>>>()?;
    let present = PresentJson::read(api, kind).await?;
    let now = &present.now.0;
    let champion = now.champion.as_deref().unwrap_or_default();
    let minimum = &arguments.minimum_release;
    let has_minimum = minimum.is_none() || now.minimum_release == *minimum;
    let cut_offs = arguments.cut_offs.over(now.cut_offs);
    let is_same = now.canary == canary && now.shadows == shadows && has_minimum && now.cut_offs == cut_offs;
    if now.epoch > 0 && champion == version && is_same {
        print(&format!("{version} is already deployed"))?;
        return follow(api, kind, now.epoch, version, *wait).await;
    }
    let mut change = json!({
        "champion": version, "canary": canary, "shadows": shadows, "minimum_release": minimum, "reason": reason,
        "cut_offs": cut_offs.filter(|_| now.cut_offs != cut_offs),
        "fork_report": digest_of_file(arguments.fork_report.as_deref())?,
    });
    let new_canary = canary.as_ref().and_then(|it| it.version.as_deref());
    // One that becomes the champion is not ended.
    present.confirm_end(&[Some(version), new_canary], arguments.end_canary, &mut change)?;
    if champion != version {
        present.confirm_setback(version, arguments.despite_setback, &mut change)?;
    }
    // Another trial needs no consent, but its operator should know.
    let tried = new_canary.filter(|it| now.canary.as_ref().is_none_or(|canary| canary.version.as_deref() != Some(*it)));
    if let Some((version, setback)) = tried.and_then(|it| Some((it, present.setback(it)?))) {
        print(&format!("note: {}", setback.describe(version)))?;
    }
    let path = format!("/admin/models/{kind}/deployment");
    let answer = api.call(Method::PUT, &path, &if_match(now.epoch), Some(&change)).await?;
    let Some(done) = answer.done()? else { return Ok(ExitCode::SUCCESS) };
    let replaced = if champion == version { String::new() } else { format!(" in place of {champion}") };
    print(&format!("{version} is deployed{replaced}"))?;
    shadows
        .iter()
        .filter(|it| !now.shadows.contains(it))
        .try_for_each(|it| print(&format!("added the shadow {it}")))?;
    cut_offs.filter(|_| now.cut_offs != cut_offs).map_or(Ok(()), |it| print(&format!("{kind} is {it}")))?;
    let stay: Vec<_> = [version].into_iter().chain(new_canary).chain(shadows.iter().map(String::as_str)).collect();
    now.tell_ended(&stay)?;
    follow(api, kind, epoch_of(&done)?, version, *wait).await
}

pub(super) fn epoch_of(deployment: &Value) -> Result<i64> {
    deployment["epoch"].as_i64().context("the host's answer has an unexpected format")
}

/// Without `--to` it replaces no champion that the last change left alone: a rollback of that change ends the trial. Nor
/// does it return to a version that was itself rolled back, so that a repeated command changes nothing.
pub(super) async fn roll_back(api: &AdminApi, arguments: &RollBack) -> Result<ExitCode> {
    let RollBack { from, to, reason, wait, .. } = arguments;
    let kind = kind_of(&arguments.kind)?.as_str();
    let present = PresentJson::read(api, kind).await?;
    let now = &present.now.0;
    let (Some(champion), Some(target)) = (&now.champion, &present.rollback_to) else {
        bail!("nothing has been deployed for {kind}, so there is nothing to roll back");
    };
    let kinds = if from.is_some() || to.is_some() { kinds(api).await? } else { Vec::new() };
    let full = |typed: &Option<String>| typed.as_ref().map(|it| resolve_of(&kinds, kind, it)).transpose();
    let (from, to) = (full(from)?, full(to)?);
    let leaves_champion = to.is_none() && from.as_ref().is_none_or(|it| it == champion);
    if leaves_champion && let Some(before) = present.before_same_champion(api, kind).await? {
        if let Some(was) = before.cut_offs.filter(|_| before.cut_offs != now.cut_offs) {
            let CutOffs { medium_from, high_from } = was;
            bail!(
                "the last change set other cut-offs, which a rollback keeps: return to them with `caudal models cut-offs \
                 {kind} --medium-from {medium_from} --high-from {high_from}`; to return to a version, name it with --to"
            );
        }
        let to_replace_it = format!("to replace it too, add --to {target}");
        if now.has_challengers() {
            let canary = now.canary.as_ref().map(|it| &it.version);
            let change = json!({"champion": champion, "ends_canary": canary, "reason": reason});
            let path = format!("/admin/models/{kind}/deployment");
            let done = api.call(Method::PUT, &path, &if_match(now.epoch), Some(&change)).await?.body;
            let advice = if target == champion { String::new() } else { format!(": {to_replace_it}") };
            print(&format!("{champion} keeps serving{advice}"))?;
            now.tell_ended(&[champion])?;
            return follow(api, kind, epoch_of(&done)?, champion, *wait).await;
        }
        if before.has_challengers() && now.reason.as_ref() == Some(reason) {
            print(&format!("already ended: {champion} keeps serving"))?;
            return follow(api, kind, now.epoch, champion, *wait).await;
        }
        if before.has_challengers() && target != champion {
            bail!("the last change ended a trial beside {champion} already, which keeps serving: {to_replace_it}");
        }
    }
    if to.is_none() && target == champion && !now.has_challengers() {
        bail!("no other version served before {champion}, so there is nothing to roll back to");
    }
    let setback = present.setback(to.as_ref().unwrap_or(target));
    if to.is_none() && setback.is_some_and(|it| it.cause == Cause::RolledBack) {
        if now.has_challengers() || from.as_ref() == Some(champion) {
            bail!(
                "{target} was itself rolled back: return to it with --to {target}, or deploy {champion} to end its \
                 challengers"
            );
        }
        print(&format!("already rolled back to {champion}"))?;
        return follow(api, kind, now.epoch, champion, *wait).await;
    }
    let to = to.as_ref().unwrap_or(target);
    let mut change = json!({"from": from.as_ref().unwrap_or(champion), "to": to, "reason": reason});
    if to == target {
        present.confirm_setback(to, arguments.despite_setback, &mut change)?;
    }
    let path = format!("/admin/models/{kind}/rollback");
    let done = api.call(Method::POST, &path, &if_match(now.epoch), Some(&change)).await?.body;
    let epoch = epoch_of(&done)?;
    if epoch == now.epoch {
        print(&format!("already rolled back to {to}"))?;
    } else {
        print(&if to == champion {
            format!("{to} keeps serving: no other version served before it")
        } else {
            format!("rolled back to {to}")
        })?;
        now.tell_ended(&[to])?;
    }
    follow(api, kind, epoch, to, *wait).await
}

/// Prints the progress of a deployment and, with `--wait`, waits until every host serves it.
pub(super) async fn follow(
    api: &AdminApi,
    kind: &str,
    epoch: i64,
    version: &str,
    wait: Option<u32>,
) -> Result<ExitCode> {
    let deadline = Instant::now() + Duration::from_secs(wait.unwrap_or_default().into());
    let mut shown = String::new();
    loop {
        let all = kinds(api).await?;
        let hosts = all.iter().find(|it| it["kind"] == kind).map(|it| items(it, "hosts")).unwrap_or_default();
        let (progress, hosts) = (Progress::of(hosts, epoch), hosts.len());
        if wait.is_none() {
            let subject = if hosts == 1 { "host is" } else { "hosts are" };
            print(&format!("{hosts} {subject} loading it: see `caudal models list`, or use --wait"))?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(later) = progress.replaced_by {
            bail!("change {later} replaced this one");
        }
        if let Some((host, reason)) = progress.failed.first() {
            bail!("host {host} cannot serve {version}: {reason}");
        }
        let line = format!("{} of {hosts} hosts serve {version}", progress.serving);
        if line != shown {
            print(&line)?;
            shown = line;
        }
        if progress.serving == hosts {
            return Ok(ExitCode::SUCCESS);
        }
        if Instant::now() >= deadline {
            bail!(
                "{} of {hosts} hosts are still loading {version} after {} s",
                progress.loading,
                wait.unwrap_or_default()
            );
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}
