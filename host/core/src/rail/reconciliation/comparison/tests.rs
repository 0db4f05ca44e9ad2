//! What a comparison finds, order by order.

use proptest::prelude::*;

use super::*;

fn ours(number: u32, amount: i64, status: Status, was_returned: bool) -> LedgerLine {
    LedgerLine {
        direction: Direction::Sent,
        transfer_id: Uuid::from_u128(number.into()),
        tracking_key: format!("CAUD{number}"),
        institution: None,
        amount: Money::from_minor(amount),
        payee_number: "012 180".to_owned(),
        status,
        was_returned,
    }
}

fn theirs(number: u32, amount: i64, status: PaymentStatus) -> Line {
    Line::Sent {
        tracking_key: format!("CAUD{number}"),
        amount: Money::from_minor(amount),
        sender_number: None,
        payee_name: None,
        payee_number: "012-180".to_owned(),
        status,
    }
}

fn compare(here: &[LedgerLine], there: Vec<Line>) -> (Counts, Vec<Difference>) {
    let mut comparison = Comparison::default();
    here.iter().for_each(|line| comparison.expect(line));
    there.into_iter().for_each(|line| comparison.compare(line, Direction::Sent).unwrap());
    comparison.finish(&[])
}

#[test]
fn what_follows_depends_on_what_both_sides_say() {
    use PaymentStatus::{Accepted, Rejected, Returned, Settled};
    use Status::{Completed, Failed, Pending};
    let rows = [
        (Pending, false, [Remedy::None, Remedy::Inquiry, Remedy::Inquiry, Remedy::Inquiry], Some(Remedy::Inquiry)),
        (Completed, false, [Remedy::Decision, Remedy::None, Remedy::Decision, Remedy::Inquiry], Some(Remedy::Decision)),
        (Completed, true, [Remedy::Decision, Remedy::Decision, Remedy::Decision, Remedy::None], Some(Remedy::Decision)),
        (Failed, false, [Remedy::Decision, Remedy::Decision, Remedy::None, Remedy::None], None),
    ];
    for (status, was_returned, remedies, if_missing) in rows {
        let here = [ours(1, 5, status, was_returned)];
        for (theirs_is, remedy) in [Accepted, Settled, Rejected(None), Returned(None)].into_iter().zip(remedies) {
            let (counts, found) = compare(&here, vec![theirs(1, 5, theirs_is.clone())]);
            let expected = (remedy != Remedy::None).then_some((Finding::Different, remedy));
            let found = found.first().map(|it| (it.finding, it.remedy));
            assert_eq!((found, counts.matched == 1), (expected, expected.is_none()), "{status} {theirs_is:?}");
        }
        let (_, found) = compare(&here, Vec::new());
        assert_eq!(found.first().map(|it| it.remedy), if_missing, "{status}");
        // A different amount needs a person, and so does an unknown status.
        for line in [theirs(1, 6, Settled), Line::Unclear { tracking_key: "CAUD1".to_owned() }] {
            assert_eq!(compare(&here, vec![line]).1[0].remedy, Remedy::Decision);
        }
    }
    for (status, remedy) in [(Settled, Remedy::Decision), (Accepted, Remedy::Decision), (Rejected(None), Remedy::None)]
    {
        let (_, found) = compare(&[], vec![theirs(1, 5, status)]);
        assert_eq!((found[0].finding, found[0].remedy), (Finding::MissingHere, remedy));
    }
}

#[test]
fn an_order_of_another_day_is_no_difference() {
    let mut comparison = Comparison::default();
    comparison.compare(theirs(1, 5, PaymentStatus::Settled), Direction::Sent).unwrap();
    assert_eq!(comparison.strays(), ["CAUD1"]);
    let (counts, found) = comparison.finish(&[ours(1, 5, Status::Completed, false)]);
    assert_eq!((counts.matched, found), (1, Vec::new()));
}

#[test]
fn a_list_that_does_not_end_fails_and_differences_beyond_the_limit_are_counted() {
    let mut comparison = Comparison::default();
    let more = u32::try_from(DIFFERENCES_MAX).unwrap() + 3;
    for number in 0..more {
        comparison.compare(theirs(number, 5, PaymentStatus::Settled), Direction::Sent).unwrap();
    }
    comparison.lines = LINES_MAX;
    comparison.compare(theirs(0, 5, PaymentStatus::Settled), Direction::Sent).unwrap_err();
    let (counts, found) = comparison.finish(&[]);
    assert_eq!((counts.missing_here, found.len()), (more.into(), DIFFERENCES_MAX));
}

proptest! {
    /// Each order is missing, there once with the same or another amount, or there twice.
    #[test]
    fn counts_are_those_of_a_comparison_one_by_one(orders in prop::collection::vec((any::<bool>(), 0_usize..4, any::<bool>()), 0..60)) {
        let (mut here, mut there, mut expected) = (Vec::new(), Vec::new(), Counts::default());
        for (number, (is_here, times, is_other)) in (0..).zip(orders) {
            here.extend(is_here.then(|| ours(number, 5, Status::Completed, false)));
            let amount = 5 + i64::from(is_other);
            there.extend(std::iter::repeat_n(theirs(number, amount, PaymentStatus::Settled), times));
            match (is_here, times, is_other) {
                (false, 0, _) => {}
                (true, 0, _) => expected.missing_there += 1,
                (false, ..) => expected.missing_here += 1,
                (true, _, true) => expected.different += 1,
                (true, _, false) => expected.matched += 1,
            }
            expected.duplicated += i64::try_from(times.saturating_sub(1)).unwrap();
        }
        there.reverse();
        let (counts, found) = compare(&here, there);
        prop_assert_eq!(counts, expected);
        let differences = counts.missing_here + counts.missing_there + counts.different + counts.duplicated;
        prop_assert_eq!(i64::try_from(found.len()).unwrap(), differences);
    }
}
