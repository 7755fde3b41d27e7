//! `selenite lab control`.

use selenite_lab::store::Store;
use selenite_worker::protocol::Control;

use super::USAGE;
use crate::arguments::lab::LabControl;
use crate::cli_error::CliError;
use crate::output::print;

pub fn run(arguments: &LabControl) -> Result<(), CliError> {
    let mix = arguments.mix.as_deref().map(parse_mix).transpose()?;
    let mut store = Store::read(&arguments.store)?;
    if !Store::runs(&arguments.store) {
        return Err(CliError::Lab {
            what: format!("no study is running on {}", arguments.store.display()),
            next: String::new(),
            status: USAGE,
        });
    }
    store.ask(&Control {
        stop: arguments.stop,
        mix,
    })?;
    let asked = if arguments.stop {
        "it ends after the current block"
    } else {
        "the current block continues with this mix and does not count"
    };
    Ok(print(asked)?)
}

fn parse_mix(text: &str) -> Result<[u8; 3], CliError> {
    let parts: Vec<u8> = text.split('/').filter_map(|part| part.trim().parse().ok()).collect();
    match <[u8; 3]>::try_from(parts) {
        Ok(mix) if text.matches('/').count() == 2 && mix.iter().map(|&part| u32::from(part)).sum::<u32>() == 10 => {
            Ok(mix)
        }
        _ => Err(CliError::Lab {
            what: format!("`{text}` is not a mix"),
            next: "give three numbers whose sum is ten, such as 4/3/3".to_owned(),
            status: USAGE,
        }),
    }
}
