//! Export of a study as a folder of tables, for other programs.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::analysis::{AnalysisError, Material, summarise};
use crate::report::{csv, json};

/// Why the export failed or is incomplete.
#[derive(Debug)]
pub enum ExportError {
    /// The file exists already.
    Exists(PathBuf),
    /// It could not be written.
    Io(PathBuf, io::Error),
    /// The store could not be analysed.
    Analysis(AnalysisError),
    /// A figure is not finite.
    Json(json::JsonError),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists(path) => write!(f, "{} already exists: export to another folder", path.display()),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Analysis(error) => error.fmt(f),
            Self::Json(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExportError {}

/// Writes all tables and the summary into a folder, which is created. Returns the files.
///
/// Errors: `Exists` before a file is overwritten, `Io`, `Analysis`, `Json`.
pub fn export(material: &Material, folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let summary = summarise(material).map_err(ExportError::Analysis)?;
    let mut files = vec![
        ("blocks.csv", csv::blocks(material)),
        ("effects.csv", csv::effects(&summary)),
        ("levels.csv", csv::levels(&summary)),
        ("pairs.csv", csv::pairs(&summary)),
        ("latencies.csv", csv::latencies(&summary)),
        ("host.csv", csv::host(&summary)),
        ("summary.json", json::render(&summary).map_err(ExportError::Json)?),
    ];
    if summary.cells.iter().any(|cell| !cell.phases.is_empty()) {
        files.push(("phases.csv", csv::phases(&summary)));
    }
    std::fs::create_dir_all(folder).map_err(|error| ExportError::Io(folder.to_owned(), error))?;
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    if let Some(there) = paths.iter().find(|path| path.exists()) {
        return Err(ExportError::Exists(there.clone()));
    }
    for (path, (_, text)) in paths.iter().zip(&files) {
        let file = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
        file.map_err(|error| ExportError::Io(path.clone(), error))?;
    }
    Ok(paths)
}
