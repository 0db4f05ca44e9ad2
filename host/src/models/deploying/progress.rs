//! How hosts are named to operators.

use uuid::Uuid;

/// Hex digits of a host's id shown to operators.
const HOST_ID_DIGITS: usize = 8;

/// A host's id as shown to operators.
pub fn short(host: Uuid) -> String {
    let digits = host.simple().to_string();
    digits[..HOST_ID_DIGITS].to_owned()
}
