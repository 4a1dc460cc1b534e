//! The filter of system calls: what Landlock does not see. Owns the list and its reasons; must not
//! know paths.
//!
//! `seccompiler` (rust-vmm, used by Firecracker and Cloud Hypervisor; depends on libc alone) was
//! chosen over `libseccomp` (needs a C library) and `extrasafe` (an allow-list that ordinary
//! programs do not fit in).

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
pub fn apply() -> Result<bool, String> {
    Ok(false)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
pub fn refuse_to_change() -> Result<(), String> {
    Ok(())
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
pub fn refuse_sockets() -> Result<(), String> {
    Ok(())
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
pub use filter::{apply, refuse_sockets, refuse_to_change};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod filter {
    use std::collections::BTreeMap;

    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp,
        SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter,
    };

    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    /// Answered "permission denied", whatever the arguments.
    const REFUSED: &[i64] = &[
        // Mounts and other namespaces: new ways to the same files.
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_move_mount,
        libc::SYS_open_tree,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
        libc::SYS_setns,
        // Files by handle instead of by path.
        libc::SYS_open_by_handle_at,
        // The user's keyrings hold secrets of other programs.
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        // Kernel interfaces that no build or test needs, known for their holes.
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_reboot,
        libc::SYS_acct,
        libc::SYS_quotactl,
        libc::SYS_quotactl_fd,
        KEXEC_FILE_LOAD,
        // The log of the kernel, and who opens which file of the machine.
        libc::SYS_syslog,
        libc::SYS_fanotify_init,
        // Other processes by descriptor. Landlock judges these, too; nothing that a command does
        // needs them.
        libc::SYS_pidfd_getfd,
        libc::SYS_process_madvise,
        libc::SYS_process_mrelease,
        libc::SYS_kcmp,
        OPEN_TREE_ATTR,
    ];

    /// libc knows it for glibc alone on 64-bit ARM, where musl takes the same number.
    #[cfg(all(target_arch = "aarch64", target_env = "musl"))]
    const KEXEC_FILE_LOAD: i64 = 294;
    #[cfg(not(all(target_arch = "aarch64", target_env = "musl")))]
    const KEXEC_FILE_LOAD: i64 = libc::SYS_kexec_file_load;

    /// Not in libc yet. From 424 on a number is the same on every architecture.
    const OPEN_TREE_ATTR: i64 = 467;
    const FILE_SETATTR: i64 = 469;

    /// Answered "no such system call", which makes programs take the older way: io_uring does what
    /// the filter refuses without a system call, and the flags of clone3 lie in memory where a
    /// filter cannot read them. `file_setattr` takes a path, which Landlock does not judge; the
    /// older way needs a descriptor, which it does.
    const UNKNOWN: &[i64] = &[
        libc::SYS_clone3,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        FILE_SETATTR,
    ];

    /// Calls that change another process of the user without a question to Landlock: limits
    /// (`--fsize=0` kills), priority, processors. Each argument named here must have this value,
    /// which means "the caller itself".
    const ITSELF_ALONE: &[(i64, &[(u8, i32)])] = &[
        (libc::SYS_prlimit64, &[(0, 0)]),
        (libc::SYS_setpriority, &[(0, PRIO_PROCESS), (1, 0)]),
        (libc::SYS_ioprio_set, &[(0, IOPRIO_WHO_PROCESS), (1, 0)]),
        (libc::SYS_sched_setscheduler, &[(0, 0)]),
        (libc::SYS_sched_setparam, &[(0, 0)]),
        (libc::SYS_sched_setattr, &[(0, 0)]),
        (libc::SYS_sched_setaffinity, &[(0, 0)]),
    ];
    /// Modes, owners, times and attributes of files, which no right of Landlock
    /// covers; memory and queues that other programs of the user share.
    const CHANGES: &[i64] = &[
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        FCHMODAT2,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utime,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utimes,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        SETXATTRAT,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        REMOVEXATTRAT,
        libc::SYS_shmget,
        libc::SYS_msgget,
        libc::SYS_semget,
        libc::SYS_mq_open,
    ];
    const FCHMODAT2: i64 = 452;
    const SETXATTRAT: i64 = 463;
    const REMOVEXATTRAT: i64 = 466;
    /// `FS_IOC_SETFLAGS` with the width of a long and of an int, and `FS_IOC_FSSETXATTR`: a file is
    /// made immutable by its open descriptor.
    const FLAGS_OF_FILES: &[i32] = &[0x4008_6602, 0x4004_6602, 0x401c_5820];
    const PRIO_PROCESS: i32 = 0;
    const IOPRIO_WHO_PROCESS: i32 = 1;

    const NAMESPACES: &[i32] = &[
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];

    /// Sets the filter on this thread and all that it starts. `false` where the kernel knows no
    /// filters.
    pub fn apply() -> Result<bool, String> {
        let refused = compile(refused().map_err(|error| error.to_string())?, libc::EPERM)?;
        let unknown =
            compile(UNKNOWN.iter().map(|number| (*number, Vec::new())).collect(), libc::ENOSYS)?;
        Ok(set(&refused)? && set(&unknown)?)
    }

    /// For a command without a network: this thread and all that it starts make no socket of any
    /// family. A connected pair is none that leads anywhere.
    pub fn refuse_sockets() -> Result<(), String> {
        set(&compile([(libc::SYS_socket, Vec::new())].into(), libc::EPERM)?).map(|_| ())
    }

    /// For a command that may only read: takes from this thread and all that it starts what
    /// Landlock lets a command change of files that the user owns, where the kernel knows filters.
    pub fn refuse_to_change() -> Result<(), String> {
        let mut refused: Rules = CHANGES.iter().map(|number| (*number, Vec::new())).collect();
        let flags = FLAGS_OF_FILES
            .iter()
            .map(|request| SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, *request)?]));
        let flags = flags.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        refused.insert(libc::SYS_ioctl, flags);
        set(&compile(refused, libc::EPERM)?).map(|_| ())
    }

    fn set(program: &BpfProgram) -> Result<bool, String> {
        match apply_filter(program) {
            Ok(()) => Ok(true),
            Err(seccompiler::Error::Seccomp(error) | seccompiler::Error::Prctl(error))
                if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) =>
            {
                Ok(false)
            }
            Err(error) => Err(format!("seccomp: {error}")),
        }
    }

    fn refused() -> Result<Rules, BackendError> {
        let mut rules: Rules = REFUSED.iter().map(|number| (*number, Vec::new())).collect();
        // Only the internet's families and netlink (which resolvers use). A path socket leads to
        // daemons that act for the user: Docker, D-Bus with systemd, ssh-agent. Vsock leads to the
        // host of a virtual machine.
        let others = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]
            .into_iter()
            .map(|family| condition(0, SeccompCmpOp::Ne, family))
            .collect::<Result<Vec<_>, _>>()?;
        rules.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
        // A connected pair is private, except that one end of a datagram pair can be connected to a
        // path afterwards.
        let datagram = vec![
            condition(0, SeccompCmpOp::Eq, libc::AF_UNIX)?,
            condition(1, SeccompCmpOp::MaskedEq(0xf), libc::SOCK_DGRAM)?,
        ];
        // For a Unix socket, raw means datagram.
        let raw = vec![
            condition(0, SeccompCmpOp::Eq, libc::AF_UNIX)?,
            condition(1, SeccompCmpOp::MaskedEq(0xf), libc::SOCK_RAW)?,
        ];
        rules.insert(
            libc::SYS_socketpair,
            vec![SeccompRule::new(datagram)?, SeccompRule::new(raw)?],
        );
        for number in [libc::SYS_unshare, libc::SYS_clone] {
            let namespaces = NAMESPACES.iter().map(|flag| {
                SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(*flag as u64), *flag)?])
            });
            rules.insert(number, namespaces.collect::<Result<_, _>>()?);
        }
        for (number, arguments) in ITSELF_ALONE {
            let others = arguments.iter().map(|(argument, own)| {
                SeccompRule::new(vec![condition(*argument, SeccompCmpOp::Ne, *own)?])
            });
            rules.insert(*number, others.collect::<Result<_, _>>()?);
        }
        Ok(rules)
    }

    fn condition(
        argument: u8,
        operator: SeccompCmpOp,
        value: i32,
    ) -> Result<SeccompCondition, BackendError> {
        SeccompCondition::new(argument, Dword, operator, value as u64)
    }

    fn compile(rules: Rules, errno: i32) -> Result<BpfProgram, String> {
        let arch =
            TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
        let refuse = SeccompAction::Errno(errno as u32);
        SeccompFilter::new(also_for_x32(rules), SeccompAction::Allow, refuse, arch)
            .and_then(BpfProgram::try_from)
            .map_err(|error| format!("seccomp: {error}"))
    }

    /// On x86-64 the same calls have a second number (the x32 ABI), with the same arguments for
    /// these.
    fn also_for_x32(mut rules: Rules) -> Rules {
        if cfg!(target_arch = "x86_64") {
            const X32_BIT: i64 = 0x4000_0000;
            let twins: Vec<_> =
                rules.iter().map(|(number, rule)| (number | X32_BIT, rule.clone())).collect();
            rules.extend(twins);
        }
        rules
    }
}
