//! FOR XML RAW, AUTO, PATH and EXPLICIT.

use std::collections::{HashMap, HashSet};

use selenite_tsql::ast::{self, ForClause, ForMode};
use selenite_types::{DataType, Family, Value};

use super::QueryBinder;
use super::output::{OutputColumn, OutputRows, bit, call, has_table, level_name, levels_of, null, text};
use super::xml_namespaces::StatementNamespaces;
use crate::functions::{
    FOR_XML, FOR_XML_EXPLICIT, FOR_XML_LEVELS, FOR_XML_PATH, FOR_XML_RAW, FOR_XML_TYPE, FOR_XML_VALUES,
    XML_OF_NO_NAMESPACE,
};
use crate::xml::{ExplicitColumn, XSI, encoded, first_invalid, first_invalid_part, parse_explicit_column};
use crate::{Expr, ExprKind, SqlError};

impl QueryBinder<'_> {
    /// The text of FOR XML.
    ///
    /// Errors: 6800 to 6879.
    pub(super) fn for_xml(
        &mut self,
        query: &ast::Query,
        clause: &ForClause,
        rows: &mut OutputRows,
    ) -> Result<Expr, SqlError> {
        let root = match &clause.root {
            None => None,
            Some(name) => Some(name.as_deref().unwrap_or("root")),
        };
        if root == Some("") {
            return Err(SqlError::for_xml_empty_root());
        }
        self.check_namespaces(clause, rows)?;
        if self.namespaces().has_default || clause.mode == ForMode::Explicit {
            self.free_of_default(rows, clause.mode == ForMode::Explicit);
        }
        let rows = &*rows;
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
            ForMode::Explicit => self.xml_explicit(rows, &explicit, inner)?,
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
        match rows.columns.iter().any(|column| is_xmlns(&column.name)) {
            true => Err(SqlError::for_xml_xmlns()),
            false => Ok(()),
        }
    }

    /// The elements of columns of xml have no namespace, whatever the default one around.
    fn free_of_default(&self, rows: &mut OutputRows, only_top: bool) {
        for column in &mut rows.columns {
            if self.is_xml_text(&column.value) {
                let (value, nullable) = (column.value.clone(), column.value.nullable);
                let mut freed = call(&XML_OF_NO_NAMESPACE, vec![value, bit(only_top)]).with_nullable(nullable);
                freed.data_type = DataType::Xml;
                column.value = freed;
            }
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

    fn xml_explicit(
        &mut self,
        rows: &OutputRows,
        columns: &[ExplicitColumn<'_>],
        declarations: &str,
    ) -> Result<Expr, SqlError> {
        let values = rows.columns.iter().map(|column| column.value.clone()).collect();
        let joined = self.joined_rows(call(&FOR_XML_VALUES, values), ",")?;
        let mut arguments = vec![joined, text(declarations)];
        arguments.extend(columns.iter().map(|column| text(&column.written())));
        Ok(call(&FOR_XML_EXPLICIT, arguments))
    }

    fn xml_raw(&mut self, rows: &OutputRows, element: &str, flags: [Expr; 3]) -> Result<Expr, SqlError> {
        self.check_attributes(&flags, rows.columns.iter().map(|column| (column, 0)))?;
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
        if !self.namespaces().is_empty() && levels.iter().any(|level| is_xmlns(&name(level))) {
            return Err(SqlError::for_xml_xmlns());
        }
        if levels.len() <= 1 {
            let level = levels.first().or(rows.sources.first());
            let element = level.map(name).unwrap_or_default();
            return self.xml_raw(rows, &element, flags);
        }
        let mut nearest = 0;
        let placed: Vec<(&OutputColumn, usize)> = rows
            .columns
            .iter()
            .map(|column| {
                let level = levels.iter().position(|level| Some(level.number) == column.source);
                nearest = level.unwrap_or(nearest);
                (column, nearest)
            })
            .collect();
        self.check_attributes(&flags, placed.iter().copied())?;
        let values = rows.columns.iter().map(|column| column.value.clone()).collect();
        let joined = self.joined_rows(call(&FOR_XML_VALUES, values), ",")?;
        let mut arguments = vec![joined];
        arguments.extend(flags);
        arguments.push(number(levels.len()));
        arguments.extend(levels.iter().map(|level| text(&name(level))));
        for (column, at) in placed {
            let is_compared = levels.iter().any(|level| Some(level.number) == column.source);
            let is_xml = self.is_xml_text(&column.value);
            let name = text(&encoded(&column.name));
            arguments.extend([name, number(at), bit(is_compared), bit(is_xml)]);
        }
        Ok(call(&FOR_XML_LEVELS, arguments))
    }

    /// Checks that no element has an attribute twice, of columns and the levels of their elements.
    ///
    /// Errors: 6810.
    fn check_attributes<'c>(
        &self,
        flags: &[Expr; 3],
        columns: impl Iterator<Item = (&'c OutputColumn, usize)>,
    ) -> Result<(), SqlError> {
        let [elements, ..] = flags;
        if *elements == bit(true) {
            return Ok(());
        }
        let mut known = HashSet::new();
        for (column, level) in columns.filter(|(column, _)| !self.is_xml_text(&column.value)) {
            let name = encoded(&column.name);
            let (namespace, local) = self.namespaces().attribute(&name);
            if !known.insert((namespace.to_owned(), local.to_owned(), level)) {
                return Err(SqlError::for_xml_repeated(&column.name));
            }
        }
        Ok(())
    }

    /// Checks the names of PATH.
    ///
    /// Errors: 6810, 6846, 6849 to 6854, 6864, 6867, 6879.
    fn check_xml_paths(&self, columns: &[OutputColumn], is_bare: bool) -> Result<(), SqlError> {
        // The element of the column before, and its attributes; none if that column is no attribute.
        let mut before: Option<PathBefore<'_>> = None;
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
            let last = steps.last().copied().unwrap_or_default();
            let Some(attribute) = last.strip_prefix('@') else {
                self.check_content(column, &mut steps)?;
                before = Some((steps, Vec::new()));
                continue;
            };
            steps.pop();
            if self.is_xml_text(&column.value) {
                return Err(SqlError::for_xml_attribute_type(name));
            }
            if is_bare && steps.is_empty() {
                return Err(SqlError::for_xml_no_row_tag());
            }
            for step in std::iter::once(&attribute).chain(&steps) {
                check_step(name, step, self.namespaces())?;
            }
            let mut attributes = match before.take() {
                Some((before, known)) if before.starts_with(&steps) => {
                    if before.len() > steps.len() || known.is_empty() {
                        return Err(SqlError::for_xml_late_attribute(name));
                    }
                    known
                }
                Some(_) | None => Vec::new(),
            };
            let named = self.namespaces().attribute(attribute);
            if attributes.contains(&named) {
                return Err(SqlError::for_xml_repeated(name));
            }
            attributes.push(named);
            before = Some((steps, attributes));
        }
        Ok(())
    }

    /// Checks a column that is no attribute, and drops the function from its steps.
    fn check_content(&self, column: &OutputColumn, steps: &mut Vec<&str>) -> Result<(), SqlError> {
        let (name, last) = (column.name.as_str(), steps.last().copied().unwrap_or_default());
        if is_node_function(name, last)? {
            steps.pop();
            if self.is_xml_text(&column.value) && !matches!(last, "node()" | "*") {
                return Err(SqlError::for_xml_text_of_xml(name));
            }
        }
        let mut steps = steps.iter();
        steps.try_for_each(|step| check_step(name, step, self.namespaces()))
    }

    /// Whether a value is XML, which composed XML contains as elements.
    pub(super) fn is_xml_text(&self, expr: &Expr) -> bool {
        expr.data_type == DataType::Xml
            || matches!(&expr.kind, ExprKind::Call(call) if call.function.name == "xml text")
    }
}

/// The steps of a column of PATH, and the namespaces and names of the attributes that were last.
type PathBefore<'a> = (Vec<&'a str>, Vec<(&'a str, &'a str)>);

