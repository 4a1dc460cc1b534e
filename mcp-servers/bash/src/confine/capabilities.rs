//! Takes from root what would lead out of the box: no effect on an ordinary user. Must not know the
//! other layers.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// What root keeps: what unpacking, installing below the workspace and serving a port need. Files
/// outside are Landlock's business. Gone are among others SYS_ADMIN, SYS_PTRACE, SYS_RAWIO
/// (`/proc/kcore`), SYSLOG, SYS_MODULE, MKNOD, BPF, NET_ADMIN, NET_RAW and DAC_READ_SEARCH.
fn kept() -> CapabilitySet {
    CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER
        | CapabilitySet::FSETID
        | CapabilitySet::KILL
        | CapabilitySet::SETGID
        | CapabilitySet::SETUID
        | CapabilitySet::NET_BIND_SERVICE
}

/// With `no_new_privs`, which the other layers set, an exec cannot bring them back. Nothing is
/// inheritable afterwards, and the kernel takes what is not out of the ambient set, too.
pub fn drop_dangerous() -> rustix::io::Result<()> {
    let left = capabilities(None)?.permitted & kept();
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: left, permitted: left, inheritable })
}
