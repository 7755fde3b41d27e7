//! Errors that prevent a check. A broken rule is a `Finding`, never an error.

use std::{fmt, io, path::PathBuf};

/// Why the checks could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum XtaskError {
    /// The command line is not valid.
    Usage,
    /// A file or folder of the repository could not be read.
    Read {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The findings could not be printed.
    Print(io::Error),
    /// `git` could not be started.
    NoGit(io::Error),
    /// `git` returned an error, usually because the base commit is unknown.
    Git(String),
}

impl fmt::Display for XtaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => f.write_str("usage: cargo xtask tidy [--commits BASE]"),
            Self::Read { path, .. } => write!(f, "{} cannot be read", path.display()),
            Self::Print(_) => f.write_str("the findings cannot be printed"),
            Self::NoGit(_) => f.write_str("git cannot be started"),
            Self::Git(answer) => write!(f, "git refused: {answer}"),
        }
    }
}

impl std::error::Error for XtaskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Print(source) | Self::NoGit(source) => Some(source),
            Self::Usage | Self::Git(_) => None,
        }
    }
}
