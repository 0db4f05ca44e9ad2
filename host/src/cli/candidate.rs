//! A version to try: a registered one, a component in a file, or one of this program's own.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use sqlx::PgConnection;

use crate::db::components;
use crate::models::Embedded;

pub(super) async fn bytes_of(db: &mut PgConnection, name: &str) -> Result<Vec<u8>> {
    if let Some((_, bytes)) = components::by_version(db, name).await.context("cannot read the registry")? {
        return Ok(bytes);
    }
    if Path::new(name).is_file() {
        return fs::read(name).with_context(|| format!("cannot read the component {name}"));
    }
    match Embedded::find(name) {
        Some(embedded) => Ok(embedded.bytes.to_vec()),
        None => bail!("there is no version and no file '{name}': `caudal models list` shows the versions"),
    }
}
