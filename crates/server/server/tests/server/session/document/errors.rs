//! Numbers of errors, as the code documents them beside where it makes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Page;

pub fn write(page: &mut Page) {
    page.heading("Numbers of errors", &["number", "what it says of"]);
    let mut found: BTreeMap<u32, String> = BTreeMap::new();
    for krate in ["tsql", "compiler", "runtime", "server"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
        for file in sources(&folder) {
            let text = fs::read_to_string(&file).unwrap();
            documented(&text, &mut found);
            numbered(&text, &mut found);
        }
    }
    for (number, what) in found {
        page.row(&[&number.to_string(), &what]);
    }
}

/// `/// 174: not the one number of arguments that the function takes.` or `// 174: ..` in front of what makes the error.
fn documented(text: &str, found: &mut BTreeMap<u32, String>) {
    for line in text.lines() {
        let Some(comment) = line.trim().strip_prefix("//") else {
            continue;
        };
        let Some((number, what)) = comment.trim_start_matches('/').trim_start().split_once(": ") else {
            continue;
        };
        let Some(number) = of_digits(number) else { continue };
        let what = what.trim_end_matches('.').to_owned();
        let kept = found.entry(number).or_default();
        // The shortest of several is the most general.
        if kept.is_empty() || (what.len(), &what) < (kept.len(), kept) {
            *kept = what;
        }
    }
}

/// `SqlError::new(174, ..)`: known at least by its number.
fn numbered(text: &str, found: &mut BTreeMap<u32, String>) {
    for maker in ["SqlError::new(", "Self::fixed(", "Self::with(", "Self::new("] {
        for (at, _) in text.match_indices(maker) {
            let behind = text[at + maker.len()..].trim_start();
            let end = behind.find(|char: char| !char.is_ascii_digit() && char != '_');
            let digits = &behind[..end.unwrap_or(0)];
            if let Some(number) = of_digits(digits) {
                found.entry(number).or_default();
            }
        }
    }
}

fn of_digits(text: &str) -> Option<u32> {
    let digits = text.replace('_', "");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Smaller ones are numbers of something else.
    digits.parse().ok().filter(|number| is_number && *number > 100)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                found.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
