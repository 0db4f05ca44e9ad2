//! Relative links of the documents, and the size of the first one.

use crate::{read, root};

const DOCUMENTS: [&str; 10] = [
    "README.md",
    "components/README.md",
    "components/js/README.md",
    "host/ACCESSIBILITY.md",
    "host/CHANGELOG.md",
    "host/OPERATING.md",
    "host/README.md",
    "host/SECURITY.md",
    "tests/README.md",
    "wit/README.md",
];

/// Short enough to be read in full.
const README_LINES_MAX: usize = 120;

#[test]
fn links_lead_to_files() {
    for document in DOCUMENTS {
        let folder = root().join(document).parent().unwrap().to_owned();
        let text = read(document);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for target in targets.filter(|target| !target.is_empty() && !target.contains("://")) {
            assert!(folder.join(target).exists(), "{document} links to {target}, which does not exist");
        }
    }
}

#[test]
fn the_readme_stays_short() {
    assert!(read("README.md").lines().count() <= README_LINES_MAX);
}
