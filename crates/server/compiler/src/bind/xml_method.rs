//! Calls of the methods of xml: `operand.value('path', 'type')`.

use selenite_tsql::{Options, ast};
use selenite_types::{DataType, DeclarationContext, Family, Value, Width};

use super::Binder;
use crate::xml::query::{External, XmlChange, XmlQuery};
use crate::{Ends, Expr, ExprKind, Function, FunctionCall, SqlError, declared_type};

impl Binder<'_> {
    /// A call of a method.
    ///
    /// Errors: 258 for what is no xml, 8172 for a query that is no constant, 2389 for a query of several items, and any
    /// error of the query.
    pub(super) fn xml_method(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        let (operand, arguments) = parts(call)?;
        let (document, node) = match self.xml_operand(operand) {
            Ok(found) => found,
            Err(error) => return self.function_like_method(call, operand, error),
        };
        let method = call.name.name.text.as_str();
        if call.form == ast::CallForm::Mutator {
            return self.xml_mutator(operand, arguments, document);
        }
        let Some(function) = Function::xml_method(method) else {
            return Err(match method {
                "modify" => SqlError::xml_mutator_outside_set(),
                _ => SqlError::syntax_near(method),
            });
        };
        match (method, arguments) {
            ("value", [query, of]) => {
                let (query, given) = self.xml_query(query, method, (document, node))?;
                if !query.root.is_single() {
                    return Err(SqlError::xml_not_single(method));
                }
                let text = called(function, given, DataType::NVarChar(Width::Max));
                Ok(converted(text, &value_type(of)?))
            }
            ("exist" | "query", [query]) => {
                let (_, given) = self.xml_query(query, method, (document, node))?;
                let data_type = if method == "query" {
                    DataType::Xml
                } else {
                    DataType::Bit
                };
                Ok(called(function, given, data_type))
            }
            (_, _) => Err(SqlError::argument_count(method, if method == "value" { 2 } else { 1 })),
        }
    }

    /// The document of nodes(), and the arguments of its function.
    ///
    /// Errors: as of the other methods; 102 for another one.
    pub(crate) fn xml_nodes(&mut self, call: &ast::FunctionCall) -> Result<(Expr, Vec<Expr>), SqlError> {
        let (operand, arguments) = parts(call)?;
        let ([query], "nodes") = (arguments, call.name.name.text.as_str()) else {
            return Err(SqlError::syntax_near(&call.name.name.text));
        };
        let (document, node) = self.xml_operand(operand)?;
        let (_, given) = self.xml_query(query, "nodes", (document.clone(), node))?;
        Ok((document, given))
    }

    /// The document of an operand, and the number of the node at which queries begin.
    fn xml_operand(&mut self, operand: &ast::Expr) -> Result<(Expr, Expr), SqlError> {
        if let ast::ExprKind::Column(name) = &operand.kind
            && let Some(found) = self.hook.xml_node(name)?
        {
            return Ok(found);
        }
        let document = self.expr(operand)?;
        if document.data_type != DataType::Xml {
            let text = format!("Cannot call methods on {}.", document.data_type.bare_name());
            // 258: a method of what is no xml.
            return Err(SqlError::new(258, Ends::Batch, text));
        }
        Ok((document, Expr::literal(Value::BigInt(0), DataType::BigInt)))
    }

    /// `schema.value(..)`, a function of a user, if there is no such column.
    fn function_like_method(
        &mut self,
        call: &ast::FunctionCall,
        operand: &ast::Expr,
        error: SqlError,
    ) -> Result<Expr, SqlError> {
        let (ast::ExprKind::Column(column), 207 | 4104 | 128) = (&operand.kind, error.number()) else {
            return Err(error);
        };
        let mut call = call.clone();
        call.form = ast::CallForm::Function;
        call.name.schema = Some(column.name.clone());
        call.name.database = column.table.as_ref().map(|table| table.name.clone());
        if let ast::Arguments::List(arguments) = &mut call.arguments {
            arguments.remove(0);
        }
        self.hook.user_function(&call).map_err(|_| error)
    }

    /// The query of a constant, and the arguments of the method's function.
    ///
    /// Errors: 8172, 6306, and any of the query and of the names in it.
    pub(crate) fn xml_query(
        &mut self,
        query: &ast::Expr,
        method: &str,
        (document, node): (Expr, Expr),
    ) -> Result<(XmlQuery, Vec<Expr>), SqlError> {
        let text = constant(query).ok_or_else(|| SqlError::xml_argument(1, method))?;
        if text.trim().is_empty() {
            return Err(SqlError::xml_query_missing());
        }
        let text = format!("{}{text}", self.hook.xml_prolog());
        let parsed = XmlQuery::parse(&text, method)?;
        let mut given = vec![document, node, long_text(&text)];
        for external in &parsed.externals {
            let value = self.external(external, query.position)?;
            if value.data_type == DataType::Xml {
                return Err(SqlError::xml_outside_insert());
            }
            given.push(value);
        }
        Ok((parsed, given))
    }

    fn external(&mut self, external: &External, position: ast::Position) -> Result<Expr, SqlError> {
        match external {
            External::Variable(name) => self.variable(name),
            External::Column(parts) => self.hook.column(&column_of(parts, position)?),
        }
    }

    /// The changed value of `SET operand.modify(..)`.
    ///
    /// Errors: 8172, and those of the change.
    fn xml_mutator(&mut self, operand: &ast::Expr, arguments: &[ast::Expr], document: Expr) -> Result<Expr, SqlError> {
        let [change] = arguments else {
            return Err(SqlError::argument_count("modify", 1));
        };
        let text = constant(change).ok_or_else(|| SqlError::xml_argument(1, "modify"))?;
        let text = match text.trim().is_empty() {
            true => String::new(),
            false => format!("{}{text}", self.hook.xml_prolog()),
        };
        let parsed = XmlChange::parse(&text)?;
        let name = if let ast::ExprKind::Variable(name) = &operand.kind {
            name.as_str()
        } else if let ast::ExprKind::Column(column) = &operand.kind {
            column.name.text.as_str()
        } else {
            ""
        };
        let mut given = vec![document, long_text(name), long_text(&text)];
        for (at, external) in parsed.externals.iter().enumerate() {
            let value = self.external(external, change.position)?;
            match (value.data_type == DataType::Xml, parsed.inserted.contains(&at)) {
                (true, false) => return Err(SqlError::xml_outside_insert()),
                (false, true) => return Err(SqlError::xml_not_inserted("xs:string ?")),
                (true, true) | (false, false) => {}
            }
            given.push(value);
        }
        Ok(called(Function::xml_mutator(), given, DataType::Xml))
    }
}

