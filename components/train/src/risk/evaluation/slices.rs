//! How well the final level does on slices of the rows.

use super::{Evaluation, final_level};
use crate::age;
use crate::card::{Cell, Table};
use crate::data::code;
use crate::metrics::wilson;

/// Whether a row, given by its index, belongs to a slice.
type Belongs<'s> = Box<dyn Fn(usize) -> bool + 's>;

impl Evaluation<'_> {
    pub(super) fn slices(&self) -> Table {
        let row = |(name, belongs): (String, Belongs<'_>)| {
            let rows: Vec<_> = (0..self.rows.len()).filter(|&row| belongs(row)).collect();
            self.slice(name, &rows)
        };
        let ages = if self.known.is_some() {
            " Ages are drawn independently of everything else: differences between them are chance, and no evidence of \
             fairness."
        } else {
            ""
        };
        Table {
            id: "slices",
            title: "Slices",
            note: format!(
                "Final level. False alarms: the share of low transfers with a warning. Missed: the share of high ones \
                 without. The score is the expected severity scaled to 0 to 1, so the last two columns should agree, except \
                 for transfers without a factor.{ages}"
            ),
            columns: vec!["slice", "rows", "accuracy", "false alarms", "missed", "mean score", "mean severity / 2"],
            rows: self.groups().into_iter().map(row).collect(),
        }
    }

    fn groups(&self) -> Vec<(String, Belongs<'_>)> {
        let past = |row: usize| self.rows[row].facts.num_past_transactions;
        let mut groups: Vec<(String, Belongs<'_>)> = vec![
            ("all".into(), Box::new(|_| true)),
            ("no factor".into(), Box::new(|row| self.verdicts[row].factors.is_empty())),
            ("no past transfers".into(), Box::new(move |row| past(row) == 0)),
            ("1 or 2 past transfers".into(), Box::new(move |row| (1..3).contains(&past(row)))),
            ("3 or more past transfers".into(), Box::new(move |row| past(row) >= 3)),
        ];
        for age in age::ALL {
            groups
                .push((format!("age {}", code(age)), Box::new(move |row| self.rows[row].label.age_range == Some(age))));
        }
        for (name, hours) in [("0 to 5", 0..6), ("6 to 11", 6..12), ("12 to 17", 12..18), ("18 to 23", 18..24)] {
            let belongs = move |row: usize| hours.contains(&self.rows[row].facts.hour_of_day);
            groups.push((format!("hours {name}"), Box::new(belongs)));
        }
        groups
    }

    fn slice(&self, name: String, rows: &[usize]) -> Vec<Cell> {
        let severity = |row: usize| self.rows[row].label.severity as usize;
        let level = |row: usize| final_level(&self.verdicts[row]);
        let share = |of: &dyn Fn(usize) -> bool, among: &dyn Fn(usize) -> bool| {
            let among: Vec<_> = rows.iter().copied().filter(|&row| among(row)).collect();
            if among.is_empty() {
                return Cell::None;
            }
            Cell::Interval(wilson(among.iter().filter(|&&row| of(row)).count(), among.len()))
        };
        let average = |of: &dyn Fn(usize) -> f64| match rows.len() {
            0 => Cell::None,
            count => Cell::Figure(rows.iter().map(|&row| of(row)).sum::<f64>() / count as f64),
        };
        vec![
            Cell::Text(name),
            Cell::Count(rows.len()),
            share(&|row| level(row) == severity(row), &|_| true),
            share(&|row| level(row) > 0, &|row| severity(row) == 0),
            share(&|row| level(row) == 0, &|row| severity(row) == 2),
            average(&|row| self.verdicts[row].score),
            average(&|row| severity(row) as f64 / 2.0),
        ]
    }
}
