//! A component in a form that JavaScript engines run: its core module as it is, and glue that lifts and
//! lowers between JavaScript values and that module's memory.
//!
//! Engines outside this host know core modules only. The glue depends on the types of a component's
//! world and on how its compiler lays out the calls, not on what its functions do: another model of the
//! same make gets the same text. Not for deciding who may have it: that is [`crate::models::publishing::published`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use js_component_bindgen::{InstantiationMode, TranspileOpts, Transpiled, transpile};

use crate::wasm::compiled::PURE_BYTES_MAX;

/// A component for JavaScript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portable {
    /// The core module.
    pub core: Vec<u8>,
    /// An ES module that exports `instantiate(getCoreModule, imports, instantiateCore)`.
    pub glue: String,
}

/// Why a component has no such form.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotPortable {
    /// A language's runtime is too much for a page.
    #[error("the component has {0} bytes; at most {PURE_BYTES_MAX} are translated")]
    TooLarge(usize),
    /// Somebody would have to answer its imports.
    #[error("the component imports something")]
    Imports,
    /// The page would have to link them.
    #[error("the component consists of {0} core modules, not of one")]
    CoreModules(usize),
    /// The translator does not understand the component.
    #[error("the component cannot be translated: {0}")]
    Translation(String),
}

impl Portable {
    /// Translates a component. `name` stands in the glue, so that components of one name can have the
    /// same. Takes milliseconds.
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
        // It takes what validators take for granted; a stranger's component may surprise it.
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

/// Text that is not UTF-8 is an error in this host, so it is one in a page; and a byte order mark is text.
const LENIENT_DECODER: &str = "new TextDecoder()";
const STRICT_DECODER: &str = "new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })";

/// What begins a statement that only helps to debug the glue itself.
const DEBUG: &str = "_debugLog(";

/// Without indentation, comments of whole lines and statements that log: a third less to send. None when
/// the text is not as it always was, so that dropping lines could change its meaning.
fn slim(glue: &str) -> Option<String> {
    let mut slim = String::with_capacity(glue.len());
    // Brackets open in a statement that is being dropped.
    let mut open = 0_usize;
    for line in glue.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        // A text over several lines would have to keep its spaces.
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
        // Something else on the line would be dropped too.
        if !rest.chars().all(|it| it == ';') {
            return None;
        }
    }
    (open == 0).then_some(slim)
}

/// Counts brackets outside of texts, from so many that are open. Gives those that stay open, and what follows the
/// one that closes the last.
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
    fn only_what_says_nothing_is_dropped() {
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
    fn what_is_not_understood_is_refused() {
        for odd in ["a = `one\ntwo`;", "_debugLog('a'); b();", "_debugLog('a'", "_debugLog('a'));"] {
            assert_eq!(slim(odd), None, "{odd}");
        }
    }
}
