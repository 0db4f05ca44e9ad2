//! The bank's page in few files: its modules as one script and its styles as one sheet, named by their digests so that
//! browsers keep them. The sources also work unbundled.
//!
//! Modules are wrapped, not parsed. What this needs of them the formatter provides: an import or export begins its
//! line, a comment that begins a line is nothing but a comment. Anything else is an error here, not in a browser.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Where the page loads its assets from.
const ASSETS: &str = "/assets/";
/// The line of the worker that this replaces.
const SHELL: &str = "const SHELL = { version: \"development\", files: [] };\n";
/// Enough of a digest to tell builds apart.
const DIGEST_CHARS: usize = 16;

/// Everything that a browser needs for the first view. Names are file names.
pub(crate) struct Bundle {
    pub(crate) page: String,
    pub(crate) worker: String,
    pub(crate) assets: [(String, String); 2],
}

pub(crate) fn bundle(folder: &Path) -> Result<Bundle, String> {
    let page = read(&folder.join("index.html"))?;
    let styles = hrefs(&page, "rel=\"stylesheet\"")
        .try_fold(String::new(), |all, name| Ok::<_, String>(all + &without_comments(&read(&folder.join(name))?)))?;
    let script = script(&folder.join("bank.js"))?;
    let assets = [named("bank", "css", styles), named("bank", "js", script)];

    let mut lines = Vec::new();
    let mut has_style = false;
    for line in page.lines() {
        if line.contains("rel=\"stylesheet\"") {
            if !has_style {
                lines.push(format!("  <link rel=\"stylesheet\" href=\"{ASSETS}{}\">", assets[0].0));
            }
            has_style = true;
        } else if line.contains("<script type=\"module\"") {
            lines.push(format!("  <script type=\"module\" src=\"{ASSETS}{}\"></script>", assets[1].0));
        } else if !line.contains("rel=\"modulepreload\"") {
            lines.push(line.to_owned());
        }
    }
    let page = lines.join("\n") + "\n";

    let worker = read(&folder.join("offline-worker.js"))?;
    if !worker.contains(SHELL) {
        return Err(format!("the worker has no line {SHELL}"));
    }
    let files = assets.iter().map(|(name, _)| format!("\"{ASSETS}{name}\"")).collect::<Vec<_>>().join(", ");
    let version = digest(&format!("{page}{worker}"));
    let shell = format!("const SHELL = {{ version: \"{version}\", files: [{files}] }};\n");
    Ok(Bundle { page, worker: worker.replace(SHELL, &shell), assets })
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn digest(text: &str) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(text) {
        write!(hex, "{byte:02x}").ok();
    }
    hex.truncate(DIGEST_CHARS);
    hex
}

fn named(stem: &str, extension: &str, text: String) -> (String, String) {
    (format!("{stem}-{}.{extension}", digest(&text)), text)
}

/// The files that elements with this attribute refer to, in their order.
fn hrefs<'a>(page: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = page.lines().filter(move |line| line.contains(attribute));
    lines.filter_map(|line| line.split_once("href=\"/bank/")?.1.split_once('"').map(|(name, _)| name))
}

/// Without comments that begin a line, which is where all of them are, without indentation and empty lines.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut is_inside = false;
    for line in text.lines() {
        let mut rest = line;
        if is_inside || rest.trim_start().starts_with("/*") {
            let end = rest.split_once("*/");
            is_inside = end.is_none();
            rest = end.map_or("", |(_, after)| after);
        }
        let rest = rest.trim_start();
        if !rest.is_empty() && !rest.starts_with("//") {
            kept.push_str(rest);
            kept.push('\n');
        }
    }
    kept
}

/// A module and all that it imports as one script.
fn script(entry: &Path) -> Result<String, String> {
    let mut bundled = Bundled::default();
    let (body, _) = bundled.body(entry)?;
    Ok(bundled.script + &body)
}

/// Modules in the order in which a browser would run them.
#[derive(Default)]
struct Bundled {
    script: String,
    /// How many it has.
    modules: u32,
    /// The variable of each module; none while it is being read.
    variables: BTreeMap<PathBuf, Option<String>>,
}

impl Bundled {
    /// The variable that has the exports of a module, which is added before.
    fn variable(&mut self, path: &Path) -> Result<String, String> {
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        match self.variables.get(&path) {
            Some(Some(variable)) => return Ok(variable.clone()),
            Some(None) => return Err(format!("{} imports itself, by way of others", path.display())),
            None => {}
        }
        self.variables.insert(path.clone(), None);
        let (body, exports) = self.body(&path)?;
        self.modules += 1;
        let variable = format!("$module{}", self.modules);
        let exports = exports.join(", ");
        write!(self.script, "const {variable} = (() => {{\n{body}return {{ {exports} }};\n}})();\n").ok();
        self.variables.insert(path, Some(variable.clone()));
        Ok(variable)
    }

    /// A module's code with its imports as variables, and what it exports as fields of an object.
    fn body(&mut self, path: &Path) -> Result<(String, Vec<String>), String> {
        let text = without_comments(&read(path)?);
        let (mut body, mut exports) = (String::new(), Vec::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("import ") {
                let mut statement = line.to_owned();
                while !statement.ends_with(';') {
                    statement.push_str(lines.next().ok_or("an import has no end")?);
                }
                body.push_str(&self.import(path, &statement)?);
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
                writeln!(body, "{line}").ok();
            }
        }
        Ok((body, exports))
    }

    fn import(&mut self, importer: &Path, statement: &str) -> Result<String, String> {
        let parts = statement.strip_prefix("import ").and_then(|it| it.strip_suffix("\";")?.split_once("from \""));
        let (names, from) = parts.ok_or_else(|| format!("{}: {statement}", importer.display()))?;
        let module = self.variable(&importer.with_file_name(from))?;
        let names = names.trim();
        Ok(if let Some(all) = names.strip_prefix("* as ") {
            format!("const {all} = {module};\n")
        } else if names.starts_with('{') {
            format!("const {} = {module};\n", names.replace(" as ", ": "))
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
