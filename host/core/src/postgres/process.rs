//! The server's process and its watchdog.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::binaries::Binaries;
use super::cluster::{Cluster, ENVIRONMENT};

/// Time for the final checkpoint.
const STOP_TIME_MAX: Duration = Duration::from_secs(60);

/// Interval between checks while waiting.
const POLL_EVERY: Duration = Duration::from_millis(20);

/// How long a killed server may take to exit and be reaped. Some inits reap only every second or two.
const REAP_TIME_MAX: Duration = Duration::from_secs(20);

/// Reads a pipe from this process. End of file without a line means that this process died; the watchdog then
/// stops the server with SIGINT, Postgres's fast shutdown.
const WATCHDOG: &str = r#"read -r _ || kill -INT "$1""#;

/// A server that belongs to this process.
pub(super) struct Process {
    server: Child,
    watchdog: Child,
}

impl Process {
    pub(super) fn start(binaries: &Binaries, cluster: &Cluster) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(&cluster.log);
        let log = log.with_context(|| format!("cannot write {}", cluster.log.display()))?;
        let mut server = cluster
            .command(&binaries.path("postgres"))
            .arg("-D")
            .arg(&cluster.data)
            .arg("-k")
            .arg(&cluster.socket)
            .args(["-p", "5432", "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"])
            .stdout(log.try_clone().context("cannot write the server's log")?)
            .stderr(log)
            // A terminal's Ctrl-C must reach only the host, which stops the server last.
            .process_group(0)
            .spawn()
            .context("cannot run postgres")?;
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG, "caudal-watchdog", &server.id().to_string()])
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        match watchdog {
            Ok(watchdog) => Ok(Self { server, watchdog }),
            Err(error) => {
                server.kill().context("cannot stop postgres")?;
                Err(error).context("cannot run /bin/sh")
            }
        }
    }

    pub(super) fn has_exited(&mut self) -> bool {
        self.server.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Fast shutdown: disconnects sessions and writes a checkpoint.
    pub(super) async fn stop(mut self) -> Result<()> {
        let pid = process_id(&self.server)?;
        signal_stop(pid)?;
        let mut waited = Duration::ZERO;
        while self.server.try_wait().context("cannot wait for postgres")?.is_none() {
            if waited >= STOP_TIME_MAX {
                bail!("the private Postgres (process {pid}) did not stop; its log may say why");
            }
            tokio::time::sleep(POLL_EVERY).await;
            waited += POLL_EVERY;
        }
        if let Some(pipe) = &mut self.watchdog.stdin {
            // A line dismisses the watchdog.
            let _ = pipe.write_all(b"stopped\n");
        }
        self.watchdog.wait().context("cannot wait for the watchdog")?;
        Ok(())
    }
}

/// Stops a server that an earlier process left running in this cluster.
pub(super) async fn stop_orphan(cluster: &Cluster) -> Result<()> {
    let Some(pid) = running_server(&cluster.data) else { return wait_until_reaped(cluster).await };
    tracing::warn!(%pid, "stopping a Postgres that an earlier run left behind");
    signal_stop(pid)?;
    let mut waited = Duration::ZERO;
    while running_server(&cluster.data) == Some(pid) {
        if waited >= STOP_TIME_MAX {
            bail!("an earlier run's Postgres (process {pid}) did not stop: stop it manually");
        }
        tokio::time::sleep(POLL_EVERY).await;
        waited += POLL_EVERY;
    }
    wait_until_reaped(cluster).await
}

/// Waits until a dying server has exited and was reaped: until then, Postgres takes it for a running one.
async fn wait_until_reaped(cluster: &Cluster) -> Result<()> {
    let mut waited = Duration::ZERO;
    while let Some(pid) = named_process(&cluster.data).filter(|pid| is_exiting(*pid)) {
        if waited >= REAP_TIME_MAX {
            bail!(
                "an earlier run's Postgres (process {pid}) is a zombie that was never reaped: run this under an \
                 init, as with `docker run --init`"
            );
        }
        tokio::time::sleep(POLL_EVERY).await;
        waited += POLL_EVERY;
    }
    Ok(())
}

/// Whether a process is exiting, or a zombie. It has no command line by then: freeing its memory comes first, and takes
/// milliseconds.
fn is_exiting(pid: Pid) -> bool {
    /// `PF_EXITING` of the kernel.
    const EXITING: u32 = 4;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name: state, parent, group, session, terminal, its group, flags.
    let flags = stat.rsplit_once(')').and_then(|(_, after)| after.split_whitespace().nth(6)?.parse::<u32>().ok());
    flags.is_some_and(|flags| flags & EXITING != 0)
}

/// The process that `postmaster.pid` names, which may have exited long ago.
fn named_process(data: &Path) -> Option<Pid> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok().map(Pid::from_raw)
}

/// The process that `postmaster.pid` names, if it is a server of this folder.
pub(super) fn running_server(data: &Path) -> Option<Pid> {
    let pid = named_process(data)?;
    let command_line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut arguments = command_line.split(|byte| *byte == 0);
    arguments.any(|argument| argument == data.as_os_str().as_encoded_bytes()).then_some(pid)
}

fn process_id(child: &Child) -> Result<Pid> {
    Ok(Pid::from_raw(i32::try_from(child.id()).context("invalid process id")?))
}

fn signal_stop(pid: Pid) -> Result<()> {
    match kill(pid, Signal::SIGINT) {
        // It has already exited.
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot stop the Postgres process {pid}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A killed process frees this much before it becomes a zombie.
    const MEMORY_BYTES: usize = 100 << 20;

    #[test]
    fn a_process_without_a_command_line_is_exiting() {
        let mut tail = Command::new("tail");
        tail.args(["-c", &MEMORY_BYTES.to_string()]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut tail = tail.spawn().unwrap();
        tail.stdin.as_mut().unwrap().write_all(&vec![0; MEMORY_BYTES]).unwrap();
        let pid = process_id(&tail).unwrap();
        assert!(!is_exiting(pid));
        tail.kill().unwrap();
        let is_zombie = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") Z ");
        while !is_zombie() {
            let command_line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
            assert!(!command_line.is_empty() || is_exiting(pid));
        }
        assert!(is_exiting(pid));
        tail.wait().unwrap();
    }
}
