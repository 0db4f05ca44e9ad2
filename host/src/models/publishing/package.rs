//! The generated part of the package for browsers and edge workers: the built-in scorers' core modules,
//! one glue for each kind, and a manifest that says what is what. The hand-written part stands in
//! `components/js`, which says how to use both.

use serde_json::{Map, Value, json};

use crate::domain::model::ModelKind;
use crate::models::publishing::published::{File, Published};
use crate::models::{Embedded, LoadedComponent};
use crate::wasm::{Identity, LoadError, NotPortable, Runtime};

/// Version of the contract between a host and its components.
pub const WIT: &str = "caudal:scoring@1.0.0";

/// Why the package cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Nobody can say which version it is.
    #[error("{0} does not load")]
    Load(&'static str, #[source] LoadError),
    /// A built-in scorer has to run everywhere.
    #[error("{0} cannot be translated")]
    NotPortable(&'static str, #[source] NotPortable),
    /// Pages load one glue for each kind.
    #[error("the models of {0} do not have the same glue")]
    OtherGlue(ModelKind),
}

/// A file: its path in the package's `dist`, and its bytes.
pub type PackageFile = (String, Vec<u8>);

/// Makes the files.
///
/// # Errors
/// See [`PackageError`]; only a build of this program with other components can have one.
pub fn files(runtime: &Runtime) -> Result<Vec<PackageFile>, PackageError> {
    let mut files: Vec<PackageFile> = Vec::new();
    let mut models = Map::new();
    for embedded in Embedded::ALL.into_iter().filter(|it| it.kind != ModelKind::TransferRules) {
        let Embedded { name, kind, .. } = embedded;
        let loaded =
            LoadedComponent::load(runtime, kind, embedded.bytes).map_err(|error| PackageError::Load(name, error))?;
        let published = Published::new(kind, embedded.bytes).map_err(|error| PackageError::NotPortable(name, error))?;
        let (core, glue) = (format!("core/{name}.core.wasm"), format!("glue/{kind}.js"));
        match files.iter().find(|(path, _)| *path == glue) {
            Some((_, bytes)) if **bytes != *published.glue.bytes => return Err(PackageError::OtherGlue(kind)),
            Some(_) => {}
            None => files.push((glue.clone(), published.glue.bytes.to_vec())),
        }
        files.push((core.clone(), published.core.bytes.to_vec()));
        let entry = entry(&embedded, loaded.identity(), (&published.core, &core), (&published.glue, &glue));
        models.insert(name.to_owned(), entry);
    }
    let manifest = serde_json::to_string_pretty(&json!({"wit": WIT, "models": models})).unwrap_or_default();
    let manifest = format!("// What stands beside this file; generated.\nexport default {manifest};\n");
    files.push(("manifest.js".to_owned(), manifest.into_bytes()));
    Ok(files)
}

fn entry(embedded: &Embedded, identity: &Identity, core: (&File, &str), glue: (&File, &str)) -> Value {
    let told = |(file, path): (&File, &str)| json!({"sha256": file.digest.to_string(), "bytes": file.bytes.len(), "file": path});
    json!({
        "kind": embedded.kind.as_str(),
        "default": embedded.by_default,
        "model_version": identity.version.to_string(),
        "sha256": identity.digest.to_string(),
        "core": told(core),
        "glue": told(glue),
    })
}
