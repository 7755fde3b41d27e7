//! Selenite: the command line.
//!
//! - results-on-stdout: results go to standard output; errors, progress and notes to standard
//!   error.
//! - error-then-advice: an error says what happened, then what to do next; its class is the exit
//!   status.
//! - engine-opens-databases: only the engine opens databases.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod output;

mod arguments;
mod cli_error;
mod command;
mod destination;
mod interrupt;
mod lines;
mod meter;
#[cfg(feature = "lab")]
mod output_files;
mod printable;
#[cfg(feature = "serve")]
mod signal;
mod terminal;

use std::process::ExitCode;

use selenite::{EngineError, KeyError};

use arguments::{Arguments, Command};
use cli_error::CliError;

fn main() -> ExitCode {
    interrupt::outlive_limits();
    if selenite::is_elevated() {
        return CliError::Engine(EngineError::Usage {
            what: "selenite does not run with elevated rights (set-user-ID, set-group-ID, file capabilities)"
                .to_owned(),
            next: "remove them from its file (chmod ug-s): the caller could choose its keys by variables and folders"
                .to_owned(),
        })
        .show();
    }
    let arguments = Arguments::of_process();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => complaint.show(),
    }
}

fn run(arguments: &Arguments) -> Result<(), CliError> {
    if selenite::IS_FIPS {
        check_fips(&arguments.command)?;
    }
    let access = arguments.access()?;
    match &arguments.command {
        Command::Keygen(keygen) => command::keygen::run(keygen),
        Command::Init(init) => command::init::run(init, &access),
        Command::Encrypt(encrypt) => command::encrypt::run(encrypt, &access),
        Command::Decrypt(decrypt) => command::decrypt::run(decrypt, &access),
        Command::Status(status) => command::status::run(status, &access),
        Command::Verify(verify) => command::verify::run(verify, &access),
        Command::Salvage(salvage) => command::salvage::run(salvage, &access),
        Command::Keys(keys) => command::keys::run(&keys.command, &access),
        Command::KeyService(service) => command::key_service::run(service),
        Command::AnchorStore(store) => command::anchor_store::run(store),
        Command::Reencrypt(reencrypt) => command::reencrypt::run(reencrypt, &access),
        Command::Export(export) => command::export::run(export, &access),
        Command::Import(import) => command::import::run(import, &access),
        Command::Compromised(compromised) => command::compromised::run(compromised, &access),
        Command::Follow(follow) => command::follow::run(follow, &access),
        Command::Backup(backup) => command::backup::run(backup, &access),
        Command::Restore(restore) => command::restore::run(restore, &access),
        Command::Trace(trace) => command::trace::run(trace),
        Command::Backups(backups) => command::backups::run(&backups.command, &access),
        Command::Drill(drill) => command::drill::run(drill, &access),
        #[cfg(feature = "serve")]
        Command::Serve(serve) => command::serve::run(serve, &access),
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) => Err(not_built_in("serve", "serve")),
        Command::Exec(exec) => command::exec::run(exec, access),
        #[cfg(feature = "lab")]
        Command::Lab(lab) => command::lab::run(&lab.command, &access),
        #[cfg(not(feature = "lab"))]
        Command::Lab(_) => Err(not_built_in("lab", "lab")),
        #[cfg(feature = "lab")]
        Command::Plan(plan) => command::plan::run(&plan.command, &access),
        #[cfg(not(feature = "lab"))]
        Command::Plan(_) => Err(not_built_in("plan", "lab")),
        Command::Doctor(doctor) => command::doctor::run(doctor, &access),
        Command::Completions(completions) => command::completions::run(completions),
        Command::ManPages(pages) => command::completions::run_man_pages(pages),
        #[cfg(feature = "lab")]
        Command::LabWorker => command::lab_worker::run(),
        #[cfg(feature = "lab")]
        Command::LabTransitWorker => command::lab_worker::run_transit(),
        #[cfg(feature = "lab")]
        Command::PlanSession(session) => command::plan::calibrate::run_session(&session.spec),
    }
}

/// Refuses the commands that the FIPS build does not have, and all of them without its module (docs/FIPS.md).
///
/// A command is in the build unless it is listed here.
fn check_fips(command: &Command) -> Result<(), CliError> {
    selenite::fips_module().map_err(|error| {
        CliError::Engine(EngineError::Usage {
            what: error.to_string(),
            next: "build it again as docs/FIPS.md says".to_owned(),
        })
    })?;
    let name = match command {
        Command::Import(_) => "import",
        Command::Export(_) => "export",
        Command::Follow(follow) => match follow.destination {
            Some(_) => "follow",
            // Short anchors alone are MACs of the module.
            None => return Ok(()),
        },
        Command::Backup(_) => "backup",
        Command::Trace(_) => "trace",
        Command::Serve(_) => "serve",
        Command::Lab(_) => "lab",
        Command::Plan(_) => "plan",
        #[cfg(feature = "lab")]
        Command::LabWorker | Command::LabTransitWorker => "lab",
        #[cfg(feature = "lab")]
        Command::PlanSession(_) => "plan",
        _ => return Ok(()),
    };
    KeyError::refuse_in_fips(&format!("the command {name}")).map_err(|error| CliError::Engine(error.into()))
}

/// The error of a command whose cargo feature is disabled.
#[cfg(not(all(feature = "serve", feature = "lab")))]
fn not_built_in(command: &str, feature: &str) -> CliError {
    CliError::Engine(EngineError::Usage {
        what: format!("this build of selenite does not include the command {command}"),
        next: format!(
            "install the Debian package or the tarball, which have it, or cargo build -p selenite-cli --features {feature}"
        ),
    })
}
