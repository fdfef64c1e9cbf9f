//! Whether git changes the bytes of a file on their way into a commit or out of one, by its attributes and by two settings. Where
//! it does, other bytes on disk can stand for the same content: equal ids say nothing about them.

/// The attributes that decide it, as `git check-attr` wants them.
pub const ATTRIBUTES: [&str; 6] = [
    "text",
    "crlf",
    "eol",
    "ident",
    "filter",
    "working-tree-encoding",
];

/// What git does to a file's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conversion {
    /// Nothing: what is committed is what is on disk.
    #[default]
    None,
    /// They may change on their way into a commit; a checkout writes what is committed.
    In,
    /// They may change on both ways.
    Both,
}

/// What git's settings say of line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEnds {
    /// A checkout of text ends lines with CR LF.
    are_crlf: bool,
    /// Also a file that no attribute calls text is converted.
    is_auto: bool,
}

impl LineEnds {
    /// Reads settings as `git config --list -z` gives them; the last one counts.
    pub fn of_settings(listed: &[u8]) -> LineEnds {
        let (mut auto, mut eol) = (String::new(), String::new());
        for setting in listed.split(|byte| *byte == 0) {
            let setting = String::from_utf8_lossy(setting);
            match setting.split_once('\n').unwrap_or((&setting, "true")) {
                ("core.autocrlf", value) => auto = value.to_lowercase(),
                ("core.eol", value) => eol = value.to_lowercase(),
                _ => {}
            }
        }
        let is_off = ["", "false", "no", "off", "0"].contains(&auto.as_str());
        let is_on = !is_off && auto != "input";
        LineEnds {
            are_crlf: is_on || (is_off && eol == "crlf"),
            is_auto: !is_off,
        }
    }
}

impl Conversion {
    /// Adds what one attribute says, by its value as `git check-attr` gives it.
    pub fn add(&mut self, attribute: &str, value: &str, ends: LineEnds) {
        let is_given = !matches!(value, "unspecified" | "unset");
        let of_text = match ends.are_crlf {
            true => Conversion::Both,
            false => Conversion::In,
        };
        let found = match attribute {
            "text" | "crlf" if is_given => of_text,
            "text" if value == "unspecified" && ends.is_auto => of_text,
            "eol" if value == "crlf" => Conversion::Both,
            "eol" if is_given => Conversion::In,
            "ident" if value == "set" => Conversion::Both,
            "filter" | "working-tree-encoding" if is_given => Conversion::Both,
            _ => Conversion::None,
        };
        *self = match (*self, found) {
            (Conversion::Both, _) | (_, Conversion::Both) => Conversion::Both,
            (Conversion::In, _) | (_, Conversion::In) => Conversion::In,
            (Conversion::None, Conversion::None) => Conversion::None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(attributes: &[(&str, &str)], settings: &[u8]) -> Conversion {
        let ends = LineEnds::of_settings(settings);
        let mut found = Conversion::None;
        for name in ATTRIBUTES {
            let given = attributes.iter().find(|(given, _)| *given == name);
            found.add(name, given.map_or("unspecified", |(_, value)| value), ends);
        }
        found
    }

    #[test]
    fn attributes_and_settings_say_which_way_bytes_change() {
        let (auto, input) = (
            &b"core.autocrlf\ntrue\0"[..],
            &b"core.autocrlf\ninput\0"[..],
        );
        let crlf = &b"core.eol\ncrlf\0core.autocrlf\nfalse\0"[..];
        assert_eq!(of(&[], b""), Conversion::None);
        assert_eq!(of(&[("text", "auto")], b""), Conversion::In);
        assert_eq!(of(&[("text", "auto")], crlf), Conversion::Both);
        assert_eq!(of(&[], crlf), Conversion::None);
        assert_eq!(of(&[], auto), Conversion::Both);
        assert_eq!(of(&[], b"core.autocrlf\0"), Conversion::Both);
        assert_eq!(of(&[], input), Conversion::In);
        assert_eq!(of(&[("text", "unset")], auto), Conversion::None);
        assert_eq!(of(&[("eol", "crlf")], b""), Conversion::Both);
        assert_eq!(of(&[("eol", "lf")], b""), Conversion::In);
        assert_eq!(of(&[("ident", "set")], b""), Conversion::Both);
        assert_eq!(of(&[("ident", "unset")], b""), Conversion::None);
        assert_eq!(of(&[("filter", "lfs")], b""), Conversion::Both);
        assert_eq!(
            of(&[("working-tree-encoding", "UTF-16")], b""),
            Conversion::Both
        );
    }
}
