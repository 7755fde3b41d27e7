//! SQLite's URI of a database file (<https://sqlite.org/uri.html>).

use std::fmt::Write;
use std::path::Path;

/// `file:PATH?vfs=NAME&...`, with percent-encoding of all characters that could have a meaning.
pub struct FileUri(String);

impl FileUri {
    /// Names the file at `path`, opened through the VFS `vfs`.
    pub fn new(path: &Path, vfs: &str) -> Self {
        let mut uri = Self("file:".to_owned());
        // Two slashes would begin an authority.
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.starts_with(b"//") {
            uri.0.push_str("//");
        }
        uri.push_encoded(bytes);
        uri.0.push_str("?vfs=");
        uri.push_encoded(vfs.as_bytes());
        uri
    }

    /// Adds a parameter, which must not be a secret: identities are named, not given.
    #[must_use]
    pub fn with(self, key: &str, value: &str) -> Self {
        self.with_bytes(key, value.as_bytes())
    }

    /// Adds a parameter that need not be UTF-8, such as a path.
    pub(crate) fn with_bytes(mut self, key: &str, value: &[u8]) -> Self {
        self.0.push('&');
        self.0.push_str(key);
        self.0.push('=');
        self.push_encoded(value);
        self
    }

    /// The URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn push_encoded(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
                self.0.push(char::from(byte));
            } else {
                write!(self.0, "%{byte:02x}").expect("a string takes any text");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_of_a_uri_are_encoded_in_a_path_and_a_spec() {
        let uri = FileUri::new(Path::new("/a b/?#&%.db"), "selenite").with("selenite_identity", "age:/k&plain=allow");
        assert_eq!(
            uri.as_str(),
            "file:/a%20b/%3f%23%26%25.db?vfs=selenite&selenite_identity=age%3a/k%26plain%3dallow"
        );
    }

    #[test]
    fn a_path_of_two_slashes_is_no_authority() {
        assert_eq!(FileUri::new(Path::new("//a"), "unix").as_str(), "file:////a?vfs=unix");
    }
}
