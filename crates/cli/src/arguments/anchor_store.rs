//! The arguments of `selenite anchor-store`.

use std::ffi::OsString;

use clap::{Args, Subcommand};

pub const AFTER_HELP: &str = "Example, in the configuration file:\n  \
    [commands]\n  \
    witness = [\"selenite\", \"anchor-store\", \"s3://anchors/prod\"]\n  \
    far = [\"ssh\", \"-T\", \"witness@far\", \"selenite\", \"anchor-store\", \"/srv/anchors\"]\n\n\
    Then: selenite follow app.db --anchor-to command:witness, and anchor=command:witness in the URI of those who \
    open it. Each anchor is an object of its own, none is overwritten or removed. Keep the place so that who can write \
    to the database can't remove them (an object lock; another user or machine). Needs no key.";

#[derive(Args)]
pub struct AnchorStore {
    /// The place: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DEST")]
    pub destination: OsString,
    #[command(subcommand)]
    pub task: Task,
}

#[derive(Subcommand, Clone, Copy)]
pub enum Task {
    /// Store the anchor in standard input.
    AppendAnchor,
    /// Print the newest anchor of the database whose id is in standard input, if there is one.
    Anchor,
}
