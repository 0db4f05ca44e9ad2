//! `caudal score` over a file, compared with pandas and scikit-learn over the same file (`python/backtest.py`).

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::figures::{Spread, median};
use crate::report::{self, Target, say};

/// Turns of each side; the median counts.
const TURNS: usize = 9;
const ROWS: usize = 200_000;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/backtest.py");

pub(crate) fn run() {
    let python = std::env::var("CAUDAL_BENCH_PYTHON").expect("run `make bench`: it installs pandas");
    let folder = std::env::temp_dir().join(format!("caudal-bench-backtest.{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [input, output] = ["rows.csv", "answers.csv"].map(|name| folder.join(name));
    std::fs::write(&input, rows()).unwrap();
    say!("{ROWS} rows, {TURNS} turns; whole processes, their start included");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let mut caudal = Command::new(std::env::args_os().nth(1).unwrap());
        caudal.args(["score", "--kind", "risk", "--input"]).arg(&input).arg("--output").arg(&output);
        ours.push(rate_of(&mut caudal, &output));
        theirs.push(rate_of(Command::new(&python).arg(SCRIPT).args([&input, &output]), &output));
    }
    let _ = std::fs::remove_dir_all(&folder);
    say!("caudal score, rows a second: {}", Spread::of(&ours));
    say!("pandas and scikit-learn, rows a second: {}", Spread::of(&theirs));
    report::result("rows of a backtest / pandas and scikit-learn", median(ours) / median(theirs), Target::AtLeast(5.0));
}

/// Every row must be answered.
fn rate_of(command: &mut Command, output: &Path) -> f64 {
    let begun = Instant::now();
    let done = command.output().unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(std::fs::read_to_string(output).unwrap().lines().count(), ROWS + 1);
    ROWS as f64 / seconds
}

fn rows() -> String {
    let mut text = "amount,is_new_beneficiary,hour_of_day,num_past_transactions,avg_transaction_amount,\
                    max_transaction_amount,num_transactions_to_beneficiary,is_new_device,geolocation_changed\n"
        .to_owned();
    let mut random = 1_u64;
    let mut below = |limit: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % limit
    };
    for _ in 0..ROWS {
        let (past, average) = (below(200) + 1, below(500_000));
        let _ = writeln!(
            text,
            "{}.{:02},{},{},{past},{}.{:02},{}.00,{},{},{}",
            below(50_000),
            below(100),
            below(2) == 1,
            below(24),
            average / 100,
            average % 100,
            average / 100 + below(10_000) + 1,
            below(past + 1),
            below(2) == 1,
            below(2) == 1,
        );
    }
    text
}
