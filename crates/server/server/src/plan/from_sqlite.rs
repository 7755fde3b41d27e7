//! The operators that SQLite's EXPLAIN QUERY PLAN tells of (sqlite.org/eqp.html).

use std::collections::HashMap;

use super::access::{Access, Method};
use super::{Operator, Outline, PlanObject};

/// A line of EXPLAIN QUERY PLAN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlanLine {
    pub id: i64,
    pub parent: i64,
    pub detail: String,
}

/// What the aliases and indexes of an SQL text are.
pub(crate) trait PlanSources {
    /// The name before `AS alias`: that of a table or of a common table expression.
    fn written(&self, alias: &str) -> Option<String>;

    /// The table of an alias, and its clustered index if its key is the rowid.
    fn table(&self, alias: &str) -> Option<PlanObject>;

    /// The name of an index, by its table's alias and its name in SQLite.
    fn index(&self, alias: &str, name: &str) -> String;
}

/// The operators of a query; `None` if SQLite tells of none.
pub(crate) fn operators(lines: &[PlanLine], sources: &dyn PlanSources, outline: Outline) -> Option<Operator> {
    let reader = PlanReader { lines, sources };
    reader.level(0, outline)
}

struct PlanReader<'a> {
    lines: &'a [PlanLine],
    sources: &'a dyn PlanSources,
}

/// The operators of one query, while its lines are read.
#[derive(Default)]
struct Level {
    current: Option<Operator>,
    /// Subqueries and common table expressions, by the names by which they are read.
    parts: HashMap<String, Operator>,
    /// What is computed besides: scalar subqueries, lists of IN.
    others: Vec<Operator>,
}

