//! What encrypts databases: keys and certificates.
//!
//! master.db is encrypted always, under the server's own identity: it has no database encryption key. What is in
//! tempdb is in memory or in files without a name, which are encrypted always, too; as SQL Server does, it is shown
//! so while any database is encrypted.

use selenite::Suite;
use selenite_compiler::SqlError;
use selenite_types::DataType;

use super::{BIT, Cell, ColumnSpec, INT, NAME, Row, SYS, TIME, ViewContext, ViewSpec, bytes, cell_keys, row, text};
use crate::catalog::stored_keys::KeyEncryptor;
use crate::database::expectation::access_to;
use crate::database::file_state::{FileState, Phase};
use crate::database_error::of_master;
use crate::master::{DatabaseRecord, EncryptionKeyRecord, MASTER, Protector, TEMPDB};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "dm_database_encryption_keys",
        is_of_server: true,
        columns: &[ENCRYPTION_KEYS],
        rows: encryption_keys,
    },
    ViewSpec {
        schema: SYS,
        name: "certificates",
        is_of_server: false,
        columns: &[CERTIFICATES],
        rows: certificates,
    },
    ViewSpec {
        schema: SYS,
        name: "symmetric_keys",
        is_of_server: false,
        columns: &[SYMMETRIC_KEYS],
        rows: symmetric_keys,
    },
];

const ENCRYPTION_KEYS: &[ColumnSpec] = &[
    ("database_id", INT, true),
    ("encryption_state", INT, true),
    ("create_date", TIME, true),
    ("regenerate_date", TIME, true),
    ("modify_date", TIME, true),
    ("set_date", TIME, true),
    ("opened_date", TIME, true),
    ("key_algorithm", text(32), true),
    ("key_length", INT, true),
    ("encryptor_thumbprint", bytes(20), true),
    ("encryptor_type", text(32), true),
    ("percent_complete", DataType::Real, true),
    ("encryption_state_desc", text(32), true),
    ("encryption_scan_state", INT, true),
    ("encryption_scan_state_desc", text(32), true),
    ("encryption_scan_modify_date", TIME, true),
];

const CERTIFICATES: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("certificate_id", INT, false),
    ("principal_id", INT, true),
    ("pvt_key_encryption_type", DataType::Char(2), false),
    ("pvt_key_encryption_type_desc", text(60), true),
    ("is_active_for_begin_dialog", BIT, true),
    ("issuer_name", text(442), true),
    ("cert_serial_number", text(64), true),
    ("sid", bytes(85), true),
    ("string_sid", NAME, true),
    ("subject", text(4000), true),
    ("expiry_date", TIME, true),
    ("start_date", TIME, true),
    ("thumbprint", bytes(32), false),
    ("attested_by", text(260), true),
    ("pvt_key_last_backup_date", TIME, true),
    ("key_length", INT, true),
];

const SYMMETRIC_KEYS: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("principal_id", INT, true),
    ("symmetric_key_id", INT, false),
    ("key_length", INT, false),
    ("key_algorithm", DataType::Char(2), false),
    ("algorithm_desc", text(60), true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("key_guid", DataType::UniqueIdentifier, true),
];

fn encryption_keys(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let master = context.objects.instance.master();
    let keys = master.encryption_keys().map_err(|fault| of_master(&fault))?;
    let protectors = master.protectors().map_err(|fault| of_master(&fault))?;
    let mut rows = Vec::new();
    let mut any_is_encrypted = false;
    for record in users_databases(context) {
        // A database without a database encryption key may be encrypted to the server's identity alone, which T-SQL
        // does not show.
        let Some(key) = keys.iter().find(|key| key.database_id == record.id) else {
            continue;
        };
        let state = look(context, record, Some(key));
        any_is_encrypted |= state.as_ref().is_some_and(|state| state.phase != Phase::Clear);
        let protector = protectors.iter().find(|one| one.id() == key.protector);
        rows.push(encryption_key(context, record, (Some(key), protector), state.as_ref()));
    }
    if any_is_encrypted {
        rows.insert(0, tempdb_key(context));
    }
    Ok(rows)
}

