//! Changes of a view that INSTEAD OF triggers make: the view's rows are read and computed, as those of a table with its
//! columns, and not written.

use std::sync::Arc;

use selenite_types::DataType;

use super::target::Target;
use super::through::leaf_of;
use crate::catalog::{ChangeVerb, Column, SqliteName, Table, View};
use crate::query::QueryBinder;
use crate::query::source::Bound;
use crate::query::tree::{
    From, Leaf, Query, QueryColumn, QueryNode, Rows, Select, SqliteColumn, WindowCall, WindowFunction,
};
use crate::{ColumnRef, Expr, ExprKind, Source, SqlError};

impl View {
    /// Whether a trigger takes the place of one of these changes of the view.
    pub(crate) fn is_instead_of(&self, verbs: &[ChangeVerb]) -> bool {
        verbs.iter().any(|verb| self.fires.is_instead_of(*verb))
    }

    /// The view as a table, whose rows INSTEAD OF triggers change; `computed` says which columns may be NULL because
    /// they are computed.
    fn as_table(&self, source: &Source, computed: &[bool]) -> Table {
        let column = |(column, computed): (&crate::SourceColumn, &bool)| Column {
            name: column.name.clone(),
            data_type: column.data_type,
            nullable: column.nullable || *computed,
            collation: column.collation,
            identity: None,
            default: None,
            computed: None,
        };
        Table {
            database: self.database.clone(),
            schema: self.schema.clone(),
            name: self.name.clone(),
            sqlite: SqliteName {
                schema: "main".to_owned(),
                name: crate::file_name::file_name(&self.schema, &self.name),
            },
            object_id: self.object_id,
            columns: source.columns.iter().zip(computed).map(column).collect(),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            row_id_column: None,
            referenced_by: Vec::new(),
            fires: self.fires,
            references: Arc::from([]),
            table_type: None,
            is_read_only: false,
        }
    }
}

impl QueryBinder<'_> {
    /// A view that was bound as the table whose rows INSTEAD OF triggers change.
    ///
    /// Errors: 8624 for a source that is no view.
    pub(super) fn view_as_table(&self, bound: &mut Bound, number: u32, view: &View) -> Result<Table, SqlError> {
        let none = || SqlError::internal("a view without rows");
        let source = bound.sources.iter().find(|source| source.number == number);
        let source = source.ok_or_else(none)?.clone();
        let Some(Leaf {
            rows: Rows::Query(query),
            ..
        }) = leaf_of(&mut bound.from, number)
        else {
            return Err(none());
        };
        let is_of_table = |column: &QueryColumn| {
            let origin = column.origin.map(|origin| origin.source);
            origin.is_some_and(|source| self.parts.tables.contains_key(&source))
        };
        let computed: Vec<bool> = query.columns.iter().map(|column| !is_of_table(column)).collect();
        Ok(view.as_table(&source, &computed))
    }

    /// The target of a source that is a view whose rows triggers change: the rows are numbered, since they have no
    /// rowid.
    ///
    /// Errors: 8624 for a source that is no view.
    pub(super) fn instead_target(
        &mut self,
        mut bound: Bound,
        number: u32,
        view: &Arc<View>,
    ) -> Result<Target, SqlError> {
        let none = || SqlError::internal("a view without rows");
        let table = self.view_as_table(&mut bound, number, view)?;
        let leaf = leaf_of(&mut bound.from, number).ok_or_else(none)?;
        let rows = std::mem::replace(&mut leaf.rows, Rows::Common(0));
        let Rows::Query(query) = rows else { return Err(none()) };
        let place = query.columns.len();
        leaf.rows = Rows::Query(Box::new(self.numbered(*query)));
        self.parts.row_ids.insert(number, format!("c{place}"));
        Ok(Target {
            table: Arc::new(table),
            source: number,
            exposed: number,
            bound,
            alone: false,
            through: None,
            views: vec![Arc::clone(view)],
        })
    }

    /// A query with one more column: the number of the row.
    fn numbered(&mut self, query: Query) -> Query {
        let places = (0..query.columns.len()).map(SqliteColumn::Numbered).collect();
        let source = self.parts.add_source(places);
        let item = |(at, column): (usize, &QueryColumn)| {
            let reference = ColumnRef {
                source,
                column: u32::try_from(at).unwrap_or(u32::MAX),
            };
            Expr::new(ExprKind::Column(reference), column.data_type)
                .with_nullable(column.nullable)
                .with_collation(column.collation.of_column())
        };
        let mut items: Vec<Expr> = query.columns.iter().enumerate().map(item).collect();
        let call = WindowCall {
            function: WindowFunction::RowNumber,
            partition: Vec::new(),
            order: Vec::new(),
            frame: None,
        };
        let reference = self.parts.add_query_node(QueryNode::Window(Box::new(call)));
        items.push(Expr::new(ExprKind::QueryNode(reference), DataType::BigInt));
        let named = query.columns.iter().map(|column| column.name.clone());
        let names = named.chain([String::new()]);
        let columns = names
            .zip(&items)
            .map(|(name, item)| QueryColumn::of(name, item))
            .collect();
        let from = Some(From::Leaf(Leaf {
            source,
            rows: Rows::Query(Box::new(query)),
        }));
        let select = Select {
            items,
            from,
            ..Select::default()
        };
        Query::of_select(select, columns)
    }
}
