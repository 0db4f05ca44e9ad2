//! What bytes are and what a component asks for, before anything in it runs.

use wasmtime::component::Component;

use super::{LoadError, Runtime};

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A WebAssembly component.
    Component,
    /// A core module: it has no interface types, and no world.
    CoreModule,
    /// Machine code, such as a precompiled component. Loading it would run it, so it is never taken.
    MachineCode,
    /// Something else, or too short to tell.
    Unknown,
}

impl Format {
    /// By the first eight bytes.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => Self::Component,
            [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => Self::CoreModule,
            [0x7f, b'E', b'L', b'F', ..] => Self::MachineCode,
            _ => Self::Unknown,
        }
    }
}

/// Names at the edge of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// What it asks its host for.
    pub imports: Vec<String>,
    /// What it offers.
    pub exports: Vec<String>,
}

impl Runtime {
    /// Compiles a component and tells what it imports and exports; nothing in it runs.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn interface(&self, bytes: &[u8]) -> Result<Interface, LoadError> {
        let component = Component::from_binary(self.engine(), bytes).map_err(LoadError::Compile)?;
        let kind = component.component_type();
        Ok(Interface {
            imports: kind.imports(self.engine()).map(|(name, _)| name.to_owned()).collect(),
            exports: kind.exports(self.engine()).map(|(name, _)| name.to_owned()).collect(),
        })
    }
}
