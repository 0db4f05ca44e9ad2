//! Models in a form that a browser or an edge worker can run.
//!
//! A page ships with the glue for a kind and fetches the active core module. That works while the active
//! component has the same fingerprint as the embedded one; another needs a newer page and is not published.

use std::sync::{Arc, OnceLock};

use tokio::task::spawn_blocking;

use crate::domain::model::{Digest, ModelKind};
use crate::models::publishing::abi;
use crate::models::serving::embedded::Embedded;
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
    /// Its types or its calling convention differ from those of the embedded one.
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
        let Portable { core, glue } = Portable::new(kind.as_str(), component)?;
        let abi = abi::fingerprint(kind, component).map_err(|error| NotPortable::Translation(error.to_string()))?;
        let (core, glue) = (File::new(&core), File::new(glue.as_bytes()));
        Ok(Self { component: File::new(component), core, glue, abi })
    }

    /// Translates a component, unless it needs different glue than pages ship with.
    fn with_shipped_glue(kind: ModelKind, component: &[u8]) -> Result<Self, NotPublishable> {
        let published = Self::new(kind, component)?;
        if shipped_abi(kind) != Some(published.abi) {
            return Err(NotPublishable::OtherGlue);
        }
        Ok(published)
    }
}

/// The fingerprint of the glue that pages ship with.
fn shipped_abi(kind: ModelKind) -> Option<Digest> {
    abi::fingerprint(kind, Embedded::default_of(kind).bytes).ok()
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
