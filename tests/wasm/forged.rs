//! Components that no toolchain builds: the real nudge scorer with sections appended to it, so that each is
//! refused for the addition alone.

use wasmparser::Validator;

use crate::built::component;

/// Header of a core module.
const MODULE_HEADER: &[u8] = b"\0asm\x01\0\0\0";

/// Section ids of a core module.
mod core {
    pub(super) const TYPE: u8 = 1;
    pub(super) const FUNCTION: u8 = 3;
    pub(super) const TABLE: u8 = 4;
    pub(super) const MEMORY: u8 = 5;
    pub(super) const START: u8 = 8;
    pub(super) const CODE: u8 = 10;
    pub(super) const DATA: u8 = 11;
}

/// Section ids of a component.
mod outer {
    pub(super) const CUSTOM: u8 = 0;
    pub(super) const CORE_MODULE: u8 = 1;
    pub(super) const CORE_INSTANCE: u8 = 2;
    pub(super) const TYPE: u8 = 7;
    pub(super) const IMPORT: u8 = 10;
}

/// With another kind and version, each as long as the real one.
pub(crate) fn that_describes_itself_as(kind: &str, version: &str) -> Vec<u8> {
    // The kind comes before the weights file, whose texts follow a header of 18 bytes.
    const REAL: (&[u8], usize, &[u8]) = (b"nudgeCDLMODEL", 18, b"1.0.0");
    let (head, header, real_version) = REAL;
    assert_eq!((kind.len(), version.len()), ("nudge".len(), real_version.len()));
    let mut bytes = component("nudge");
    let places: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(head)).collect();
    let [place] = places[..] else { panic!("kind and weights are at {places:?} in the nudge component, not once") };
    let version_at = place + kind.len() + header;
    assert_eq!(&bytes[version_at..version_at + version.len()], real_version);
    bytes[place..place + kind.len()].copy_from_slice(kind.as_bytes());
    bytes[version_at..version_at + version.len()].copy_from_slice(version.as_bytes());
    bytes
}

/// With the interfaces of another version of the WIT package, as long as the real one.
pub(crate) fn of_wit_version(version: &str) -> Vec<u8> {
    const REAL: &[u8] = b"@1.0.0";
    assert_eq!(version.len(), "1.0.0".len());
    let mut bytes = component("nudge");
    for at in 0..bytes.len() - REAL.len() {
        if bytes[at..].starts_with(REAL) {
            bytes[at + 1..at + REAL.len()].copy_from_slice(version.as_bytes());
        }
    }
    bytes
}

/// Imports a function `now` without parameters.
pub(crate) fn with_an_import() -> Vec<u8> {
    let mut bytes = component("nudge");
    let types = Validator::new().validate_all(&bytes).unwrap();
    let new_type = types.as_ref().component_type_count() as usize;
    bytes.extend(section(outer::TYPE, &[&[1, 0x40, 0, 1, 0]]));
    bytes.extend(section(outer::IMPORT, &[&[1, 0, 3], b"now", &[1], &leb(new_type)]));
    bytes
}

/// Exports the names that a nudge scorer exports, with other types.
pub(crate) fn with_other_types() -> Vec<u8> {
    const OTHER: &str = r#"(component
        (core module $module
            (memory (export "memory") 1)
            (func (export "describe") (result i32) unreachable)
            (func (export "assess") (param i32 i32) (result f64) unreachable)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable))
        (core instance $core (instantiate $module))
        (func $describe (result string)
            (canon lift (core func $core "describe") (memory (core memory $core "memory"))))
        (func $assess (param "screen" string) (result f64)
            (canon lift (core func $core "assess") (memory (core memory $core "memory")) (realloc (core func $core "realloc"))))
        (instance $model (export "describe" (func $describe)))
        (instance $nudge (export "assess" (func $assess)) (export "assess-batch" (func $assess)))
        (export "caudal:scoring/model@1.0.0" (instance $model))
        (export "caudal:scoring/nudge@1.0.0" (instance $nudge)))"#;
    wat::parse_str(OTHER).unwrap()
}

/// With a custom section of that many bytes appended.
pub(crate) fn padded(mut bytes: Vec<u8>, by: usize) -> Vec<u8> {
    bytes.extend(section(outer::CUSTOM, &[&[1, b'x'], &vec![0; by]]));
    bytes
}

/// With another module that has these sections, instantiated `instances` times.
fn with_a_module(sections: &[Vec<u8>], instances: usize) -> Vec<u8> {
    let mut bytes = component("nudge");
    let modules = Validator::new().validate_all(&bytes).unwrap().as_ref().module_count() as usize;
    let module = [MODULE_HEADER, &sections.concat()].concat();
    bytes.extend(section(outer::CORE_MODULE, &[&module]));
    let instance = [&[0][..], &leb(modules), &[0]].concat();
    bytes.extend(section(outer::CORE_INSTANCE, &[&leb(instances), &instance.repeat(instances)]));
    bytes
}