/// Moments are in UTC, as SQL Server documents them.
fn encryption_key(
    context: &ViewContext<'_>,
    record: &DatabaseRecord,
    (key, protector): (Option<&EncryptionKeyRecord>, Option<&Protector>),
    state: Option<&FileState>,
) -> Row {
    let started = context.objects.instance.started();
    let started = started.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let started = i64::try_from(started.as_secs()).unwrap_or(0);
    let moment = |of: fn(&EncryptionKeyRecord) -> i64| Cell::of_seconds(key.map_or(0, of), 0);
    let column = key.and_then(|key| Suite::from_name(&key.algorithm));
    let suite = state
        .filter(|state| !matches!(state.phase, Phase::Clear | Phase::Decrypting))
        .map_or(column, |state| Suite::from_name(&state.suite));
    let (algorithm, length) = suite.map(key_of).unzip();
    let number = state.map(|state| state_of(state.phase));
    let scan = state.map(scan_of);
    row![
        record.id,
        number.map(|(number, _)| number),
        moment(|key| key.created),
        moment(|key| key.regenerated),
        moment(|key| key.modified),
        moment(|key| key.set),
        Cell::of_seconds(key.map_or(0, |key| key.created.max(started)), 0),
        algorithm,
        length,
        protector.map(|protector| protector.thumbprint().to_vec()),
        protector.map(|protector| protector.kind().to_ascii_uppercase()),
        f64::from(real(state.map_or(0.0, |state| state.percent))),
        number.map(|(_, word)| word),
        scan.map(|(number, _)| number),
        scan.map(|(_, word)| word),
        moment(|key| key.scanned),
    ]
}

fn tempdb_key(context: &ViewContext<'_>) -> Row {
    let started = Cell::of_time(Some(context.objects.instance.started()), 0);
    let (number, word) = state_of(Phase::Encrypted);
    row![
        TEMPDB,
        number,
        started.clone(),
        started.clone(),
        started.clone(),
        started.clone(),
        started,
        "AES",
        256,
        Vec::<u8>::new(),
        Cell::Null,
        0.0,
        word,
        0,
        "NONE",
        Cell::Null,
    ]
}

/// The ids of the databases that are encrypted, or will be when their scan has ended.
pub(crate) fn encrypted_databases(context: &ViewContext<'_>) -> Vec<i32> {
    let keys = context.objects.instance.master().encryption_keys().unwrap_or_default();
    let is_encrypted = |record: &&DatabaseRecord| {
        let key = keys.iter().find(|key| key.database_id == record.id);
        let state = key.and_then(|key| look(context, record, Some(key)));
        state.is_some_and(|state| match state.phase {
            Phase::Encrypted | Phase::Encrypting | Phase::ChangingKey => true,
            Phase::Clear | Phase::Decrypting => false,
        })
    };
    let users = users_databases(context).filter(is_encrypted).map(|record| record.id);
    let mut ids: Vec<i32> = users.collect();
    if !ids.is_empty() {
        ids.push(TEMPDB);
    }
    ids.push(MASTER);
    ids
}

/// Whether a database has a master key that the server can always open; of others than master, only the one in use is
/// known.
pub(crate) fn has_master_key(context: &ViewContext<'_>, database_id: i32) -> bool {
    if database_id != MASTER {
        let chain = context.objects.key_chain();
        let key = chain
            .keys
            .master()
            .filter(|_| database_id == context.objects.database_id);
        return key.is_some_and(|key| chain.encryption(key, KeyEncryptor::Service).is_some());
    }
    matches!(context.objects.instance.master().master_key(), Ok(Some(_)))
}

fn certificates(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    if context.objects.database_id != MASTER {
        return Ok(cell_keys::certificates(context));
    }
    let kept = context.objects.instance.master().certificates();
    let rows = kept.map_err(|fault| of_master(&fault))?.into_iter().map(|one| {
        let serial: Vec<String> = one.serial.iter().map(|byte| format!("{byte:02x}")).collect();
        row![
            one.name,
            one.id,
            1,
            "MK",
            "ENCRYPTED_BY_MASTER_KEY",
            false,
            &one.subject,
            serial.join(" "),
            Cell::Null,
            Cell::Null,
            &one.subject,
            Cell::of_seconds(one.not_after, 0),
            Cell::of_seconds(one.not_before, 0),
            one.thumbprint,
            Cell::Null,
            Cell::of_seconds(one.backed_up, context.state.now.offset_minutes),
            // X25519's, and those of the curve that it is signed on.
            256,
        ]
    });
    Ok(rows.collect())
}

