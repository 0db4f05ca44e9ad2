//! Components that only tests use.

use std::fs;
use std::path::Path;

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/components/fixtures");
    fs::read(folder.join(name)).unwrap_or_else(|error| {
        panic!("{name}: {error}; run `components/build.sh --fixtures` and `tests/wasm/fixtures/build.sh` first")
    })
}

/// One with this behaviour written into its bytes.
pub(crate) fn misbehaving(name: &str, behaviour: &str) -> Vec<u8> {
    const PLACE: &[u8] = b"behaviour:";
    const WORD_BYTES: usize = 12;
    let mut bytes = fixture(name);
    let at = bytes.windows(PLACE.len()).position(|it| it == PLACE).expect("the place of the word") + PLACE.len();
    bytes[at..at + WORD_BYTES].copy_from_slice(format!("{behaviour:WORD_BYTES$}").as_bytes());
    bytes
}
