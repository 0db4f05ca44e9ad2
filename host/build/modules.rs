//! Modules as one script.
//!
//! They are wrapped, not parsed. What this needs of them the formatter provides: an import or export begins its line, a
//! comment that begins a line is nothing but a comment. Anything else is an error here, not in a browser.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

type Read<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Without comments that begin a line, which is where all of them are but casts, without those, indentation and empty
/// lines.
pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut is_inside = false;
    for line in text.lines() {
        let mut rest = line;
        if is_inside || rest.trim_start().starts_with("/*") {
            let end = rest.split_once("*/");
            is_inside = end.is_none();
            rest = end.map_or("", |(_, after)| after);
        }
        rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with("//") {
            continue;
        }
        while let Some((before, (_, after))) =
            rest.split_once("/** @type ").and_then(|(before, cast)| Some((before, cast.split_once("*/ ")?)))
        {
            kept.push_str(before);
            rest = after;
        }
        kept.push_str(rest);
        kept.push('\n');
    }
    kept
}

/// A module and all that it imports as one module, which exports the same.
pub(crate) fn script(entry: &Path, read: Read) -> Result<String, String> {
    let mut bundled = Bundled { read, script: String::new(), modules: 0, variables: BTreeMap::new() };
    let (mut body, exports) = bundled.body(entry)?;
    if !exports.is_empty() {
        writeln!(body, "export {{ {} }};", exports.join(", ")).ok();
    }
    Ok(bundled.script + &body)
}

/// Modules in the order in which a browser would run them.
struct Bundled<'a> {
    read: Read<'a>,
    script: String,
    /// How many it has.
    modules: u32,
    /// The variable of each module; none while it is being read.
    variables: BTreeMap<PathBuf, Option<String>>,
}

impl Bundled<'_> {
    /// The variable that has the exports of a module, which is added before.
    fn variable(&mut self, path: &Path) -> Result<String, String> {
        let path = normal(path);
        match self.variables.get(&path) {
            Some(Some(variable)) => return Ok(variable.clone()),
            Some(None) => return Err(format!("{} imports itself, by way of others", path.display())),
            None => {}
        }
        self.variables.insert(path.clone(), None);
        let (body, exports) = self.body(&path)?;
        self.modules += 1;
        let variable = format!("${}", self.modules);
        let exports = exports.join(",");
        write!(self.script, "const {variable} = (() => {{\n{body}return{{{exports}}};\n}})();\n").ok();
        self.variables.insert(path, Some(variable.clone()));
        Ok(variable)
    }

    /// A module's code with its imports as variables, and what it exports as fields of an object.
    fn body(&mut self, path: &Path) -> Result<(String, Vec<String>), String> {
        let text = without_comments(&(self.read)(path)?);
        let (mut body, mut exports) = (String::new(), Vec::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("import ") {
                let mut statement = line.to_owned();
                while !statement.ends_with(';') {
                    statement.push_str(lines.next().ok_or("an import has no end")?);
                }
                body.push_str(&self.import(path, &statement)?);
            } else if let Some(names) = line.strip_prefix("export { ") {
                let (names, from) = names.split_once(" }").ok_or_else(|| format!("{}: {line}", path.display()))?;
                if let Some(from) = from.strip_prefix(" from ") {
                    body.push_str(&self.import(path, &format!("import {{ {names} }} from {from}"))?);
                }
                exports.extend(names.split(", ").map(str::to_owned));
            } else if line.matches('`').count() % 2 == 1 {
                return Err(format!(
                    "{}: a template of several lines would lose its indentation: {line}",
                    path.display()
                ));
            } else if let Some(value) = line.strip_prefix("export default ") {
                exports.push("default: $default".to_owned());
                writeln!(body, "const $default = {value}").ok();
            } else if let Some(declaration) = line.strip_prefix("export ") {
                exports.push(declared(declaration).ok_or_else(|| format!("{}: {line}", path.display()))?.to_owned());
                writeln!(body, "{declaration}").ok();
            } else {
                let line = self.import_later(path, line)?;
                writeln!(body, "{line}").ok();
            }
        }
        Ok((body, exports))
    }

    /// With modules that are imported when they are needed, if their paths are literal.
    fn import_later(&mut self, importer: &Path, line: &str) -> Result<String, String> {
        let Some((before, rest)) = line.split_once("import(\"") else { return Ok(line.to_owned()) };
        let (from, after) = rest.split_once("\")").ok_or_else(|| format!("{}: {line}", importer.display()))?;
        let module = self.variable(&importer.with_file_name(from))?;
        Ok(format!("{before}Promise.resolve({module}){after}"))
    }

    fn import(&mut self, importer: &Path, statement: &str) -> Result<String, String> {
        let parts = statement.strip_prefix("import ").and_then(|it| it.strip_suffix("\";")?.split_once("from \""));
        let (names, from) = parts.ok_or_else(|| format!("{}: {statement}", importer.display()))?;
        let module = self.variable(&importer.with_file_name(from))?;
        let names = names.trim();
        Ok(if let Some(all) = names.strip_prefix("* as ") {
            format!("const {all} = {module};\n")
        } else if names.starts_with('{') {
            let names = names.replace(" as ", ":").replace(", ", ",").replace("{ ", "{").replace(" }", "}");
            format!("const{names}={module};\n")
        } else {
            format!("const {{ default: {names} }} = {module};\n")
        })
    }
}

/// The name that a declaration introduces. `let` and `var` are refused: an importer would get a copy of the present
/// value.
fn declared(declaration: &str) -> Option<&str> {
    let kinds = ["async function* ", "async function ", "function* ", "function ", "class ", "const "];
    let rest = kinds.iter().find_map(|kind| declaration.strip_prefix(kind))?;
    let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '$').next()?;
    (!name.is_empty()).then_some(name)
}

/// Without dots.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
        path
    })
}
