//! INSERT, UPDATE, DELETE.

use core::fmt;

use super::{List, Optional, OptionalList, Text};
use crate::ast::{
    Assignment, AssignmentOperator, AssignmentTarget, BulkLoad, BulkType, ChangeTarget, Delete, Insert, InsertSource,
    Output, OutputInto, Update, ValueOrDefault,
};

impl fmt::Display for Insert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let InsertSource::Bulk(bulk) = &self.source {
            return print_bulk(self, bulk, f);
        }
        let top = Optional("", self.top.as_ref(), "");
        write!(f, "{}INSERT{top} INTO {}", self.with, self.target)?;
        write!(f, "{}", OptionalList("WITH (", &self.hints, ")"))?;
        write!(f, "{}", OptionalList("(", &self.columns, ")"))?;
        self.output.iter().try_for_each(|output| write!(f, " {output}"))?;
        write!(f, " {}{}", self.source, OptionalList("OPTION (", &self.options, ")"))
    }
}

impl fmt::Display for InsertSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(rows) => {
                f.write_str("VALUES ")?;
                for (index, row) in rows.iter().enumerate() {
                    write!(f, "{}({})", if index > 0 { ", " } else { "" }, List(row))?;
                }
                Ok(())
            }
            Self::Query(query) => write!(f, "{query}"),
            Self::Execute(execute) => write!(f, "{execute}"),
            Self::DefaultValues => f.write_str("DEFAULT VALUES"),
            // Printed with its target.
            Self::Bulk(_) => Ok(()),
        }
    }
}

fn print_bulk(insert: &Insert, bulk: &BulkLoad, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match &bulk.file {
        Some(file) => write!(f, "BULK INSERT {} FROM {}", insert.target, Text(file))?,
        None => {
            write!(f, "INSERT BULK {}", insert.target)?;
            for (at, (name, bulk_type)) in insert.columns.iter().zip(&bulk.types).enumerate() {
                write!(f, "{}{name} {bulk_type}", if at > 0 { ", " } else { " (" })?;
            }
            f.write_str(if bulk.types.is_empty() { "" } else { ")" })?;
        }
    }
    write!(f, "{}", OptionalList("WITH (", &bulk.options, ")"))
}

impl fmt::Display for BulkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.type_name)?;
        match self.nullable {
            Some(true) => f.write_str(" NULL")?,
            Some(false) => f.write_str(" NOT NULL")?,
            None => {}
        }
        write!(f, "{}", Optional("COLLATE ", self.collation.as_ref(), ""))
    }
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = Optional("", self.top.as_ref(), "");
        write!(f, "{}UPDATE{top} {}", self.with, self.target)?;
        write!(f, "{}", OptionalList("WITH (", &self.hints, ")"))?;
        write!(f, " SET {}", List(&self.assignments))?;
        self.output.iter().try_for_each(|output| write!(f, " {output}"))?;
        write!(f, "{}", OptionalList("FROM ", &self.from, ""))?;
        write!(f, "{}", Optional("WHERE ", self.filter.as_ref(), ""))?;
        write!(f, "{}", Optional("WHERE CURRENT OF ", self.current_of.as_ref(), ""))?;
        write!(f, "{}", OptionalList("OPTION (", &self.options, ")"))
    }
}

impl fmt::Display for Delete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = Optional("", self.top.as_ref(), "");
        write!(f, "{}DELETE{top} FROM {}", self.with, self.target)?;
        write!(f, "{}", OptionalList("WITH (", &self.hints, ")"))?;
        self.output.iter().try_for_each(|output| write!(f, " {output}"))?;
        write!(f, "{}", OptionalList("FROM ", &self.from, ""))?;
        write!(f, "{}", Optional("WHERE ", self.filter.as_ref(), ""))?;
        write!(f, "{}", Optional("WHERE CURRENT OF ", self.current_of.as_ref(), ""))?;
        write!(f, "{}", OptionalList("OPTION (", &self.options, ")"))
    }
}

impl fmt::Display for ChangeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(name) => write!(f, "{name}"),
            Self::Variable { name, .. } => f.write_str(name),
        }
    }
}

impl fmt::Display for ValueOrDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Default(_) => f.write_str("DEFAULT"),
        }
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operator {
            AssignmentOperator::Modify => write!(f, "{}.modify({})", self.target, self.value),
            AssignmentOperator::Set
            | AssignmentOperator::Add
            | AssignmentOperator::Subtract
            | AssignmentOperator::Multiply
            | AssignmentOperator::Divide
            | AssignmentOperator::Modulo
            | AssignmentOperator::BitAnd
            | AssignmentOperator::BitXor
            | AssignmentOperator::BitOr => write!(f, "{} {} {}", self.target, self.operator, self.value),
        }
    }
}

impl fmt::Display for AssignmentTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => write!(f, "{column}"),
            Self::Variable(variable) => f.write_str(variable),
            Self::VariableAndColumn(variable, column) => write!(f, "{variable} = {column}"),
        }
    }
}

impl fmt::Display for AssignmentOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set => "=",
            Self::Add => "+=",
            Self::Subtract => "-=",
            Self::Multiply => "*=",
            Self::Divide => "/=",
            Self::Modulo => "%=",
            Self::BitAnd => "&=",
            Self::BitXor => "^=",
            Self::BitOr => "|=",
            Self::Modify => ".modify",
        })
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let into = Optional("INTO ", self.into.as_ref(), "");
        write!(f, "OUTPUT {}{into}", List(&self.items))
    }
}

impl fmt::Display for OutputInto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.target, OptionalList("(", &self.columns, ")"))
    }
}
