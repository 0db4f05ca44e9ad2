//! A component of one's own as files beside the npm package: its core, what identifies it, and a list of such models for an
//! edge worker.

use serde_json::json;

use crate::domain::model::ModelKind;
use crate::models::publishing::abi::Contract;
use crate::models::publishing::package::PackageFile;
use crate::models::publishing::published::{NotPublishable, Published};
use crate::models::serving::component::LoadedComponent;
use crate::wasm::{LoadError, Runtime};

/// Longest name of a model. Bindings of workers, addresses and file names contain it.
const NAME_CHARS_MAX: usize = 64;

/// Why a component cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    #[error("the name of its file is the name of the model, and may have up to {NAME_CHARS_MAX} of a-z, 0-9 and -")]
    Name,
    #[error("another component has the same name")]
    Repeated,
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("it exports no interface of a kind that scores: see `caudal models check`")]
    NoScorer,
    #[error(transparent)]
    NotPublishable(#[from] NotPublishable),
}

/// Files of models of one's own.
#[derive(Default)]
pub struct Parts {
    names: Vec<String>,
    files: Vec<PackageFile>,
}

impl Parts {
    /// Adds a component by its name.
    ///
    /// # Errors
    /// See [`PartError`].
    pub fn add(&mut self, runtime: &Runtime, name: &str, component: &[u8]) -> Result<(), PartError> {
        let may_be_in_a_name = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.bytes().all(may_be_in_a_name) {
            return Err(PartError::Name);
        }
        if self.names.iter().any(|it| it == name) {
            return Err(PartError::Repeated);
        }
        let contract = Contract::of(component).ok().flatten();
        let contract = contract.filter(|it| ModelKind::SCORERS.contains(&it.kind)).ok_or(PartError::NoScorer)?;
        let kind = contract.kind;
        // Before it is compiled, which takes minutes for a language runtime.
        let published = Published::with_shipped_glue(kind, component)?;
        let loaded = LoadedComponent::load(runtime, kind, component)?;
        let identity = json!({
            "kind": kind.as_str(),
            "modelVersion": loaded.identity().version.to_string(),
            "sha256": loaded.identity().digest.to_string(),
            "abi": published.abi.to_string(),
        });
        let identity = serde_json::to_string_pretty(&identity).unwrap_or_default();
        let identity =
            format!("// What load() takes beside the core of this model; generated.\nexport default {identity};\n");
        self.files.push((format!("{name}.core.wasm"), published.core.bytes.to_vec()));
        self.files.push((format!("{name}.js"), identity.into_bytes()));
        self.names.push(name.to_owned());
        Ok(())
    }

    /// All files, with a list of the models for `@caudal/scorers/worker`.
    pub fn files(mut self) -> Vec<PackageFile> {
        let (mut imports, mut lines) = (String::new(), String::new());
        for (at, name) in self.names.iter().enumerate() {
            imports +=
                &format!("import core{at} from \"./{name}.core.wasm\";\nimport model{at} from \"./{name}.js\";\n");
            lines += &format!("  \"{name}\": {{ ...model{at}, core: core{at} }},\n");
        }
        let list =
            format!("// For withModels() of the edge worker; generated.\n{imports}export default {{\n{lines}}};\n");
        self.files.push(("models.js".to_owned(), list.into_bytes()));
        self.files
    }
}
