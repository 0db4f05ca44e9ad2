//! Models for pages: what is active of a kind, in a form that a browser or an edge worker runs.
//!
//! A page ships with glue for a kind and fetches the core module that is active. That fits as long as
//! the active component has the very glue of the built-in one; another needs a newer page and is not
//! handed out. Everything has its content's digest in its address, so what was fetched is what was
//! meant. Not for deciding which kinds are public: that is configuration.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::task::spawn_blocking;

use crate::domain::model::{Digest, ModelKind};
use crate::models::deploying::catalog::digest_of;
use crate::models::serving::embedded::Embedded;
use crate::wasm::{NotPortable, Portable};

/// Files that were named to somebody and stay available: a page fetches what it was told a moment ago,
/// also when something else is active by then. Two for each of the last 16 answers of distinct models.
const KEPT_MAX: usize = 32;

/// Bytes and their digest.
#[derive(Debug, Clone)]
pub struct File {
    /// SHA-256 of the bytes.
    pub digest: Digest,
    /// What there is to fetch.
    pub bytes: Arc<[u8]>,
}

impl File {
    fn new(bytes: &[u8]) -> Self {
        Self { digest: digest_of(bytes), bytes: bytes.into() }
    }

    /// Whether it is a core module; otherwise it is glue.
    pub fn is_wasm(&self) -> bool {
        self.bytes.starts_with(b"\0asm")
    }
}

/// A model for a page.
#[derive(Debug, Clone)]
pub struct Published {
    /// The core module.
    pub core: File,
    /// What lifts and lowers.
    pub glue: File,
}

/// Why an active model is not for pages.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotPublishable {
    /// It has no such form.
    #[error(transparent)]
    NotPortable(#[from] NotPortable),
    /// It brings a language's runtime, or decides on money.
    #[error("the component runs in hosts like this one only")]
    OnlyHere,
    /// It was made otherwise than the built-in one.
    #[error("the component needs other glue than pages ship with")]
    OtherGlue,
    /// Nothing is translated any longer.
    #[error("translating it panicked")]
    Panicked,
}

impl Published {
    /// Translates a component of a kind.
    ///
    /// # Errors
    /// See [`NotPortable`].
    pub fn new(kind: ModelKind, component: &[u8]) -> Result<Self, NotPortable> {
        let Portable { core, glue } = Portable::new(kind.as_str(), component)?;
        Ok(Self { core: File::new(&core), glue: File::new(glue.as_bytes()) })
    }

    fn that_fits(kind: ModelKind, component: &[u8]) -> Result<Self, NotPublishable> {
        let published = Self::new(kind, component)?;
        if shipped_glue(kind) != Some(published.glue.digest) {
            return Err(NotPublishable::OtherGlue);
        }
        Ok(published)
    }
}

/// The digest of the glue that pages ship with.
fn shipped_glue(kind: ModelKind) -> Option<Digest> {
    static GLUE: OnceLock<Vec<(ModelKind, Digest)>> = OnceLock::new();
    let glue = GLUE.get_or_init(|| {
        let defaults = Embedded::ALL.into_iter().filter(|it| it.by_default);
        defaults.filter_map(|it| Some((it.kind, Published::new(it.kind, it.bytes).ok()?.glue.digest))).collect()
    });
    glue.iter().find(|(of, _)| *of == kind).map(|(_, digest)| *digest)
}

/// A component's bytes, and what they are for a page once somebody asked.
pub(crate) struct Source {
    kind: ModelKind,
    component: Arc<[u8]>,
    published: OnceLock<Result<Published, NotPublishable>>,
}

impl Source {
    pub(crate) fn new(kind: ModelKind, component: &[u8]) -> Self {
        Self { kind, component: component.into(), published: OnceLock::new() }
    }

    fn published(&self) -> &Result<Published, NotPublishable> {
        self.published.get_or_init(|| Published::that_fits(self.kind, &self.component))
    }
}

/// Hands out what is active.
#[derive(Default)]
pub struct Shelf {
    kept: Mutex<VecDeque<File>>,
}

impl Shelf {
    /// The files of an active model.
    pub(crate) async fn active(&self, source: Option<Arc<Source>>) -> Result<Published, NotPublishable> {
        let source = source.ok_or(NotPublishable::OnlyHere)?;
        // The first to ask waits for milliseconds of work.
        let published = spawn_blocking(move || source.published().clone()).await;
        let published = published.unwrap_or(Err(NotPublishable::Panicked));
        if let Ok(published) = &published {
            self.keep([&published.core, &published.glue]);
        }
        published
    }

    /// What was handed out under this digest, as hex.
    pub fn find(&self, digest: &str) -> Option<File> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|file| file.digest.to_string() == digest).cloned()
    }

    fn keep(&self, files: [&File; 2]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for file in files {
            kept.retain(|it| it.digest != file.digest);
            kept.push_front(file.clone());
        }
        kept.truncate(KEPT_MAX);
    }
}
