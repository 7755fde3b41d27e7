//! The bytes of a file or a message have the same width on every machine: no `usize` is encoded.

use crate::{finding::Finding, rust_source::RustSource, tree::Tree};

/// Finds `usize` and `isize` in public fields and conversions of the crates that define bytes, and
/// any conversion in native byte order.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        if !CRATES.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        for (at, word) in rust.words() {
            let what = match word {
                "usize" | "isize" if is_public_field(rust, at) => "a public field",
                "usize" | "isize" if is_conversion(rust, at + word.len()) => "bytes",
                "to_ne_bytes" | "from_ne_bytes" => "bytes in the machine's order",
                _ => continue,
            };
            findings.push(Finding::error(
                &file.path,
                rust.line(at),
                format!("`{word}` makes {what}"),
                "a format has fixed widths and a named order",
            ));
        }
    }
    findings
}

/// `pub name: usize`, with any visibility.
fn is_public_field(rust: &RustSource, at: usize) -> bool {
    let line_start = rust.code()[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = rust.code()[line_start..at].trim();
    line.starts_with("pub")
        && line.ends_with(':')
        && !line.contains("const ")
        && !line.contains('=')
        && !line.contains("fn ")
}

/// `usize::from_be_bytes` or `usize::from_le_bytes`.
fn is_conversion(rust: &RustSource, end: usize) -> bool {
    let after = &rust.code()[end..];
    after.starts_with("::from_be_bytes") || after.starts_with("::from_le_bytes")
}

const CRATES: &[&str] = &["crates/storage/format/src/", "crates/server/tds/src/"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&fixture(&[(path, text)]));
        findings.iter().map(|f| f.line).collect()
    }

    #[test]
    fn a_machine_sized_field_is_refused_in_a_format() {
        let text = "pub struct A {\n    pub size: usize,\n    at: usize,\n    pub id: u32,\n}\nfn b() { usize::from_be_bytes(x); 1_u32.to_ne_bytes(); }\n";
        assert_eq!(lines("crates/storage/format/src/a.rs", text), [2, 6, 6]);
        assert!(lines("crates/storage/cipher/src/a.rs", text).is_empty());
    }

    #[test]
    fn sizes_in_memory_are_fine() {
        let text = "pub const SIZE: usize = 48;\npub fn size(count: usize) -> usize { count }\n";
        assert!(lines("crates/storage/format/src/a.rs", text).is_empty());
    }
}
