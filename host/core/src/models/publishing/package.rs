//! The generated part of the npm package: the core modules of the embedded scorers, one glue file for each contract, a
//! manifest of both, the catalogue of facts, and what the entry points import. The hand-written part is in `components/js`.

use serde_json::{Map, Value, json};

use crate::domain::fact::manifest::NAMES_MAX;
use crate::domain::fact::{FACTS, VALUE_MAX};
use crate::domain::model::ModelKind;
use crate::domain::reason::reason_codes;
use crate::domain::risk::{CutOffs, HISTORY_MIN, MUCH_HIGHER_TIMES, NORMAL_HOURS};
use crate::models::publishing::abi::Contract;
use crate::models::publishing::entry;
use crate::models::publishing::published::{File, Published};
use crate::models::publishing::terms::Terms;
use crate::models::serving::component::LoadedComponent;
use crate::models::serving::embedded::Embedded;
use crate::schema::{Declaration, FieldError, Record as _, javascript, typescript};
use crate::scoring::{Kind, Visitor, with_kind};
use crate::wasm::{Identity, LoadError, NotPortable, Runtime};

/// Why the package cannot be generated.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("{0} does not load")]
    Load(&'static str, #[source] LoadError),
    #[error("{0} cannot be translated")]
    NotPortable(&'static str, #[source] NotPortable),
    /// The package has one glue file for each contract.
    #[error("{0} does not have the glue of its contract")]
    OtherGlue(&'static str),
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
    let mut contracts = Map::new();
    for contract in Contract::of_scorers() {
        let Contract { name, kind, example, .. } = *contract;
        let published = Published::new(kind, example).map_err(|error| PackageError::NotPortable(name, error))?;
        let entry = json!({
            "kind": kind.as_str(),
            "interface": contract.interface(),
            "abi": published.abi.to_string(),
        });
        contracts.insert(name.to_owned(), entry);
        files.push((glue_of(contract), published.glue.bytes.to_vec()));
    }
    for embedded in Embedded::ALL.into_iter().filter(|it| it.kind != ModelKind::TransferRules) {
        let Embedded { name, kind, .. } = embedded;
        let loaded =
            LoadedComponent::load(runtime, kind, embedded.bytes).map_err(|error| PackageError::Load(name, error))?;
        let (published, contract) =
            Published::with_contract(kind, embedded.bytes).map_err(|error| PackageError::NotPortable(name, error))?;
        let (core, glue) = (format!("core/{name}.core.wasm"), glue_of(contract));
        if !files.iter().any(|(path, bytes)| *path == glue && **bytes == *published.glue.bytes) {
            return Err(PackageError::OtherGlue(name));
        }
        models.insert(name.to_owned(), listed(&embedded, loaded.identity(), &published.core, &core));
        files.push((core, published.core.bytes.to_vec()));
    }
    files.push(("schema/facts.js".to_owned(), facts().into_bytes()));
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
    let manifest = serde_json::to_string_pretty(&json!({"contracts": contracts, "models": models})).unwrap_or_default();
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

fn glue_of(contract: &Contract) -> String {
    format!("glue/{}.js", contract.name)
}

/// What components of contract 2 may ask for and answer, and the host's share of an answer.
fn facts() -> String {
    let facts = FACTS.iter().map(|it| {
        let mut fact = Map::from_iter([("kind".to_owned(), json!(it.measure.kind()))]);
        // Absent is what it most often is.
        for (name, value, holds) in [
            ("unit", json!(it.measure.unit()), !it.measure.unit().is_empty()),
            ("scale", json!(it.measure.scale()), it.measure.scale() > 1.0),
            ("always_known", json!(true), it.is_always_known),
        ] {
            if holds {
                fact.insert(name.to_owned(), value);
            }
        }
        (it.name.to_owned(), Value::Object(fact))
    });
    let data = json!({
        "facts": facts.collect::<Map<_, _>>(),
        "value_max": VALUE_MAX,
        "names_max": NAMES_MAX,
        "reasons": reason_codes().collect::<Vec<_>>(),
        "factors": {
            "much_higher_times": MUCH_HIGHER_TIMES,
            "normal_hours": [NORMAL_HOURS.start(), NORMAL_HOURS.end()],
            "history_min": HISTORY_MIN,
        },
    });
    let data = serde_json::to_string_pretty(&data).unwrap_or_default();
    format!(
        "// What risk models of contract 2 may ask for and answer; generated from the host's declarations.\nexport default {data};\n"
    )
}

fn listed(embedded: &Embedded, identity: &Identity, core: &File, path: &str) -> Value {
    let mut entry = json!({
        "kind": embedded.kind.as_str(),
        "default": embedded.by_default,
        "model_version": identity.version.to_string(),
        "sha256": identity.digest.to_string(),
        "core": {"sha256": core.digest.to_string(), "bytes": core.bytes.len(), "file": path},
    });
    if let (Value::Object(entry), Ok(Value::Object(terms))) =
        (&mut entry, serde_json::to_value(Terms::of(embedded.kind, CutOffs::DEFAULT)))
    {
        entry.extend(terms);
    }
    entry
}
