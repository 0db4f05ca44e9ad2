//! The gate accepts the built-in components and refuses others with a reason, without affecting the process that
//! started it.

use std::time::{Duration, Instant};

use caudal::gate::launcher::Launcher;
use caudal::gate::report::{CheckOutcome, Report};

use crate::built::{WORLDS, component, hostile, hostile_risk, hostile_risk_2, hostile_rules_2};
use crate::forged;

pub(crate) fn examine(bytes: &[u8]) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Launcher::new(env!("CARGO_BIN_EXE_caudal").into()).examine(bytes)).unwrap()
}

/// Name and detail of the check that refused a component.
#[track_caller]
fn refusal(what: &str, bytes: &[u8]) -> (String, String) {
    let report = examine(bytes);
    assert!(!report.is_accepted(), "{what} was accepted: {report:#?}");
    let refused: Vec<_> = report.checks.iter().filter(|check| check.outcome == CheckOutcome::Refused).collect();
    let [check] = refused[..] else { panic!("{what}: {report:#?}") };
    (check.name.clone(), check.detail.clone())
}

#[test]
fn components_in_force_pass_every_check() {
    for (name, _) in WORLDS {
        let report = examine(&component(name));
        assert!(report.is_accepted(), "{name}: {report:#?}");
        assert!(report.checks.iter().all(|check| check.outcome == CheckOutcome::Passed), "{name}: {report:#?}");
        let names: Vec<_> = report.checks.iter().map(|check| check.name.as_str()).collect();
        let first = ["confined", "size", "format", "compiles", "imports", "world", "identity", "answers"];
        assert_eq!(names[..8], first, "{name}");
        let kind = report.kind.unwrap();
        assert!(name.starts_with(&kind), "{name}: {kind}");
        assert!(report.model_version.unwrap().starts_with(&format!("{kind}-")), "{name}");
    }
}

/// In instructions, so it is the same on every machine.
#[test]
fn what_a_call_costs_is_measured() {
    let (risk, nudge) = (examine(&component("risk")).fuel, examine(&component("nudge")).fuel);
    let of = |name: &str| risk[&caudal::wasm::digest_of(&component(name)).to_string()];
    assert_eq!((risk.len(), nudge.len()), (2, 1));
    assert!(of("risk") > of("risk-1") && of("risk-1") > 100, "{risk:?}");
    assert_eq!(examine(&component("risk-1")).fuel, risk);
}

#[test]
fn other_files_are_refused_by_their_format() {
    let real = component("risk");
    for (what, bytes, name, reason) in [
        ("nothing", vec![], "format", "not a WebAssembly component"),
        ("text", b"(component)".to_vec(), "format", "not a WebAssembly component"),
        ("a core module", b"\0asm\x01\0\0\0".to_vec(), "format", "a core module, which has no world"),
        (
            "machine code",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0".to_vec(),
            "format",
            "precompiled components are never accepted",
        ),
        ("half a component", real[..real.len() / 2].to_vec(), "compiles", "do not compile as a component"),
        (
            "an empty component",
            b"\0asm\x0d\0\x01\0".to_vec(),
            "world",
            "exports nothing, which is not a world of caudal:scoring@1.0.0",
        ),
        ("40 MB", vec![0; 40 << 20], "size", "at most 16777216 are accepted"),
    ] {
        let (check, detail) = refusal(what, &bytes);
        assert!(check == name && detail.contains(reason), "{what}: {check}: {detail}");
    }
}

