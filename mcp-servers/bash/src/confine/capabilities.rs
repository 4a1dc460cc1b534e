//! Takes from root what would lead out of the box: no effect on an ordinary user. Must not know the
//! other layers.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    set_capabilities,
};

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

/// What makes a network namespace and brings its loopback up. The server hands it to its
/// supervisors, and each of these gives it up before it starts a command.
pub const OF_NETWORKS: [CapabilitySet; 2] = [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN];

/// With `no_new_privs`, which the other layers set, an exec cannot bring them back.
pub fn drop_dangerous(own_networks: bool) -> rustix::io::Result<()> {
    let now = capabilities(None)?;
    let handed_on = if own_networks {
        now.permitted & OF_NETWORKS.iter().copied().collect()
    } else {
        CapabilitySet::empty()
    };
    let effective = now.permitted & kept();
    let permitted = effective | handed_on;
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable: handed_on })?;
    // An exec keeps of an ordinary user's capabilities those that are ambient.
    handed_on.iter().try_for_each(|one| configure_capability_in_ambient_set(one, true))
}
