//! camelCase from snake_case at compile time, so that a field's name is written once.

/// Length of the camelCase spelling in bytes.
pub const fn camel_length(snake: &str) -> usize {
    let bytes = snake.as_bytes();
    let (mut length, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'_' {
            length += 1;
        }
        at += 1;
    }
    length
}

/// The camelCase spelling; `N` is its [`camel_length`].
pub const fn camel<const N: usize>(snake: &str) -> [u8; N] {
    let bytes = snake.as_bytes();
    let mut camel = [0; N];
    let (mut length, mut at, mut raise) = (0, 0, false);
    while at < bytes.len() {
        if bytes[at] == b'_' {
            raise = true;
        } else {
            camel[length] = if raise { bytes[at].to_ascii_uppercase() } else { bytes[at] };
            length += 1;
            raise = false;
        }
        at += 1;
    }
    camel
}

/// `from18-to30` from `From18To30`: the case's name in WIT.
pub(crate) fn kebab_case(case: &str) -> String {
    let mut kebab = String::new();
    for (at, letter) in case.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}
