//! `caudal models cut-offs`: where the levels of risk begin, whichever version answers.

use std::process::ExitCode;

use anyhow::{Result, bail};
use hyper::Method;
use serde_json::json;

use super::deployment::{epoch_of, follow};
use super::registry::kind_of;
use crate::cli::admin::{AdminApi, if_match};
use crate::cli::output::print;
use crate::config::{CutOffOptions, SetCutOffs};
use crate::domain::risk::CutOffs;
use crate::http::admin::deployment::PresentJson;

impl CutOffOptions {
    /// The cut-offs with these in place of those in force.
    pub(super) fn over(&self, now: Option<CutOffs>) -> Option<CutOffs> {
        let (medium_from, high_from) = (self.medium_from, self.high_from);
        let now = now.or_else(|| medium_from.or(high_from).map(|_| CutOffs::DEFAULT))?;
        Some(CutOffs {
            medium_from: medium_from.unwrap_or(now.medium_from),
            high_from: high_from.unwrap_or(now.high_from),
        })
    }
}

/// Everything else that is deployed stays.
pub(super) async fn run(api: &AdminApi, arguments: &SetCutOffs) -> Result<ExitCode> {
    let SetCutOffs { reason, wait, cut_offs, .. } = arguments;
    let kind = kind_of(&arguments.kind)?.as_str();
    let PresentJson { now, .. } = PresentJson::read(api, kind).await?;
    let now = now.0;
    let (Some(before), Some(champion)) = (now.cut_offs, &now.champion) else {
        bail!("only risk has levels, so there are no cut-offs of {kind}");
    };
    let Some(after) = cut_offs.over(Some(before)).filter(|after| *after != before) else {
        print(&format!("{kind} is {before} already"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let change = json!({
        "champion": champion, "canary": now.canary, "shadows": now.shadows, "cut_offs": after, "reason": reason,
    });
    let path = format!("/admin/models/{kind}/deployment");
    let answer = api.call(Method::PUT, &path, &if_match(now.epoch), Some(&change)).await?;
    let Some(done) = answer.done()? else { return Ok(ExitCode::SUCCESS) };
    print(&format!("{kind} is {after}; it was {before}"))?;
    follow(api, kind, epoch_of(&done)?, champion, *wait).await
}
