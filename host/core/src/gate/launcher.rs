//! Starts examinations, each in a process of its own.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::gate::limits::{COMPONENT_BYTES_MAX, WALL_TIME_MAX};
use crate::gate::report::{CheckOutcome, Report};

#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
    may_be_unconfined: bool,
}

impl Launcher {
    /// `program` is the path of this program.
    pub fn new(program: PathBuf) -> Self {
        Self { program, may_be_unconfined: false }
    }

    /// Examines components even where the kernel cannot confine the process, which the report then notes. For
    /// developers: an escape would have the rights of the user who runs this.
    #[must_use]
    pub fn or_unconfined(self, may_be_unconfined: bool) -> Self {
        Self { may_be_unconfined, ..self }
    }

    /// Examines a component.
    ///
    /// # Errors
    /// When the process cannot be started. Everything else, even a process that is killed, is a refusal
    /// in the report.
    pub async fn examine(&self, bytes: &[u8]) -> std::io::Result<Report> {
        let mut report = Report { bytes: bytes.len(), ..Report::default() };
        if bytes.len() > COMPONENT_BYTES_MAX {
            let detail = format!("{} bytes; at most {COMPONENT_BYTES_MAX} are accepted", bytes.len());
            report.add("size", CheckOutcome::Refused, detail);
            return Ok(report);
        }
        let mut command = Command::new(&self.program);
        command
            .arg("gate")
            .args(self.may_be_unconfined.then_some("--may-be-unconfined"))
            .env_clear()
            .kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut stdin = child.stdin.take();
        let examination = async {
            if let Some(stdin) = &mut stdin {
                // If the process exits early, its status says more than the broken pipe.
                let _ = stdin.write_all(bytes).await;
            }
            drop(stdin);
            child.wait_with_output().await
        };
        let Ok(output) = tokio::time::timeout(WALL_TIME_MAX, examination).await else {
            report.add("limits", CheckOutcome::Refused, format!("stopped after {} s", WALL_TIME_MAX.as_secs()));
            return Ok(report);
        };
        let output = output?;
        if let Ok(found) = serde_json::from_slice(&output.stdout) {
            return Ok(found);
        }
        let detail = format!("used more time or memory than the gate allows ({})", output.status);
        report.add("limits", CheckOutcome::Refused, detail);
        Ok(report)
    }
}
