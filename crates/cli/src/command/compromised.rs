//! `selenite compromised`.

use selenite::Access;
use selenite::compromised::{Compromised, Step, compromised};
use selenite::reencrypt::{Goal, Reencrypt};
use selenite::storage::Disk;

use super::keys::slot_lines;
use super::reencrypt::text;
use crate::arguments;
use crate::complaint::Complaint;
use crate::meter::Meter;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &arguments::Compromised, access: &Access) -> Result<(), Complaint> {
    let what = Compromised {
        slot: arguments.slot.clone(),
        recipients: arguments.recipient.clone(),
        goes_on: arguments.go_on,
        drop_others: arguments.drop,
        how: Reencrypt {
            goal: Goal::NewKey,
            rate_max: arguments.max_rate,
            lock_max: arguments.max_lock,
            ..Reencrypt::default()
        },
    };
    let meter = Meter::start();
    let mut told = Ok(());
    let done = compromised(&Disk, &arguments.database, access, &what, &meter.watch(), &mut |step| {
        if told.is_ok() {
            told = tell(&step);
        }
    });
    meter.finish();
    done?;
    Ok(told?)
}

fn tell(step: &Step) -> std::io::Result<()> {
    match step {
        Step::SlotRemoved(report) if report.removed.is_empty() => {
            print("1 of 3  no such key slot: it was removed before\n")
        }
        Step::SlotRemoved(report) => print(&printable::lines(&format!(
            "1 of 3  {report}        the identity opens this database no longer; who used it may know the master key\n"
        ))),
        Step::MasterRenewed(report) => print(&printable::lines(&format!(
            "2 of 3  master key renewed\n{report}        an old copy of the superblock opens nothing new; who had it may know the data key\n"
        ))),
        Step::DoneBefore(slots) => print(&printable::lines(&format!(
            "2 of 3  done before, by the run that was stopped; who opens it:\n{}\n",
            slot_lines(slots).join("\n")
        ))),
        Step::EarlierEnded(sealed) => print(&format!(
            "        a change that was begun before is at its end, key epoch {}: its data key was within reach of that slot\n",
            sealed.epoch
        )),
        Step::DataKeyReplaced(sealed) => print(&format!(
            "3 of 3  data key replaced\n{}\nWhat was copied before stays readable to who has the old keys: nothing takes that back.\n",
            text(sealed)
        )),
    }
}
