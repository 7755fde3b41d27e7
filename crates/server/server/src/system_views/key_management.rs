//! Cryptographic providers, credentials and the keys of providers.
//!
//! No key command tells a version, a public key or its algorithm: those columns are left out, or NULL.

use selenite_compiler::SqlError;
use selenite_types::DataType;

use super::{
    BIT, Cell, ColumnSpec, INT, NAME, Row, SYS, TIME, TINY, ViewContext, ViewSpec, bytes, cell_keys, row, text,
};
use crate::database_error::of_master;
use crate::master::{MASTER, ProviderRecord};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "cryptographic_providers",
        is_of_server: true,
        columns: &[PROVIDERS],
        rows: providers,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_cryptographic_provider_properties",
        is_of_server: true,
        columns: &[PROPERTIES],
        rows: properties,
    },
    ViewSpec {
        schema: SYS,
        name: "credentials",
        is_of_server: true,
        columns: &[CREDENTIALS],
        rows: credentials,
    },
    ViewSpec {
        schema: SYS,
        name: "server_principal_credentials",
        is_of_server: true,
        columns: &[MAPPINGS],
        rows: mappings,
    },
    ViewSpec {
        schema: SYS,
        name: "asymmetric_keys",
        is_of_server: false,
        columns: &[KEYS],
        rows: keys,
    },
];

const PROVIDERS: &[ColumnSpec] = &[
    ("provider_id", INT, false),
    ("name", NAME, false),
    ("guid", DataType::UniqueIdentifier, true),
    ("dll_path", text(512), true),
    ("is_enabled", BIT, false),
];

const PROPERTIES: &[ColumnSpec] = &[
    ("provider_id", INT, true),
    ("guid", DataType::UniqueIdentifier, true),
    ("authentication_type", text(256), true),
    ("symmetric_key_support", TINY, true),
    ("symmetric_key_export", TINY, true),
    ("symmetric_key_import", TINY, true),
    ("symmetric_key_persistance", TINY, true),
    ("asymmetric_key_support", TINY, true),
    ("asymmetric_key_export", TINY, true),
    ("asymmetric_key_import", TINY, true),
    ("asymmetric_key_persistance", TINY, true),
];

const CREDENTIALS: &[ColumnSpec] = &[
    ("credential_id", INT, false),
    ("name", NAME, false),
    ("credential_identity", text(4000), true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("target_type", text(100), true),
    ("target_id", INT, true),
];

const MAPPINGS: &[ColumnSpec] = &[("principal_id", INT, false), ("credential_id", INT, false)];

const KEYS: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("principal_id", INT, true),
    ("asymmetric_key_id", INT, false),
    ("pvt_key_encryption_type", DataType::Char(2), false),
    ("pvt_key_encryption_type_desc", text(60), true),
    ("thumbprint", bytes(32), false),
    ("algorithm", DataType::Char(2), true),
    ("algorithm_desc", text(60), true),
    ("key_length", INT, true),
    ("sid", bytes(85), true),
    ("string_sid", NAME, true),
    ("attested_by", text(260), true),
    ("provider_type", text(120), true),
    ("cryptographic_provider_guid", DataType::UniqueIdentifier, true),
];

fn all_providers(context: &ViewContext<'_>) -> Result<Vec<ProviderRecord>, SqlError> {
    let master = context.objects.instance.master();
    master.providers().map_err(|fault| of_master(&fault))
}

fn providers(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let rows = all_providers(context)?.into_iter();
    let rows = rows.map(|one| row![one.id, one.name, one.guid.to_vec(), one.path, one.is_enabled]);
    Ok(rows.collect())
}

/// Keys of providers wrap the keys of databases, and do not leave the provider.
fn properties(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let enabled = all_providers(context)?.into_iter().filter(|one| one.is_enabled);
    let rows = enabled.map(|one| row![one.id, one.guid.to_vec(), "OTHER", 0, 0, 0, 0, 1, 0, 0, 1]);
    Ok(rows.collect())
}

fn credentials(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    if !context.objects.permissions().is_administrator {
        return Ok(Vec::new());
    }
    let offset = context.state.now.offset_minutes;
    let kept = context.objects.instance.master().credentials();
    let rows = kept.map_err(|fault| of_master(&fault))?.into_iter().map(|one| {
        row![
            one.id,
            one.name,
            one.identity,
            Cell::of_seconds(one.created, offset),
            Cell::of_seconds(one.modified, offset),
            "CRYPTOGRAPHIC PROVIDER",
            one.provider_id,
        ]
    });
    Ok(rows.collect())
}

fn mappings(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    if !context.objects.permissions().is_administrator {
        return Ok(Vec::new());
    }
    let kept = context.objects.instance.master().login_credentials();
    let rows = kept.map_err(|fault| of_master(&fault))?.into_iter();
    Ok(rows.map(|(login, credential)| row![login, credential]).collect())
}

fn keys(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    if context.objects.database_id != MASTER {
        return Ok(cell_keys::asymmetric_keys(context));
    }
    let providers = all_providers(context)?;
    let kept = context.objects.instance.master().asymmetric_keys();
    let rows = kept.map_err(|fault| of_master(&fault))?.into_iter().map(|one| {
        let provider = providers.iter().find(|provider| provider.id == one.provider_id);
        row![
            one.name,
            1,
            one.id,
            "NA",
            "NO_PRIVATE_KEY",
            one.thumbprint,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            "CRYPTOGRAPHIC PROVIDER",
            provider.map(|provider| provider.guid.to_vec()),
        ]
    });
    Ok(rows.collect())
}
