//! `caudal receipt`: checks the decisions about a transfer without the bank.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Deserialize;

use crate::cli::output::print;
use crate::config::VerifyReceipt;
use crate::ledger::heads::RecordedHeads;
use crate::ledger::receipt::Receipt;
use crate::models::{Embedded, LoadedComponent};
use crate::replay::answers;
use crate::wasm::{Runtime, digest_of};

/// As the ledger API answers it.
#[derive(Deserialize)]
struct Answer {
    receipt: Receipt,
}

pub(super) fn verify(asked: &VerifyReceipt) -> Result<ExitCode> {
    let text = fs::read_to_string(&asked.file).with_context(|| format!("cannot read {}", asked.file.display()))?;
    let Answer { receipt } = serde_json::from_str(&text)
        .with_context(|| format!("{} is no answer of /api/ledger/transactions/{{id}}/receipt", asked.file.display()))?;
    let (decisions, signer) = receipt.proven().map_err(|flaw| anyhow!("the receipt is not valid: {flaw}"))?;
    let signer = hex::encode(signer);
    match &asked.heads {
        Some(path) => {
            let heads = RecordedHeads::read(path)?;
            if heads.signer().map(hex::encode).as_ref() != Some(&signer) {
                bail!("the receipt is not valid: {} is signed with another key than {signer}", path.display());
            }
            if heads.hash_of(receipt.chain, receipt.seq).is_some_and(|hash| hex::encode(hash) != receipt.hash) {
                bail!("the receipt is not valid: {} has another batch at its place", path.display());
            }
        }
        None => {
            print(&format!("not compared: whether {signer} is the bank's key; --heads names a file that it signed"))?
        }
    }
    print(&format!("sealed in batch {} of chain {}, signed by {signer}", receipt.seq, receipt.chain))?;
    let mut components: Vec<_> = Embedded::ALL.iter().map(|it| it.bytes.to_vec()).collect();
    for path in &asked.components {
        components.push(fs::read(path).with_context(|| format!("cannot read the component {}", path.display()))?);
    }
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    let mut code = ExitCode::SUCCESS;
    for (decision, given) in decisions.iter().zip(&receipt.decisions) {
        let (kind, digest) = (decision.by.kind, decision.by.digest);
        let told = |what: &str| print(&format!("{kind} {digest}: {what}"));
        let Some(bytes) = components.iter().find(|bytes| digest_of(bytes) == digest) else {
            told("proven, and not executed again: --component names its file")?;
            continue;
        };
        if !given.withheld.is_empty() {
            told("proven, and not executed again: facts about the payee are withheld")?;
            continue;
        }
        let component =
            LoadedComponent::load(&runtime, kind, bytes).with_context(|| format!("cannot load {digest}"))?;
        match answers(&component, std::slice::from_ref(decision)).pop() {
            Some(Ok(answer)) if answer == decision.answer => told("executed again: the same answer, bit for bit")?,
            _ => {
                told("executed again: another answer")?;
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}
