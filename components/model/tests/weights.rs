//! The weights file: shipped files survive a round trip, malformed ones are rejected, and no input makes the
//! parser panic.

use caudal_model::weights::{ENTRIES_MAX, File, Kind, MAGIC, Malformed, SUMMARY_BYTES_MAX, encode};
use caudal_model::{accessibility, nudge, risk};
use proptest::prelude::*;

const RISK_1: &[u8] = include_bytes!("../../risk/models/risk-1/weights.bin");
const RISK_2: &[u8] = include_bytes!("../../risk/models/risk-2/weights.bin");
const NUDGE_1: &[u8] = include_bytes!("../../nudge/models/nudge-1/weights.bin");
const ACCESSIBILITY_2: &[u8] = include_bytes!("../../accessibility/models/accessibility-2/weights.bin");

/// Offset of the entries in a file.
fn entries_of(file: &[u8]) -> usize {
    18 + usize::from(file[12]) + usize::from(file[14])
}

#[test]
fn shipped_files_survive_reading_and_writing() {
    for file in [RISK_1, RISK_2] {
        assert_eq!(risk::Weights::parse(file).expect("sound").to_file(), file);
    }
    assert_eq!(nudge::Weights::parse(NUDGE_1).expect("sound").to_file(), NUDGE_1);
    assert_eq!(accessibility::Weights::parse(ACCESSIBILITY_2).expect("sound").to_file(), ACCESSIBILITY_2);
}

#[test]
fn a_file_is_of_one_kind() {
    assert_eq!(risk::Weights::parse(NUDGE_1), Err(Malformed::Kind));
    assert_eq!(nudge::Weights::parse(ACCESSIBILITY_2), Err(Malformed::Kind));
    assert_eq!(accessibility::Weights::parse(RISK_2), Err(Malformed::Kind));
}

#[test]
fn each_part_of_the_frame_is_checked() {
    let with = |at: usize, byte: u8| {
        let mut file = RISK_2.to_vec();
        file[at] = byte;
        risk::Weights::parse(&file).map(|weights| weights.base).expect_err("a changed frame is refused")
    };
    assert_eq!(with(0, b'c'), Malformed::Magic);
    assert_eq!(with(8, 2), Malformed::Format);
    assert_eq!(with(10, 9), Malformed::Kind);
    assert_eq!(with(12, 4), Malformed::Length, "a version is five characters at least");
    assert_eq!(with(13, 1), Malformed::Length, "and 32 at most");
    assert_eq!(with(14, 0), Malformed::Length, "a summary is not empty");
    assert_eq!(with(16, 0), Malformed::Length, "nor are the entries");
    assert_eq!(with(16, RISK_2[16] - 1), Malformed::Length, "bytes are left over");
    assert_eq!(with(18, b'x'), Malformed::Text, "a version is digits and dots");
    assert_eq!(with(19, b'0'), Malformed::Text, "with two of them");
    assert_eq!(with(18 + 6, b'\n'), Malformed::Text, "a summary is one line");
    assert_eq!(with(18 + 5, 0xff), Malformed::Text, "a summary is UTF-8");
    assert_eq!(with(entries_of(RISK_2), 2), Malformed::Order, "the first two parameters are now alike");
    // The last two bytes of a double with all exponent bits set: infinity or not a number.
    let last = RISK_2.len();
    let mut file = RISK_2.to_vec();
    file[last - 2..].copy_from_slice(&[0xf0, 0x7f]);
    assert_eq!(risk::Weights::parse(&file), Err(Malformed::Value));
}

#[test]
fn truncated_and_extended_files_are_refused_at_every_length() {
    for length in 0..RISK_2.len() {
        let refused = risk::Weights::parse(&RISK_2[..length]).expect_err("a part is no file");
        assert!(matches!(refused, Malformed::Truncated | Malformed::Length), "{length} bytes: {refused:?}");
    }
    assert_eq!(risk::Weights::parse(&[RISK_2, &[0]].concat()), Err(Malformed::Length));
}

