//! Ways out of a sandbox: sockets behind which somebody starts programs for others, or holds their keys. Pure.

use std::path::PathBuf;

use super::Access;

/// Where such sockets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// An absolute path, or one below the home with `~` at its start; a `*` at its end stands for the rest of a name.
    pub path: &'static str,
    /// How it is shut.
    pub access: Access,
    /// The variables of the environment that lead there: where one of them is asked for, it stays open.
    pub leading: &'static [&'static str],
}

const fn folder(path: &'static str, leading: &'static [&'static str]) -> Door {
    Door {
        path,
        access: Access::Hidden,
        leading,
    }
}

const fn socket(path: &'static str, leading: &'static [&'static str]) -> Door {
    Door {
        path,
        access: Access::Masked,
        leading,
    }
}

/// The places that are known.
pub const DOORS: [Door; 20] = [
    folder(
        "/run/user",
        &[
            "DBUS_SESSION_BUS_ADDRESS",
            "WAYLAND_DISPLAY",
            "XDG_RUNTIME_DIR",
        ],
    ),
    folder("/run/dbus", &["DBUS_SYSTEM_BUS_ADDRESS"]),
    folder("/run/podman", &["CONTAINER_HOST"]),
    folder("/run/containerd", &["CONTAINERD_ADDRESS"]),
    folder("/run/crio", &[]),
    folder("/run/libvirt", &[]),
    folder("/run/screen", &["STY"]),
    folder("/run/screens", &["STY"]),
    folder("/tmp/screens", &["STY"]),
    folder("~/.screen", &["STY"]),
    folder("/tmp/tmux-*", &["TMUX"]),
    folder("/tmp/.X11-unix", &["DISPLAY"]),
    folder("/tmp/.ICE-unix", &["SESSION_MANAGER"]),
    socket("/run/docker.sock", &["DOCKER_HOST"]),
    socket("/run/systemd/private", &[]),
    socket("/run/snapd.socket", &[]),
    socket("/run/acpid.socket", &[]),
    socket("/var/lib/lxd/unix.socket", &[]),
    socket("~/.docker/run/docker.sock", &["DOCKER_HOST"]),
    socket("~/.gnupg/S.*", &["GPG_AGENT_INFO"]),
];

/// Variables that lead out of a sandbox, or to keys: they get in only if they are asked for.
pub const LEADING: [&str; 14] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY",
    "GIT_ASKPASS",
    "GPG_AGENT_INFO",
    "SESSION_MANAGER",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "TMUX_PANE",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];

/// Returns the sockets with a path on which somebody listens, as Linux lists them in `/proc/net/unix`.
pub fn listening(table: &str) -> Vec<PathBuf> {
    /// The flag of a socket that accepts connections.
    const ACCEPTS: u64 = 0x1_0000;
    let path = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(3);
        let flags = u64::from_str_radix(words.next()?, 16).ok()?;
        // The path may have spaces in it, and stands after type, state and inode.
        let path = line.find(" /").map(|at| &line[at + 1..])?;
        (flags & ACCEPTS != 0).then(|| PathBuf::from(path))
    };
    table.lines().skip(1).filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_on_which_somebody_listens_are_read_from_the_kernels_list() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 5632 /tmp/a b/default\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 5633 /tmp/a b/default\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 5634 @/tmp/.X11-unix/X0\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 5635\n";
        assert_eq!(listening(table), [PathBuf::from("/tmp/a b/default")]);
        assert!(listening("").is_empty());
    }
}
