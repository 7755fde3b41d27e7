//! OPENJSON, GENERATE_SERIES and OPENROWSET(BULK): rows that a function of this server computes.

use selenite_tsql::ast;
use selenite_types::{DataType, DeclarationContext, Family, Value, Width};

use super::source::Bound;
use super::tree::{From, Leaf, Rows, SqliteColumn};
use super::{Clause, QueryBinder};
use crate::expr::constant_whole;
use crate::functions::{GENERATE_SERIES, OPEN_BULK_FILE, OPEN_JSON, OPEN_JSON_COLUMNS};
use crate::{Collation, Expr, Function, Source, SourceColumn, SqlError, declared_type};

impl QueryBinder<'_> {
    /// The rows of OPENJSON or GENERATE_SERIES; `None` for another function.
    ///
    /// Errors: 8116, 13618 and others for the arguments and the columns.
    pub(super) fn bind_computed_rows(
        &mut self,
        call: &ast::FunctionCall,
        schema: &[ast::JsonColumn],
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Option<Bound>, SqlError> {
        let Some(name) = call.name.single() else {
            return Ok(None);
        };
        let (rows, columns) = if name.is_word("OPENJSON") {
            let mut arguments = self.open_json_arguments(call)?;
            match schema {
                [] => {
                    let columns = default_columns(arguments.first());
                    (OPEN_JSON.bind(None, arguments)?, columns)
                }
                _ => {
                    let columns = self.open_json_columns(schema, &mut arguments)?;
                    (computed(&OPEN_JSON_COLUMNS, arguments), columns)
                }
            }
        } else if name.is_word("GENERATE_SERIES") {
            let arguments = self.series_arguments(call)?;
            let data_type = arguments.first().map_or(DataType::Int, |first| first.data_type);
            let column = column("value", data_type, Collation::default());
            (computed(&GENERATE_SERIES, arguments), vec![column])
        } else {
            return Ok(None);
        };
        self.computed_rows(rows, columns, &name.text, alias).map(Some)
    }

    /// The contents of a file: one row with one column.
    ///
    /// Errors: 491 without an alias.
    pub(super) fn bind_bulk_file(
        &mut self,
        path: &str,
        contents: ast::BulkContents,
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Bound, SqlError> {
        let alias = alias.ok_or_else(SqlError::bulk_rowset_alias)?;
        let data_type = match contents {
            ast::BulkContents::Bytes => DataType::VarBinary(Width::Max),
            ast::BulkContents::Text => DataType::VarChar(Width::Max),
            ast::BulkContents::NationalText => DataType::NVarChar(Width::Max),
        };
        let column = column("BulkColumn", data_type, Collation::default());
        let rows = computed(&OPEN_BULK_FILE, vec![text(path), Expr::literal(Value::Null, data_type)]);
        self.computed_rows(rows, vec![column], "", Some(alias))
    }

    /// A source of rows that an expression computes as JSON.
    pub(super) fn computed_rows(
        &mut self,
        rows: Expr,
        mut columns: Vec<SourceColumn>,
        name: &str,
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Bound, SqlError> {
        let alias_name = alias.map_or(name, |alias| alias.name.text.as_str()).to_owned();
        if let Some(names) = alias.map(|alias| &alias.columns).filter(|names| !names.is_empty()) {
            if names.len() != columns.len() {
                return Err(SqlError::column_list(&alias_name, columns.len(), names.len()));
            }
            for (column, name) in columns.iter_mut().zip(names) {
                column.name.clone_from(&name.text);
            }
        }
        let place = |(at, column): (usize, &SourceColumn)| SqliteColumn::Element(at, column.data_type.storage_class());
        let number = self.parts.add_source(columns.iter().enumerate().map(place).collect());
        let source = Source {
            alias: alias_name,
            database_and_schema: None,
            number,
            columns,
        };
        let from = From::Leaf(Leaf {
            source: number,
            rows: Rows::Computed(Box::new(rows)),
        });
        Ok(Bound {
            from,
            sources: vec![source],
        })
    }

    /// The document and the path.
    fn open_json_arguments(&mut self, call: &ast::FunctionCall) -> Result<Vec<Expr>, SqlError> {
        let given = listed(call);
        if given.is_empty() || given.len() > 2 {
            return Err(SqlError::argument_count_range("openjson", 1, 2));
        }
        let mut arguments = Vec::with_capacity(2);
        for argument in given {
            arguments.push(self.value(Clause::Argument, argument)?);
        }
        if arguments.get(1).is_some_and(Expr::is_null_word) {
            return Err(SqlError::json_null_path("OPENJSON", 9));
        }
        if arguments.len() < 2 {
            arguments.push(text("$"));
        }
        let mut converted = Vec::with_capacity(2);
        for argument in arguments {
            let collation = argument.collation;
            let long = argument.converted_to(&DataType::NVarChar(Width::Max))?;
            converted.push(long.with_collation(collation));
        }
        Ok(converted)
    }

    /// The columns of WITH; their arguments are added.
    fn open_json_columns(
        &mut self,
        schema: &[ast::JsonColumn],
        arguments: &mut Vec<Expr>,
    ) -> Result<Vec<SourceColumn>, SqlError> {
        let document = arguments.first().map(|first| first.collation).unwrap_or_default();
        let mut columns = Vec::with_capacity(schema.len());
        for (number, written) in (1..).zip(schema) {
            let name = &written.name.text;
            let line = written.position.line;
            let data_type = declared_type(&written.type_name, DeclarationContext::Column { number, name })
                .map_err(|error| error.on_line(line))?;
            let of_type = &written.type_name.name.name;
            if ["text", "ntext", "image", "sql_variant"]
                .iter()
                .any(|word| of_type.is_word(word))
            {
                return Err(SqlError::open_json_type().on_line(line));
            }
            if written.as_json && data_type != DataType::NVarChar(Width::Max) {
                return Err(SqlError::as_json_type().on_line(line));
            }
            let collation = match &written.collation {
                Some(collation) if data_type.family() == Family::Text => Collation::explicit(&collation.text)?,
                Some(_) => return Err(SqlError::collate_type(data_type.bare_name()).on_line(line)),
                None => document,
            };
            let path = match &written.path {
                Some(path) => path.clone(),
                None => {
                    let mut path = String::from("$.");
                    push_name(&mut path, name);
                    path
                }
            };
            // A malformed path is an error without a row, too.
            crate::json::Path::parse(&path, false).map_err(|error| error.on_line(line))?;
            let data_type = data_type.under(collation.named);
            arguments.push(Expr::literal(Value::Null, data_type));
            arguments.push(text(&path));
            arguments.push(Expr::literal(Value::Bit(written.as_json), DataType::Bit));
            columns.push(column(name, data_type, collation));
        }
        Ok(columns)
    }

    /// Start, stop and step, in one type.
    fn series_arguments(&mut self, call: &ast::FunctionCall) -> Result<Vec<Expr>, SqlError> {
        let given = listed(call);
        if !(2..=3).contains(&given.len()) {
            return Err(SqlError::argument_count_range("generate_series", 2, 3));
        }
        let mut arguments = Vec::with_capacity(3);
        for argument in given {
            arguments.push(self.value(Clause::Argument, argument)?);
        }
        let is_null = |argument: &Expr| argument.is_null_word();
        let first = arguments.iter().find(|argument| !is_null(argument));
        let data_type = first.map_or(DataType::Int, |first| first.data_type);
        let is_of_family = matches!(data_type.family(), Family::Integer | Family::Decimal);
        let is_alike = |argument: &Expr| {
            let of = argument.data_type;
            let same = of == data_type || of.family() == Family::Decimal && data_type.family() == Family::Decimal;
            is_null(argument) || same
        };
        if !is_of_family || !arguments.iter().all(is_alike) {
            return Err(SqlError::series_types());
        }
        if constant_whole(arguments.get(2)) == Some(0) {
            return Err(SqlError::series_step());
        }
        let mut converted = Vec::with_capacity(3);
        let common = crate::common_type(&arguments)?;
        for argument in arguments {
            converted.push(argument.converted_to(&common)?);
        }
        Ok(converted)
    }
}

/// A call of one of these functions, whose arguments are of their types.
fn computed(function: &'static Function, arguments: Vec<Expr>) -> Expr {
    let call = crate::FunctionCall {
        function,
        part: None,
        arguments,
    };
    Expr::new(crate::ExprKind::Call(Box::new(call)), DataType::NVarChar(Width::Max))
}

fn listed(call: &ast::FunctionCall) -> &[ast::Expr] {
    match &call.arguments {
        ast::Arguments::List(given) => given,
        ast::Arguments::Absent | ast::Arguments::Star | ast::Arguments::Distinct(_) | ast::Arguments::Json(_) => &[],
    }
}

fn default_columns(document: Option<&Expr>) -> Vec<SourceColumn> {
    let collation = document.map(|document| document.collation).unwrap_or_default();
    let binary = Collation::explicit("Latin1_General_BIN2").unwrap_or_default();
    let mut key = column("key", DataType::NVarChar(Width::Limited(4000)), binary);
    key.nullable = false;
    let value = column("value", DataType::NVarChar(Width::Max), collation);
    let mut kind = column("type", DataType::TinyInt, Collation::default());
    kind.nullable = false;
    vec![key, value, kind]
}

fn column(name: &str, data_type: DataType, collation: Collation) -> SourceColumn {
    SourceColumn {
        name: name.to_owned(),
        data_type,
        nullable: true,
        collation: collation.of_column(),
    }
}

fn text(text: &str) -> Expr {
    Expr::literal(Value::Text(text.into()), DataType::NVarChar(Width::Max))
}

/// A column's name as a quoted step of a path.
fn push_name(path: &mut String, name: &str) {
    path.push('"');
    for character in name.chars() {
        if matches!(character, '"' | '\\') {
            path.push('\\');
        }
        path.push(character);
    }
    path.push('"');
}
