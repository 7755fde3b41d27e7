//! `selenite lab report`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use selenite::Access;
use selenite_lab::report::terminal::{self, Look};
use selenite_lab::report::{html, json, markdown};
use selenite_lab::summary::Summary;

use super::{export, summary, usage};
use crate::arguments::lab::LabReport;
use crate::cli_error::CliError;
use crate::output::print;
use crate::output_files::{OutputFiles, write_file};

pub fn run(arguments: &LabReport, access: &Access) -> Result<(), CliError> {
    let inputs: Vec<&Path> = arguments.stores.iter().map(PathBuf::as_path).collect();
    let options = [
        ("--html", arguments.html.as_ref()),
        ("--json", arguments.json.as_ref()),
        ("--md", arguments.md.as_ref()),
    ];
    OutputFiles::checked(options, &inputs, access)?;
    let summaries = arguments
        .stores
        .iter()
        .map(|store| summary(store))
        .collect::<Result<Vec<_>, _>>()?;
    let one = || match summaries.as_slice() {
        [summary] => Ok(summary),
        _ => Err(usage(
            "only Markdown and the terminal show several studies at once".to_owned(),
            "give one store",
        )),
    };
    let mut is_written = false;
    if let Some(path) = &arguments.html {
        write_file(path, &html::render(one()?))?;
        is_written = true;
    }
    if let Some(path) = &arguments.json {
        let text = json::render(one()?).map_err(|error| super::data(error.to_string()))?;
        write_file(path, &text)?;
        is_written = true;
    }
    if let Some(path) = &arguments.md {
        write_file(path, &markdown::render(&summaries.iter().collect::<Vec<_>>()))?;
        is_written = true;
    }
    if let (Some(folder), [store]) = (&arguments.csv, arguments.stores.as_slice()) {
        export::write(store, folder)?;
        is_written = true;
    } else if arguments.csv.is_some() {
        one()?;
    }
    if is_written {
        return Ok(());
    }
    show(&summaries, arguments.ascii)
}

fn show(summaries: &[Summary], ascii: bool) -> Result<(), CliError> {
    let is_terminal = std::io::stdout().is_terminal();
    let look = Look {
        width: width(),
        unicode: !ascii && speaks_unicode(),
        color: crate::terminal::takes_colors(is_terminal),
    };
    let texts: Vec<String> = summaries
        .iter()
        .map(|summary| terminal::render(summary, look))
        .collect();
    Ok(print(&texts.join("\n"))?)
}

/// The width of the terminal in columns, or that of a page of text.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(PAGE, |size| usize::from(size.ws_col)).clamp(60, 120)
}

fn speaks_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_some_and(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

const PAGE: usize = 100;