fn symmetric_keys(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    if context.objects.database_id != MASTER {
        return Ok(cell_keys::symmetric_keys(context));
    }
    let kept = context.objects.instance.master().master_key();
    let offset = context.state.now.offset_minutes;
    let rows = kept.map_err(|fault| of_master(&fault))?.into_iter().map(|key| {
        row![
            "##MS_DatabaseMasterKey##",
            1,
            MASTER_KEY_ID,
            256,
            "A3",
            "AES_256",
            Cell::of_seconds(key.created, offset),
            Cell::of_seconds(key.modified, offset),
            key.guid.to_vec(),
        ]
    });
    Ok(rows.collect())
}

fn users_databases<'a>(context: &ViewContext<'a>) -> impl Iterator<Item = &'a DatabaseRecord> {
    let all = context.objects.directory.databases.iter();
    all.filter(|record| !record.is_reserved())
}

/// What a database's file says; nothing if it can't be read.
fn look(context: &ViewContext<'_>, record: &DatabaseRecord, key: Option<&EncryptionKeyRecord>) -> Option<FileState> {
    let instance = &context.objects.instance;
    let path = record.path(instance.data_folder()).ok()?;
    let access = access_to(instance, record.id).ok()?;
    Some(FileState::load(&path, &access).ok()?.shown(key))
}

/// encryption_state and its word.
fn state_of(phase: Phase) -> (i32, &'static str) {
    match phase {
        Phase::Clear => (1, "UNENCRYPTED"),
        Phase::Encrypting => (2, "ENCRYPTION_IN_PROGRESS"),
        Phase::Encrypted => (3, "ENCRYPTED"),
        Phase::ChangingKey => (4, "KEY_CHANGE_IN_PROGRESS"),
        Phase::Decrypting => (5, "DECRYPTION_IN_PROGRESS"),
    }
}

/// encryption_scan_state and its word.
fn scan_of(state: &FileState) -> (i32, &'static str) {
    match state.phase {
        Phase::Clear => (0, "NONE"),
        Phase::Encrypted => (4, "COMPLETE"),
        Phase::Encrypting | Phase::Decrypting | Phase::ChangingKey => {
            if state.is_paused {
                (2, "SUSPENDED")
            } else if state.is_running {
                (1, "RUNNING")
            } else {
                (3, "ABORTED")
            }
        }
    }
}

/// The name of a cipher as SQL Server has it, and its key's length in bits. Triple DES has 168, which SQL Server
/// shows as 192.
fn key_of(suite: Suite) -> (&'static str, i32) {
    match suite {
        Suite::None => ("NONE", 0),
        Suite::Aes128 => ("AES", 128),
        Suite::Aes192 => ("AES", 192),
        Suite::Aes256 => ("AES", 256),
        Suite::Aegis128X4 => ("AEGIS-128X4", 128),
        Suite::Aegis256X4 => ("AEGIS-256X4", 256),
        Suite::ChaCha20 => ("CHACHA20", 256),
        Suite::TripleDes3Key => ("TRIPLE_DES_3KEY", 192),
        Suite::Aes256CtrHmac => ("AES", 256),
    }
}

/// SQL Server's number of it.
const MASTER_KEY_ID: i32 = 101;

/// The nearest real, by its digits: there is no conversion that keeps every float.
pub fn real(number: f64) -> f32 {
    number.to_string().parse().unwrap_or(0.0)
}
#[cfg(test)]
mod tests {
    use selenite_types::storage::{StoredRef, from_stored};

    use super::*;

    #[test]
    fn every_part_of_a_scan_is_a_real() {
        for part in 0..=700_u32 {
            let percent = f64::from(real(f64::from(part) / 7.0));
            assert!(
                from_stored(StoredRef::Real(percent), &DataType::Real).is_ok(),
                "{percent}"
            );
        }
        assert!(from_stored(StoredRef::Real(1.0 / 7.0), &DataType::Real).is_err());
    }
}
