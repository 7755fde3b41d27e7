//! The files of the repository, read once for all checks.
//!
//! - relative-slash-paths: paths are relative to the root and use `/` on every platform.
//! - build-output-skipped: output of builds and tools is not part of the tree: ignored files of
//!   git, and the folders in `SKIPPED`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{error::XtaskError, rust_source::RustSource};

/// The files of the repository, ordered by path.
pub struct Tree {
    files: Vec<SourceFile>,
    paths: BTreeSet<String>,
}

/// One file of the repository.
pub struct SourceFile {
    /// The path relative to the root, with `/`.
    pub path: String,
    /// The content; empty for a file that no check reads. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// The scanned source, for a `.rs` file.
    pub rust: Option<RustSource>,
}

impl Tree {
    /// Reads all files below `root` that git does not ignore; outside a git repository, all files.
    ///
    /// Errors: `Read` for the first folder or file that cannot be read.
    pub fn load(root: &Path) -> Result<Self, XtaskError> {
        let paths = match files_of_git(root) {
            Some(paths) => paths,
            None => files_below(root)?,
        };
        let mut files = Vec::new();
        for path in paths {
            let relative = slashed(path.strip_prefix(root).unwrap_or(&path));
            let text = if is_text(&relative) {
                let bytes = fs::read(&path).map_err(|source| read_error(&path, source))?;
                String::from_utf8_lossy(&bytes).into_owned()
            } else {
                String::new()
            };
            files.push((relative, text));
        }
        Ok(Self::new(files))
    }

    /// A tree with these paths and texts.
    pub fn new(files: Vec<(String, String)>) -> Self {
        let mut files: Vec<SourceFile> = files
            .into_iter()
            .map(|(path, text)| SourceFile::new(path, text))
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut paths = BTreeSet::new();
        for file in &files {
            let mut path = file.path.as_str();
            paths.insert(path.to_owned());
            while let Some((folder, _)) = path.rsplit_once('/') {
                paths.insert(folder.to_owned());
                path = folder;
            }
        }
        Self { files, paths }
    }

    /// All files.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// All `.rs` files with their scanned source.
    pub fn rust_files(&self) -> impl Iterator<Item = (&SourceFile, &RustSource)> {
        self.files
            .iter()
            .filter_map(|file| file.rust.as_ref().map(|rust| (file, rust)))
    }

    /// The file at this path.
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file or folder has this path.
    pub fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }
}

impl SourceFile {
    fn new(path: String, text: String) -> Self {
        let rust = path.ends_with(".rs").then(|| RustSource::new(&text));
        Self { path, text, rust }
    }

    /// The file name without folders.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name)
    }

    /// The part of the name after the last dot, or the empty string.
    pub fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, last)| last)
    }
}

/// Tracked files, and untracked files that git does not ignore. `None` without git, or outside a repository.
fn files_of_git(root: &Path) -> Option<Vec<PathBuf>> {
    let listed = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .ok()?;
    if !listed.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let is_ours = |path: &&str| !Path::new(path).ancestors().skip(1).any(is_skipped);
    let paths: BTreeSet<PathBuf> = text.split('\0').filter(is_ours).map(|path| root.join(path)).collect();
    // A removed file is listed until the removal is staged, and so is the folder of a submodule.
    Some(paths.into_iter().filter(|path| path.is_file()).collect())
}

fn files_below(root: &Path) -> Result<Vec<PathBuf>, XtaskError> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if !path.is_dir() {
                files.push(path);
            } else if !is_skipped(&path) {
                folders.push(path);
            }
        }
    }
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, XtaskError> {
    fs::read_dir(folder)
        .and_then(|found| found.map(|entry| entry.map(|e| e.path())).collect())
        .map_err(|source| read_error(folder, source))
}

fn read_error(path: &Path, source: std::io::Error) -> XtaskError {
    XtaskError::Read {
        path: path.to_path_buf(),
        source,
    }
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

fn is_skipped(folder: &Path) -> bool {
    let name = folder
        .file_name()
        .map_or_else(Default::default, |name| name.to_string_lossy());
    let is_hidden = name.starts_with('.') && !HIDDEN_BUT_OURS.contains(&name.as_ref());
    is_hidden || SKIPPED.contains(&name.as_ref())
}

fn is_text(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let extension = name.rsplit_once('.').map_or("", |(_, last)| last);
    TEXT_NAMES.contains(&name) || TEXT_EXTENSIONS.contains(&extension)
}

/// Output folders of cargo, cargo-fuzz, npm and Python.
const SKIPPED: &[&str] = &["target", "artifacts", "corpus", "node_modules", "__pycache__"];
/// Folders of this repository whose name begins with a dot.
const HIDDEN_BUT_OURS: &[&str] = &[".cargo", ".ci", ".github"];
/// Extensions of files that some check reads. Vectors and databases are not among them.
const TEXT_EXTENSIONS: &[&str] = &["c", "h", "js", "md", "py", "rs", "sh", "sql", "toml", "ts", "yml"];
const TEXT_NAMES: &[&str] = &["Makefile", "run"];

/// A tree for the tests of the checks.
#[cfg(test)]
pub fn fixture(files: &[(&str, &str)]) -> Tree {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    Tree::new(files.iter().map(owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_knows_its_folders() {
        let tree = fixture(&[("docs/plan/at-rest.md", "")]);
        assert!(tree.has("docs/plan/at-rest.md"));
        assert!(tree.has("docs/plan"));
        assert!(tree.has(""));
        assert!(!tree.has("docs/pla"));
    }

    #[test]
    fn build_output_is_skipped() {
        assert!(is_skipped(Path::new("/r/target")));
        assert!(is_skipped(Path::new("/r/.git")));
        assert!(!is_skipped(Path::new("/r/.ci")));
        assert!(!is_skipped(Path::new("/r/crates")));
    }

    #[test]
    fn files_that_git_ignores_are_skipped() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let Some(files) = files_of_git(root) else { return };
        let below = files_below(root).unwrap();
        assert!(files.contains(&root.join("xtask/src/tree.rs")));
        assert!(
            files.iter().all(|file| below.contains(file)),
            "git lists a file that the walk skips"
        );
    }

    #[test]
    fn a_file_knows_its_name_and_extension() {
        let tree = fixture(&[("a/b.tar.gz", ""), ("Makefile", "")]);
        let extensions: Vec<_> = tree.files().iter().map(SourceFile::extension).collect();
        assert_eq!(extensions, ["", "gz"]);
        assert_eq!(tree.files()[1].name(), "b.tar.gz");
    }
}
