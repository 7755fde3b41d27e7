//! `selenite compromised`.

use selenite::Access;
use selenite::compromised::{Compromised, Step, compromised};
use selenite::reencrypt::{Goal, Reencrypt};
use selenite::storage::Disk;

use super::keys::slot_lines;
use super::reencrypt::text;
use crate::arguments;
use crate::cli_error::CliError;
use crate::meter::Meter;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &arguments::Compromised, access: &Access) -> Result<(), CliError> {
    let what = Compromised {
        slot: arguments.slot.clone(),
        recipients: arguments.recipient.clone(),
        resume: arguments.go_on,
        drop_others: arguments.drop,
        how: Reencrypt {
            goal: Goal::NewKey,
            rate_max: arguments.max_rate,
            lock_max: arguments.max_lock,
            ..Reencrypt::default()
        },
    };
    let meter = Meter::start();
    let mut printed = Ok(());
    let done = compromised(&Disk, &arguments.database, access, &what, &meter.watch(), &mut |step| {
        if printed.is_ok() {
            printed = print_step(&step);
        }
    });
    meter.finish();
    done?;
    Ok(printed?)
}

fn print_step(step: &Step) -> std::io::Result<()> {
    match step {
        Step::SlotRemoved(report) if report.removed.is_empty() => print("1 of 3  no such key slot: already removed\n"),
        Step::SlotRemoved(report) => print(&printable::lines(&format!(
            "1 of 3  {report}        the identity no longer opens this database; its holder may know the master key\n"
        ))),
        Step::MasterRenewed(report) => print(&printable::lines(&format!(
            "2 of 3  master key renewed\n{report}        an old copy of the superblock opens nothing new; its holder may know the data key\n"
        ))),
        Step::DoneBefore(slots) => print(&printable::lines(&format!(
            "2 of 3  already done by the interrupted run; key slots:\n{}\n",
            slot_lines(slots).join("\n")
        ))),
        Step::EarlierEnded(sealed) => print(&format!(
            "        an earlier re-encryption is finished, key epoch {}: the removed slot could read its data key\n",
            sealed.epoch
        )),
        Step::DataKeyReplaced(sealed) => print(&format!(
            "3 of 3  data key replaced\n{}\nEarlier copies stay readable with the old keys.\n",
            text(sealed)
        )),
    }
}