impl PlanReader<'_> {
    fn level(&self, parent: i64, outline: Outline) -> Option<Operator> {
        let mut level = Level::default();
        let mut is_aggregated = !outline.is_aggregate;
        for line in self.lines.iter().filter(|line| line.parent == parent) {
            let tree = line.detail.strip_prefix("USE TEMP B-TREE FOR ");
            if tree.is_some_and(|purpose| !purpose.ends_with("GROUP BY")) && !is_aggregated {
                is_aggregated = true;
                level.wrap("Stream Aggregate", "Aggregate", None);
            }
            match (tree, Access::parse(&line.detail)) {
                (Some(purpose), _) if purpose.ends_with("ORDER BY") || purpose.ends_with("GROUP BY") => {
                    level.wrap("Sort", "Sort", Some(purpose));
                }
                (Some(_), _) => level.wrap(&line.detail, "Flow Distinct", None),
                (None, Some(access)) => self.read(&access, &mut level),
                (None, None) => self.other(line, &mut level),
            }
        }
        if !is_aggregated {
            level.wrap("Stream Aggregate", "Aggregate", None);
        }
        if outline.is_limited {
            level.wrap("Top", "Top", None);
        }
        level.finish()
    }

    fn read(&self, access: &Access<'_>, level: &mut Level) {
        let written = self.sources.written(access.alias);
        let name = written.unwrap_or_else(|| access.alias.to_owned());
        let part = level
            .parts
            .get(&name)
            .or_else(|| level.parts.get(access.alias))
            .cloned();
        let operator = match (part, access.method) {
            (Some(part), Method::Automatic) => {
                let mut spool = Operator::of("Index Spool", "Eager Spool", vec![part]);
                spool.seek = access.terms.map(str::to_owned);
                spool
            }
            (Some(part), _) => part,
            (None, _) => self.of_table(access),
        };
        level.join(operator, access.join);
    }

    /// The operators that read a table.
    fn of_table(&self, access: &Access<'_>) -> Operator {
        let object = self.sources.table(access.alias);
        let is_clustered = object.as_ref().is_some_and(|object| object.index.is_some());
        let is_seek = access.terms.is_some();
        let name = match access.method {
            Method::Function => "Table-valued function",
            Method::Automatic => {
                let scan = self.of_table(&Access {
                    method: Method::Table,
                    terms: None,
                    ..access.clone()
                });
                let mut spool = Operator::of("Index Spool", "Eager Spool", vec![scan]);
                spool.seek = access.terms.map(str::to_owned);
                return spool;
            }
            Method::Table if is_seek && is_clustered => "Clustered Index Seek",
            Method::Table if is_seek => "RID Lookup",
            Method::Table if is_clustered => "Clustered Index Scan",
            Method::Table => "Table Scan",
            Method::Index { .. } if is_seek => "Index Seek",
            Method::Index { .. } => "Index Scan",
        };
        let mut operator = Operator::new(name, Vec::new());
        operator.seek = access.terms.map(str::to_owned);
        operator.object.clone_from(&object);
        let Method::Index { name, covers } = access.method else {
            return operator;
        };
        if let Some(object) = &mut operator.object {
            object.index = Some(self.sources.index(access.alias, name));
        }
        if covers {
            return operator;
        }
        // Of each row that the index has, the other columns are looked up.
        let mut lookup = Operator::new(if is_clustered { "Key Lookup" } else { "RID Lookup" }, Vec::new());
        lookup.object = object;
        Operator::of("Nested Loops", "Inner Join", vec![operator, lookup])
    }

    /// A line that reads no table and sorts nothing.
    fn other(&self, line: &PlanLine, level: &mut Level) {
        let detail = line.detail.as_str();
        let inner = || self.level(line.id, Outline::default());
        if let Some(name) = detail.strip_prefix("MATERIALIZE ") {
            let spool = Operator::of("Table Spool", "Eager Spool", inner().into_iter().collect());
            level.parts.insert(name.to_owned(), spool);
        } else if let Some(name) = detail.strip_prefix("CO-ROUTINE ") {
            if let Some(inner) = inner() {
                level.parts.insert(name.to_owned(), inner);
            }
        } else if detail == "SCAN CONSTANT ROW" || detail.starts_with("SCAN ") && detail.ends_with(" CONSTANT ROWS") {
            level.join(Operator::new("Constant Scan", Vec::new()), "Inner Join");
        } else if detail == "COMPOUND QUERY" {
            level.current = self.compound(line.id);
        } else if SUBQUERIES.iter().any(|known| detail.contains(known)) {
            level.others.push(Operator::new(detail, inner().into_iter().collect()));
        } else {
            let operator = Operator::new(detail, inner().into_iter().collect());
            match level.current {
                Some(_) => level.others.push(operator),
                None => level.current = Some(operator),
            }
        }
    }

    /// UNION, INTERSECT and EXCEPT: each operand with all before it.
    fn compound(&self, parent: i64) -> Option<Operator> {
        let mut current: Option<Operator> = None;
        for line in self.lines.iter().filter(|line| line.parent == parent) {
            let operand = self.level(line.id, Outline::default());
            let operand = operand.unwrap_or_else(|| Operator::new("Constant Scan", Vec::new()));
            current = Some(match (current, line.detail.as_str()) {
                (None, _) => operand,
                (Some(mut all), "UNION ALL") if all.physical == "Concatenation" => {
                    all.inputs.push(operand);
                    all
                }
                (Some(one), "UNION ALL") => Operator::new("Concatenation", vec![one, operand]),
                (Some(one), other) => Operator::new(other, vec![one, operand]),
            });
        }
        current
    }
}

impl Level {
    /// Another table: for each row of those before it, its rows are read.
    fn join(&mut self, operator: Operator, kind: &str) {
        self.current = Some(match self.current.take() {
            None => operator,
            Some(before) => Operator::of("Nested Loops", kind, vec![before, operator]),
        });
    }

    fn wrap(&mut self, physical: &str, logical: &str, detail: Option<&str>) {
        let mut operator = Operator::of(physical, logical, self.current.take().into_iter().collect());
        operator.detail = detail.map(str::to_owned);
        self.current = Some(operator);
    }

    fn finish(self) -> Option<Operator> {
        let mut current = match self.current {
            None if self.others.is_empty() => return None,
            None => Operator::new("Constant Scan", Vec::new()),
            Some(current) => current,
        };
        current.inputs.extend(self.others);
        Some(current)
    }
}

/// What SQLite computes beside the rows of a query.
const SUBQUERIES: [&str; 4] = ["SCALAR SUBQUERY", "LIST SUBQUERY", "FOR IN-OPERATOR", "BLOOM FILTER"];