#[test]
fn components_that_import_trap_loop_or_lie_are_refused_with_a_reason() {
    for (what, bytes, name, reason) in [
        ("an import", forged::with_an_import(), "imports", "imports now; a component may import nothing but WASI"),
        ("a trap at the start", forged::that_traps_at_the_start(), "world", "fails when it is started"),
        ("a loop at the start", forged::that_loops_at_the_start(), "world", "ran out of time"),
        ("another kind", forged::that_describes_itself_as("judge", "1.0.0"), "world", "describes itself as judge"),
        (
            "no version",
            forged::that_describes_itself_as("nudge", "1.0.x"),
            "world",
            "describes itself as nudge \"1.0.x\"",
        ),
        ("other types", forged::with_other_types(), "world", "does not fit its world: "),
        (
            "another major version",
            forged::of_wit_version("2.0.0"),
            "world",
            "built for caudal:scoring@2.0.0; this host supports caudal:scoring@1.0.0",
        ),
        ("two memories", forged::with_a_memory(1), "world", "memory count too high"),
        (
            "large memory images",
            forged::with_large_images(2),
            "compiles",
            "bytes of machine code and memory images; at most",
        ),
        ("a table bomb", forged::with_tables(1, 10_001), "compiles", "exceeds the limit of 10000"),
    ] {
        let (check, detail) = refusal(what, &bytes);
        assert!(check == name && detail.contains(reason), "{what}: {check}: {detail}");
    }
}

#[test]
fn a_misbehaving_model_is_refused_with_a_reason() {
    for (behaviour, name, reason) in [
        ("trap", "batch", "the model trapped"),
        ("loop", "batch", "the model ran out of time"),
        ("huge", "batch", "the model trapped"),
        ("nan", "answers", "the score is not a number from 0 to 1"),
        ("range", "answers", "the score is not a number from 0 to 1"),
        ("level", "answers", "the level does not fit the score"),
        ("factor", "answers", "a factor code is unknown"),
        ("invalid", "answers", "the model refused amount: unlucky"),
        ("count", "repeats", "114 of 115"),
        ("falling", "order", "3 of 115"),
        ("falls-rarely", "monotone", ": amount = "),
        ("nan-rarely", "random", "the score is not a number from 0 to 1"),
        ("trap-rarely", "random", "the model trapped"),
    ] {
        let (check, detail) = refusal(behaviour, &hostile_risk(behaviour));
        assert!(check == name && detail.contains(reason), "{behaviour}: {check}: {detail}");
    }
    // On other processors, NaNs are as this host makes them.
    #[cfg(target_arch = "x86_64")]
    {
        let (check, detail) = refusal("nan-sign", &hostile_risk("nan-sign"));
        assert!(check == "nan" && detail.contains("depend on the sign or the bits of a NaN"), "{check}: {detail}");
    }
    // The same component passes without its misbehaviour.
    assert!(examine(&hostile_risk("sane")).is_accepted());
}

#[test]
fn a_model_of_contract_2_is_held_to_what_it_says_and_to_the_catalogue() {
    for (behaviour, name, reason) in [
        ("fact", "world", "this host has no fact \"shoe_size\"; it has amount, "),
        (
            "unit",
            "world",
            "the fact amount has kind integer with unit \"centavos\" here, not integer with unit \"MXN\"",
        ),
        ("requires", "world", "it requires beneficiary_saved_minutes, which is not known for every transfer"),
        ("reason", "world", "this host has no reason \"FULL_MOON\"; it has AMOUNT_MUCH_HIGHER_THAN_AVERAGE, "),
        ("index", "answers", "a reason is not in the manifest"),
        ("infinite", "answers", "the predictor is not a finite number"),
        ("sum", "explained", "add up to the predictor within 2^-20: 115 of 115"),
        ("falls", "monotone", "and with is_new_beneficiary = 1 only 0. Train with monotone constraints"),
    ] {
        let (check, detail) = refusal(behaviour, &hostile_risk_2(behaviour));
        assert!(check == name && detail.contains(reason), "{behaviour}: {check}: {detail}");
    }
    // Neither has to give a factor of the specification as a reason, and to abstain is no failure.
    for behaviour in ["sane", "high", "abstains", "abstains-new"] {
        let report = examine(&hostile_risk_2(behaviour));
        assert!(report.is_accepted(), "{behaviour}: {report:#?}");
    }
}

