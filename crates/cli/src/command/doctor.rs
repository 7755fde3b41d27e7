//! `selenite doctor`: what stands in the way on this machine.

use std::path::Path;

use selenite::folder::{Limits, ListingContext};
use selenite::storage::Disk;
use selenite::{Access, KeyError, Sealed, Spec};
use selenite_doctor::{Check, Source, Verdict, extension, files, host, machine, worst};
use selenite_keyring::{CommandIdentity, Config, shell_word};
use serde_json::json;

use super::status::{fips_words, table::warning_words};
use crate::arguments::doctor::Doctor;
use crate::cli_error::CliError;
use crate::output::{print, print_json};
use crate::printable;

pub fn run(arguments: &Doctor, access: &Access) -> Result<(), CliError> {
    let source = Source::default();
    let mut checks = machine::machine(&source, machine::Limits::of_process());
    let found = std::env::current_exe()
        .ok()
        .and_then(|program| extension::find(&program));
    let file = arguments.extension.clone().or(found);
    checks.push(extension::extension(file.as_deref()));
    let hosts = host::find(&|name| std::env::var_os(name));
    let version = env!("CARGO_PKG_VERSION");
    checks.extend(hosts.iter().map(|host| host.check(file.as_deref(), version)));
    checks.push(fips());
    checks.extend(keys(access));
    for path in &arguments.database {
        checks.extend(database(&source, path));
    }
    show(&checks, arguments.json)
}

/// Prints checks, one per line. A problem is exit status 1.
pub fn show(checks: &[Check], is_json: bool) -> Result<(), CliError> {
    if is_json {
        print_json(&json!(checks))?;
    } else {
        let line = |check: &Check| {
            let advice = check
                .advice
                .as_ref()
                .map_or_else(String::new, |advice| format!("; {advice}"));
            let text = format!("{:7}  {}: {}{advice}", check.verdict.word(), check.name, check.finding);
            printable::line(&text)
        };
        print(&checks.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    match worst(checks) {
        Verdict::Ok | Verdict::Advice => Ok(()),
        Verdict::Problem => Err(CliError::Answer(1)),
    }
}

/// The module of the FIPS build.
fn fips() -> Check {
    match selenite::fips_module() {
        Ok(Some(module)) => Check::ok("FIPS build", module),
        Ok(None) => Check::ok("FIPS build", "no, the normal one"),
        Err(error) => {
            let advice = "build it again as docs/FIPS.md says";
            Check::problem("FIPS build", error.to_string(), advice)
        }
    }
}

/// The configuration, the identity in force, and the keyring file.
fn keys(access: &Access) -> Vec<Check> {
    let config = match Config::load(&|name| std::env::var_os(name)) {
        Ok(config) => config,
        Err(error) => return vec![refused("configuration", &error)],
    };
    let mut checks = vec![identity(access.identity.as_ref().or(config.identity()), &config)];
    if let Err(error) = config.load_keyring() {
        checks.push(refused("keyring file", &error));
    }
    checks
}

fn identity(spec: Option<&Spec>, config: &Config) -> Check {
    let name = "identity";
    let Some(spec) = spec else {
        let advice = "selenite init makes a key and a database; for an existing key, set SELENITE_IDENTITY";
        return Check::advice(name, "none configured", advice);
    };
    // A key service wraps and unwraps a random key.
    let works = selenite_keyring::load(spec, config).and_then(|_| {
        let Spec::Command(command) = spec else { return Ok(()) };
        CommandIdentity::new(command, config.command(command)?).check()
    });
    if let Err(error) = works {
        return refused(name, &error);
    }
    match selenite_keyring::readable_by_others(spec) {
        Some(path) => Check::problem(
            name,
            format!("{}: other users can read the key", path.display()),
            format!("chmod go-r {}", shell_word(path)),
        ),
        None => Check::ok(name, spec.to_string()),
    }
}

fn refused(name: &str, error: &KeyError) -> Check {
    Check::problem(name, error.to_string(), error.advice().to_string())
}

/// The status of a database, then what is to be said of its file.
fn database(source: &Source, path: &Path) -> Vec<Check> {
    let name = path.display().to_string();
    let status = match selenite::status(&Disk, path, &Access::default()) {
        Ok(status) => status,
        Err(error) => return vec![Check::problem(&name, error.to_string(), error.advice())],
    };
    let mut checks = vec![match &status.sealed {
        Some(sealed) if sealed.is_encrypted() => match &sealed.why_not {
            Some(why) if *why != KeyError::NoKey.to_string() => {
                let what = format!("encrypted, {}; not opened: {why}", sealed.suite);
                let advice = "check the identity; a key service says what is wrong by selenite key-service ... check";
                Check::advice(&name, what, advice)
            }
            _ => Check::ok(&name, format!("encrypted, {}", sealed.suite)),
        },
        None | Some(Sealed { .. }) => {
            Check::advice(&name, "not encrypted", format!("selenite encrypt {}", shell_word(path)))
        }
    }];
    if let Some((_, words)) = status.sealed.as_ref().and_then(fips_words)
        && words != "nothing"
    {
        let advice = "the normal build converts: selenite reencrypt DB --cipher AES_256_CTR_HMAC; selenite keys";
        checks.push(Check::advice(&name, format!("not approved: {words}"), advice));
    }
    let judged = ListingContext::keyless(Limits::default()).judge(&status);
    let advice = format!("selenite status {}", shell_word(path));
    let warnings = judged.warnings.iter();
    checks.extend(warnings.map(|warning| Check::advice(&name, warning_words(&judged, warning), advice.clone())));
    checks.extend(files::database(source, path).into_iter().map(|check| Check {
        name: format!("{name}: {}", check.name),
        ..check
    }));
    checks
}
