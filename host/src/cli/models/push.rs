//! `caudal models push`: a component, its signature and its card, through the admin API.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use hyper::header::{CONTENT_TYPE, HeaderName};
use hyper::{Method, StatusCode};
use serde_json::Value;

use crate::cli::admin::AdminApi;
use crate::cli::models::check::{examine, format_report};
use crate::cli::models::registry::kind_of;
use crate::cli::models::source::Source;
use crate::cli::output::print;
use crate::config::Push;
use crate::domain::card::Card;
use crate::domain::model::ModelKind;
use crate::schema::Fields;
use crate::scoring::monitored;
use crate::wasm::digest_of;

/// How often the host is asked whether it has examined a component.
const POLL_EVERY: Duration = Duration::from_millis(200);

const SIGNATURE: HeaderName = HeaderName::from_static("model-signature");

/// Examines the component here, for its kind and a quick answer; the host that registers it examines it again.
pub(super) async fn run(api: &AdminApi, push: &Push) -> Result<ExitCode> {
    let Push { file, signature, card, oci, .. } = push;
    let (name, source) = match (file, oci) {
        (Some(file), _) => (file.display().to_string(), Source::files(file, signature.as_deref())?),
        (None, Some(image)) => (image.clone(), Source::layout(image).with_context(|| format!("cannot use {image}"))?),
        (None, None) => bail!("name a component file, or an image with --oci"),
    };
    let report = examine(&source.component).await?;
    print(&format_report(&name, &report))?;
    let Some(kind) = report.kind.as_ref().filter(|_| report.is_accepted()) else { return Ok(ExitCode::FAILURE) };
    // A card that would be refused is found before anything is sent.
    let card = card.as_deref().map(|file| read_card(file, kind_of(kind)?)).transpose()?;
    let mut headers = vec![(CONTENT_TYPE, "application/wasm".to_owned())];
    headers.extend(source.signature.map(|signature| (SIGNATURE, signature)));
    let path = format!("/admin/models/{kind}/versions");
    let result = format!("/admin/models/{kind}/pushes/{}", digest_of(&source.component));
    let mut answer = api.send(Method::POST, &path, &headers, source.component.into()).await?;
    while answer.status == StatusCode::ACCEPTED {
        tokio::time::sleep(POLL_EVERY).await;
        answer = api.call(Method::GET, &result, &[], None).await?;
    }
    let Some(version) = answer.body["model_version"].as_str() else {
        bail!("the host's answer has an unexpected format")
    };
    print(&match answer.status {
        StatusCode::CREATED => format!("registered as {version}"),
        _ => format!("{version} was already registered"),
    })?;
    if let Some(card) = card {
        api.put(&format!("{path}/{}/card", version.replace('+', "%2B")), &card).await?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read_card(file: &Path, kind: ModelKind) -> Result<Value> {
    let name = file.display();
    let text = fs::read(file).with_context(|| format!("cannot read {name}"))?;
    let fields = Fields::from_json(text, 422).with_context(|| format!("{name} is not a JSON object"))?;
    let card = Card::read(fields, &monitored(kind)).map_err(|faults| {
        let faults = faults.iter().map(|it| format!("\n  {} {}", it.field, it.detail));
        anyhow!("{name} is not a card:{}", faults.collect::<String>())
    });
    Ok(serde_json::to_value(card?)?)
}
