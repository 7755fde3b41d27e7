//! `x.nodes('path') AS t(c)`: a row for each node.
//!
//! A column that it makes is the number of a node; a method of the column is one of the document, begun at that node.

use selenite_tsql::ast;
use selenite_types::{DataType, Width};

use super::source::Bound;
use super::{Clause, QueryBinder};
use crate::bind::xml_method::called;
use crate::functions::XML_NODES;
use crate::{Binder, Collation, Ends, Expr, ExprKind, SourceColumn, SqlError};

impl QueryBinder<'_> {
    /// The rows of nodes().
    ///
    /// Errors: 318 without an alias of table and column; as of the other methods.
    pub(super) fn bind_xml_nodes(
        &mut self,
        call: &ast::FunctionCall,
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Bound, SqlError> {
        let alias = alias.filter(|alias| alias.columns.len() == 1);
        let alias = alias.ok_or_else(|| {
            let text = "The table (and its columns) returned by a table-valued method need to be aliased.";
            // 318: nodes() without an alias of its column.
            SqlError::new(318, Ends::Batch, text)
        })?;
        let before = self.enter_clause(Clause::Argument);
        let variables = self.variables;
        let bound = Binder::new(variables, self).xml_nodes(call);
        self.leave_clause(before);
        let (document, arguments) = bound?;
        let rows = called(&XML_NODES, arguments, DataType::NVarChar(Width::Max));
        let column = SourceColumn {
            name: String::new(),
            data_type: DataType::Xml,
            nullable: true,
            collation: Collation::default(),
        };
        let bound = self.computed_rows(rows, vec![column], "nodes", Some(alias))?;
        for source in &bound.sources {
            self.xml_nodes.insert(source.number, document.clone());
        }
        Ok(bound)
    }

    /// The document of a column that nodes() made, and the number of its node.
    pub(super) fn node_of(&self, name: &ast::ColumnName) -> Option<(Expr, Expr)> {
        let mut scopes = self.scopes.iter().rev();
        let found = scopes.find_map(|scope| scope.columns.find(name).ok())?;
        let document = self.xml_nodes.get(&found.reference.source)?;
        let node = Expr::new(ExprKind::Column(found.reference), DataType::BigInt);
        Some((document.clone(), node))
    }
}

impl SqlError {
    /// 493: a column of nodes() where it is not a method's.
    pub(super) fn column_of_nodes(column: &str) -> Self {
        let text = format!(
            "The column '{column}' that was returned from the nodes() method cannot be used directly. It can only be used \
             with one of the four XML data type methods, exist(), nodes(), query(), and value(), or in IS NULL and IS NOT \
             NULL checks."
        );
        Self::new(493, Ends::Batch, text)
    }
}
