//! What to kill: the host, its Postgres, both, or one Postgres session.

use std::fs;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::{DataDir, Service};
use crate::random::Random;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kill {
    Host,
    /// The postmaster, with or without its children. Without, a session may still finish its statement.
    Postgres,
    Both,
    /// Postgres then ends all sessions and recovers, while the host keeps running.
    Session,
}

impl Kill {
    pub(crate) const ALL: [Self; 4] = [Self::Host, Self::Postgres, Self::Both, Self::Session];

    /// Finds the processes.
    pub(crate) fn aim(self, service: &Service, data: &DataDir, mut random: Random) -> Aim {
        let host = i32::try_from(service.pid()).unwrap();
        let postgres = data.postgres().unwrap();
        let all = random.one_in(2);
        let server = || {
            // The postmaster first: it would otherwise shut down its children in an orderly way.
            let others = if all { children(postgres) } else { Vec::new() };
            [vec![postgres], others.into_iter().map(|(pid, _)| pid).collect()].concat()
        };
        let (victim, processes) = match self {
            Self::Host => ("host", vec![host]),
            Self::Postgres => (if all { "Postgres, all of it" } else { "Postgres" }, server()),
            Self::Both => {
                let mut both = vec![vec![host], server()];
                random.shuffle(&mut both);
                (if all { "both, all of it" } else { "both" }, both.concat())
            }
            Self::Session => {
                let mut sessions = children(postgres);
                // The host's: `postgres: caudal caudal [local] ...`.
                sessions.retain(|(_, title)| title.contains("[local]"));
                ("a session", vec![random.pick(&sessions).0])
            }
        };
        Aim { victim, processes }
    }
}

/// Processes to kill.
pub(crate) struct Aim {
    pub(crate) victim: &'static str,
    processes: Vec<i32>,
}

impl Aim {
    /// `kill -9`.
    pub(crate) fn fire(&self) {
        for pid in &self.processes {
            match kill(Pid::from_raw(*pid), Signal::SIGKILL) {
                // A session may have ended by now.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => panic!("cannot kill {pid}: {error}"),
            }
        }
    }
}

/// With their titles.
fn children(parent: i32) -> Vec<(i32, String)> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_child = |pid: &i32| {
        // `pid (name) state parent ...`, and a name may contain anything.
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = status.rsplit(')').next().unwrap_or_default();
        after.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    let title = |pid| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    processes.filter(is_child).map(|pid| (pid, String::from_utf8_lossy(&title(pid)).into_owned())).collect()
}
