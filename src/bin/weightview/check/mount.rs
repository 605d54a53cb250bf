//! The file system that a checkpoint lies on: mapping a file of some is slow, or worse.

use std::path::Path;

use super::report::Finding;

#[cfg(target_os = "linux")]
pub(super) fn check(path: &Path, findings: &mut Vec<Finding>) {
    let Ok(path) = path.canonicalize() else { return };
    let Ok(table) = std::fs::read("/proc/self/mountinfo") else { return };
    findings.extend(kind_of(&path, &String::from_utf8_lossy(&table)).and_then(finding));
}

/// Other systems have no table to ask.
#[cfg(not(target_os = "linux"))]
pub(super) fn check(_: &Path, _: &mut Vec<Finding>) {}

/// What to know of a file system by its type.
#[cfg(any(target_os = "linux", test))]
fn finding(kind: &str) -> Option<Finding> {
    let (what, help) = match kind {
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "afs" | "ceph" | "lustre" | "gpfs" | "glusterfs" | "beegfs"
        | "9p" | "virtiofs" => (
            "a network file system",
            "a mapping may fail when the network does, and each page is a request: read the files instead of mapping them",
        ),
        kind if kind.starts_with("fuse") => (
            "a file system in a user's program",
            "a mapping may be slow or fail with that program: read the files instead of mapping them",
        ),
        "overlay" | "overlayfs" | "aufs" => (
            "an overlay file system",
            "when a file is first written to, all of it is copied; keep models on a volume of their own",
        ),
        _ => return None,
    };
    Some(Finding::warning("file-system", format!("it lies on {what} ({kind})"), help))
}

/// The type of the file system that the path is on, from the table that Linux keeps (proc(5), mountinfo): the last
/// line whose mount point is the longest that leads to the path.
#[cfg(any(target_os = "linux", test))]
fn kind_of<'t>(path: &Path, table: &'t str) -> Option<&'t str> {
    let mut best: Option<(usize, &str)> = None;
    for line in table.lines() {
        let Some((before, behind)) = line.split_once(" - ") else { continue };
        let (Some(point), Some(kind)) = (before.split(' ').nth(4), behind.split(' ').next()) else { continue };
        let point = point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        if path.starts_with(&point) && best.is_none_or(|(len, _)| point.len() >= len) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{finding, kind_of};

    const TABLE: &str = "\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 21 0:30 / /mnt/models rw,relatime - nfs4 server:/models rw
31 21 0:31 / /mnt/my\\040models rw - fuse.sshfs host:/ rw
32 21 0:32 / /var/lib/docker rw master:2 propagate_from:1 - overlay overlay rw,lowerdir=/a
33 21 0:33 / /mnt/models/local rw - xfs /dev/sdb rw
34 21 0:34 / /twice rw - ext4 /dev/sdc rw
35 34 0:35 / /twice rw - cifs //host/share rw
";

    #[test]
    fn the_longest_mount_point_counts_and_the_last_of_one() {
        for (path, kind) in [
            ("/home/a", "ext4"),
            ("/mnt/models/llama", "nfs4"),
            ("/mnt/models", "nfs4"),
            ("/mnt/models2", "ext4"),
            ("/mnt/models/local/x", "xfs"),
            ("/mnt/my models/x", "fuse.sshfs"),
            ("/twice/x", "cifs"),
        ] {
            assert_eq!(kind_of(Path::new(path), TABLE), Some(kind), "{path}");
        }
        assert_eq!(kind_of(Path::new("/x"), "not a table"), None);
    }

    #[test]
    fn what_is_said_of_them() {
        for kind in ["nfs4", "cifs", "fuse.sshfs", "overlay", "9p"] {
            assert_eq!(finding(kind).map(|finding| finding.id), Some("file-system"), "{kind}");
        }
        for kind in ["ext4", "xfs", "btrfs", "tmpfs", "apfs", "zfs"] {
            assert!(finding(kind).is_none(), "{kind}");
        }
    }
}
