//! What escapes from the engine reaches nothing: the kernel refuses it. These tests need a kernel with Landlock and
//! seccomp, and fail without them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use caudal::gate::confinement::{filter_calls, restrict_access};
use caudal::gate::launcher::Launcher;
use caudal::gate::report::{CheckOutcome, Report};
use nix::libc::{EACCES, EPERM, SYS_landlock_create_ruleset};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, getppid, pidfd_getfd, pidfd_open, test_kill_process};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use crate::built::component;
use crate::forged;

/// Upper bound for a process to start on a busy machine.
const SOON: Duration = Duration::from_secs(30);

#[test]
#[ignore = "confines its process: the next test runs it in one of its own"]
fn attempts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let parent = getppid().unwrap();
    let pidfd = pidfd_open(parent, PidfdFlags::empty()).unwrap();
    let environment = format!("/proc/{}/environ", parent.as_raw_nonzero());
    let file = || File::open("/etc/passwd").map(drop);
    let created = || File::create("/tmp/caudal-escaped").map(drop);
    let process = || fs::read(&environment).map(drop);
    let connection = || TcpStream::connect(address).map(drop);
    file().unwrap();
    process().unwrap();
    connection().unwrap();

    restrict_access().expect("this kernel has no Landlock: boot one of 5.13 or later with landlock among its lsm=");
    for (what, attempt) in
        [("a file", file().err()), ("a new file", created().err()), ("a connection", connection().err())]
    {
        assert_eq!(attempt.and_then(|it| it.raw_os_error()), Some(EACCES), "{what} despite Landlock");
    }
    process().expect_err("another process's environment, despite Landlock");

    filter_calls().expect("this kernel has no seccomp");
    let system = |result: rustix::io::Result<()>| result.map_err(io::Error::from);
    let attempts: [(&str, io::Result<()>); 13] = [
        ("a file", file()),
        ("a new file", created()),
        ("a file's size", fs::metadata("/etc/passwd").map(drop)),
        ("a folder", fs::read_dir("/").map(drop)),
        ("another process's environment", process()),
        ("a connection", connection()),
        ("a listener", TcpListener::bind("127.0.0.1:0").map(drop)),
        ("a datagram", UdpSocket::bind("127.0.0.1:0").map(drop)),
        ("a local socket", UnixStream::connect("/run/caudal.sock").map(drop)),
        ("a program", Command::new("/bin/true").spawn().map(drop)),
        ("a signal", system(test_kill_process(parent))),
        ("another process", system(pidfd_open(Pid::INIT, PidfdFlags::empty()).map(drop))),
        ("another process's file", system(pidfd_getfd(&pidfd, 0, PidfdGetfdFlags::empty()).map(drop))),
    ];
    for (what, attempt) in attempts {
        assert_eq!(attempt.err().and_then(|it| it.raw_os_error()), Some(EPERM), "{what} despite the filter");
    }
    restrict_access().expect_err("nothing can be undone or replaced");
    filter_calls().expect_err("nothing can be undone or replaced");
    assert_eq!(thread::spawn(|| vec![1; 1 << 20].len()).join().unwrap(), 1 << 20, "threads and memory remain");
}

#[test]
fn the_kernel_refuses_files_networks_programs_and_other_processes() {
    let mut itself = Command::new(std::env::current_exe().unwrap());
    let output = itself.args(["--exact", "confinement::attempts", "--ignored", "--nocapture"]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success() && text.contains("1 passed"), "{}: {text}", output.status);
}

#[test]
fn the_gate_is_confined_before_it_compiles_and_goes_first_when_memory_runs_out() {
    let mut gate = Command::new(env!("CARGO_BIN_EXE_caudal"));
    let mut gate = gate.arg("gate").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Compiles for seconds.
    gate.stdin.take().unwrap().write_all(&forged::that_blows_the_compiler_up()).unwrap();
    let of_gate = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", gate.id())).unwrap();
    let start = Instant::now();
    while !of_gate("status").contains("Seccomp:\t2") {
        assert!(start.elapsed() < SOON, "{}", of_gate("status"));
        thread::sleep(Duration::from_millis(10));
    }
    assert!(of_gate("status").contains("NoNewPrivs:\t1"), "{}", of_gate("status"));
    assert_eq!(of_gate("oom_score_adj"), "1000\n");
    gate.kill().unwrap();
    gate.wait().unwrap();
}

/// Examines a component where the kernel has no Landlock.
fn examine_without_landlock(may_be_unconfined: bool) -> Report {
    let examination = move || {
        let absent = BTreeMap::from([(SYS_landlock_create_ruleset, Vec::new())]);
        let (allow, fail) = (SeccompAction::Allow, SeccompAction::Errno(nix::libc::ENOSYS.unsigned_abs()));
        let filter = SeccompFilter::new(absent, allow, fail, std::env::consts::ARCH.try_into().unwrap()).unwrap();
        // For this thread and the processes that it starts.
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let gate = Launcher::new(env!("CARGO_BIN_EXE_caudal").into()).or_unconfined(may_be_unconfined);
        runtime.block_on(gate.examine(&component("nudge"))).unwrap()
    };
    thread::spawn(examination).join().unwrap()
}

#[test]
fn a_kernel_that_cannot_confine_the_gate_examines_for_developers_only() {
    let report = examine_without_landlock(false);
    let [check] = &report.checks[..] else { panic!("{report:#?}") };
    assert_eq!((check.name.as_str(), check.outcome), ("confined", CheckOutcome::Refused));
    assert!(check.detail.contains("Landlock is not in force") && check.detail.contains("lsm="), "{}", check.detail);
    let report = examine_without_landlock(true);
    assert!(report.is_accepted() && report.checks[0].outcome == CheckOutcome::Noted, "{report:#?}");
}
