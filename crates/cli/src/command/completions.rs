//! `selenite completions` and `selenite man-pages`: descriptions of the command for shells and `man`.

use selenite::EngineError;

use crate::arguments::Arguments;
use crate::arguments::completions::{Completions, ManPages};
use crate::cli_error::CliError;
use crate::output::print;

pub fn run(arguments: &Completions) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut visible(), "selenite", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}

/// The command without hidden subcommands, because the scripts of some shells would offer them.
fn visible() -> clap::Command {
    let all = Arguments::shown();
    let subcommands = all.get_subcommands().filter(|command| !command.is_hide_set());
    clap::Command::new("selenite")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments().cloned())
        .subcommands(subcommands.cloned())
}

pub fn run_man_pages(arguments: &ManPages) -> Result<(), CliError> {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::shown(), folder));
    written.map_err(|source| {
        CliError::from(EngineError::Io {
            verb: "write",
            path: folder.clone(),
            source,
        })
    })
}
