//! Sockets that somebody listens at.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// Says whether somebody listens at a socket: it is in use, and nobody's whose processes were ended.
pub fn is_served(place: &Path) -> bool {
    served(place).unwrap_or(false)
}

fn served(place: &Path) -> Option<bool> {
    // An address has room for some hundred bytes.
    let folder = File::open(place.parent()?).ok()?;
    let short = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let address = SocketAddrUnix::new(Path::new(&short).join(place.file_name()?)).ok()?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).ok()?;
    // Another kind of socket, or one whose queue is full, is refused for that.
    Some(!matches!(
        connect(&socket, &address),
        Err(Errno::CONNREFUSED | Errno::NOENT)
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixDatagram, UnixListener};

    use super::*;

    #[test]
    fn a_socket_is_served_while_somebody_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a".repeat(200));
        std::fs::create_dir(&deep).unwrap();
        let (stream, datagram) = (deep.join("s"), deep.join("d"));
        // Bound from within: the path is too long for an address.
        let near = folder.path().join("near");
        std::os::unix::fs::symlink(&deep, &near).unwrap();
        let listener = UnixListener::bind(near.join("s")).unwrap();
        let receiver = UnixDatagram::bind(near.join("d")).unwrap();
        assert!(is_served(&stream) && is_served(&datagram));
        drop((listener, receiver));
        assert!(!is_served(&stream) && !is_served(&datagram));
    }
}