/// With a module that runs this code when it is instantiated.
fn with_a_start(code: &[u8]) -> Vec<u8> {
    // No locals, the code, `end`.
    let body = [&[0][..], code, &[0x0b]].concat();
    let sections = [
        section(core::TYPE, &[&[1, 0x60, 0, 0]]),
        section(core::FUNCTION, &[&[1, 0]]),
        section(core::START, &[&[0]]),
        section(core::CODE, &[&[1], &leb(body.len()), &body]),
    ];
    with_a_module(&sections, 1)
}

/// `unreachable` at the start.
pub(crate) fn that_traps_at_the_start() -> Vec<u8> {
    with_a_start(&[0x00])
}

/// `loop br 0 end` at the start.
pub(crate) fn that_loops_at_the_start() -> Vec<u8> {
    with_a_start(&[0x03, 0x40, 0x0c, 0x00, 0x0b])
}

/// Small, but takes gigabytes to compile: nested loops around code that changes many locals, so that each
/// loop has to carry every local.
pub(crate) fn that_blows_the_compiler_up() -> Vec<u8> {
    const LOCALS: usize = 8_000;
    const LOOPS: usize = 2_000;
    // local.get 0, i32.wrap_i64, br_if 0, end
    const END_OF_LOOP: [u8; 6] = [0x20, 0x00, 0xa7, 0x0d, 0x00, 0x0b];
    let mut body = [&[1][..], &leb(LOCALS), &[0x7e]].concat();
    body.extend([0x03, 0x40].repeat(LOOPS));
    for local in 0..LOCALS {
        // Increment the next local.
        body.extend([&[0x20][..], &leb((local + 1) % LOCALS), &[0x42, 0x01, 0x7c, 0x21], &leb(local)].concat());
    }
    body.extend(END_OF_LOOP.repeat(LOOPS));
    body.push(0x0b);
    let sections = [
        section(core::TYPE, &[&[1, 0x60, 0, 0]]),
        section(core::FUNCTION, &[&[1, 0]]),
        section(core::CODE, &[&[1], &leb(body.len()), &body]),
    ];
    with_a_module(&sections, 1)
}

/// With `modules` more modules, not instantiated, each with one byte at the start of its memory and one at
/// 8 MiB, so that the initial image of each memory has 8 MiB.
pub(crate) fn with_large_images(modules: usize) -> Vec<u8> {
    let places = [0, 8 << 20];
    // i32.const offset, end, one byte.
    let data: Vec<_> = places.iter().map(|&at| [&[0, 0x41][..], &leb_signed(at), &[0x0b, 1, b'x']].concat()).collect();
    let sections =
        [section(core::MEMORY, &[&[1, 0], &leb(200)]), section(core::DATA, &[&leb(data.len()), &data.concat()])];
    let module = [MODULE_HEADER, &sections.concat()].concat();
    let mut bytes = component("nudge");
    (0..modules).for_each(|_| bytes.extend(section(outer::CORE_MODULE, &[&module])));
    bytes
}

/// With a second memory of this many pages.
pub(crate) fn with_a_memory(pages: usize) -> Vec<u8> {
    with_a_module(&[section(core::MEMORY, &[&[1, 0], &leb(pages)])], 1)
}

/// With tables of this many function references each.
pub(crate) fn with_tables(tables: usize, elements: usize) -> Vec<u8> {
    let table = [&[0x70, 0][..], &leb(elements)].concat();
    with_a_module(&[section(core::TABLE, &[&leb(tables), &table.repeat(tables)])], 1)
}

/// With this many more instances of a module with one small table.
pub(crate) fn with_instances_of_a_table(instances: usize) -> Vec<u8> {
    with_a_module(&[section(core::TABLE, &[&leb(1), &[0x70, 0], &leb(1)])], instances)
}

/// With this many more instances of an empty module.
pub(crate) fn with_instances(instances: usize) -> Vec<u8> {
    with_a_module(&[], instances)
}

fn section(id: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    [&[id][..], &leb(content.len()), &content].concat()
}

/// A number in unsigned LEB128.
fn leb(number: usize) -> Vec<u8> {
    let mut rest = number;
    let mut bytes = Vec::new();
    loop {
        let low = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// A non-negative number in signed LEB128.
fn leb_signed(number: usize) -> Vec<u8> {
    let mut bytes = leb(number);
    if let Some(last) = bytes.last_mut().filter(|last| **last & 0x40 != 0) {
        *last |= 0x80;
        bytes.push(0);
    }
    bytes
}
