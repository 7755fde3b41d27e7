//! Batches that differ in constants alone share a program (simple parameterization).
//!
//! - `constants-keep-their-types`: a constant that is stored has the type that it is written with; one that is compared
//!   has the longest of its kind, so that texts of all lengths share a program.
//! - `errors-are-of-the-text`: where the text with parameters does not compile, the batch is compiled as it is.
//! - `filters-need-constants`: SQLite uses a filtered index only where a constant proves its condition. A database that
//!   has one has no parameters in place of constants.

use std::fmt::Write as _;
use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::{SqlError, constant};
use selenite_runtime::machine::CallArgument;
use selenite_tsql::ast::Literal;
use selenite_tsql::{Constant, parameterized};
use selenite_types::{DataType, Value, Width};

use super::host::SessionHost;
use crate::compile::ProgramKey;

/// A batch whose constants are arguments.
struct ParameterizedBatch {
    key: ProgramKey,
    arguments: Vec<CallArgument>,
}

impl SessionHost<'_> {
    /// The program of a batch, with the values of its parameters.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn batch_program(&mut self, text: &str) -> Result<(Arc<Program>, Vec<CallArgument>), Vec<SqlError>> {
        self.batch_text = None;
        let key = self.program_key(text, "");
        if let Some(program) = self.shared.kept_program(&key) {
            return Ok((program, Vec::new()));
        }
        if let Some(batch) = self.parameterized(text)
            && let Ok((program, _)) = self.program_of(batch.key)
        {
            self.batch_text = Some(key.text);
            return Ok((program, batch.arguments));
        }
        let (program, _) = self.program_of(key)?;
        Ok((program, Vec::new()))
    }

    /// The batch with parameters; `None` if it can have none, or its plan is to be shown.
    fn parameterized(&self, text: &str) -> Option<ParameterizedBatch> {
        let shows_plan = self.state.plan_form.is_some() || self.state.statistics_profile || self.state.statistics_xml;
        if shows_plan || self.executor.objects().catalog.schema.has_filtered_index() {
            return None;
        }
        let found = parameterized(text)?;
        let mut declared = String::new();
        let mut arguments = Vec::with_capacity(found.constants.len());
        for (index, written) in found.constants.iter().enumerate() {
            let (value, data_type) = typed(written)?;
            let comma = if index == 0 { "" } else { "," };
            write!(declared, "{comma}@{} {data_type}", index + 1).ok()?;
            arguments.push(CallArgument {
                name: None,
                value: Some((value, data_type)),
                is_output: false,
                table: None,
                cursor: None,
            });
        }
        Some(ParameterizedBatch {
            key: self.program_key(&found.text, &declared),
            arguments,
        })
    }
}

/// The value and type of a constant (constants-keep-their-types).
fn typed(written: &Constant) -> Option<(Value, DataType)> {
    let (value, own_type) = constant(&written.literal).ok()?;
    let is_long = matches!(own_type, DataType::VarChar(Width::Max) | DataType::NVarChar(Width::Max));
    let data_type = match &written.literal {
        Literal::String(_) if written.is_compared && !is_long => DataType::VarChar(Width::Limited(8000)),
        Literal::National(_) if written.is_compared && !is_long => DataType::NVarChar(Width::Limited(4000)),
        Literal::Integer(_)
        | Literal::String(_)
        | Literal::National(_)
        | Literal::Null
        | Literal::Decimal(_)
        | Literal::Float(_)
        | Literal::Money(_)
        | Literal::Binary(_) => own_type,
    };
    Some((value, data_type))
}
