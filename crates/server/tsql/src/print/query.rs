//! SELECT.

use core::fmt;

use super::{List, Optional, OptionalList, Text, word};
use crate::ast::{
    Combination, CommonTable, Offset, OrderItem, Query, QueryBody, Select, SelectItem, SelectStatement, SetOperator,
    Top, With, XmlNamespace,
};

impl fmt::Display for SelectStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}{}",
            self.with,
            self.query,
            OptionalList("OPTION (", &self.options, ")")
        )
    }
}

impl fmt::Display for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespaces, tables } = self;
        let list = OptionalList("XMLNAMESPACES (", namespaces, ")");
        match (namespaces.as_slice(), tables.as_slice()) {
            ([], []) => Ok(()),
            ([], tables) => write!(f, "WITH {} ", List(tables)),
            (_, []) => write!(f, "WITH{list} "),
            (_, tables) => write!(f, "WITH{list}, {} ", List(tables)),
        }
    }
}

impl fmt::Display for XmlNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.prefix {
            None => write!(f, "DEFAULT N{}", Text(&self.uri)),
            Some(prefix) => write!(f, "N{} AS {prefix}", Text(&self.uri)),
        }
    }
}

impl fmt::Display for CommonTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = OptionalList("(", &self.columns, ")");
        write!(f, "{}{columns} AS ({})", self.name, self.query)
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order_by = OptionalList("ORDER BY ", &self.order_by, "");
        let offset = Optional("", self.offset.as_ref(), "");
        let for_clause = Optional("", self.for_clause.as_deref(), "");
        write!(f, "{}{order_by}{offset}{for_clause}", self.body)
    }
}

impl fmt::Display for QueryBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Select(select) => write!(f, "{select}"),
            Self::Combined(combination) => write!(f, "{combination}"),
            Self::Nested(query) => write!(f, "({query})"),
        }
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", SetOperand(&self.first))?;
        self.rest
            .iter()
            .try_for_each(|term| write!(f, " {} {}", term.operator, SetOperand(&term.body)))
    }
}

/// An operand of a set operator: in parentheses if it is a combination itself.
struct SetOperand<'a>(&'a QueryBody);

impl fmt::Display for SetOperand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            QueryBody::Select(select) => write!(f, "{select}"),
            QueryBody::Combined(combination) => write!(f, "({combination})"),
            QueryBody::Nested(query) => write!(f, "({query})"),
        }
    }
}

impl fmt::Display for SetOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Union => "UNION",
            Self::UnionAll => "UNION ALL",
            Self::Except => "EXCEPT",
            Self::Intersect => "INTERSECT",
        })
    }
}

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distinct = word(self.distinct, " DISTINCT");
        let top = Optional("", self.top.as_ref(), "");
        write!(f, "SELECT{distinct}{top} {}", List(&self.items))?;
        write!(f, "{}", Optional("INTO ", self.into.as_ref(), ""))?;
        write!(f, "{}", OptionalList("FROM ", &self.from, ""))?;
        write!(f, "{}", Optional("WHERE ", self.filter.as_ref(), ""))?;
        write!(f, "{}", OptionalList("GROUP BY ", &self.group_by, ""))?;
        write!(f, "{}", Optional("HAVING ", self.having.as_ref(), ""))?;
        write!(f, "{}", OptionalList("WINDOW ", &self.windows, ""))
    }
}

impl fmt::Display for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (percent, ties) = (word(self.percent, " PERCENT"), word(self.with_ties, " WITH TIES"));
        write!(f, "TOP ({}){percent}{ties}", self.count)
    }
}

impl fmt::Display for SelectItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Star { table: None, .. } => f.write_str("*"),
            Self::Star { table: Some(table), .. } => write!(f, "{table}.*"),
            Self::Value { value, alias } => write!(f, "{value}{}", Optional("AS ", alias.as_ref(), "")),
            Self::Assign {
                variable,
                operator,
                value,
                ..
            } => write!(f, "{variable} {operator} {value}"),
        }
    }
}

impl fmt::Display for OrderItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, word(self.descending, " DESC"))
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fetch = Optional("FETCH NEXT ", self.fetch.as_ref(), " ROWS ONLY");
        write!(f, "OFFSET {} ROWS{fetch}", self.skip)
    }
}
