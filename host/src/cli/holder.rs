//! `caudal holder`: shows and sets the verified name of a user.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::cli::admin::AdminApi;
use crate::cli::limits::segment;
use crate::cli::output::print;
use crate::config::{Common, Holder};

pub(super) async fn run(common: &Common, holder: Holder) -> Result<ExitCode> {
    let Holder { user, name, admin } = holder;
    let api = AdminApi::new(common, &admin)?;
    let path = format!("/admin/users/{}/holder", segment(&user));
    let shown = match name {
        Some(name) => api.put(&path, &json!({"name": name})).await?.body,
        None => api.get(&path).await?,
    };
    let name = shown["name"].as_str().unwrap_or("no verified name, so payments go out without one");
    print(&format!("{user}: {name}"))?;
    Ok(ExitCode::SUCCESS)
}
