//! The options after WITH.

use selenite_compiler::{Ends, SqlError};
use selenite_tsql::ast::Setting;

/// How a command is carried out, and what it reports.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Options {
    /// NO_INFOMSGS: errors alone.
    pub no_messages: bool,
    /// TABLERESULTS: rows, not messages.
    pub table_results: bool,
    /// PHYSICAL_ONLY: pages, not what they mean.
    pub physical_only: bool,
    /// ALL_ERRORMSGS: as many errors as there are, which is so without it as well but for CHECKCONSTRAINTS.
    pub all_errors: bool,
    /// ALL_CONSTRAINTS: also those that are disabled.
    pub all_constraints: bool,
}

impl Options {
    /// Those of a list.
    ///
    /// # Errors
    /// 40510 for an option that SQL Server has, 155 for one that does not exist.
    pub fn of(written: &[Setting]) -> Result<Self, SqlError> {
        let mut options = Self::default();
        for setting in written {
            let name = setting.name.text.to_ascii_uppercase();
            let place = match name.as_str() {
                "NO_INFOMSGS" => &mut options.no_messages,
                "TABLERESULTS" => &mut options.table_results,
                "PHYSICAL_ONLY" => &mut options.physical_only,
                "ALL_ERRORMSGS" => &mut options.all_errors,
                "ALL_CONSTRAINTS" => &mut options.all_constraints,
                known if UNSUPPORTED.contains(&known) => {
                    return Err(SqlError::unsupported(&format!("DBCC .. WITH {name}")).with_ends(Ends::Statement));
                }
                _ => {
                    let text = format!("'{}' is not a recognized DBCC option.", setting.name.text);
                    return Err(SqlError::new(155, Ends::Batch, text).with_severity(15));
                }
            };
            *place = true;
        }
        Ok(options)
    }
}

const UNSUPPORTED: &[&str] = &[
    "TABLOCK",
    "ESTIMATEONLY",
    "EXTENDED_LOGICAL_CHECKS",
    "DATA_PURITY",
    "MAXDOP",
    "COUNT_ROWS",
    "FAST",
    "ALL_INDEXES",
    "ALL_LEVELS",
    "STAT_HEADER",
    "DENSITY_VECTOR",
    "HISTOGRAM",
];
