//! The names of objects: `DATABASE/ARCHIVE/part-00000000`.

use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

use selenite_cipher::{ArchiveId, DatabaseId};
use selenite_keyring::rfc3339;

/// How far ahead of this machine's clock the time in a name may be. A later time is due to a wrong clock.
pub const AHEAD_SECONDS: u64 = 86_400;

/// An archive's name: the time at which it was begun, and the first half of its id. No rule depends on the time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArchiveName(String);

impl ArchiveName {
    /// `20261122T011500Z-0123456789abcdef`. `begun` is in seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn new(begun: u64, archive_id: ArchiveId) -> Self {
        let mut name: String = rfc3339(begun)
            .chars()
            .filter(|sign| !matches!(sign, '-' | ':'))
            .collect();
        name.push('-');
        for byte in &archive_id.0[..8] {
            let _ = write!(name, "{byte:02x}");
        }
        Self(name)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether its time is this second: seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn is_from(&self, begun: u64) -> bool {
        self.0[..TIME_SIZE] == Self::new(begun, ArchiveId([0; 16])).0[..TIME_SIZE]
    }

    /// Whether its time is after this second: seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn is_after(&self, second: u64) -> bool {
        self.0[..TIME_SIZE] > Self::new(second, ArchiveId([0; 16])).0[..TIME_SIZE]
    }

    /// Whether an archive of this id may have this name.
    #[must_use]
    pub fn is_of(&self, archive_id: ArchiveId) -> bool {
        self.0.ends_with(&Self::new(0, archive_id).0[TIME_SIZE..])
    }
}

impl FromStr for ArchiveName {
    type Err = ();

    /// Parses a name that a destination listed.
    fn from_str(text: &str) -> Result<Self, ()> {
        let is_form = text.len() == TIME_SIZE + 16
            && text.bytes().zip(FORM.bytes()).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                b'x' => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
                _ => byte == form,
            });
        is_form.then(|| Self(text.to_owned())).ok_or(())
    }
}

impl fmt::Display for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One object of an archive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// The first object, with the wrapped archive key (FORMAT 12.3).
    Begun,
    /// Pages.
    Pages(u32),
    /// The list of pages in the part of that number.
    Index(u32),
    /// The manifest, which makes the archive a backup (FORMAT 12.5).
    Manifest,
    /// Changes of the database after the archive (FORMAT 12.6).
    Log(u32),
}

impl Part {
    /// Parses the last component of an object's name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let number = |digits: &str| {
            let is_form = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_form.then(|| digits.parse().ok()).flatten()
        };
        match name {
            "begun" => Some(Self::Begun),
            "manifest" => Some(Self::Manifest),
            _ => match name.split_once('-')? {
                ("part", digits) => number(digits).map(Self::Pages),
                ("index", digits) => number(digits).map(Self::Index),
                ("log", digits) => number(digits).map(Self::Log),
                _ => None,
            },
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("begun"),
            Self::Pages(number) => write!(f, "part-{number:08}"),
            Self::Index(number) => write!(f, "index-{number:08}"),
            Self::Manifest => f.write_str("manifest"),
            Self::Log(number) => write!(f, "log-{number:08}"),
        }
    }
}

/// The common prefix of the names of all objects of a database.
#[must_use]
pub fn database_prefix(id: DatabaseId) -> String {
    let mut prefix = String::new();
    for byte in id.0 {
        let _ = write!(prefix, "{byte:02x}");
    }
    prefix.push('/');
    prefix
}

/// The common prefix of the names of all objects of an archive.
#[must_use]
pub fn archive_key_prefix(id: DatabaseId, archive: &ArchiveName) -> String {
    format!("{}{archive}/", database_prefix(id))
}

/// The name of an object.
#[must_use]
pub fn object_key(id: DatabaseId, archive: &ArchiveName, part: Part) -> String {
    format!("{}{part}", archive_key_prefix(id, archive))
}

/// Parses the name of a database's folder, without the slash: 32 hexadecimal digits.
#[must_use]
pub fn parse_database_id(text: &str) -> Option<DatabaseId> {
    let digits: &[u8; 32] = text.as_bytes().try_into().ok()?;
    let mut id = [0; 16];
    for (byte, pair) in id.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(DatabaseId(id))
}

fn digit(sign: u8) -> Option<u8> {
    match sign {
        b'0'..=b'9' => Some(sign - b'0'),
        b'a'..=b'f' => Some(sign - b'a' + 10),
        _ => None,
    }
}

const FORM: &str = "00000000T000000Z-xxxxxxxxxxxxxxxx";
/// The size of the time and the separator after it, in bytes.
const TIME_SIZE: usize = 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_contains_time_and_id() {
        let id = ArchiveId([0xab; 16]);
        let name = ArchiveName::new(1_795_308_896, id);
        assert_eq!(name.as_str(), "20261122T005456Z-abababababababab");
        assert_eq!(name.as_str().parse(), Ok(name.clone()));
        assert!(name.is_after(1_795_308_895) && !name.is_after(1_795_308_896));
        assert!(name.is_from(1_795_308_896) && !name.is_from(1_795_308_897));
        assert!(name.is_of(id) && !name.is_of(ArchiveId([0xac; 16])));
        assert_eq!(ArchiveName::new(951_782_400, id).as_str()[..15], *"20000229T000000");
        assert_eq!(ArchiveName::new(0, id).as_str()[..15], *"19700101T000000");
    }

    #[test]
    fn other_names_are_not_those_of_archives() {
        for other in [
            "",
            "20261122T005456Z-ABABABABABABABAB",
            "20261122T005456Z-abababababababa",
            "20261122T005456Z-abababababababab0",
            "2026112xT005456Z-abababababababab",
            "../61122T005456Z-abababababababab",
        ] {
            assert_eq!(other.parse::<ArchiveName>(), Err(()), "{other}");
        }
        for part in [
            Part::Begun,
            Part::Pages(0),
            Part::Index(12_345_678),
            Part::Manifest,
            Part::Log(7),
        ] {
            assert_eq!(Part::parse(&part.to_string()), Some(part));
        }
        for other in [
            "part",
            "part-",
            "part-1",
            "part-+0000001",
            "part-000000000",
            "beguN",
            "x-00000000",
        ] {
            assert_eq!(Part::parse(other), None, "{other}");
        }
    }
}
