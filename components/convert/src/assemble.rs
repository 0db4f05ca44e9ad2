//! Places a model in the memory of the interpreter.

use std::ops::Range;

use wasm_encoder::{ConstExpr, DataCountSection, DataSection, MemorySection, MemoryType, Module, RawSection, Section};
use wasmparser::{BinaryReader, BinaryReaderError, DataKind, DataSectionReader, MemorySectionReader, Operator};

use crate::error::{Error, Result};

/// The start of the static in `caudal_guest::appended`; three words follow.
const MARKER: [u8; 16] = *b"caudal:appended\0";
const WORDS_BYTES: usize = 12;
/// Magic, version and layer of a component or module.
const PREAMBLE_BYTES: usize = 8;
const COMPONENT_MODULE: u8 = 1;
const MEMORY: u8 = 5;
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;
const PAGE_BYTES: u64 = 65_536;
/// What a call needs of the heap, for 128 values and an answer; only a batch or an explanation grows memory.
const HEAP_BYTES: u64 = 8_192;

pub(crate) fn assemble(interpreter: &[u8], model: &[u8]) -> Result<Vec<u8>> {
    let mut component = interpreter.get(..PREAMBLE_BYTES).unwrap_or_default().to_vec();
    let mut modules = 0;
    for (id, bytes) in sections(interpreter)? {
        if id == COMPONENT_MODULE {
            modules += 1;
            RawSection { id, data: &with_model(bytes, model)? }.append_to(&mut component);
        } else {
            RawSection { id, data: bytes }.append_to(&mut component);
        }
    }
    if modules == 1 { Ok(component) } else { Err(Error::interpreter(format!("it has {modules} core modules"))) }
}

/// The sections of a component or module.
fn sections(bytes: &[u8]) -> Result<Vec<(u8, &[u8])>> {
    let mut reader = BinaryReader::new(bytes, 0);
    reader.read_bytes(PREAMBLE_BYTES).map_err(Error::interpreter)?;
    let mut sections = Vec::new();
    while !reader.eof() {
        let id = reader.read_u8().map_err(Error::interpreter)?;
        let length = reader.read_var_u32().map_err(Error::interpreter)?;
        sections.push((id, reader.read_bytes(length as usize).map_err(Error::interpreter)?));
    }
    Ok(sections)
}

/// Adds data for the model, for its length, and for the start of the heap behind it.
fn with_model(module: &[u8], model: &[u8]) -> Result<Vec<u8>> {
    let sections = sections(module)?;
    let data = sections.iter().find(|(id, _)| *id == DATA).map_or(&[][..], |(_, bytes)| bytes);
    let segments = segments(data).map_err(Error::interpreter)?;
    let [marker] = segments.iter().flat_map(|segment| segment.markers()).collect::<Vec<_>>()[..] else {
        return Err(Error::interpreter("its marker is absent or not unique"));
    };
    let heap = marker.heap;
    let end = u64::from(heap) + model.len() as u64;
    let (Ok(length), Ok(next)) = (u32::try_from(model.len()), u32::try_from(end)) else {
        return Err(Error::model("", format!("{} bytes are more than fit in memory", model.len())));
    };
    let (length, next) = (length.to_le_bytes(), next.to_le_bytes());
    let added = [(marker.length_at, &length[..]), (marker.next_at, &next), (heap, model)];
    let count = segments.len() + added.len();
    let mut out = Module::new();
    for (id, bytes) in &sections {
        match *id {
            MEMORY => {
                let reader = MemorySectionReader::new(BinaryReader::new(bytes, 0)).map_err(Error::interpreter)?;
                let mut memories = MemorySection::new();
                for memory in reader {
                    let memory = memory.map_err(Error::interpreter)?;
                    memories.memory(MemoryType {
                        minimum: memory.initial.max((end + HEAP_BYTES).div_ceil(PAGE_BYTES)),
                        maximum: memory.maximum,
                        memory64: memory.memory64,
                        shared: memory.shared,
                        page_size_log2: memory.page_size_log2,
                    });
                }
                out.section(&memories);
            }
            DATA_COUNT => {
                out.section(&DataCountSection { count: count as u32 });
            }
            DATA => {
                let mut all = DataSection::new();
                for segment in &segments {
                    all.raw(&data[segment.range.clone()]);
                }
                for (address, bytes) in added {
                    all.active(0, &ConstExpr::i32_const(address.cast_signed()), bytes.iter().copied());
                }
                out.section(&all);
            }
            _ => {
                out.section(&RawSection { id: *id, data: bytes });
            }
        }
    }
    Ok(out.finish())
}

struct Segment<'a> {
    address: u32,
    bytes: &'a [u8],
    /// In the data section.
    range: Range<usize>,
}

#[derive(Clone, Copy)]
struct Marker {
    length_at: u32,
    heap: u32,
    next_at: u32,
}

fn segments(section: &[u8]) -> std::result::Result<Vec<Segment<'_>>, BinaryReaderError> {
    DataSectionReader::new(BinaryReader::new(section, 0))?
        .into_iter()
        .map(|data| {
            let data = data?;
            let address = match data.kind {
                DataKind::Active { offset_expr, .. } => match offset_expr.get_operators_reader().read()? {
                    Operator::I32Const { value } => value.cast_unsigned(),
                    _ => 0,
                },
                DataKind::Passive => 0,
            };
            Ok(Segment { address, bytes: data.data, range: data.range })
        })
        .collect()
}

impl Segment<'_> {
    fn markers(&self) -> Vec<Marker> {
        let length = MARKER.len();
        self.bytes
            .windows(length + WORDS_BYTES)
            .enumerate()
            .filter(|(_, window)| window.starts_with(&MARKER))
            .filter_map(|(at, window)| {
                let word = |at: usize| window[length..].as_chunks().0.get(at).copied().map(u32::from_le_bytes);
                let length_at = self.address.checked_add((at + length) as u32)?;
                Some(Marker { length_at, heap: word(1)?, next_at: word(2)? })
            })
            .collect()
    }
}
