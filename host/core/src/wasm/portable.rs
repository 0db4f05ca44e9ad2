//! Translates a component for JavaScript engines: its unchanged core module, and glue that lifts and
//! lowers between JavaScript values and that module's memory.
//!
//! JavaScript engines run core modules only. The glue depends on the types of a component's world and
//! on its compiler's calling convention, not on its functions: another model built the same way gets
//! the same text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use js_component_bindgen::{InstantiationMode, TranspileOpts, Transpiled, transpile};

use crate::wasm::limits::PURE_BYTES_MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portable {
    pub core: Vec<u8>,
    /// An ES module that exports `instantiate(getCoreModule, imports, instantiateCore)`.
    pub glue: String,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum NotPortable {
    /// A language runtime is too large for a page.
    #[error("the component has {0} bytes; at most {PURE_BYTES_MAX} are translated")]
    TooLarge(usize),
    /// A page would have to implement its imports.
    #[error("the component has imports")]
    Imports,
    /// A page would have to link them.
    #[error("the component consists of {0} core modules instead of one")]
    CoreModules(usize),
    #[error("the component cannot be translated: {0}")]
    Translation(String),
}

impl Portable {
    /// Translates a component. The glue contains `name`, so components that share it may share the glue.
    /// Takes milliseconds.
    ///
    /// # Errors
    /// See [`NotPortable`].
    pub fn new(name: &str, component: &[u8]) -> Result<Self, NotPortable> {
        if component.len() > PURE_BYTES_MAX {
            return Err(NotPortable::TooLarge(component.len()));
        }
        let options = TranspileOpts::builder()
            .name(name.to_owned())
            .no_typescript(true)
            .instantiation_mode(InstantiationMode::Sync)
            .nodejs_compat_disabled(true)
            .strict(true)
            .build();
        // It assumes a validated component and panics on others.
        let translated = catch_unwind(AssertUnwindSafe(|| transpile(component, options)));
        let translated = translated.map_err(|_| NotPortable::Translation("the translator panicked".to_owned()))?;
        let translated = translated.map_err(|error| NotPortable::Translation(format!("{error:#}")))?;
        Self::of(translated)
    }

    fn of(translated: Transpiled) -> Result<Self, NotPortable> {
        if !translated.imports.is_empty() {
            return Err(NotPortable::Imports);
        }
        let is_core = |name: &str| name.ends_with(".wasm");
        let (mut cores, texts): (Vec<_>, Vec<_>) = translated.files.into_iter().partition(|(name, _)| is_core(name));
        let modules = cores.len();
        let (Some((_, core)), 1) = (cores.pop(), modules) else { return Err(NotPortable::CoreModules(modules)) };
        let glue = texts.into_iter().find(|(name, _)| name.ends_with(".js")).map(|(_, text)| text).unwrap_or_default();
        let glue = String::from_utf8(glue).map_err(|error| NotPortable::Translation(error.to_string()))?;
        let glue = glue.replace(LENIENT_DECODER, STRICT_DECODER);
        let glue = slim(&glue).ok_or_else(|| NotPortable::Translation("the glue has an unknown shape".to_owned()))?;
        Ok(Self { core, glue })
    }
}

/// In this host, invalid UTF-8 is an error and a byte order mark is text; a page must agree.
const LENIENT_DECODER: &str = "new TextDecoder()";
const STRICT_DECODER: &str = "new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })";

/// Start of a statement that only logs, to debug the glue itself.
const DEBUG: &str = "_debugLog(";

/// Drops indentation, whole-line comments and logging: a third of the text. Returns `None` if the text
/// has an unexpected shape, so that dropping lines could change its meaning.
fn slim(glue: &str) -> Option<String> {
    let mut slim = String::with_capacity(glue.len());
    // Open brackets of the statement being dropped.
    let mut open = 0_usize;
    for line in glue.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        // A template literal over several lines has to keep its spaces.
        if line.matches('`').count() % 2 == 1 {
            return None;
        }
        if open == 0 && !line.starts_with(DEBUG) {
            slim.push_str(line);
            slim.push('\n');
            continue;
        }
        let (still_open, rest) = close(line, open);
        open = still_open;
        // Another statement on the line would be dropped too.
        if !rest.chars().all(|it| it == ';') {
            return None;
        }
    }
    (open == 0).then_some(slim)
}

/// Counts brackets outside string literals, starting with `open`. Returns how many stay open, and the text
/// after the bracket that closes the last.
fn close(line: &str, mut open: usize) -> (usize, &str) {
    let mut quote = None;
    for (place, character) in line.char_indices() {
        match (quote, character) {
            (Some(begun), _) if begun == character => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(character),
            (None, '(') => open += 1,
            (None, ')') => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return (0, &line[place + 1..]);
                }
            }
            _ => {}
        }
    }
    (open, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_and_logging_are_dropped() {
        let glue = "\
            // why\n\
            let a = 1; // kept\n\
            \n\
              _debugLog('(one', { a });\n\
            _debugLog('two', {\n\
              a: f(a),\n\
            });\n\
            const _debugLog = (...args) => {};\n\
            if (a) {\n\
              g(`${a}`);\n\
            }\n";
        let kept = "let a = 1; // kept\nconst _debugLog = (...args) => {};\nif (a) {\ng(`${a}`);\n}\n";
        assert_eq!(slim(glue).as_deref(), Some(kept));
    }

    #[test]
    fn unexpected_shapes_are_refused() {
        for odd in ["a = `one\ntwo`;", "_debugLog('a'); b();", "_debugLog('a'", "_debugLog('a'));"] {
            assert_eq!(slim(odd), None, "{odd}");
        }
    }
}
