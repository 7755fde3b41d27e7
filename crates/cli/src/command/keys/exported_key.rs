//! `selenite keys export` and `import`.

use selenite::storage::Disk;
use selenite::{Access, key_export, utc};

use super::{hexadecimal, show};
use crate::arguments::{KeysExport, KeysImport};
use crate::cli_error::CliError;
use crate::lines::{Lines, elapsed};
use crate::output::{note, print};
use crate::printable;

pub fn export(arguments: &KeysExport, access: &Access) -> Result<(), CliError> {
    let to = (arguments.to.as_path(), arguments.force);
    let exported = key_export::export(&Disk, &arguments.database, access, &arguments.recipient, to)?;
    let mut lines = Lines::default();
    lines.add("database", printable::path(&arguments.database));
    lines.add("database id", exported.database_id.to_string());
    lines.add("master key", format!("made {}", utc(exported.master_created)));
    lines.add("commitment", hexadecimal(&exported.commitment));
    lines.add("sealed to", printable::line(&exported.recipient));
    lines.add("in", printable::path(&arguments.to));
    lines.add("took", elapsed(exported.elapsed));
    print(&lines.text())?;
    note("It opens every copy of this database until the master key is renewed: keep it elsewhere.");
    Ok(())
}

/// An exported key proves neither its origin nor that of the database: importing it means accepting both.
pub fn import(arguments: &KeysImport, access: &Access) -> Result<(), CliError> {
    let imported = key_export::import(
        &Disk,
        &arguments.database,
        access,
        &arguments.file,
        (&arguments.recipient, &arguments.label),
    )?;
    show(&imported.changed)?;
    note(&format!(
        "Accepted database {}, commitment {}: anyone who knows the recipient could have made the file and the database.",
        imported.database_id,
        hexadecimal(&imported.commitment)
    ));
    Ok(())
}