/// The operand and the arguments.
pub(crate) fn parts(call: &ast::FunctionCall) -> Result<(&ast::Expr, &[ast::Expr]), SqlError> {
    match &call.arguments {
        ast::Arguments::List(given) => given
            .split_first()
            .ok_or_else(|| SqlError::internal("a method of nothing")),
        ast::Arguments::Absent | ast::Arguments::Star | ast::Arguments::Distinct(_) | ast::Arguments::Json(_) => {
            Err(SqlError::internal("a method without arguments"))
        }
    }
}

/// A call of one of the functions.
pub(crate) fn called(function: &'static Function, arguments: Vec<Expr>, data_type: DataType) -> Expr {
    let call = FunctionCall {
        function,
        part: None,
        arguments,
    };
    Expr::new(ExprKind::Call(Box::new(call)), data_type)
}

fn long_text(text: &str) -> Expr {
    Expr::literal(Value::Text(text.into()), DataType::NVarChar(Width::Max))
}

fn constant(expr: &ast::Expr) -> Option<&str> {
    if let ast::ExprKind::Literal(ast::Literal::String(text) | ast::Literal::National(text)) = &expr.kind {
        Some(text)
    } else {
        None
    }
}

/// The text of value() as its type. A moment with an offset is that of UTC as a datetime2, which has none; a cast of
/// text would drop the offset.
fn converted(text: Expr, to: &DataType) -> Expr {
    let switch = Function::find("SWITCHOFFSET").filter(|_| matches!(to, DataType::DateTime2(_)));
    let Some(switch) = switch else {
        return text.wrapped(to, None, false);
    };
    let precise = DataType::DateTimeOffset(7);
    let utc = Expr::literal(Value::Int(0), DataType::Int);
    let moment = called(switch, vec![text.wrapped(&precise, None, false), utc], precise);
    moment.wrapped(to, None, false)
}

