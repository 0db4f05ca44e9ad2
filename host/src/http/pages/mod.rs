//! Pages, and the models that they fetch.

pub(crate) mod bank;
pub(crate) mod console;
mod files;
pub(crate) mod published;
pub(crate) mod reference;
pub(crate) mod sandbox;
pub(crate) mod sign_in;
