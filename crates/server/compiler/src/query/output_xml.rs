//! FOR XML RAW, AUTO, PATH and EXPLICIT.

use std::collections::HashMap;

use selenite_tsql::ast::{self, ForClause, ForMode};
use selenite_types::{DataType, Family, Value};

use super::QueryBinder;
use super::output::{OutputColumn, OutputRows, bit, call, has_table, level_name, levels_of, null, text};
use super::xml_namespaces::StatementNamespaces;
use crate::functions::{
    FOR_XML, FOR_XML_EXPLICIT, FOR_XML_LEVELS, FOR_XML_PATH, FOR_XML_RAW, FOR_XML_TYPE, FOR_XML_VALUES,
};
use crate::xml::{ExplicitColumn, XSI, encoded, first_invalid, parse_explicit_column};
use crate::{Expr, ExprKind, SqlError};

impl QueryBinder<'_> {
    /// The text of FOR XML.
    ///
    /// Errors: 6800 to 6873.
    pub(super) fn for_xml(
        &mut self,
        query: &ast::Query,
        clause: &ForClause,
        rows: &OutputRows,
    ) -> Result<Expr, SqlError> {
        let root = match &clause.root {
            None => None,
            Some(name) => Some(name.as_deref().unwrap_or("root")),
        };
        if root == Some("") {
            return Err(SqlError::for_xml_empty_root());
        }
        self.check_namespaces(clause, rows)?;
        let namespaces = self.namespaces();
        if let Some(element) = &clause.element {
            check_name(("Row", "row"), (element.as_str(), element.as_str()), namespaces)?;
        }
        if let Some(root) = root {
            check_name(("ROOT", "ROOT"), (root, root), namespaces)?;
        }
        let attributes = namespaces.attributes.clone();
        let explicit = match clause.mode {
            ForMode::Explicit => explicit_columns(rows, clause)?,
            ForMode::Raw | ForMode::Auto | ForMode::Path => Vec::new(),
        };
        let xsinil = clause.elements == Some(true) || explicit.iter().any(|column| column.is_nil());
        if xsinil && namespaces.has("xsi") {
            return Err(SqlError::for_xml_xsi());
        }
        let declarations = format!("{}{attributes}", if xsinil { XSI } else { "" });
        let inner = if root.is_none() { declarations.as_str() } else { "" };
        let flags = [bit(clause.elements.is_some()), bit(xsinil), text(inner)];
        let elements = match clause.mode {
            ForMode::Path => self.xml_path(clause, rows, flags)?,
            ForMode::Explicit => {
                let values = rows.columns.iter().map(|column| column.value.clone()).collect();
                let joined = self.joined_rows(call(&FOR_XML_VALUES, values), ",")?;
                let [.., declarations] = flags;
                let mut arguments = vec![joined, declarations];
                arguments.extend(rows.columns.iter().skip(2).map(|column| text(&column.name)));
                call(&FOR_XML_EXPLICIT, arguments)
            }
            ForMode::Raw => {
                check_columns(rows, clause)?;
                let element = clause.element.as_deref().unwrap_or("row");
                if element.is_empty() && clause.elements.is_none() {
                    return Err(SqlError::for_xml_no_row_tag());
                }
                self.xml_raw(rows, element, flags)?
            }
            ForMode::Auto => {
                if !has_table(&query.body) {
                    return Err(SqlError::for_xml_without_table());
                }
                check_columns(rows, clause)?;
                self.xml_auto(query, rows, flags)?
            }
        };
        let function = if clause.typed { &FOR_XML_TYPE } else { &FOR_XML };
        let mut made = call(
            function,
            vec![elements, root.map_or_else(null, text), text(&declarations)],
        );
        if clause.typed {
            made.data_type = DataType::Xml;
        }
        Ok(made)
    }

    /// Checks what a clause has of the statement's namespaces.
    ///
    /// Errors: 6867, 6868.
    fn check_namespaces(&self, clause: &ForClause, rows: &OutputRows) -> Result<(), SqlError> {
        let namespaces = self.namespaces();
        if namespaces.is_empty() {
            return Ok(());
        }
        if clause.mode == ForMode::Explicit {
            return Err(SqlError::for_xml_namespaces());
        }
        if rows.columns.iter().any(|column| is_xmlns(&column.name)) {
            return Err(SqlError::for_xml_xmlns());
        }
        // SQL Server adds declarations of no namespace to it.
        let is_without = |column: &OutputColumn| self.is_xml_text(&column.value) && !column.is_for_xml;
        match namespaces.has_default && rows.columns.iter().any(is_without) {
            true => Err(SqlError::unsupported(
                "A column of xml in FOR XML with a default namespace",
            )),
            false => Ok(()),
        }
    }

    fn xml_path(&mut self, clause: &ForClause, rows: &OutputRows, flags: [Expr; 3]) -> Result<Expr, SqlError> {
        let element = clause.element.as_deref().unwrap_or("row");
        self.check_xml_paths(&rows.columns, element.is_empty())?;
        let mut arguments = vec![text(element)];
        arguments.extend(flags);
        for column in &rows.columns {
            let is_xml = self.is_xml_text(&column.value);
            arguments.extend([text(&column.name), column.value.clone(), bit(is_xml)]);
        }
        self.joined_rows(call(&FOR_XML_PATH, arguments), "")
    }

    fn xml_raw(&mut self, rows: &OutputRows, element: &str, flags: [Expr; 3]) -> Result<Expr, SqlError> {
        let mut arguments = vec![text(element)];
        arguments.extend(flags);
        for column in &rows.columns {
            let is_xml = self.is_xml_text(&column.value);
            arguments.extend([text(&encoded(&column.name)), column.value.clone(), bit(is_xml)]);
        }
        self.joined_rows(call(&FOR_XML_RAW, arguments), "")
    }

    fn xml_auto(&mut self, query: &ast::Query, rows: &OutputRows, flags: [Expr; 3]) -> Result<Expr, SqlError> {
        let levels = levels_of(rows);
        if matches!(query.body, ast::QueryBody::Combined(_)) {
            return Err(SqlError::unsupported("FOR XML AUTO of UNION, INTERSECT or EXCEPT"));
        }
        let name = |source: &crate::Source| encoded(&level_name(&query.body, source));
        if levels.len() <= 1 {
            let level = levels.first().or(rows.sources.first());
            let element = level.map(name).unwrap_or_default();
            return self.xml_raw(rows, &element, flags);
        }
        let values = rows.columns.iter().map(|column| column.value.clone()).collect();
        let joined = self.joined_rows(call(&FOR_XML_VALUES, values), ",")?;
        let mut arguments = vec![joined];
        arguments.extend(flags);
        arguments.push(number(levels.len()));
        arguments.extend(levels.iter().map(|level| text(&name(level))));
        let mut nearest = 0;
        for column in &rows.columns {
            let level = levels.iter().position(|level| Some(level.number) == column.source);
            nearest = level.unwrap_or(nearest);
            let is_xml = self.is_xml_text(&column.value);
            let name = text(&encoded(&column.name));
            arguments.extend([name, number(nearest), bit(level.is_some()), bit(is_xml)]);
        }
        Ok(call(&FOR_XML_LEVELS, arguments))
    }

    /// Checks the names of PATH.
    ///
    /// Errors: 6846, 6849 to 6853, 6864.
    fn check_xml_paths(&self, columns: &[OutputColumn], is_bare: bool) -> Result<(), SqlError> {
        // The element of the column before, and whether that column is an attribute.
        let mut before: Option<(Vec<&str>, bool)> = None;
        for column in columns {
            let name = column.name.as_str();
            let mut steps: Vec<&str> = if name.is_empty() {
                Vec::new()
            } else {
                name.split('/').collect()
            };
            if steps.iter().any(|step| step.is_empty()) {
                return Err(SqlError::for_xml_steps(name));
            }
            let is_xml = self.is_xml_text(&column.value);
            let last = steps.last().copied().unwrap_or_default();
            let attribute = last.strip_prefix('@');
            if let Some(attribute) = attribute {
                steps.pop();
                if is_xml {
                    return Err(SqlError::for_xml_attribute_type(name));
                }
                if is_bare && steps.is_empty() {
                    return Err(SqlError::for_xml_no_row_tag());
                }
                check_step(name, attribute, self.namespaces())?;
                let is_late = before.as_ref().is_some_and(|(before, is_attribute)| {
                    before.starts_with(&steps) && (before.len() > steps.len() || !is_attribute)
                });
                if is_late {
                    return Err(SqlError::for_xml_late_attribute(name));
                }
            } else if is_xml && is_node_function(last) && !matches!(last, "node()" | "*") {
                return Err(SqlError::for_xml_text_of_xml(name));
            }
            let is_function = attribute.is_none() && is_node_function(last);
            if is_function {
                steps.pop();
            }
            for step in &steps {
                check_step(name, step, self.namespaces())?;
            }
            before = Some((steps, attribute.is_some()));
        }
        Ok(())
    }

    /// Whether a value is XML, which composed XML contains as elements.
    pub(super) fn is_xml_text(&self, expr: &Expr) -> bool {
        expr.data_type == DataType::Xml
            || matches!(&expr.kind, ExprKind::Call(call) if call.function.name == "xml text")
    }
}

