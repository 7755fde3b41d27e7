//! Statements on tables, bound and planned: whatever a text means ends, within the budget of nodes.

use std::sync::{Arc, LazyLock};

use selenite_compiler::catalog::{Catalog, Column, Fires, Relation, SqliteName, SystemFunction, Table, View};
use selenite_compiler::program::Program;
use selenite_compiler::statement::Binding;
use selenite_compiler::{Collation, SqlError, Variables, same_name};
use selenite_tsql::ast::{ObjectName, StatementKind};
use selenite_tsql::{Options, parse};
use selenite_types::{DataType, Width};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(tree) = parse(&text, Options::default()) else {
        return;
    };
    let variables = Variables::new();
    let binding = Binding {
        catalog: &*TABLES,
        variables: &variables,
    };
    for statement in &tree.statements {
        if let Ok(bound) = binding.statement(statement) {
            // What a client is told of a result, and whether it changes anything.
            let _ = (bound.columns().len(), bound.changes(), bound.written().len());
        }
    }
    // Variables, conditions and calls are bound here.
    let _ = Program::of_batch(&text, tree);
}

/// Two tables and a view that doubles what it is made of.
static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let view = "SELECT t.a + u.a AS a, t.a - u.a AS b, t.s AS s FROM t JOIN u ON t.a = u.a";
    let statement = parse(&format!("CREATE VIEW v AS {view}"), Options::default());
    let statement = statement.expect("the view is T-SQL").statements.swap_remove(0);
    let StatementKind::View(view) = statement.kind else {
        unreachable!("it is a view");
    };
    Tables {
        tables: ["t", "u"].map(|name| Arc::new(table(name))),
        view: Arc::new(View {
            object_id: 2,
            database: "d".to_owned(),
            schema: "dbo".to_owned(),
            name: "v".to_owned(),
            columns: view.columns.clone(),
            select: Arc::new(view.select.clone()),
            check_option: false,
            fires: Fires::default(),
        }),
    }
});

struct Tables {
    tables: [Arc<Table>; 2],
    view: Arc<View>,
}

impl Catalog for Tables {
    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        if same_name(&name.name.text, "v") {
            return Ok(Some(Relation::View(self.view.clone())));
        }
        let found = self.tables.iter().find(|table| same_name(&table.name, &name.name.text));
        Ok(found.map(|table| Relation::Table(table.clone())))
    }

    fn function(&self, _: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        Ok(None)
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        Ok(same_name(name, "@t").then(|| self.tables[0].clone()))
    }
}

fn table(name: &str) -> Table {
    let column = |name: &str, data_type| Column {
        name: name.to_owned(),
        data_type,
        nullable: true,
        collation: Collation::default().of_column(),
        identity: None,
        default: None,
        computed: None,
    };
    Table {
        database: "d".to_owned(),
        schema: "dbo".to_owned(),
        name: name.to_owned(),
        sqlite: SqliteName {
            schema: "main".to_owned(),
            name: name.to_owned(),
        },
        object_id: 1,
        columns: vec![
            column("a", DataType::Int),
            column(
                "b",
                DataType::Decimal {
                    precision: 10,
                    scale: 2,
                },
            ),
            column("s", DataType::VarChar(Width::Limited(20))),
            column("d", DataType::DateTime),
        ],
        keys: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        row_id_column: None,
        referenced_by: Vec::new(),
        fires: Fires::default(),
        table_type: None,
        is_read_only: false,
        references: Arc::from([]),
    }
}
