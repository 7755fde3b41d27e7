//! `selenite keys export`.

use selenite_engine::storage::Disk;
use selenite_engine::{Access, key_export, utc};

use crate::arguments::KeysExport;
use crate::complaint::Complaint;
use crate::lines::{Lines, elapsed};
use crate::output::{note, print};
use crate::printable;

pub fn export(arguments: &KeysExport, access: &Access) -> Result<(), Complaint> {
    let to = (arguments.to.as_path(), arguments.force);
    let exported = key_export::export(&Disk, &arguments.database, access, &arguments.recipient, to)?;
    let commitment: String = exported.commitment.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut lines = Lines::default();
    lines.add("database", printable::path(&arguments.database));
    lines.add("database id", exported.database_id.to_string());
    lines.add("master key", format!("made {}", utc(exported.master_created)));
    lines.add("commitment", commitment);
    lines.add("sealed to", printable::line(&exported.recipient));
    lines.add("in", printable::path(&arguments.to));
    lines.add("took", elapsed(exported.elapsed));
    print(&lines.text())?;
    note("It opens every copy of this database until the master key is renewed: keep it elsewhere.");
    Ok(())
}
