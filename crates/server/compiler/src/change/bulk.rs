//! INSERT BULK and BULK INSERT.
//!
//! - `constraints-are-checked`: CHECK_CONSTRAINTS always applies: no load leaves a constraint that is not trusted.

use selenite_tsql::ast;
use selenite_types::{DataType, DeclarationContext};

use super::target::ThroughColumn;
use crate::catalog::{ChangeVerb, Table};
use crate::{Collation, SqlError, declared_type};

/// The rows of a bulk load.
#[derive(Clone, Debug)]
pub struct BulkRows {
    /// The columns of the rows, as indexes in [`Table::columns`].
    pub fields: Vec<BulkField>,
    /// Whether NULL is stored where the column has a default.
    pub keeps_nulls: bool,
    /// FIRE_TRIGGERS.
    pub fires: bool,
}

/// A field of the rows of a bulk load.
#[derive(Clone, Copy, Debug)]
pub struct BulkField {
    /// The index in [`Table::columns`].
    pub column: usize,
    /// The declared type of INSERT BULK; the column's own for a file.
    pub data_type: DataType,
    /// Whether the values are stored: those of a rowversion column of a file are not, nor, unless KEEPIDENTITY is given,
    /// those of an identity column of a file.
    pub is_stored: bool,
}

impl BulkRows {
    /// The rows for a table, or for the columns of a view over it. `targets` are the columns that were named, or all
    /// that can be set.
    ///
    /// Errors: of a type or collation.
    pub(super) fn bind(
        bulk: &ast::BulkLoad,
        (table, through): (&Table, Option<&[ThroughColumn]>),
        targets: &[usize],
    ) -> Result<Self, SqlError> {
        let fires = fires_triggers(bulk);
        if fires && bulk.file.is_some() && table.fires.on(ChangeVerb::Insert) {
            return Err(SqlError::unsupported(
                "FIRE_TRIGGERS of BULK INSERT into a table with triggers",
            ));
        }
        let fields = match &bulk.file {
            Some(_) => file_fields(table, through, bulk.is_set("KEEPIDENTITY")),
            None => stream_fields(table, targets, &bulk.types)?,
        };
        Ok(Self {
            fields,
            keeps_nulls: bulk.is_set("KEEP_NULLS") || bulk.is_set("KEEPNULLS"),
            fires,
        })
    }

    /// The columns that are filled, and the types of their values.
    pub(super) fn filled(&self, table: &Table) -> (Vec<usize>, Vec<DataType>) {
        let stored = self.fields.iter().filter(|field| field.is_stored);
        let known = stored.filter(|field| field.column < table.columns.len());
        known.map(|field| (field.column, field.data_type)).unzip()
    }
}

/// Whether a bulk load fires triggers.
pub(super) fn fires_triggers(bulk: &ast::BulkLoad) -> bool {
    bulk.is_set("FIRE_TRIGGERS")
}

/// The fields of a file: all columns but computed ones.
fn file_fields(table: &Table, through: Option<&[ThroughColumn]>, keeps_identity: bool) -> Vec<BulkField> {
    let all: Vec<usize> = match through {
        Some(columns) => columns.iter().filter_map(|(_, at)| *at).collect(),
        None => (0..table.columns.len()).collect(),
    };
    let field = |at: usize| {
        let column = table.columns.get(at).filter(|column| column.computed.is_none())?;
        Some(BulkField {
            column: at,
            data_type: column.data_type,
            is_stored: (keeps_identity || column.identity.is_none()) && column.data_type != DataType::RowVersion,
        })
    };
    all.into_iter().filter_map(field).collect()
}

/// The fields of INSERT BULK; without a list they have the columns' types.
fn stream_fields(table: &Table, targets: &[usize], types: &[ast::BulkType]) -> Result<Vec<BulkField>, SqlError> {
    let mut fields = Vec::with_capacity(targets.len());
    for (number, at) in (1..).zip(targets) {
        let Some(column) = table.columns.get(*at) else { continue };
        let data_type = match types.get(fields.len()) {
            Some(declared) => {
                if let Some(collation) = &declared.collation {
                    Collation::explicit(&collation.text)?;
                }
                let place = DeclarationContext::Column {
                    number,
                    name: &column.name,
                };
                declared_type(&declared.type_name, place)?
            }
            None => column.data_type,
        };
        fields.push(BulkField {
            column: *at,
            data_type,
            is_stored: true,
        });
    }
    Ok(fields)
}
