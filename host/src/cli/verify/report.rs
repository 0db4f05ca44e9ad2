//! What a verification prints and records, whether of everything or of what is recent.

use std::path::Path;

use anyhow::Result;

use super::beginning::Beginning;
use crate::cli::output::print;
use crate::cli::{loss, rotate};
use crate::db::audit::Finding;
use crate::ledger::chain::ChainKey;
use crate::ledger::heads::{Heads, RecordedHeads};
use crate::ledger::store::proof::{self, Break, Checked, Missing as MissingBatch, Proof};

/// The last line of a verification that found something.
pub(super) const NOT_SOUND: &str = "the ledger is NOT sound: stop transfers and inspect the rows";

/// Whether every hash was recomputed.
pub(super) fn is_complete(chain: &Proof) -> bool {
    chain.unproven == 0 && chain.records.unproven == 0
}

/// Records the heads in the data folder or at `--heads`. The folder is not created: an auditor has none.
pub(super) fn record(mut recorded: RecordedHeads, path: &Path, heads: &Heads, key: &ChainKey) -> Result<()> {
    if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        return print(&format!(
            "  note    {} does not exist: truncation is detected only from recorded heads (--heads)",
            path.display()
        ));
    }
    Ok(recorded.advance(heads, key)?)
}

pub(super) fn print_checked(proof: &Proof, beginning: &Beginning) -> Result<()> {
    let Checked { accounts, batches, transfers, entries, .. } = proof.checked;
    let records = proof.records.records;
    print(&match beginning.name() {
        None => format!(
            "checked: accounts {accounts}, transfers {transfers}, entries {entries}, batches {batches}, audit records \
             {records}"
        ),
        Some(name) => format!(
            "checked: batches {batches}, transfers {transfers}, entries {entries}, audit records {records}, all since \
             {name}"
        ),
    })
}

pub(super) fn print_findings(findings: &[Finding]) -> Result<()> {
    for Finding { rule, broken } in findings {
        match broken {
            0 => print(&format!("  ok      {rule}"))?,
            broken => print(&format!("  BROKEN  {rule} (violations: {broken})"))?,
        }
    }
    Ok(())
}

pub(super) fn print_differences(differences: &[String]) -> Result<()> {
    let state = if differences.is_empty() { "ok    " } else { "BROKEN" };
    print(&format!("  {state}  the schema is what the migrations make"))?;
    for difference in differences {
        print(&format!("          {difference}"))?;
    }
    Ok(())
}

pub(super) fn print_chain(chain: &Proof, missing: &[MissingBatch], recorded: &RecordedHeads) -> Result<()> {
    let state = |is_sound: bool| if is_sound { "ok    " } else { "BROKEN" };
    let chains = chain.heads.keys().filter(|chain_id| !proof::is_of_records(**chain_id)).count();
    print(&format!(
        "  {}  the hashes of {chains} chains match their batches and rows",
        state(chain.breaks.is_empty())
    ))?;
    for Break { chain_id, seq, what } in &chain.breaks {
        print(&format!("          batch {seq} of chain {chain_id}: {what}"))?;
    }
    let complaints = &chain.records.complaints;
    let rule = "what audit records cover is as recorded";
    print(&format!("  {}  {rule}", state(complaints.is_empty())))?;
    for complaint in complaints {
        print(&format!("          {complaint}"))?;
    }
    let count = recorded.latest().len();
    print(&format!("  {}  each chain reaches its recorded head ({count} recorded)", state(missing.is_empty())))?;
    if let Some(signer) = recorded.signer() {
        print(&format!("          signed with the key whose public key is {}", hex::encode(signer)))?;
    }
    for MissingBatch { chain_id, seq, .. } in missing {
        let what = if proof::is_of_records(*chain_id) {
            format!("audit {}", proof::name_of(*chain_id, *seq))
        } else {
            format!("batch {seq} of chain {chain_id}")
        };
        print(&format!("          {what} is missing or was replaced: history was truncated"))?;
    }
    Ok(())
}

/// Printed by every verification: what was lost or left unproven must not be hidden.
pub(super) fn print_trusted(chain: &Proof) -> Result<()> {
    for it in &chain.losses {
        print(&format!("  LOST    {}", loss::describe(it)))?;
    }
    for it in &chain.retired {
        print(&format!("  note    retired: {}", rotate::describe(it)))?;
    }
    if !is_complete(chain) {
        print(&format!(
            "  note    NOT proven for want of retired keys: {} batches and {} audit records; they were followed link by \
             link to where their chains were closed. Name the keys with --retired-ledger-key-file",
            chain.unproven, chain.records.unproven
        ))?;
    }
    Ok(())
}