/// The functions that are the last step of a path.
fn is_node_function(step: &str) -> bool {
    let target = step
        .strip_prefix("processing-instruction(")
        .and_then(|rest| rest.strip_suffix(')'));
    let is_target = target.is_some_and(|target| !target.is_empty() && first_invalid(target).is_none());
    is_target && target != Some("xml") || matches!(step, "text()" | "data()" | "node()" | "*" | "comment()")
}

fn check_step(column: &str, step: &str, namespaces: &StatementNamespaces) -> Result<(), SqlError> {
    if step.is_empty() {
        return Err(SqlError::for_xml_name("Column", column, '@'));
    }
    if step == "xmlns" {
        return Err(SqlError::for_xml_xmlns());
    }
    check_name(("Column", "column"), (column, step), namespaces)
}

/// Checks a name, or a step of one.
///
/// Errors: 6846, 6850, 6867.
fn check_name(
    (kind, of_prefix): (&str, &str),
    (whole, step): (&str, &str),
    namespaces: &StatementNamespaces,
) -> Result<(), SqlError> {
    if !namespaces.is_empty() && is_xmlns(step) {
        return Err(SqlError::for_xml_xmlns());
    }
    let (prefix, local) = step
        .split_once(':')
        .map_or((None, step), |(prefix, local)| (Some(prefix), local));
    if let Some(prefix) = prefix.filter(|prefix| *prefix != "xml" && !namespaces.has(prefix)) {
        return Err(SqlError::for_xml_prefix(prefix, of_prefix, whole));
    }
    let is_bare = prefix.is_some() && (local.is_empty() || local.contains(':'));
    match first_invalid(local).or(is_bare.then_some(':')) {
        Some(fault) => Err(SqlError::for_xml_name(kind, whole, fault)),
        None => Ok(()),
    }
}

