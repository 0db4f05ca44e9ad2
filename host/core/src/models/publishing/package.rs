//! The generated part of the npm package: the core modules of the embedded scorers, one glue file for each
//! kind, a manifest of both, and what the entry points import. The hand-written part is in `components/js`.

use serde_json::{Map, Value, json};

use crate::domain::model::ModelKind;
use crate::domain::risk::CutOffs;
use crate::models::publishing::entry;
use crate::models::publishing::published::{File, Published};
use crate::models::publishing::terms::Terms;
use crate::models::serving::component::LoadedComponent;
use crate::models::serving::embedded::Embedded;
use crate::schema::{Declaration, FieldError, Record as _, javascript, typescript};
use crate::scoring::{Kind, Visitor, with_kind};
use crate::wasm::{Identity, LoadError, NotPortable, Runtime, WIT};

/// Why the package cannot be generated.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("{0} does not load")]
    Load(&'static str, #[source] LoadError),
    #[error("{0} cannot be translated")]
    NotPortable(&'static str, #[source] NotPortable),
    /// The package has one glue file for each kind.
    #[error("the models of {0} do not have the same glue")]
    OtherGlue(ModelKind),
}

/// The path in the package's `dist`, and the bytes.
pub type PackageFile = (String, Vec<u8>);

/// Generates the files.
///
/// # Errors
/// See [`PackageError`]. The components of an official build cause none.
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
        let entry = listed(&embedded, loaded.identity(), &published, (&core, &glue));
        models.insert(name.to_owned(), entry);
    }
    let (mut requests, mut answers) = (Vec::new(), vec![&FieldError::DECLARATION]);
    let mut kinds = String::new();
    for kind in ModelKind::SCORERS {
        let Some(parts) = with_kind(*kind, Wire) else { continue };
        files.push((format!("schema/{kind}.js"), parts.schema.into_bytes()));
        requests.push(parts.request);
        answers.push(parts.answer);
        kinds.push_str(&parts.kind);
    }
    let types = format!(
        "// Requests and answers; generated from the host's declarations.\n\n{}\n\
         /** Requests, answers and the package's models of each kind. */\nexport interface Kinds {{\n{kinds}}}\n",
        typescript::interfaces(requests, answers)
    );
    files.push(("types.d.ts".to_owned(), types.into_bytes()));
    files.extend(entry::modules().map(|(path, code)| (path, code.into_bytes())));
    let manifest = serde_json::to_string_pretty(&json!({"wit": WIT, "models": models})).unwrap_or_default();
    let manifest = format!("// The files beside this one; generated.\nexport default {manifest};\n");
    files.push(("manifest.js".to_owned(), manifest.into_bytes()));
    Ok(files)
}

/// A kind's requests and answers, as files of the package.
struct Parts {
    schema: String,
    request: &'static Declaration,
    answer: &'static Declaration,
    /// Its line in a table of all kinds.
    kind: String,
}

struct Wire;

impl Visitor for Wire {
    type Output = Parts;

    fn visit<K: Kind>(self) -> Parts {
        let (request, answer) = const { (&K::Body::DECLARATION, &K::Response::DECLARATION) };
        let models: Vec<_> = Embedded::of(K::KIND).map(|it| format!("{:?}", it.name)).collect();
        let (kind, models) = (K::KIND, models.join(" | "));
        Parts {
            kind: format!("  {kind}: {{ request: {}; answer: {}; model: {models} }};\n", request.name, answer.name),
            schema: javascript::module(K::KIND.as_str(), request, answer, K::THRESHOLDS),
            request,
            answer,
        }
    }
}

fn listed(embedded: &Embedded, identity: &Identity, published: &Published, (core, glue): (&str, &str)) -> Value {
    let shown =
        |file: &File, path: &str| json!({"sha256": file.digest.to_string(), "bytes": file.bytes.len(), "file": path});
    let mut entry = json!({
        "kind": embedded.kind.as_str(),
        "default": embedded.by_default,
        "model_version": identity.version.to_string(),
        "sha256": identity.digest.to_string(),
        "abi": published.abi.to_string(),
        "core": shown(&published.core, core),
        "glue": shown(&published.glue, glue),
    });
    if let (Value::Object(entry), Ok(Value::Object(terms))) =
        (&mut entry, serde_json::to_value(Terms::of(embedded.kind, CutOffs::DEFAULT)))
    {
        entry.extend(terms);
    }
    entry
}
