//! `selenite compromised`.

use selenite_engine::Access;
use selenite_engine::compromised::{Compromised, Step, compromised};
use selenite_engine::reencrypt::{Goal, Reencrypt};
use selenite_engine::storage::Disk;

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
        Step::DataKeyReplaced(sealed) => print(&format!(
            "3 of 3  data key replaced\n{}\nWhat was copied before stays readable to who has the old keys: nothing takes that back.\n",
            text(sealed)
        )),
    }
}
