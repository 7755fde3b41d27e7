//! The keys of a database that encrypt values, and those that the session has opened.
//!
//! What encrypts a secret, as bytes, is left out: who sees a key could guess its password from them.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use selenite_compiler::SqlError;
use selenite_types::DataType;

use super::{Cell, ColumnSpec, INT, NAME, Row, SMALL, SYS, TIME, ViewContext, ViewSpec, bytes, row, text};
use crate::catalog::stored_keys::{KeyEncryptor, StoredKey, StoredKeyKind};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "key_encryptions",
        is_of_server: false,
        columns: &[ENCRYPTIONS],
        rows: encryptions,
    },
    ViewSpec {
        schema: SYS,
        name: "openkeys",
        is_of_server: true,
        columns: &[OPEN_KEYS],
        rows: open_keys,
    },
];

const ENCRYPTIONS: &[ColumnSpec] = &[
    ("key_id", INT, false),
    ("thumbprint", bytes(32), true),
    ("crypt_type", DataType::Char(4), false),
    ("crypt_type_desc", text(60), true),
];

const OPEN_KEYS: &[ColumnSpec] = &[
    ("database_id", INT, true),
    ("database_name", NAME, true),
    ("key_id", INT, true),
    ("key_name", NAME, true),
    ("key_guid", DataType::UniqueIdentifier, true),
    ("opened_date", TIME, true),
    ("status", SMALL, true),
];

fn seen<'a>(context: &ViewContext<'a>, kind: StoredKeyKind) -> impl Iterator<Item = &'a StoredKey> {
    let objects = context.objects;
    let permissions = objects.permissions();
    let keys = objects.catalog.schema.keys().of_kind(kind);
    keys.filter(move |key| permissions.sees_key(crate::names::session_keys::securable(key)))
}

/// Of the database and of symmetric keys.
fn encryptions(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let keys = context.objects.catalog.schema.keys();
    let shown = seen(context, StoredKeyKind::Master).chain(seen(context, StoredKeyKind::Symmetric));
    let rows = shown.flat_map(|key| keys.encryptions_of(key)).map(|one| {
        let other = |kind, id| keys.of_id(kind, id);
        let (letters, by, thumbprint) = match one.encryptor {
            KeyEncryptor::Password => ("ESKP", "PASSWORD", None),
            KeyEncryptor::Service | KeyEncryptor::Master => ("ESKM", "MASTER KEY", None),
            KeyEncryptor::Certificate(id) => (
                "EPUC",
                "CERTIFICATE",
                other(StoredKeyKind::Certificate, id).map(thumbprint),
            ),
            KeyEncryptor::Asymmetric(id) => (
                "EPUA",
                "ASYMMETRIC KEY",
                other(StoredKeyKind::Asymmetric, id).map(thumbprint),
            ),
            KeyEncryptor::Symmetric(id) => {
                let guid = other(StoredKeyKind::Symmetric, id).map(|key| key.guid.to_vec());
                ("ESKS", "SYMMETRIC KEY", guid)
            }
        };
        row![one.key.1, thumbprint, letters, format!("ENCRYPTION BY {by}")]
    });
    Ok(rows.collect())
}

/// The session's, of all databases; the names of those of other databases than the one in use are not known here.
fn open_keys(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let objects = context.objects;
    let rows = objects.open_keys.all().into_iter().map(|open| {
        let is_here = open.database_id == objects.database_id;
        let known = objects.catalog.schema.keys().of_guid(&open.guid).filter(|_| is_here);
        let mut databases = objects.directory.databases.iter();
        let database = databases.find(|record| record.id == open.database_id);
        row![
            open.database_id,
            database.map(|record| record.name.clone()),
            known.map(|key| key.id),
            known.map(|key| key.name.clone()),
            open.guid.to_vec(),
            Cell::of_seconds(open.opened, context.state.now.offset_minutes),
            i16::from(known.is_some() || !is_here),
        ]
    });
    Ok(rows.collect())
}

/// Those of sys.symmetric_keys.
pub(super) fn symmetric_keys(context: &ViewContext<'_>) -> Vec<Row> {
    let offset = context.state.now.offset_minutes;
    let shown = seen(context, StoredKeyKind::Master).chain(seen(context, StoredKeyKind::Symmetric));
    let rows = shown.map(|key| {
        let (length, letters) = match key.algorithm.as_str() {
            "AES_128" => (128, "A1"),
            "AES_192" => (192, "A2"),
            _ => (256, "A3"),
        };
        row![
            &key.name,
            key.owner,
            key.id,
            length,
            letters,
            &key.algorithm,
            Cell::of_seconds(key.times.0, offset),
            Cell::of_seconds(key.times.1, offset),
            key.guid.to_vec(),
        ]
    });
    rows.collect()
}

/// Those of sys.certificates.
pub(super) fn certificates(context: &ViewContext<'_>) -> Vec<Row> {
    let rows = seen(context, StoredKeyKind::Certificate).map(|key| {
        let serial: Vec<String> = key.serial.iter().map(|byte| format!("{byte:02x}")).collect();
        let (letters, by) = private_key_encryption(context, key);
        row![
            &key.name,
            key.id,
            key.owner,
            letters,
            by,
            false,
            &key.subject,
            serial.join(" "),
            Cell::Null,
            Cell::Null,
            &key.subject,
            Cell::of_seconds(key.validity.1, 0),
            Cell::of_seconds(key.validity.0, 0),
            thumbprint(key),
            Cell::Null,
            Cell::Null,
            key_length(key),
        ]
    });
    rows.collect()
}

/// Those of sys.asymmetric_keys.
pub(super) fn asymmetric_keys(context: &ViewContext<'_>) -> Vec<Row> {
    let rows = seen(context, StoredKeyKind::Asymmetric).map(|key| {
        let (letters, by) = private_key_encryption(context, key);
        row![
            &key.name,
            key.owner,
            key.id,
            letters,
            by,
            thumbprint(key),
            // The letters of longer keys are not documented.
            (key.algorithm == "RSA_2048").then_some("3R"),
            &key.algorithm,
            key_length(key),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
        ]
    });
    rows.collect()
}

fn private_key_encryption(context: &ViewContext<'_>, key: &StoredKey) -> (&'static str, &'static str) {
    match context.objects.key_chain().needs_password(key) {
        true => ("PW", "ENCRYPTED_BY_PASSWORD"),
        false => ("MK", "ENCRYPTED_BY_MASTER_KEY"),
    }
}

/// SHA-1 of the certificate or public key. Nothing is trusted because of it.
fn thumbprint(key: &StoredKey) -> Vec<u8> {
    let of = if key.certificate.is_empty() {
        &key.public
    } else {
        &key.certificate
    };
    digest(&SHA1_FOR_LEGACY_USE_ONLY, of).as_ref().to_vec()
}

fn key_length(key: &StoredKey) -> Option<i32> {
    key.algorithm.strip_prefix("RSA_")?.parse().ok()
}
