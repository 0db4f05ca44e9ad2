//! The bank's page in few files: its modules as one script and its styles as one sheet, named by their digests so that
//! browsers keep them. The sources also work unbundled.
//!
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::modules::{script, without_comments};

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
    let script = script(&folder.join("bank.js"), &read)?;
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
