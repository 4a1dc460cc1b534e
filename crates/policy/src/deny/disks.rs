//! Which paths are block devices, by the names that Linux and macOS give them. Must not know
//! commands.

/// Names below `/dev` that are disks, partitions, volumes or memory. Terminals, `null`, `shm`, `fd`
/// and the like are not.
const DISKS: &[&str] = &[
    "block/", "disk", "dm-", "hd", "kmem", "loop", "mapper/", "md", "mem", "mmcblk", "mtd", "nbd",
    "nvme", "ram", "rdisk", "sd", "sr", "vd", "xvd", "zd", "zram",
];

pub(super) fn is_block_device(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    if !path.starts_with('/') || parts.next() != Some("dev") {
        return false;
    }
    let name = parts.collect::<Vec<_>>().join("/");
    DISKS.iter().any(|disk| name.starts_with(disk))
}
