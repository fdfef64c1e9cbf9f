//! What git says of its settings.

use super::Git;

/// All settings, in the order in which git reads them: the last one of a name is the one that holds.
#[derive(Debug, Default)]
pub struct Settings(Vec<u8>);

impl Git {
    /// Asks for all settings; none where git cannot read them.
    pub fn all_settings(&self) -> Settings {
        Settings(self.run(&["config", "--list", "-z"]).unwrap_or_default())
    }
}

impl Settings {
    /// Returns the values of settings by their names, as in `core.excludesfile`; one that is a name alone has none.
    pub fn values(
        &self,
        is_meant: impl Fn(&[u8]) -> bool,
    ) -> impl DoubleEndedIterator<Item = &[u8]> {
        let entries = self.0.split(|byte| *byte == 0);
        entries.filter_map(move |entry| {
            let end = entry.iter().position(|byte| *byte == b'\n')?;
            is_meant(&entry[..end]).then_some(&entry[end + 1..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_gits_order_and_a_name_alone_has_none() {
        let said =
            b"core.bare\0core.excludesfile\na\0remote.o.pushurl\nb\nc\0core.excludesfile\n\0";
        let settings = Settings(said.to_vec());
        let of = |name: &'static [u8]| settings.values(move |it| it == name).collect::<Vec<_>>();
        assert_eq!(of(b"core.excludesfile"), [&b"a"[..], b""]);
        assert_eq!(of(b"remote.o.pushurl"), [b"b\nc"]);
        assert!(of(b"core.bare").is_empty());
    }
}
