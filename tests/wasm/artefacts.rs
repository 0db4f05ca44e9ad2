//! Properties of the built components, read from their bytes.

use std::env;

use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_component::{DecodedWasm, decode, targets};
use wit_parser::{PackageId, Resolve, WorldId, WorldItem};

use crate::built::{WORLDS, all, root};

/// Browsers fetch scorers, so they are smaller than a small picture.
const SIZE_BYTES_MAX: usize = 24 << 10;

/// Permitted custom sections: the toolchain, and names for debuggers.
const CUSTOM_SECTIONS: [&str; 4] = ["component-name", "name", "producers", "target_features"];

/// Folders of the build machine that must not occur. Debian and rustup use `/rustc/...`.
const HOST_FOLDERS: [&str; 4] = ["/home/", "/Users/", "/tmp/", ".cargo/registry"];

#[derive(Default)]
struct Contents {
    imports: Vec<String>,
    modules: usize,
    core_imports: Vec<String>,
    memories: Vec<wasmparser::MemoryType>,
    custom: Vec<String>,
}

fn contents(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.unwrap() {
            Payload::ModuleSection { .. } => {
                contents.modules += 1;
                depth += 1;
            }
            Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            // Nested components import only from this one.
            Payload::ComponentImportSection(imports) if depth == 0 => {
                contents.imports.extend(imports.into_iter().map(|import| import.unwrap().name.name.to_owned()));
            }
            Payload::ImportSection(imports) => {
                let imports = imports.into_imports().map(|import| import.unwrap());
                contents.core_imports.extend(imports.map(|import| format!("{} {}", import.module, import.name)));
            }
            Payload::MemorySection(memories) => {
                contents.memories.extend(memories.into_iter().map(|memory| memory.unwrap()));
            }
            Payload::CustomSection(section) => contents.custom.push(section.name().to_owned()),
            _ => {}
        }
    }
    contents
}

fn wit() -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(root().join("wit")).unwrap();
    (resolve, package)
}

/// Names of the imports or exports of a world, in order.
fn names<'a>(
    resolve: &Resolve,
    items: impl IntoIterator<Item = (&'a wit_parser::WorldKey, &'a WorldItem)>,
) -> Vec<String> {
    let mut names: Vec<_> = items.into_iter().map(|(key, _)| resolve.name_world_key(key)).collect();
    names.sort();
    names
}

#[test]
fn each_artefact_is_a_valid_component_with_one_module() {
    for (name, _, bytes) in all() {
        assert!(Parser::is_component(&bytes), "{name} is not a component");
        let mut validator = Validator::new_with_features(WasmFeatures::default());
        let valid = validator.validate_all(&bytes);
        assert!(valid.is_ok(), "{name}: {:?}", valid.err());
        assert_eq!(contents(&bytes).modules, 1, "{name} has more than its own module");
    }
}

#[test]
fn no_artefact_imports_anything() {
    for (name, _, bytes) in all() {
        let contents = contents(&bytes);
        assert_eq!(contents.imports, [""; 0], "{name} imports something");
        assert_eq!(contents.core_imports, [""; 0], "the module in {name} imports something");
    }
}

#[test]
fn each_artefact_has_exactly_its_own_world() {
    let (resolve, package) = wit();
    let world_id = |world: &str| -> WorldId { resolve.select_world(&[package], Some(world)).unwrap() };
    for (name, world, bytes) in all() {
        let expected = &resolve.worlds[world_id(world)];
        let DecodedWasm::Component(found_resolve, found) = decode(&bytes).unwrap() else {
            panic!("{name} is a WIT package");
        };
        let found = &found_resolve.worlds[found];
        assert_eq!(names(&found_resolve, &found.imports), [""; 0], "{name} imports");
        assert_eq!(names(&found_resolve, &found.exports), names(&resolve, &expected.exports), "{name} exports");
        for (_, other) in WORLDS {
            let fits = targets(&resolve, world_id(other), &bytes);
            assert_eq!(fits.is_ok(), other == world, "{name} against {other}: {fits:?}");
        }
    }
}

#[test]
fn each_artefact_has_one_memory_that_starts_as_one_page() {
    for (name, _, bytes) in all() {
        let memories = contents(&bytes).memories;
        let [memory] = memories[..] else { panic!("{name} has {} memories", memories.len()) };
        assert_eq!(memory.initial, 1, "pages that the memory of {name} starts with");
        assert!(!memory.memory64 && !memory.shared, "the memory of {name} is 64-bit or shared");
        assert_eq!(memory.page_size_log2, None, "the pages of {name} are not 64 KiB");
    }
}

#[test]
fn no_artefact_reveals_where_it_was_built() {
    let here = root().canonicalize().unwrap();
    let home = env::var("HOME").ok().filter(|home| home.len() > 1);
    let folders = [here.to_str().unwrap()].into_iter().chain(home.as_deref()).chain(HOST_FOLDERS);
    let folders: Vec<_> = folders.collect();
    for (name, _, bytes) in all() {
        for folder in &folders {
            let found = bytes.windows(folder.len()).any(|window| window == folder.as_bytes());
            assert!(!found, "{name} contains the path {folder}");
        }
        for section in contents(&bytes).custom {
            assert!(CUSTOM_SECTIONS.contains(&section.as_str()), "{name} has the custom section {section}");
        }
    }
}

#[test]
fn each_artefact_is_small() {
    for (name, _, bytes) in all() {
        assert!(bytes.len() <= SIZE_BYTES_MAX, "{name} has {} bytes, more than {SIZE_BYTES_MAX}", bytes.len());
    }
}