fn is_xmlns(name: &str) -> bool {
    name == "xmlns" || name.starts_with("xmlns:")
}

/// Checks the columns of RAW and AUTO.
///
/// Errors: 6809, 6829; 40510 for bytes in AUTO without BINARY BASE64.
fn check_columns(rows: &OutputRows, clause: &ForClause) -> Result<(), SqlError> {
    for column in &rows.columns {
        if column.name.is_empty() {
            return Err(SqlError::for_xml_unnamed());
        }
        if column.value.data_type.family() == Family::Binary && !clause.binary_base64 {
            return Err(match clause.mode {
                ForMode::Raw | ForMode::Explicit => SqlError::for_xml_binary(&column.name),
                ForMode::Auto | ForMode::Path => {
                    SqlError::unsupported("A binary column in FOR XML AUTO without BINARY BASE64")
                }
            });
        }
    }
    Ok(())
}

/// The columns of EXPLICIT behind Tag and Parent.
///
/// Errors: 6801 to 6804, 6812, 6820, 6825, 6829, and those of names.
fn explicit_columns<'a>(rows: &'a OutputRows, clause: &ForClause) -> Result<Vec<ExplicitColumn<'a>>, SqlError> {
    if clause.elements.is_some() {
        return Err(SqlError::for_xml_elements());
    }
    let is_binary = |column: &&OutputColumn| column.value.data_type.family() == Family::Binary;
    if let Some(column) = rows.columns.iter().find(is_binary).filter(|_| !clause.binary_base64) {
        return Err(SqlError::for_xml_binary(&column.name));
    }
    let [tag, parent, columns @ ..] = rows.columns.as_slice() else {
        return Err(SqlError::for_xml_explicit_columns());
    };
    if columns.is_empty() {
        return Err(SqlError::for_xml_explicit_columns());
    }
    for (at, column, wanted) in [(1, tag, "TAG"), (2, parent, "PARENT")] {
        if column.value.data_type != DataType::Int {
            return Err(match at {
                1 => SqlError::explicit_tag(1),
                _ => SqlError::explicit_parent(1),
            });
        }
        if !column.name.eq_ignore_ascii_case(wanted) {
            return Err(SqlError::for_xml_explicit_name(at, wanted, &column.name));
        }
    }
    let mut parsed: Vec<ExplicitColumn<'a>> = Vec::with_capacity(columns.len());
    let mut elements: HashMap<i64, &str> = HashMap::new();
    for column in columns {
        let found = parse_explicit_column(&column.name)?;
        let element = *elements.entry(found.tag).or_insert(found.element);
        if element != found.element {
            return Err(SqlError::for_xml_other_element(found.tag, element, found.element));
        }
        if column.value.data_type == DataType::Xml {
            // SQL Server adds declarations of no namespace to it.
            return Err(SqlError::unsupported("A column of xml in FOR XML EXPLICIT"));
        }
        parsed.push(found);
    }
    Ok(parsed)
}

fn number(at: usize) -> Expr {
    Expr::literal(Value::Int(i32::try_from(at).unwrap_or(i32::MAX)), DataType::Int)
}
