//! `caudal-train`: see `--help`.

use clap::Parser as _;

fn main() -> anyhow::Result<()> {
    caudal_train::commands::Command::parse().run()
}
