//! The arguments of `selenite completions` and `selenite man-pages`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

pub const AFTER_HELP: &str = "\
Example:
  selenite completions bash > /usr/share/bash-completion/completions/selenite
  selenite completions zsh > ~/.zfunc/_selenite
  selenite completions fish > ~/.config/fish/completions/selenite.fish";

#[derive(Args)]
pub struct Completions {
    /// The shell.
    pub shell: Shell,
}

#[derive(Args)]
pub struct ManPages {
    /// The output folder; created if missing.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