/// The type of value()'s second argument.
///
/// Errors: 8172; 9500 for a type that is none or not for value().
fn value_type(of: &ast::Expr) -> Result<DataType, SqlError> {
    let text = constant(of).ok_or_else(|| SqlError::xml_argument(2, "value"))?;
    let invalid = || {
        let text = format!("The data type '{text}' used in the VALUE method is invalid.");
        // 9500: a type that value() does not have.
        SqlError::new(9500, Ends::Batch, text)
    };
    let name = written_type(text).ok_or_else(invalid)?;
    let data_type = declared_type(&name, DeclarationContext::Cast)?;
    match data_type.family() {
        Family::Variant | Family::Xml => Err(invalid()),
        Family::Binary => Err(SqlError::unsupported("value() of bytes")),
        Family::Bit
        | Family::Integer
        | Family::Decimal
        | Family::Money
        | Family::Approximate
        | Family::Text
        | Family::OldDate
        | Family::NewDate
        | Family::Time
        | Family::Guid => Ok(data_type),
    }
}

/// The type that a text names.
fn written_type(text: &str) -> Option<ast::TypeName> {
    let tree = selenite_tsql::parse(&format!("SELECT CAST(NULL AS {text})"), Options::default()).ok()?;
    let [statement] = tree.statements.as_slice() else {
        return None;
    };
    let ast::StatementKind::Select(select) = &statement.kind else {
        return None;
    };
    let ast::QueryBody::Select(body) = &select.query.body else {
        return None;
    };
    let [ast::SelectItem::Value { value, alias: None }] = body.items.as_slice() else {
        return None;
    };
    let ast::ExprKind::Cast(cast) = &value.kind else {
        return None;
    };
    body.from.is_empty().then(|| cast.type_name.clone())
}

/// A column's name of one or two parts.
fn column_of(parts: &[String], position: ast::Position) -> Result<ast::ColumnName, SqlError> {
    let name = |text: &String| ast::Name {
        text: text.clone(),
        quoted: true,
        position,
    };
    let (column, table) = match parts {
        [column] => (column, None),
        [table, column] => (column, Some(table)),
        _ => return Err(SqlError::unsupported("sql:column of a name of several parts")),
    };
    Ok(ast::ColumnName {
        name: name(column),
        table: table.map(|table| ast::ObjectName {
            name: name(table),
            schema: None,
            database: None,
            server: None,
            position,
        }),
    })
}

impl SqlError {
    /// 8137: modify() where no value is set.
    fn xml_mutator_outside_set() -> Self {
        let text =
            "Incorrect use of the XML data type method 'modify'. A non-mutator method is expected in this context.";
        Self::new(8137, Ends::Batch, text)
    }

    /// 6306: an empty text.
    pub(crate) fn xml_query_missing() -> Self {
        Self::new(
            6306,
            Ends::Batch,
            "Invalid XQuery expression passed to XML data type method.",
        )
    }

    /// 8172: an argument that is no constant.
    fn xml_argument(number: usize, method: &str) -> Self {
        let text = format!("The argument {number} of the XML data type method \"{method}\" must be a string literal.");
        Self::new(8172, Ends::Batch, text)
    }
}
