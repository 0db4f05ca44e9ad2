//! Models that their libraries have trained, with predictors of those libraries, and what else a build needs.

use caudal_convert::{Built, Direction, Error, Fact, Kind, build};
use caudal_ensemble::Model;
use wasm_encoder::{ConstExpr, DataSection, MemorySection, MemoryType, Module, RawSection, Section};

pub(crate) const MODELS: [(&str, &[u8]); 5] = [
    ("xgboost.json", include_bytes!("models/xgboost.json")),
    ("lightgbm.txt", include_bytes!("models/lightgbm.txt")),
    ("scikit-learn.json", include_bytes!("models/scikit-learn.json")),
    ("model.onnx", include_bytes!("models/model.onnx")),
    ("scorecard.csv", include_bytes!("models/scorecard.csv")),
];
pub(crate) const EXPECTED: &str = include_str!("models/expected.json");
pub(crate) const MAP: &str = include_str!("models/map.toml");

pub(crate) const CATALOGUE: [Fact; 5] = [
    Fact { name: "amount", kind: Kind::Number, unit: "centavos", direction: Direction::Rises },
    Fact { name: "hour_of_day", kind: Kind::Integer, unit: "", direction: Direction::Free },
    Fact { name: "is_new_beneficiary", kind: Kind::Flag, unit: "", direction: Direction::Rises },
    Fact { name: "beneficiary_saved_minutes", kind: Kind::Number, unit: "minutes", direction: Direction::Free },
    Fact { name: "average_amount", kind: Kind::Number, unit: "centavos", direction: Direction::Falls },
];

/// A component with what a builder looks for: a memory, and data with the marker.
pub(crate) fn interpreter() -> Vec<u8> {
    let mut memories = MemorySection::new();
    memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut data = DataSection::new();
    let words = [0, 2048, 1028_u32].map(u32::to_le_bytes).concat();
    data.active(0, &ConstExpr::i32_const(1024), [b"----", &b"caudal:appended\0"[..], &words].concat());
    let mut module = Module::new();
    module.section(&memories).section(&data);
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    RawSection { id: 1, data: &module.finish() }.append_to(&mut component);
    component
}

pub(crate) fn built(model: &[u8], map: &str) -> Result<Built, Error> {
    build(model, map, &CATALOGUE, &interpreter())
}

/// The model in a component.
pub(crate) fn model(built: &Built) -> Model<'_> {
    let start = built.component.windows(8).position(|window| window == b"CDLTREES").expect("the component has a model");
    Model::read(&built.component[start..start + built.summary.bytes]).expect("the model can be read")
}
