//! Which components load, and the reasons for the others.

use caudal::domain::model::ModelKind;
use caudal::models::Registry;
use caudal::scoring::{Accessibility, Nudge, Risk, Scorer};
use caudal::wasm::{Identity, LoadError, ScoreError, TransferRules};
use sha2::{Digest as _, Sha256};

use crate::built::{component, hostile, runtime, with_causes};
use crate::forged;

fn load(kind: ModelKind, bytes: &[u8]) -> Result<Identity, LoadError> {
    match kind {
        ModelKind::Risk => Scorer::<Risk>::load(runtime(), bytes).map(|scorer| scorer.identity().clone()),
        ModelKind::Nudge => Scorer::<Nudge>::load(runtime(), bytes).map(|scorer| scorer.identity().clone()),
        ModelKind::Accessibility => {
            Scorer::<Accessibility>::load(runtime(), bytes).map(|scorer| scorer.identity().clone())
        }
        ModelKind::TransferRules => TransferRules::load(runtime(), bytes).map(|rules| rules.identity().clone()),
    }
}

/// Why these bytes do not load as a nudge scorer, and the text with causes.
#[track_caller]
fn refusal(bytes: &[u8]) -> (LoadError, String) {
    let error = load(ModelKind::Nudge, bytes).unwrap_err();
    let text = with_causes(&error);
    (error, text)
}

/// The first 8 hex digits of the SHA-256 of these bytes.
fn short_digest(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..4])
}

#[test]
fn bytes_that_are_not_a_component_do_not_compile() {
    let nudge = component("nudge");
    let cases: [(&str, &[u8], &str); 7] = [
        ("nothing", b"", "unexpected end-of-file"),
        ("half a header", b"\0asm", "unexpected end-of-file"),
        ("half a component", &nudge[..nudge.len() / 2], "out of bounds"),
        ("a component without its last byte", &nudge[..nudge.len() - 1], "unexpected end-of-file"),
        ("garbage", b"this is no WebAssembly at all", "magic header not detected"),
        ("the text format", b"(component)", "magic header not detected"),
        ("a core module", b"\0asm\x01\0\0\0", "attempted to parse a wasm module with a component parser"),
    ];
    for (what, bytes, cause) in cases {
        let (error, text) = refusal(bytes);
        assert!(matches!(error, LoadError::Compile(_)), "{what}: {error:?}");
        assert!(text.starts_with("the bytes do not compile as a component within the limits: "), "{what}: {text}");
        assert!(text.contains(cause), "{what}: {text}");
    }
}

