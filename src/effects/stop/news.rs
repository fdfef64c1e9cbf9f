//! News of files that appear in folders. The kernel keeps them until they are read, so that a file cannot be there and be
//! gone again between two looks.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};

/// What happened since the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A file appeared, whether it is still there or not.
    Appeared(PathBuf),
    /// A folder that was watched is gone or was moved.
    FolderLost(PathBuf),
    /// More happened than the kernel keeps.
    TooMuch,
}

/// Watches the folders of some files. Where the kernel cannot do that, nothing is ever new.
#[derive(Debug, Default)]
pub struct News {
    inotify: Option<Inotify>,
    files: Vec<PathBuf>,
    folders: HashMap<WatchDescriptor, Folder>,
}

/// A folder that is watched.
#[derive(Clone, Debug)]
struct Folder {
    path: PathBuf,
    /// Which one it was: the kernel tells of the folder, not of its path, and does not tell when one above it is moved.
    identity: (u64, u64),
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(folder).ok()?;
    meta.is_dir().then(|| (meta.dev(), meta.ino()))
}

impl News {
    /// Watches nothing yet.
    pub fn new() -> News {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC);
        News {
            inotify: inotify.ok(),
            ..News::default()
        }
    }

    /// Wants news of a file; its folder is watched from when there is one.
    pub fn add(&mut self, file: &Path) {
        self.files.push(file.to_owned());
        self.watch_folders();
    }

    /// Watches the folders that are there by now and are not watched yet.
    fn watch_folders(&mut self) {
        let Some(inotify) = &self.inotify else {
            return;
        };
        for folder in self.files.iter().filter_map(|file| file.parent()) {
            let is_watched = self.folders.values().any(|known| known.path == folder);
            let Some(identity) = identity(folder).filter(|_| !is_watched) else {
                continue;
            };
            let flags = AddWatchFlags::IN_CREATE
                | AddWatchFlags::IN_MOVED_TO
                | AddWatchFlags::IN_DELETE_SELF
                | AddWatchFlags::IN_MOVE_SELF
                | AddWatchFlags::IN_ONLYDIR;
            if let Ok(watch) = inotify.add_watch(folder, flags) {
                let path = folder.to_owned();
                self.folders.insert(watch, Folder { path, identity });
            }
        }
    }

    /// Returns what happened since the last call.
    pub fn read(&mut self) -> Vec<Happened> {
        let mut happened = Vec::new();
        while let Some(inotify) = &self.inotify {
            let events = match inotify.read_events() {
                Ok(events) => events,
                Err(Errno::EAGAIN | Errno::EINTR) => break,
                Err(_) => {
                    happened.push(Happened::TooMuch);
                    break;
                }
            };
            for event in events {
                if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                    happened.push(Happened::TooMuch);
                    continue;
                }
                let Some(folder) = self.folders.get(&event.wd) else {
                    continue;
                };
                let file = event.name.map(|name| folder.path.join(name));
                match file.filter(|file| self.files.contains(file)) {
                    Some(file) => happened.push(Happened::Appeared(file)),
                    None => {
                        let is_lost = AddWatchFlags::IN_DELETE_SELF
                            | AddWatchFlags::IN_MOVE_SELF
                            | AddWatchFlags::IN_UNMOUNT
                            | AddWatchFlags::IN_IGNORED;
                        if event.mask.intersects(is_lost) {
                            let path = folder.path.clone();
                            self.folders.remove(&event.wd);
                            let _ = inotify.rm_watch(event.wd);
                            happened.push(Happened::FolderLost(path));
                        }
                    }
                }
            }
        }
        happened.extend(self.drop_moved());
        self.watch_folders();
        happened
    }

    /// Stops to watch folders whose path leads elsewhere by now.
    fn drop_moved(&mut self) -> Vec<Happened> {
        let is_moved = |folder: &Folder| identity(&folder.path) != Some(folder.identity);
        let moved = self.folders.iter().filter(|(_, folder)| is_moved(folder));
        let moved: Vec<_> = moved
            .map(|(watch, folder)| (*watch, folder.path.clone()))
            .collect();
        for (watch, _) in &moved {
            self.folders.remove(watch);
            if let Some(inotify) = &self.inotify {
                let _ = inotify.rm_watch(*watch);
            }
        }
        let paths = moved.into_iter().map(|(_, path)| path);
        paths.map(Happened::FolderLost).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_there_for_a_moment_is_news() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("later/KILL");
        let mut news = News::new();
        news.add(&file);
        assert_eq!(news.read(), []);
        fs::create_dir(folder.path().join("later")).expect("a folder");
        // The folder is watched from the next look on.
        assert_eq!(news.read(), []);
        fs::write(&file, "").expect("a file");
        fs::remove_file(&file).expect("removed");
        fs::write(folder.path().join("later/other"), "").expect("a file");
        assert_eq!(news.read(), [Happened::Appeared(file.clone())]);
        fs::rename(folder.path().join("later/other"), &file).expect("moved");
        assert_eq!(news.read(), [Happened::Appeared(file.clone())]);
        fs::remove_dir_all(folder.path().join("later")).expect("removed");
        let lost = Happened::FolderLost(folder.path().join("later"));
        assert_eq!(news.read(), [lost]);
        fs::create_dir_all(folder.path().join("later")).expect("a folder");
        assert_eq!(news.read(), []);
        std::os::unix::fs::symlink("nowhere", &file).expect("a link");
        assert_eq!(news.read(), [Happened::Appeared(file)]);
    }

    /// Watches a file in a folder of its own within a fresh one, which is returned first.
    fn watched(names: &[&str]) -> (tempfile::TempDir, News) {
        let home = tempfile::tempdir().expect("a folder");
        let mut news = News::new();
        for name in names {
            let file = home.path().join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            news.add(&file);
        }
        (home, news)
    }

    #[test]
    fn a_file_that_was_there_before_the_first_look_only_is_news_in_each_folder() {
        for name in ["a/KILL", "b/KILL"] {
            let (home, mut news) = watched(&["a/KILL", "b/KILL"]);
            let file = home.path().join(name);
            fs::write(&file, "").expect("a file");
            fs::remove_file(&file).expect("removed");
            assert_eq!(news.read(), [Happened::Appeared(file)]);
        }
    }

    #[test]
    fn a_folder_that_was_moved_away_and_back_was_lost() {
        let (home, mut news) = watched(&["a/KILL"]);
        let folder = home.path().join("a");
        fs::rename(&folder, home.path().join("x")).expect("moved");
        fs::rename(home.path().join("x"), &folder).expect("moved");
        assert_eq!(news.read(), [Happened::FolderLost(folder.clone())]);
        assert_eq!(news.read(), []);
        fs::write(folder.join("KILL"), "").expect("a file");
        assert_eq!(news.read(), [Happened::Appeared(folder.join("KILL"))]);
    }

    #[test]
    fn a_folder_is_lost_once_where_one_above_it_is_moved_and_the_next_in_its_place_is_watched() {
        let (home, mut news) = watched(&["above/a/KILL"]);
        let folder = home.path().join("above/a");
        fs::rename(home.path().join("above"), home.path().join("x")).expect("moved");
        assert_eq!(news.read(), [Happened::FolderLost(folder.clone())]);
        fs::create_dir_all(&folder).expect("a folder");
        assert_eq!(news.read(), []);
        fs::write(folder.join("KILL"), "").expect("a file");
        assert_eq!(news.read(), [Happened::Appeared(folder.join("KILL"))]);
    }

    #[test]
    fn more_than_the_kernel_keeps_is_news_itself() {
        let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
        let most: usize = most.expect("a limit").trim().parse().expect("a number");
        if most > 100_000 {
            return;
        }
        let (home, mut news) = watched(&["a/KILL"]);
        let folder = home.path().join("a");
        // The kernel keeps one of several that are alike in a row.
        for number in 0..=most {
            let name = folder.join((number % 2).to_string());
            fs::create_dir(&name).expect("a folder");
            fs::remove_dir(&name).expect("removed");
        }
        assert_eq!(news.read(), [Happened::TooMuch]);
        assert_eq!(news.read(), []);
    }
}
