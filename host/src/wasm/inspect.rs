//! What bytes are, before anything reads more of them.

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