#[test]
fn parameters_are_known_present_and_sound() {
    let risk = |entries: &[(u16, f64)]| {
        let file = encode(Kind::Risk, "1.0.0", "A test.", entries);
        risk::Weights::parse(&file).map(|weights| weights.base)
    };
    assert_eq!(risk(&[(1, 0.5), (2, -1.0), (3, 1.0)]), Ok(0.5));
    assert_eq!(risk(&[(1, 0.5), (2, -1.0)]), Err(Malformed::Missing));
    assert_eq!(risk(&[(1, 0.5), (2, -1.0), (3, 1.0), (4, 1.0)]), Err(Malformed::Unknown));
    assert_eq!(risk(&[(1, 0.5), (2, -1.0), (3, 1.0), (115, 1.0)]), Err(Malformed::Unknown), "there are 15 features");
    assert_eq!(risk(&[(1, 0.5), (2, 1.0), (3, -1.0)]), Err(Malformed::Unsound), "cutpoints rise");
    assert_eq!(risk(&[(1, 0.5), (2, -1.0), (3, 1.0), (100, -0.1)]), Err(Malformed::Unsound), "an amount raises");
    assert_eq!(
        risk(&[(1, 0.5), (2, -1.0), (3, 1.0), (100, 1.7e308)]),
        Err(Malformed::Unsound),
        "weights are plausible"
    );
    assert_eq!(
        risk(&[(1, 0.5), (2, -1.0), (3, 1.0), (114, -0.1)]),
        Err(Malformed::Unsound),
        "saving outweighs nothing"
    );
    assert_eq!(risk(&[(1, 0.5), (2, -1.0), (3, 1.0), (103, 1.5), (114, -0.5)]), Ok(0.5));
    assert_eq!(
        risk(&[(1, 0.5), (2, -1.0), (3, 1.0), (103, 1.4), (114, -0.5)]),
        Err(Malformed::Unsound),
        "a third at most"
    );

    let nudge = |values: [f64; 5]| {
        let entries: Vec<_> = (1..).zip(values).collect();
        let file = encode(Kind::Nudge, "1.0.0", "A test.", &entries);
        nudge::Weights::parse(&file).map(|weights| weights.base)
    };
    assert_eq!(nudge([-2.0, 1.9, 1.5, 0.8, 0.3]), Ok(-2.0));
    assert_eq!(nudge([-2.0, -1.9, 1.5, 0.8, 0.3]), Err(Malformed::Unsound), "errors raise");
    assert_eq!(nudge([-2.0, 1.9, 1.6, 0.8, 0.3]), Err(Malformed::Unsound), "2.24 times the median is no need yet");
    assert_eq!(nudge([-2.0, 1.9, 1.5, 1.8, 0.3]), Err(Malformed::Unsound), "going back alone is never much need");
    assert_eq!(nudge([-2.0, 1.9, 1.59, 0.85, 0.3]), Err(Malformed::Unsound), "nor with time that is not excessive");
    assert_eq!(nudge([-2.0, 1.9, 1.5, 0.8, 1e17]), Err(Malformed::Unsound), "no weight swallows another's digits");
    assert_eq!(nudge([-1e17, 1.9, 1e17 - 16.0, 0.8, 0.3]), Err(Malformed::Unsound));
    let four = encode(Kind::Nudge, "1.0.0", "A test.", &[(1, -2.0), (2, 1.9), (3, 1.5), (4, 0.8)]);
    assert_eq!(nudge::Weights::parse(&four), Err(Malformed::Missing));

    let accessibility = |more: &[(u16, f64)], fine: [f64; 6]| {
        let mut entries = vec![(1, 2.9), (2, -0.9)];
        entries.extend(more);
        entries.extend((10..).zip([2.2, 0.3, 0.3, 0.1, 0.1, 0.1]));
        entries.extend((20..).zip(fine));
        let file = encode(Kind::Accessibility, "1.0.0", "A test.", &entries);
        accessibility::Weights::parse(&file).map(|weights| weights.leaning.base)
    };
    let fine = |fine| accessibility(&[], fine);
    assert_eq!(fine([-2.4, 2.9, 0.1, 0.4, 0.4, 0.4]), Ok(-2.4));
    assert_eq!(fine([-2.4, 0.0, 0.0, 0.0, 0.0, 0.0]), Ok(-2.4), "a rule does not depend on the weights");
    assert_eq!(fine([-1.1, 2.9, 0.1, 0.4, 0.4, 0.4]), Err(Malformed::Unsound), "signs alone never tip");
    assert_eq!(fine([-2.4, 4.3, 0.1, 0.4, 0.4, 0.4]), Err(Malformed::Unsound), "a no is surer than a yes");
    assert_eq!(fine([-2.4, -1.2, 0.2, 0.7, 0.7, 0.7]), Err(Malformed::Unsound), "age leans one way");
    assert_eq!(accessibility(&[(3, 1.0)], [-2.4, 2.9, 0.1, 0.4, 0.4, 0.4]), Err(Malformed::Unknown));
}

#[test]
fn the_largest_file_is_read_and_the_next_is_not() {
    let entries: Vec<_> = (0..=ENTRIES_MAX as u16).map(|parameter| (parameter, 1.0)).collect();
    let summary = "x".repeat(SUMMARY_BYTES_MAX);
    let parsed = |summary: &str, entries| {
        File::parse(&encode(Kind::Risk, "10.20.30", summary, entries), Kind::Risk).map(|file| file.len())
    };
    assert_eq!(parsed(&summary, &entries[..ENTRIES_MAX]), Ok(ENTRIES_MAX));
    assert_eq!(parsed(&summary, &entries), Err(Malformed::Length));
    assert_eq!(parsed(&(summary + "x"), &entries[..1]), Err(Malformed::Length));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_make_the_parser_panic(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        let framed = [&MAGIC[..], &[1, 0, 1, 0], &tail].concat();
        let _ = risk::Weights::parse(&framed);
        prop_assert!(risk::Weights::parse(&tail).is_err(), "random bytes do not start with the magic");
    }

    #[test]
    fn a_changed_byte_is_refused_or_still_sound(at in 0..RISK_2.len(), byte in any::<u8>()) {
        let mut file = RISK_2.to_vec();
        file[at] = byte;
        if let Ok(weights) = risk::Weights::parse(&file) {
            prop_assert!(weights.is_sound());
        }
    }
}
