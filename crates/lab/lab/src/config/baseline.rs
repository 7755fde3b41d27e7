//! The engine of the unencrypted arms that every study has.
//!
//! - one-world: SQLite in the process of its worker, this program as a server, and engines with
//!   processes of their own are measured by different counters, so a study has arms of one kind.

use selenite_worker::protocol::Workload;

use super::arm::{ArmConfig, ENGINES, SERVERS, SQLITE, TRANSIT};
use super::cell::Cell;
use super::error::ConfigError;

/// The configured engine, or the one that arms and cells ask for: that of the first arm that is a
/// server, this program as a server for messages, otherwise SQLite.
pub(super) fn of(configured: &str, arms: &[ArmConfig], cells: &[Cell]) -> Result<String, ConfigError> {
    let first = arms.iter().map(|arm| arm.engine.as_str());
    let server = first.clone().find(|engine| SERVERS.contains(engine));
    let messages = cells
        .iter()
        .filter(|cell| matches!(cell.work, Workload::Messages { .. }));
    let messages = messages.count();
    let engine = match (configured, server) {
        ("", Some(server)) => server,
        ("", None) if messages > 0 => TRANSIT,
        ("", None) => SQLITE,
        (configured, _) => configured,
    };
    let is_known = engine == SQLITE || engine == TRANSIT || SERVERS.contains(&engine);
    if !is_known && first.clone().all(|other| other != engine) {
        let known: Vec<&str> = [SQLITE, TRANSIT].into_iter().chain(SERVERS).chain(first).collect();
        return Err(ConfigError::unknown("baseline", engine, &known));
    }
    let in_process =
        |arm: &&ArmConfig| ENGINES.contains(&arm.engine.as_str()) && !SERVERS.contains(&arm.engine.as_str());
    let stranger = match engine {
        SQLITE => arms.iter().find(|arm| SERVERS.contains(&arm.engine.as_str())),
        TRANSIT => None,
        _ => arms.iter().find(in_process),
    };
    let of_transit = engine == TRANSIT && (messages < cells.len() || first.clone().any(|other| other != TRANSIT));
    let of_sqlite = engine == SQLITE && (messages > 0 || arms.iter().any(|arm| arm.engine == TRANSIT));
    if of_transit || of_sqlite {
        let what = format!("work `messages` is done by arms of engine `{TRANSIT}`, which do no other");
        return Err(ConfigError::new(what).next("put them in a separate study"));
    }
    match stranger {
        Some(arm) => {
            let what = format!(
                "arm `{}` of engine `{}` cannot be compared with the baseline `{engine}`",
                arm.name, arm.engine
            );
            Err(ConfigError::new(what).next("put it in a separate study"))
        }
        None => Ok(engine.to_owned()),
    }
}
