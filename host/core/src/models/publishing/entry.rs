//! What the entry points of the npm package import of its generated files, written out, because bundlers
//! only follow literal paths.

use crate::domain::model::ModelKind;
use crate::models::publishing::abi::Contract;
use crate::models::serving::embedded::Embedded;

const ABOUT: &str = "// The parts of the package; generated, because bundlers only follow literal paths.\n";

/// A module for each entry point that needs one, by its path: the schemas, the glue and the cores.
pub(super) fn modules() -> impl Iterator<Item = (String, String)> {
    let by_url = |name: &str| format!(r#"() => new URL("../core/{name}.core.wasm", import.meta.url)"#);
    let by_import = |name: &str| format!(r#"() => import("../core/{name}.core.js")"#);
    let modules = [("browser", lazy(by_url)), ("embedded", lazy(by_import)), ("workerd", eager())];
    modules.into_iter().map(|(name, code)| (format!("entry/{name}.js"), format!("{ABOUT}{code}")))
}

/// A table with a line for each name.
fn table(title: &str, lines: impl Iterator<Item = (&'static str, String)>) -> String {
    let lines: String = lines.map(|(name, value)| format!("  \"{name}\": {value},\n")).collect();
    format!("export const {title} = {{\n{lines}}};\n")
}

/// Everything is fetched when it is needed.
fn lazy(core: impl Fn(&str) -> String) -> String {
    let kinds = || ModelKind::SCORERS.iter().map(|kind| kind.as_str());
    let of = |folder| move |kind| (kind, format!(r#"() => import("../{folder}/{kind}.js")"#));
    let tables = [
        table("SCHEMAS", kinds().map(of("schema"))),
        table("GLUE", Contract::of_scorers().map(|it| of("glue")(it.name))),
        table("CORES", scorers().map(|name| (name, core(name)))),
    ];
    tables.concat()
}

/// Everything is part of the importing module's bundle.
fn eager() -> String {
    let kinds = || ModelKind::SCORERS.iter().map(|kind| kind.as_str()).enumerate();
    let mut code = String::new();
    for (at, kind) in kinds() {
        code += &format!("import schema{at} from \"../schema/{kind}.js\";\n");
    }
    for (at, contract) in Contract::of_scorers().enumerate() {
        code += &format!("import * as glue{at} from \"../glue/{}.js\";\n", contract.name);
    }
    for (at, name) in scorers().enumerate() {
        code += &format!("import core{at} from \"../core/{name}.core.wasm\";\n");
    }
    let tables = [
        table("SCHEMAS", kinds().map(|(at, kind)| (kind, format!("schema{at}")))),
        table("GLUE", Contract::of_scorers().enumerate().map(|(at, it)| (it.name, format!("glue{at}")))),
        table("CORES", scorers().enumerate().map(|(at, name)| (name, format!("core{at}")))),
    ];
    code + &tables.concat()
}

/// The names of the package's models.
fn scorers() -> impl Iterator<Item = &'static str> {
    ModelKind::SCORERS.iter().flat_map(|kind| Embedded::of(*kind)).map(|it| it.name)
}
