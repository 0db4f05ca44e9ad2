//! What a verification prints and records.

use std::path::Path;

use anyhow::Result;

use crate::cli::loss;
use crate::cli::output::print;
use crate::db::audit::Finding;
use crate::ledger::heads::{Heads, RecordedHeads};
use crate::ledger::store::Adoption;
use crate::ledger::store::proof::{self, Break, Missing, Proof};

/// What the file is called that names the heads which a sound verification of everything found, beside the recorded heads.
/// Those go on with the hosts; these stay until the next such verification.
pub(super) const PROVEN: &str = "proven.json";

/// Records the heads in the data folder or at `--heads`. The folder is not created: an auditor has none.
pub(super) fn record(mut recorded: RecordedHeads, path: &Path, heads: &Heads) -> Result<()> {
    if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        return print(&format!(
            "  note    {} does not exist: truncation is detected only from recorded heads (--heads)",
            path.display()
        ));
    }
    Ok(recorded.advance(heads)?)
}

/// Records what was proven in full beside the recorded heads, if there is such a folder.
pub(super) fn record_proven(path: &Path, heads: &Heads) -> Result<()> {
    let proven = path.with_extension(PROVEN);
    match proven.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => Ok(()),
        // After an accepted loss the heads are before those of the last time.
        _ => Ok(RecordedHeads::read(&proven)?.resume(heads)?),
    }
}

pub(super) fn print_findings(findings: &[Finding]) -> Result<()> {
    for Finding { rule, broken } in findings {
        match broken {
            0 => print(&format!("  ok      {rule}"))?,
            broken => print(&format!("  BROKEN  {rule} ({broken} times)"))?,
        }
    }
    Ok(())
}

pub(super) fn print_chain(chain: &Proof, missing: &[Missing], recorded: usize) -> Result<()> {
    let state = |is_sound: bool| if is_sound { "ok    " } else { "BROKEN" };
    let chains = chain.heads.keys().filter(|chain_id| **chain_id != proof::RECORDS).count();
    print(&format!(
        "  {}  the hashes of {chains} chains match their batches and rows",
        state(chain.breaks.is_empty())
    ))?;
    for Break { chain_id, seq, what } in &chain.breaks {
        print(&format!("          batch {seq} of chain {chain_id}: {what}"))?;
    }
    let complaints = &chain.records.complaints;
    let rule = "payees, limits, components, deployments and chains are as recorded";
    print(&format!("  {}  {rule}", state(complaints.is_empty())))?;
    for complaint in complaints {
        print(&format!("          {complaint}"))?;
    }
    print(&format!("  {}  each chain reaches its recorded head ({recorded} recorded)", state(missing.is_empty())))?;
    for Missing { chain_id, seq } in missing {
        let what = if *chain_id == proof::RECORDS {
            format!("audit record {seq}")
        } else {
            format!("batch {seq} of chain {chain_id}")
        };
        print(&format!("          {what} is missing or was replaced: history was truncated"))?;
    }
    Ok(())
}

/// What no hash proves, always: adopting or accepting must not hide anything.
pub(super) fn print_trusted(chain: &Proof) -> Result<()> {
    match &chain.adoption {
        Some(it) if it.is_empty() => print(&format!("  note    recorded since {}, from an empty ledger on", it.at))?,
        Some(it) => {
            let Adoption { at, chains, batches, accounts, beneficiaries, limits, components, deployments, .. } = it;
            print(&format!(
                "  ADOPTED at {at}, and trusted without proof: {chains} chains with {batches} batches without a hash, \
                 {accounts} accounts older than the chains, {beneficiaries} payees, {limits} users' limits, \
                 {components} components, {deployments} deployments"
            ))?;
        }
        None => {}
    }
    for it in &chain.losses {
        print(&format!("  LOST    {}", loss::describe(it)))?;
    }
    Ok(())
}
