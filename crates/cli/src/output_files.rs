//! Files that options of a command name for its results.
//!
//! - checked-before-the-work: a file that cannot be written, or must not be replaced, is refused before anything is
//!   measured.
//! - text-beside: where a result is written to standard output, the text for people is on standard error.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use selenite::{Access, EngineError};

use crate::cli_error::CliError;
use crate::output::print;
use crate::printable;

/// The options that were given, and the files that they name.
pub struct OutputFiles<'a>(Vec<(&'static str, &'a Path)>);

impl<'a> OutputFiles<'a> {
    /// Refuses a file that is an input, the identity's file or that of another option; one that is a folder, or whose
    /// folder does not exist.
    pub fn checked<const COUNT: usize>(
        options: [(&'static str, Option<&'a PathBuf>); COUNT],
        inputs: &[&Path],
        access: &Access,
    ) -> Result<Self, CliError> {
        let given = options.into_iter();
        let files: Vec<(&str, &Path)> = given
            .filter_map(|(option, path)| Some((option, path?.as_path())))
            .collect();
        let key = access.key_file()?;
        for (index, (option, path)) in files.iter().enumerate() {
            if let Some((other, _)) = files[..index].iter().find(|(_, other)| is_same(other, path)) {
                return Err(refused(format!("{other} and {option} are the same file")));
            }
            if !is_standard_output(path) {
                check(path, inputs, key.as_deref())?;
            }
        }
        Ok(Self(files))
    }

    /// Writes a text for people.
    pub fn show(&self, text: &str) -> io::Result<()> {
        match self.0.iter().any(|(_, path)| is_standard_output(path)) {
            true => {
                say!("{}", text.trim_end_matches('\n'));
                Ok(())
            }
            false => print(text),
        }
    }
}

/// Writes a result to its file, and reports it on standard error; or to standard output.
pub fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    if is_standard_output(path) {
        return Ok(print(text)?);
    }
    selenite_lab::whole_file::write_whole(path, text).map_err(|source| EngineError::Io {
        verb: "write",
        path: path.to_owned(),
        source,
    })?;
    say!("wrote {}", printable::path(path));
    Ok(())
}

fn check(output: &Path, inputs: &[&Path], key: Option<&Path>) -> Result<(), CliError> {
    let identity = |path: &Path| path.metadata().ok().map(|facts| (facts.dev(), facts.ino()));
    let written = identity(output);
    let is_output = |path: &Path| written.is_some() && identity(path) == written;
    let name = printable::path(output);
    if inputs.iter().any(|input| is_output(input)) {
        return Err(refused(format!("{name} is an input: it would be overwritten")));
    }
    if key.is_some_and(is_output) {
        return Err(refused(format!(
            "{name} is the identity's file: it would be overwritten"
        )));
    }
    if output.is_dir() {
        return Err(refused(format!("{name} is a folder")));
    }
    match folder(output).is_dir() {
        true => Ok(()),
        false => Err(refused(format!("the folder of {name} does not exist"))),
    }
}

/// Whether two paths name one file, which need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| folder(path).canonicalize().ok();
    is_standard_output(one) && is_standard_output(other)
        || one.file_name() == other.file_name() && place(one) == place(other)
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn is_standard_output(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|name| path == Path::new(name))
}

/// An output that can't be written, or must not be.
pub fn refused(what: String) -> CliError {
    CliError::Lab {
        what,
        next: "choose another output".to_owned(),
        status: USAGE,
    }
}

const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
const USAGE: u8 = 2;
