//! Locates the files served to browsers, which the host embeds.

#[path = "build/bundle.rs"]
mod bundle;
#[path = "build/modules.rs"]
mod modules;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs, io};

use bundle::Bundle;
use flate2::{Compression, GzBuilder};

/// Folders served to browsers: the name of the constant, the path, and the extensions of the files to embed.
const SERVED: [(&str, &str, &[&str]); 6] = [
    ("BANK", "host/web/bank", &["html", "css", "js", "svg", "png", "webmanifest"]),
    ("CONSOLE", "host/web/console", &["html", "css", "js"]),
    ("REFERENCE", "host/web/reference", &["html"]),
    ("SHARED", "host/web/shared", &["js"]),
    ("VENDORED", "host/web/vendored", &["css", "js"]),
    ("SCORERS", "components/js/src", &["js"]),
];

#[expect(clippy::print_stderr, reason = "a build script reports errors on standard error")]
fn main() -> io::Result<()> {
    // Read when it runs: clones that share a target directory share this program as well.
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?).join("..");
    println!("cargo::rerun-if-changed=build");
    let output = env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    let mut code = String::new();
    for (name, folder, extensions) in SERVED {
        let folder = root.join(folder).canonicalize()?;
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut served = Vec::new();
        for file in files(&folder, extensions)? {
            served.push((file.file_name().unwrap_or_default().to_string_lossy().into_owned(), fs::read(&file)?));
        }
        if name == "BANK" {
            let Bundle { page, worker, assets } = bundle::bundle(&folder).unwrap_or_else(|error| {
                eprintln!("the bank's page cannot be bundled: {error}");
                exit(1)
            });
            for (name, text) in [("index.html", page), ("offline-worker.js", worker)] {
                served.retain(|(it, _)| it != name);
                served.push((name.to_owned(), text.into_bytes()));
            }
            let assets = assets.map(|(name, text)| (name, text.into_bytes()));
            embed(&mut code, &output, "ASSETS", &assets)?;
        }
        embed(&mut code, &output, name, &served)?;
    }
    fs::write(output.join("served.rs"), code)
}

/// Writes a constant with files, plain and compressed, which takes place here once and not for every request.
fn embed(code: &mut String, output: &Path, constant: &str, served: &[(String, Vec<u8>)]) -> io::Result<()> {
    let folder = output.join(constant.to_lowercase());
    fs::create_dir_all(&folder)?;
    writeln!(code, "/// Every file of a folder, by name.\npub(super) const {constant}: &[Embedded] = &[").ok();
    for (name, bytes) in served {
        let plain = folder.join(name);
        fs::write(&plain, bytes)?;
        let gzip = compressed(bytes, constant == "ASSETS")?;
        let compressed = folder.join(format!("{name}.gz"));
        fs::write(&compressed, &gzip)?;
        // Images are compressed already.
        let gzip =
            if gzip.len() < bytes.len() { format!("Some(include_bytes!({compressed:?}))") } else { "None".into() };
        writeln!(code, "    Embedded {{ name: {name:?}, bytes: include_bytes!({plain:?}), gzip: {gzip} }},").ok();
    }
    code.push_str("];\n");
    Ok(())
}

/// Without a time or name, so that each build writes the same. `thoroughly` saves a twentieth and takes seconds.
fn compressed(bytes: &[u8], thoroughly: bool) -> io::Result<Vec<u8>> {
    if thoroughly {
        let mut gzip = Vec::new();
        zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, bytes, &mut gzip)?;
        return Ok(gzip);
    }
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn files(folder: &Path, extensions: &[&str]) -> io::Result<Vec<PathBuf>> {
    let paths: io::Result<Vec<PathBuf>> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    let is_served =
        |path: &PathBuf| path.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension));
    let mut paths: Vec<_> = paths?.into_iter().filter(is_served).collect();
    paths.sort();
    Ok(paths)
}
