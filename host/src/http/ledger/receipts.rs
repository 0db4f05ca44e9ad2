//! `/api/ledger/transactions/{id}/receipt`: why a transfer was decided as it was, so that anybody can check it.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::auth::User;
use crate::db::{components, transfers};
use crate::domain::model::{Digest, ModelKind};
use crate::http::error::Error;
use crate::http::extract::PathId;
use crate::ledger::receipt::Receipt;
use crate::ledger::store;
use crate::models::publishing::published::Published;
use crate::schema::answer;

answer! {
    /// The decisions about a transfer, as they were sealed with its money, and what a page runs them again with.
    pub(crate) struct ReceiptJson as "TransactionReceipt" {
        receipt: Receipt,
        /// By the digest of its component, the address of the script through which a page calls it. The component itself is
        /// at `/models/component/{digest}.wasm`. Rules are always among them; a model is if it is published.
        glue: BTreeMap<String, String>,
    }
}

pub(crate) async fn get_receipt(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
) -> Result<Json<ReceiptJson>, Error> {
    let PathId(id) = id?;
    // It takes milliseconds of a processor.
    app.rates.count_record(&owner)?;
    let mut db = app.db.acquire().await?;
    let mut found = None;
    // A capture that was checked again has decisions of its own.
    for (about, batch) in transfers::decided_in(&mut db, &owner, id).await? {
        let Some((sealed, kept)) = store::batch(&mut db, batch).await? else { continue };
        found = found.or_else(|| Receipt::of(&sealed, &kept, about, &app.key));
    }
    drop(db);
    let receipt = found.ok_or(Error::NotFound)?;
    let mut glue = BTreeMap::new();
    for (kind, digest) in receipt.components() {
        if kind == ModelKind::TransferRules || app.settings.published.contains(&kind) {
            glue.extend(publish(&app, kind, digest).await?.map(|url| (digest.to_string(), url)));
        }
    }
    Ok(Json(ReceiptJson { receipt, glue }))
}

/// The address of its glue. `None` for a component that runs only on a host.
async fn publish(app: &App, kind: ModelKind, digest: Digest) -> Result<Option<String>, Error> {
    let bytes = components::bytes_of(&mut *app.db.acquire().await?, digest).await?;
    let Some(bytes) = bytes else { return Ok(None) };
    let translated = spawn_blocking(move || Published::files(kind, &bytes)).await;
    let Ok([component, core, glue]) = translated.map_err(|error| Error::Internal(error.into()))? else {
        return Ok(None);
    };
    app.models.shelf().put([&component, &core, &glue]);
    Ok(Some(format!("/models/glue/{}.js", glue.digest)))
}
