//! `selenite completions` and `selenite man-pages`: what shells and `man` are told about the command.

use selenite::EngineError;

use crate::arguments::Arguments;
use crate::arguments::completions::{Completions, ManPages};
use crate::complaint::Complaint;
use crate::output::print;

pub fn run(arguments: &Completions) -> Result<(), Complaint> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::shown(), "selenite", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}

pub fn run_man_pages(arguments: &ManPages) -> Result<(), Complaint> {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::shown(), folder));
    written.map_err(|source| {
        Complaint::from(EngineError::Io {
            verb: "write",
            path: folder.clone(),
            source,
        })
    })
}
