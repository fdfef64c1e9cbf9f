//! What `core.sharedRepository` asks for: who besides the owner may read and write what lies in a git directory. Pure.

/// What the group may do, and what everybody may, where a word asks for it.
const GROUP: u32 = 0o660;
const EVERYBODY: u32 = 0o664;
/// The bits of a mode that say who may write.
const WRITE: u32 = 0o222;
/// The bits of a mode that say who may read.
const READ: u32 = 0o444;
/// New files of a folder with this bit are of the folder's group.
const SET_GROUP: u32 = 0o2000;

/// Who besides the owner may read and write what lies in a git directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// As the umask has it.
    #[default]
    Umask,
    /// These bits are added.
    Added(u32),
    /// These bits count, whatever the umask is.
    Exact(u32),
}

impl Sharing {
    /// Reads the setting as git does; none is a key without a value. What git would end at asks for nothing.
    pub fn read(value: Option<&str>) -> Sharing {
        let Some(value) = value else {
            return Sharing::Added(GROUP);
        };
        let octal = value.chars().all(|c| c.is_digit(8)) && !value.is_empty();
        let number = u32::from_str_radix(value, 8).ok().filter(|_| octal);
        match (value.to_ascii_lowercase().as_str(), number) {
            (_, Some(0)) => Sharing::Umask,
            // What older versions of git wrote.
            (_, Some(1)) => Sharing::Added(GROUP),
            (_, Some(2)) => Sharing::Added(EVERYBODY),
            (_, Some(mode)) if mode & 0o600 == 0o600 => Sharing::Exact(mode & 0o666),
            ("group" | "true" | "yes" | "on", None) => Sharing::Added(GROUP),
            ("all" | "world" | "everybody", None) => Sharing::Added(EVERYBODY),
            (_, _) => Sharing::Umask,
        }
    }

    /// Returns the mode that a file or folder of this mode is to have.
    pub fn mode(self, mode: u32, is_folder: bool) -> u32 {
        let (asked, kept) = match self {
            Sharing::Umask => return mode,
            Sharing::Added(bits) => (bits, mode),
            Sharing::Exact(bits) => (bits, mode & !0o777),
        };
        let asked = match mode & 0o200 {
            0 => asked & !WRITE,
            _ => asked,
        };
        let executable = match mode & 0o100 {
            0 => 0,
            _ => (asked & READ) >> 2,
        };
        let mode = kept | asked | executable;
        match is_folder {
            false => mode,
            true if mode & 0o060 == 0 => mode | (mode & READ) >> 2,
            true => mode | (mode & READ) >> 2 | SET_GROUP,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_read_as_git_reads_it() {
        for (value, expected) in [
            (None, Sharing::Added(0o660)),
            (Some("group"), Sharing::Added(0o660)),
            (Some("true"), Sharing::Added(0o660)),
            (Some("1"), Sharing::Added(0o660)),
            (Some("all"), Sharing::Added(0o664)),
            (Some("World"), Sharing::Added(0o664)),
            (Some("everybody"), Sharing::Added(0o664)),
            (Some("2"), Sharing::Added(0o664)),
            (Some("0640"), Sharing::Exact(0o640)),
            (Some("0660"), Sharing::Exact(0o660)),
            (Some("umask"), Sharing::Umask),
            (Some("false"), Sharing::Umask),
            (Some("0"), Sharing::Umask),
            (Some("0400"), Sharing::Umask),
            (Some("+660"), Sharing::Umask),
            (Some(""), Sharing::Umask),
        ] {
            assert_eq!(Sharing::read(value), expected, "{value:?}");
        }
    }

    #[test]
    fn modes_are_those_that_git_gives() {
        for (value, mode, is_folder, expected) in [
            ("group", 0o755, true, 0o2775),
            ("group", 0o700, true, 0o2770),
            ("group", 0o444, false, 0o444),
            ("group", 0o400, false, 0o440),
            ("group", 0o644, false, 0o664),
            ("all", 0o700, true, 0o2775),
            ("all", 0o400, false, 0o444),
            ("0660", 0o755, true, 0o2770),
            ("0660", 0o444, false, 0o440),
            ("0640", 0o755, true, 0o2750),
            ("0600", 0o2755, true, 0o2700),
            ("umask", 0o755, true, 0o755),
        ] {
            let found = Sharing::read(Some(value)).mode(mode, is_folder);
            assert_eq!(found, expected, "{value} {mode:o}: {found:o}");
        }
    }
}
