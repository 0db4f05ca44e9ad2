//! Compiling, or finding what was compiled before.

use sha2::{Digest as _, Sha256};
use wasmparser::{Encoding, Parser, Payload};
use wasmtime::component::{Component, InstancePre, Linker};

use crate::domain::model::{Digest, PolicyClass};
use crate::wasm::engine::limits;
use crate::wasm::tenant::Tenant;
use crate::wasm::{LoadError, Runtime, wasi};

/// Largest component that is called inline. Ours have a hundredth of it; one that is larger brings a
/// language's runtime, and is slow to instantiate even if it imports nothing.
pub const PURE_BYTES_MAX: usize = 1 << 20;

/// A component that may be linked and run; nothing in it ran yet.
pub struct Compiled {
    component: Component,
    class: PolicyClass,
    digest: Digest,
    imports: Vec<String>,
}

impl Runtime {
    /// Validates and compiles, or takes what the cache has for these bytes.
    ///
    /// # Errors
    /// When the bytes are no component, or one that does not fit the limits.
    pub fn compile(&self, bytes: &[u8]) -> Result<Compiled, LoadError> {
        let imports = imports_of(bytes);
        let pure = imports.is_empty() && bytes.len() <= PURE_BYTES_MAX;
        let class = if pure { PolicyClass::Pure } else { PolicyClass::DenyAll };
        let digest = Digest(Sha256::digest(bytes).into());
        let engine = self.engine(class);
        if let Some(component) = self.cache().and_then(|cache| cache.get(engine, class, digest)) {
            self.count_cached();
            return Ok(Compiled { component, class, digest, imports });
        }
        let component = Component::from_binary(engine, bytes).map_err(LoadError::Compile)?;
        // With the first images of memories, also of those that nothing ever instantiates.
        let code = component.image_range();
        let code_bytes = code.end.addr() - code.start.addr();
        let most = limits(class).code_bytes;
        if code_bytes > most {
            return Err(LoadError::TooMuchCode { bytes: code_bytes, most });
        }
        self.count_compiled();
        if let Some(cache) = self.cache() {
            cache.put(&component, class, digest);
        }
        Ok(Compiled { component, class, digest, imports })
    }
}

impl Compiled {
    /// How it would be run.
    pub fn class(&self) -> PolicyClass {
        self.class
    }

    /// Names of what it asks its host for.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// The first import that no class offers.
    pub fn unknown_import(&self) -> Option<&str> {
        self.imports.iter().map(String::as_str).find(|name| !name.starts_with(wasi::IMPORTS))
    }

    /// Names of what it offers.
    pub fn exports(&self) -> Vec<String> {
        let engine = self.component.engine();
        self.component.component_type().exports(engine).map(|(name, _)| name.to_owned()).collect()
    }

    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// Links against nothing, or against WASI with nothing in it.
    pub(super) fn link(&self) -> Result<InstancePre<Tenant>, LoadError> {
        let mut linker = Linker::new(self.component.engine());
        // An import that is not WASI's stays unknown, and is refused by its name.
        if self.class == PolicyClass::DenyAll && self.unknown_import().is_none() {
            wasi::link(&mut linker, &self.component).map_err(LoadError::World)?;
        }
        linker.instantiate_pre(&self.component).map_err(LoadError::World)
    }
}

/// What the outermost component imports, as far as the bytes can be read: compiling says what is wrong
/// with the rest.
fn imports_of(bytes: &[u8]) -> Vec<String> {
    let mut depth = 0;
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload {
            Ok(Payload::Version { encoding: Encoding::Component | Encoding::Module, .. }) => depth += 1,
            Ok(Payload::End(_)) => depth -= 1,
            Ok(Payload::ComponentImportSection(imports)) if depth == 1 => {
                names.extend(imports.into_iter().flatten().map(|import| import.name.name.to_owned()));
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    names
}