/// Whether a last step of a column's path is a function.
///
/// Errors: 6850, 6854, 6879 for the target of an instruction.
fn is_node_function(column: &str, step: &str) -> Result<bool, SqlError> {
    let target = step
        .strip_prefix("processing-instruction(")
        .and_then(|rest| rest.strip_suffix(')'));
    match target {
        None => Ok(matches!(step, "text()" | "data()" | "node()" | "*" | "comment()")),
        Some("") => Err(SqlError::for_xml_no_target(column)),
        Some("xml") => Err(SqlError::for_xml_declaration()),
        Some(target) => match first_invalid_part(target) {
            Some(fault) => Err(SqlError::for_xml_name("", column, fault)),
            None => Ok(true),
        },
    }
}

fn check_step(column: &str, step: &str, namespaces: &StatementNamespaces) -> Result<(), SqlError> {
    if step.is_empty() {
        return Err(SqlError::for_xml_name("Column", column, '@'));
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
    if is_xmlns(step) {
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
/// Errors: 6801 to 6804, 6812, 6820, 6825, 6827 to 6829, 6843, and those of names.
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
        let mut found = parse_explicit_column(&column.name)?;
        let element = *elements.entry(found.tag).or_insert(found.element);
        if element != found.element {
            return Err(SqlError::for_xml_other_element(found.tag, element, found.element));
        }
        if found.is_overflow() {
            let is_second = |known: &ExplicitColumn<'_>| known.is_overflow() && known.tag == found.tag;
            if parsed.iter().any(is_second) {
                return Err(SqlError::for_xml_overflows(&column.name));
            }
            if !matches!(column.value.data_type.family(), Family::Text | Family::Xml) {
                return Err(SqlError::for_xml_overflow_type(&column.name));
            }
        }
        if column.value.data_type == DataType::Xml {
            found = found.holding_xml(&column.name)?;
        }
        parsed.push(found);
    }
    Ok(parsed)
}

fn number(at: usize) -> Expr {
    Expr::literal(Value::Int(i32::try_from(at).unwrap_or(i32::MAX)), DataType::Int)
}
