//! `caudal models card` and `caudal models check`.

use serde_json::Value;

use crate::process::{DataDir, code, root, text};

#[test]
fn cards_are_printed_for_people_and_for_programs() {
    let data = DataDir::new();
    for (name, title) in [
        ("risk", "# risk-2 2.0.0"),
        ("risk-1", "# risk-1 1.0.0"),
        ("nudge", "# nudge-1 1.0.0"),
        ("accessibility", "# accessibility-2 2.0.0"),
    ] {
        let card = data.run(&["models", "card", name]);
        code(&card, 0);
        let card = text(&card.stdout);
        assert!(card.starts_with(title), "{card}");
        for part in [
            "## What it is for",
            "## Data",
            "## Results",
            "## Calibration",
            "## Coefficients",
            "## Limits",
            "## Not for",
        ] {
            assert!(card.contains(part), "{name} lacks {part}");
        }
        let json: Value = serde_json::from_slice(&data.run(&["models", "card", name, "--json"]).stdout).unwrap();
        assert_eq!(format!("# {} {}", json["model"].as_str().unwrap(), json["version"].as_str().unwrap()), title);
        assert_eq!(json["data"]["held_out"]["rows"], 50_000);
    }
    let none = data.run(&["models", "card", "transfer-rules"]);
    assert!(text(&none.stderr).contains("has no card: rules are written, not trained"), "{}", text(&none.stderr));
    let unknown = data.run(&["models", "card", "risk-7"]);
    assert!(
        text(&unknown.stderr).contains("there is no model 'risk-7'; choose from risk-2"),
        "{}",
        text(&unknown.stderr)
    );
}

#[test]
fn a_component_is_examined_for_people_and_for_programs() {
    let data = DataDir::new();
    let file = root().join("target/components/risk-1.wasm");
    let file = file.to_str().unwrap();
    let good = data.run(&["models", "check", file]);
    code(&good, 0);
    let printed = text(&good.stdout);
    assert!(printed.contains(": risk-1.0.0+") && printed.ends_with("accepted"), "{printed}");
    assert!(printed.contains("ok      cases        115 cases satisfy the specification"), "{printed}");
    let report: Value = serde_json::from_slice(&data.run(&["models", "check", file, "--json"]).stdout).unwrap();
    assert_eq!(report["kind"], "risk");
    assert_eq!(report["checks"][0]["outcome"], "passed");

    let bad = data.run(&["models", "check", &data.file("text.wasm", "no component")]);
    code(&bad, 1);
    let printed = text(&bad.stdout);
    assert!(
        printed.contains("REFUSED format       not a WebAssembly component") && printed.ends_with("refused"),
        "{printed}"
    );
    let missing = data.run(&["models", "check", &data.name("missing.wasm")]);
    assert!(text(&missing.stderr).contains("cannot read"), "{}", text(&missing.stderr));
}