#[test]
fn a_flipped_byte_in_the_code_is_noticed_or_harmless() {
    // Validation checks types only. A component that still loads is identified by its actual bytes.
    let nudge = component("nudge");
    let mut refused = 0;
    for place in (0..nudge.len()).step_by(97) {
        let mut bytes = nudge.clone();
        bytes[place] ^= 0x55;
        match load(ModelKind::Nudge, &bytes) {
            Ok(identity) => assert!(identity.version.as_str().ends_with(&short_digest(&bytes)), "{identity:?}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0, "no flipped byte was noticed");
}

#[test]
fn an_empty_component_does_not_fit_any_world() {
    for &kind in ModelKind::ALL {
        let error = load(kind, b"\0asm\x0d\0\x01\0").unwrap_err();
        assert!(matches!(error, LoadError::World(_)), "{kind}: {error:?}");
        let expected = "the component does not fit its world: no exported instance named `caudal:scoring/model@1.0.0`";
        assert_eq!(with_causes(&error), expected, "{kind}");
    }
}

#[test]
fn a_component_of_another_kind_does_not_fit() {
    for kind in ModelKind::ALL {
        for &wrong in ModelKind::ALL.iter().filter(|wrong| *wrong != kind) {
            let error = load(wrong, &component(kind.as_str())).unwrap_err();
            assert!(matches!(error, LoadError::World(_)), "{kind} as {wrong}: {error:?}");
            let missing = format!("no exported instance named `caudal:scoring/{wrong}@1.0.0`");
            assert_eq!(
                with_causes(&error),
                format!("the component does not fit its world: {missing}"),
                "{kind} as {wrong}"
            );
        }
    }
}

#[test]
fn a_component_of_an_unknown_major_version_is_refused_by_that_version() {
    for version in ["2.0.0", "9.1.0"] {
        let (error, text) = refusal(&forged::of_wit_version(version));
        assert!(matches!(error, LoadError::UnknownMajor { .. }), "{error:?}");
        let expected = format!("the component was built for caudal:scoring@{version}; this host supports");
        assert_eq!(text, format!("{expected} caudal:scoring@1.0.0, caudal:risk@2.0.0, caudal:rules@2.0.0"));
    }
    // A minor version is compatible.
    let loaded = load(ModelKind::Nudge, &forged::of_wit_version("1.0.7"));
    assert!(loaded.is_ok(), "{}", with_causes(&loaded.unwrap_err()));
}

#[test]
fn a_component_that_imports_something_is_refused_by_its_name() {
    let (error, text) = refusal(&forged::with_an_import());
    assert!(matches!(error, LoadError::World(_)), "{error:?}");
    assert!(text.starts_with("the component does not fit its world: component imports function `now`"), "{text}");
}

#[test]
fn a_component_that_describes_itself_wrongly_is_refused() {
    for (kind, version) in [("judge", "1.0.0"), ("nudge", "1.0-0"), ("nudge", "01.00"), ("nudge", "1.0.x")] {
        let (error, text) = refusal(&forged::that_describes_itself_as(kind, version));
        assert!(matches!(error, LoadError::Description { .. }), "{kind} {version}: {error:?}");
        let message = format!("the component describes itself as {kind} {version:?} instead of a nudge");
        assert_eq!(text, format!("{message} with a version like 1.0.0"));
    }
}

#[test]
fn a_component_that_fails_at_its_start_is_refused() {
    let (error, text) = refusal(&forged::that_traps_at_the_start());
    assert!(matches!(error, LoadError::Trial(ScoreError::Trapped(_))), "{error:?}");
    assert!(text.starts_with("the component fails when it is started: the model trapped: "), "{text}");
    let (error, text) = refusal(&forged::that_loops_at_the_start());
    assert!(matches!(error, LoadError::Trial(ScoreError::TimedOut)), "{error:?}");
    assert_eq!(text, "the component fails when it is started: the model ran out of time");
}

#[test]
fn a_component_that_exceeds_a_limit_is_refused() {
    let cases = [
        ("a second memory", forged::with_a_memory(1), "memory count too high at 2"),
        ("16 MiB and a page", forged::with_a_memory(257), "exceeds the limit of 0x1000000 bytes"),
        ("10,001 elements", forged::with_tables(1, 10_001), "exceeds the limit of 10000"),
        ("a third table", forged::with_instances_of_a_table(2), "table count too high at 3"),
        ("two tables more", forged::with_tables(2, 1), "exceeds the per-instance limit of 1"),
        ("eight instances more", forged::with_instances(8), "instance count too high at 9"),
    ];
    for (what, bytes, cause) in cases {
        let (_, text) = refusal(&bytes);
        assert!(text.contains(cause), "{what}: {text}");
    }
    // The same additions load within the limits.
    for (what, bytes) in
        [("10,000 elements", forged::with_tables(1, 10_000)), ("seven instances more", forged::with_instances(7))]
    {
        let loaded = load(ModelKind::Nudge, &bytes);
        assert!(loaded.is_ok(), "{what}: {}", with_causes(&loaded.unwrap_err()));
    }
}

#[test]
fn a_loaded_component_is_known_by_kind_version_and_digest() {
    for &kind in ModelKind::ALL {
        let bytes = component(kind.as_str());
        let identity = load(kind, &bytes).unwrap();
        assert_eq!(identity.kind, kind);
        let version = if matches!(kind, ModelKind::Risk | ModelKind::Accessibility) { "2.0.0" } else { "1.0.0" };
        assert_eq!(identity.version.as_str(), format!("{kind}-{version}+{}", short_digest(&bytes)));
        assert_eq!(identity.digest.0[..], Sha256::digest(&bytes)[..], "{kind}");
        assert!(identity.summary.ends_with('.') && identity.summary.len() > 20, "{kind}: {}", identity.summary);
    }
    let first = component("risk-1");
    let identity = load(ModelKind::Risk, &first).unwrap();
    assert_eq!(identity.version.as_str(), format!("risk-1.0.0+{}", short_digest(&first)));
    let identity = load(ModelKind::Nudge, &hostile()).unwrap();
    assert_eq!(identity.version.as_str(), format!("nudge-1.0.0+{}", short_digest(&hostile())));
}

#[test]
fn the_embedded_components_are_the_built_ones() {
    let registry = Registry::embedded(runtime()).unwrap();
    for &kind in ModelKind::ALL {
        let embedded = registry.identity(kind).unwrap();
        let built = load(kind, &component(kind.as_str())).unwrap();
        assert_eq!(
            (embedded.digest, &embedded.version),
            (built.digest, &built.version),
            "{kind}: build the host again"
        );
    }
}
