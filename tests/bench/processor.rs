//! Processor time and memory of processes, from `/proc`.

use std::fs;

/// Clock ticks per second in `/proc`.
const TICKS: f64 = 100.0;

/// Processor time in seconds.
pub(crate) struct Used {
    /// Time of this process and the children that it waited for.
    pub(crate) load: f64,
    pub(crate) hosts: f64,
    /// Time of the server and all its sessions.
    pub(crate) postgres: f64,
}

impl Used {
    pub(crate) fn now(hosts: &[u32], server: u32) -> Self {
        // The postmaster accumulates the time of ended sessions.
        let sessions: f64 = children(server).into_iter().map(|pid| time(pid, false)).sum();
        Self {
            load: time(std::process::id(), true),
            hosts: hosts.iter().map(|pid| time(*pid, false)).sum(),
            postgres: time(server, true) + sessions,
        }
    }

    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            load: self.load - before.load,
            hosts: self.hosts - before.hosts,
            postgres: self.postgres - before.postgres,
        }
    }
}

/// What one process has used so far.
pub(crate) struct Process {
    pub(crate) seconds: f64,
    /// Context switches of its threads.
    pub(crate) switches: f64,
}

impl Process {
    /// With its children.
    pub(crate) fn now(pid: u32) -> Self {
        let all = children(pid).into_iter().chain([pid]).map(Self::alone);
        all.reduce(|a, b| Self { seconds: a.seconds + b.seconds, switches: a.switches + b.switches }).unwrap()
    }

    fn alone(pid: u32) -> Self {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        let status = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("status")).ok());
        let switches = status.flat_map(|status| {
            let lines = status.lines().filter(|line| line.contains("ctxt_switches:"));
            let counts = lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
            counts.collect::<Vec<_>>()
        });
        Self { seconds: time(pid, false), switches: switches.sum() }
    }

    pub(crate) fn since(&self, before: &Self) -> Self {
        Self { seconds: self.seconds - before.seconds, switches: self.switches - before.switches }
    }
}

/// Resident memory in KiB.
pub(crate) fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The fields of `/proc/PID/stat` after the name, which may contain spaces.
fn fields(pid: u32) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(')').map(|(_, after)| after).unwrap_or_default();
    after.split_whitespace().map(str::to_owned).collect()
}

fn time(pid: u32, with_children: bool) -> f64 {
    let fields = fields(pid);
    let end = if with_children { 15 } else { 13 };
    let ticks = fields.get(11..end).unwrap_or_default().iter().filter_map(|it| it.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap();
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| fields(*pid).get(1).is_some_and(|it| *it == parent.to_string())).collect()
}
