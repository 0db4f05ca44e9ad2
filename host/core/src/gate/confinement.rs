//! Confines this process to what compiling and running a component needs.
//!
//! The gate is where a stranger's bytes first reach a compiler and run. If they escape from it, the kernel refuses them
//! files, networks, programs and other processes, though they have the host's user. Landlock and the filter of system
//! calls do so independently.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetStatus, Scope};
use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter_all_threads,
};

/// System calls that need no look at their arguments: memory, threads, clocks, signals of this process's own, randomness,
/// and files that are open or anonymous. None of them opens, connects, starts or reaches anything.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    // Refused by another filter.
    libc::SYS_clone3,
    libc::SYS_close,
    // The runtime behind the empty WASI.
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    // Initial memory images.
    libc::SYS_memfd_create,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    // Machine code that was just written is made visible to other processors.
    #[cfg(target_arch = "aarch64")]
    libc::SYS_membarrier,
];

/// What this process has open stays open to it; nothing can be opened any more.
///
/// # Errors
/// When this kernel lacks one of the two ways. The other may be in force then.
pub(crate) fn confine() -> Result<()> {
    restrict_access()
        .context("Landlock is not in force: it takes Linux 5.13, and `landlock` among the names in its setting lsm=")?;
    filter_calls().context("system calls are not filtered: it takes a Linux with CONFIG_SECCOMP_FILTER")
}

/// Takes all access to files, TCP and other processes from this thread and those that it starts, as far as this kernel
/// knows them.
///
/// # Errors
/// When this kernel does not support it.
pub fn restrict_access() -> Result<()> {
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V5))?;
    let ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?.scope(Scope::from_all(ABI::V6))?;
    let status = ruleset.create()?.restrict_self()?;
    ensure!(status.ruleset != RulesetStatus::NotEnforced, "this kernel does not support it");
    Ok(())
}

/// Makes all system calls but `ALLOWED` ones and new threads fail, on every thread.
///
/// # Errors
/// When this kernel does not support it.
pub fn filter_calls() -> Result<()> {
    // On any other the filter ends the process at once.
    let arch = if cfg!(target_arch = "aarch64") { TargetArch::aarch64 } else { TargetArch::x86_64 };
    let only = |first_argument: libc::c_int, is_flag: bool| {
        let value = u64::from(first_argument.unsigned_abs());
        let operator = if is_flag { SeccompCmpOp::MaskedEq(value) } else { SeccompCmpOp::Eq };
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, value)?;
        SeccompRule::new(vec![condition])
    };
    let mut rules: BTreeMap<_, _> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_clone, vec![only(libc::CLONE_THREAD, true)?]);
    rules.insert(libc::SYS_prctl, vec![only(libc::PR_SET_NAME, false)?]);
    let allowed = SeccompFilter::new(rules, SeccompAction::Errno(errno(libc::EPERM)), SeccompAction::Allow, arch)?;
    // A filter cannot see its flags. The system's library then uses `clone`.
    let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let absent = SeccompFilter::new(absent, SeccompAction::Allow, SeccompAction::Errno(errno(libc::ENOSYS)), arch)?;
    for filter in [absent, allowed] {
        let program: BpfProgram = filter.try_into()?;
        apply_filter_all_threads(&program)?;
    }
    Ok(())
}

fn errno(code: libc::c_int) -> u32 {
    code.unsigned_abs()
}