#[test]
fn rules_of_contract_2_require_what_this_host_carries_out() {
    for (behaviour, name, reason) in [
        ("fact", "world", "this host has no fact \"shoe_size\"; it has amount, available, "),
        ("requires", "world", "it requires risk_level, which is not known for every transfer"),
        ("code", "world", "this host has no requirement \"blink\"; it has reject, acknowledge, wait"),
        ("reason", "world", "this host has no reason to reject \"bad-mood\"; it has same-account, unknown-account, "),
        ("position", "answers", "a requirement is not in the manifest"),
        ("parameter", "answers", "a reason to reject is not in the manifest"),
        ("negative", "answers", "a reason to reject is not in the manifest"),
        ("acknowledge", "answers", "an acknowledgment has a parameter"),
        ("wait", "answers", "a wait is shorter than a second"),
        ("many", "answers", "more requirements than a decision table has rows"),
        ("refuses", "policy", "a plain transfer of 1.00 gets Rejected"),
    ] {
        let (check, detail) = refusal(behaviour, &hostile_rules_2(behaviour));
        assert!(check == name && detail.contains(reason), "{behaviour}: {check}: {detail}");
    }
    let report = examine(&hostile_rules_2("sane"));
    assert!(report.is_accepted() && report.kind.as_deref() == Some("transfer-rules"), "{report:#?}");
}

#[test]
fn large_components_run_in_the_deny_all_class_within_its_limits() {
    let large = |behaviour| forged::padded(hostile_risk(behaviour), 1 << 20);
    let report = examine(&large("sane"));
    assert!(report.is_accepted(), "{report:#?}");
    assert_eq!(report.class.as_deref(), Some("deny-all"));
    // Its memory limit allows an answer of a hundred megabytes; reading it exceeds the fuel.
    for (behaviour, reason) in
        [("huge", "the model trapped"), ("loop", "the model ran out of time"), ("trap", "the model trapped")]
    {
        let (check, detail) = refusal(behaviour, &large(behaviour));
        assert!(check == "batch" && detail.contains(reason), "{behaviour}: {check}: {detail}");
    }
    let (check, detail) = refusal("rules", &forged::padded(component("transfer-rules"), 1 << 20));
    assert!(check == "world" && detail.contains("transfer rules have to be pure"), "{check}: {detail}");
}

#[test]
fn a_model_that_differs_only_in_judgment_is_noted() {
    let report = examine(&hostile());
    assert!(report.is_accepted(), "no case triggers it: {report:#?}");
    let noted: Vec<_> = report.checks.iter().filter(|check| check.outcome == CheckOutcome::Noted).collect();
    assert_eq!(noted.len(), 1, "{report:#?}");
    assert!(
        noted[0].detail.starts_with("from what the specification's models answer to its cases"),
        "{}",
        noted[0].detail
    );
}

#[test]
fn a_compile_bomb_only_kills_the_process_that_compiles_it() {
    let bomb = forged::that_blows_the_compiler_up();
    assert!(bomb.len() < 100_000, "it is small: {} bytes", bomb.len());
    let start = Instant::now();
    let (check, detail) = refusal("a compile bomb", &bomb);
    assert_eq!(check, "limits", "{detail}");
    assert!(detail.contains("used more time or memory than the gate allows"), "{detail}");
    assert!(start.elapsed() < Duration::from_secs(90), "{:?}", start.elapsed());
}

#[test]
fn a_program_that_does_not_start_is_an_error_rather_than_a_refusal() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let gate = Launcher::new("/nonexistent/caudal".into());
    assert!(runtime.block_on(gate.examine(&component("nudge"))).is_err());
    // Output that is not a report is a refusal, never a pass.
    let report = runtime.block_on(Launcher::new("/bin/true".into()).examine(&component("nudge"))).unwrap();
    assert_eq!(report.checks[0].name, "limits");
    assert!(!report.is_accepted());
}
