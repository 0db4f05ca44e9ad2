//! Tells file formats apart by their first bytes.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Component,
    /// Has no interface types, and so no world.
    CoreModule,
    /// For example a precompiled component. Loading it would run it, so it is never accepted.
    MachineCode,
    Unknown,
}

impl Format {
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => Self::Component,
            [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => Self::CoreModule,
            [0x7f, b'E', b'L', b'F', ..] => Self::MachineCode,
            _ => Self::Unknown,
        }
    }
}
