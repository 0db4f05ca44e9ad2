//! Compiles components, or loads their machine code from the cache.

use sha2::{Digest as _, Sha256};
use wasmparser::{Encoding, Parser, Payload};
use wasmtime::component::{Component, InstancePre, Linker};

use crate::domain::model::{Digest, ModelKind, PolicyClass};
use crate::wasm::engine::Runtime;
use crate::wasm::error::LoadError;
use crate::wasm::limits::{PURE_BYTES_MAX, limits};
use crate::wasm::tenant::Tenant;
use crate::wasm::wasi;
use crate::wasm::wit;

/// SHA-256 of a component's bytes.
pub fn digest_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// A compiled component, not yet linked; none of its code has run.
pub struct Compiled {
    component: Component,
    class: PolicyClass,
    digest: Digest,
    imports: Vec<String>,
    pub(super) counts_fuel: bool,
}

impl Runtime {
    /// Validates and compiles a component, unless the cache has its machine code.
    ///
    /// # Errors
    /// When the bytes are not a component, or exceed the limits.
    pub fn compile(&self, bytes: &[u8]) -> Result<Compiled, LoadError> {
        let imports = imports_of(bytes);
        let pure = imports.is_empty() && bytes.len() <= PURE_BYTES_MAX;
        let class = if pure { PolicyClass::Pure } else { PolicyClass::DenyAll };
        let digest = digest_of(bytes);
        let engine = self.engine(class);
        if let Some(component) = self.cache().and_then(|cache| cache.get(engine, class, digest)) {
            self.count_cached();
            return Ok(Compiled { component, class, digest, imports, counts_fuel: self.counts_fuel });
        }
        let component = Component::from_binary(engine, bytes).map_err(LoadError::Compile)?;
        // Includes initial memory images, even of modules that are never instantiated.
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
        Ok(Compiled { component, class, digest, imports, counts_fuel: self.counts_fuel })
    }
}

impl Compiled {
    pub fn class(&self) -> PolicyClass {
        self.class
    }

    /// Names of its imports.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// The first import that no class provides.
    pub fn unknown_import(&self) -> Option<&str> {
        self.imports.iter().map(String::as_str).find(|name| !name.starts_with(wasi::IMPORTS))
    }

    /// Names of its exports.
    pub fn exports(&self) -> Vec<String> {
        let engine = self.component.engine();
        self.component.component_type().exports(engine).map(|(name, _)| name.to_owned()).collect()
    }

    /// The kind whose interface it exports, if any.
    ///
    /// # Errors
    /// When it was built for a major version of the WIT package that this host does not support.
    pub fn kind(&self) -> Result<Option<ModelKind>, LoadError> {
        wit::kind_of(&self.exports())
    }

    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// Links against nothing, or against the empty WASI.
    pub(super) fn link(&self) -> Result<InstancePre<Tenant>, LoadError> {
        let mut linker = Linker::new(self.component.engine());
        // Any other import stays unresolved, and the error names it.
        if self.class == PolicyClass::DenyAll && self.unknown_import().is_none() {
            wasi::link(&mut linker, &self.component).map_err(LoadError::World)?;
        }
        linker.instantiate_pre(&self.component).map_err(LoadError::World)
    }
}

/// Imports of the outermost component, up to the first error: compilation reports what is wrong.
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
