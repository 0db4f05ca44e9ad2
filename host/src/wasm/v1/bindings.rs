//! What wasmtime generates from `wit/`, one module per world, and nothing else.

pub(crate) mod risk {
    wasmtime::component::bindgen!({ path: "../wit", world: "risk-scorer" });
}

pub(crate) mod nudge {
    wasmtime::component::bindgen!({ path: "../wit", world: "nudge-scorer" });
}

pub(crate) mod accessibility {
    wasmtime::component::bindgen!({ path: "../wit", world: "accessibility-scorer" });
}

pub(crate) mod rules {
    wasmtime::component::bindgen!({ path: "../wit", world: "transfer-policy" });
}