#[cfg(test)]
mod tests {
    use super::*;

    struct Known;

    impl PlanSources for Known {
        fn written(&self, alias: &str) -> Option<String> {
            (alias == "t9").then(|| "q0".to_owned())
        }

        fn table(&self, alias: &str) -> Option<PlanObject> {
            Some(PlanObject {
                table: format!("of {alias}"),
                index: (alias == "t1").then(|| "pk".to_owned()),
                ..PlanObject::default()
            })
        }

        fn index(&self, _: &str, name: &str) -> String {
            name.trim_start_matches("x.").to_owned()
        }
    }

    fn shown(lines: &[(i64, i64, &str)], outline: Outline) -> String {
        fn write(operator: &Operator, into: &mut String) {
            into.push_str(&operator.written());
            for input in &operator.inputs {
                into.push_str(" <");
                write(input, into);
                into.push('>');
            }
        }
        let line = |(id, parent, detail): &(i64, i64, &str)| PlanLine {
            id: *id,
            parent: *parent,
            detail: (*detail).to_owned(),
        };
        let lines: Vec<PlanLine> = lines.iter().map(line).collect();
        let mut text = String::new();
        if let Some(operator) = operators(&lines, &Known, outline) {
            write(&operator, &mut text);
        }
        text
    }

    #[test]
    fn a_join_is_nested_loops_and_an_index_is_followed_by_lookups() {
        let lines = [
            (1, 0, "SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?)"),
            (2, 0, "SEARCH t2 USING INDEX x.i (a=?) LEFT-JOIN"),
        ];
        assert_eq!(
            shown(&lines, Outline::default()),
            "Nested Loops(Left Outer Join) <Clustered Index Seek(OBJECT:([of t1].[pk]), SEEK:(rowid=?) ORDERED FORWARD)> \
             <Nested Loops(Inner Join) <Index Seek(OBJECT:([of t2].[i]), SEEK:(a=?) ORDERED FORWARD)> \
             <RID Lookup(OBJECT:([of t2]))>>"
        );
    }

    #[test]
    fn what_is_sorted_for_groups_is_below_the_aggregate() {
        let lines = [
            (1, 0, "SCAN t2"),
            (2, 0, "USE TEMP B-TREE FOR GROUP BY"),
            (3, 0, "USE TEMP B-TREE FOR ORDER BY"),
        ];
        let outline = Outline {
            is_aggregate: true,
            is_limited: true,
        };
        assert_eq!(
            shown(&lines, outline),
            "Top <Sort(ORDER BY) <Stream Aggregate(Aggregate) <Sort(GROUP BY) <Table Scan(OBJECT:([of t2]))>>>>"
        );
    }

    #[test]
    fn parts_are_put_where_they_are_read() {
        let lines = [
            (1, 0, "MATERIALIZE q0"),
            (2, 1, "SCAN t2"),
            (3, 0, "SCAN t9"),
            (4, 0, "CORRELATED SCALAR SUBQUERY 3"),
            (5, 4, "SCAN t3"),
        ];
        assert_eq!(
            shown(&lines, Outline::default()),
            "Table Spool(Eager Spool) <Table Scan(OBJECT:([of t2]))> \
             <CORRELATED SCALAR SUBQUERY 3 <Table Scan(OBJECT:([of t3]))>>"
        );
    }

    #[test]
    fn combinations_have_an_input_for_each_operand() {
        let lines = [
            (1, 0, "COMPOUND QUERY"),
            (2, 1, "LEFT-MOST SUBQUERY"),
            (3, 2, "SCAN t2"),
            (4, 1, "UNION ALL"),
            (5, 4, "SCAN t3"),
            (6, 1, "EXCEPT USING TEMP B-TREE"),
            (7, 6, "SCAN CONSTANT ROW"),
        ];
        assert_eq!(
            shown(&lines, Outline::default()),
            "EXCEPT USING TEMP B-TREE <Concatenation <Table Scan(OBJECT:([of t2]))> <Table Scan(OBJECT:([of t3]))>> \
             <Constant Scan>"
        );
    }
}
