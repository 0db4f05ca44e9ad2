//! Training reproduces the weights, cards, plots and golden cases in the repository. The counts of the
//! monotonicity tables are not compared, because they take a minute.

use std::fs;
use std::path::{Path, PathBuf};

use caudal_train::model::Model;
use caudal_train::pipeline;

/// A folder that is removed after the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A card without the section on monotonicity.
fn without_counts(card: &str) -> String {
    let (before, rest) = card.split_once("## Monotonicity").unwrap_or((card, ""));
    let after = rest.split_once("\n## ").map_or("", |(_, after)| after);
    format!("{before}{after}")
}

#[test]
fn training_reproduces_the_models() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Folder(std::env::temp_dir().join(format!("caudal-train.{}.shipped", std::process::id())));
    pipeline::all(&made.0, 1, |_| ()).expect("training works");
    for model in Model::ALL {
        let same = |path: &dyn Fn(&Path) -> PathBuf, as_compared: &dyn Fn(&str) -> String| {
            let read = |root: &Path| fs::read_to_string(path(root)).expect("text");
            let (shipped, made) = (as_compared(&read(&shipped)), as_compared(&read(&made.0)));
            assert!(
                shipped == made,
                "{}: training gives another result; run `make train`",
                path(Path::new("")).display()
            );
        };
        let weights = [shipped.as_path(), &made.0].map(|root| fs::read(model.weights(root)).expect("a file"));
        assert!(weights[0] == weights[1], "{}: training gives other weights", model.name());
        same(&|root| model.golden(root), &str::to_owned);
        same(&|root| model.folder(root).join("reliability.svg"), &str::to_owned);
        same(&|root| model.folder(root).join("card.md"), &without_counts);
    }
}
