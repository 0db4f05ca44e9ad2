//! Models in a form that a browser or an edge worker can run.
//!
//! A page ships with the glue for each contract of a kind and fetches the active core module. That works while the active
//! component has the same fingerprint as the one that the glue was made for; another needs a newer page and is not published.

use std::sync::{Arc, OnceLock};

use tokio::task::spawn_blocking;
use wasmparser::BinaryReaderError;

use crate::domain::model::{Digest, ModelKind};
use crate::models::publishing::abi::Contract;
use crate::wasm::{NotPortable, Portable, digest_of};

/// A file that is fetched by its digest, so that a page gets exactly the bytes it expects.
#[derive(Debug, Clone)]
pub struct File {
    pub digest: Digest,
    pub bytes: Arc<[u8]>,
}

impl File {
    fn new(bytes: &[u8]) -> Self {
        Self { digest: digest_of(bytes), bytes: bytes.into() }
    }

    /// Whether it is a component or a core module rather than glue.
    pub fn is_wasm(&self) -> bool {
        self.bytes.starts_with(b"\0asm")
    }
}

/// A model for a page.
#[derive(Debug, Clone)]
pub struct Published {
    /// For pages that verify its signature.
    pub component: File,
    pub core: File,
    /// Lifts and lowers values.
    pub glue: File,
    /// The package in WIT that the component was built for.
    pub wit: &'static str,
    /// Components with the same fingerprint run behind the same glue.
    pub abi: Digest,
}

/// Why a model is not published.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotPublishable {
    #[error(transparent)]
    NotPortable(#[from] NotPortable),
    /// It contains a language runtime, or decides on money.
    #[error("the component runs only on a host")]
    HostOnly,
    /// Its types or its calling convention differ from those of the contract's example.
    #[error("the component needs different glue than pages ship with")]
    OtherGlue,
    #[error("translating the component panicked")]
    Panicked,
}

impl Published {
    /// Translates a component of a kind.
    ///
    /// # Errors
    /// See [`NotPortable`].
    pub fn new(kind: ModelKind, component: &[u8]) -> Result<Self, NotPortable> {
        Self::with_contract(kind, component).map(|(published, _)| published)
    }

    /// A component with its core and its glue, whatever its contract.
    ///
    /// # Errors
    /// See [`NotPortable`].
    pub fn files(kind: ModelKind, component: &[u8]) -> Result<[File; 3], NotPortable> {
        let Portable { core, glue } = Portable::new(kind.as_str(), component)?;
        Ok([component, &core[..], glue.as_bytes()].map(File::new))
    }

    pub(super) fn with_contract(kind: ModelKind, component: &[u8]) -> Result<(Self, &'static Contract), NotPortable> {
        let invalid = |error: BinaryReaderError| NotPortable::Translation(error.to_string());
        let other = || NotPortable::Translation(format!("it exports no interface of {kind}"));
        let [whole, core, glue] = Self::files(kind, component)?;
        let contract = Contract::of(component).map_err(invalid)?;
        let contract = contract.filter(|it| it.kind == kind).ok_or_else(other)?;
        let abi = contract.fingerprint(component).map_err(invalid)?;
        Ok((Self { component: whole, core, glue, wit: contract.package, abi }, contract))
    }

    /// Translates a component, unless it needs different glue than pages ship with.
    ///
    /// # Errors
    /// See [`NotPublishable`].
    pub fn with_shipped_glue(kind: ModelKind, component: &[u8]) -> Result<Self, NotPublishable> {
        let (published, contract) = Self::with_contract(kind, component)?;
        if contract.fingerprint(contract.example).ok() != Some(published.abi) {
            return Err(NotPublishable::OtherGlue);
        }
        Ok(published)
    }
}

/// A component's bytes, translated on first use.
pub(crate) struct Source {
    kind: ModelKind,
    component: Arc<[u8]>,
    published: OnceLock<Result<Published, NotPublishable>>,
}

impl Source {
    pub(crate) fn new(kind: ModelKind, component: &[u8]) -> Self {
        Self { kind, component: component.into(), published: OnceLock::new() }
    }

    /// The translated component. The first call takes milliseconds.
    pub(crate) async fn published(self: Arc<Self>) -> Result<Published, NotPublishable> {
        let translate = move || {
            let published = self.published.get_or_init(|| Published::with_shipped_glue(self.kind, &self.component));
            published.clone()
        };
        spawn_blocking(translate).await.unwrap_or(Err(NotPublishable::Panicked))
    }
}
