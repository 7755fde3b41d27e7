//! An operator of a plan.

use selenite_compiler::definition::bracketed;
use selenite_compiler::same_name;

/// An operator, with those whose rows it takes.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Operator {
    /// What is done.
    pub physical: String,
    /// What for.
    pub logical: String,
    /// The table or index.
    pub object: Option<PlanObject>,
    /// What is sought in an index: `a=? AND b>?`.
    pub seek: Option<String>,
    /// The condition that is tested on each row.
    pub filter: Option<String>,
    /// What else is known of it.
    pub detail: Option<String>,
    /// The inputs.
    pub inputs: Vec<Self>,
}

/// A table, or an index of it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PlanObject {
    /// The database; `None` if it is not known.
    pub database: Option<String>,
    /// The schema.
    pub schema: Option<String>,
    /// The table.
    pub table: String,
    /// The index.
    pub index: Option<String>,
}

impl Operator {
    /// An operator that is called the same in both ways.
    pub fn new(name: &str, inputs: Vec<Self>) -> Self {
        Self::of(name, name, inputs)
    }

    pub fn of(physical: &str, logical: &str, inputs: Vec<Self>) -> Self {
        Self {
            physical: physical.to_owned(),
            logical: logical.to_owned(),
            inputs,
            ..Self::default()
        }
    }

    pub fn with_object(mut self, object: PlanObject) -> Self {
        self.object = Some(object);
        self
    }

    /// Notes the condition by which the only table's rows are tested, if all of them are read.
    pub fn set_filter(&mut self, table: &str, filter: &str) {
        match self.inputs.as_mut_slice() {
            [] => {
                let is_it = self
                    .object
                    .as_ref()
                    .is_some_and(|object| same_name(&object.table, table));
                if is_it && self.seek.is_none() && self.physical.ends_with(" Scan") {
                    self.filter = Some(filter.to_owned());
                }
            }
            [input] => input.set_filter(table, filter),
            _ => {}
        }
    }

    /// The column Argument; empty if nothing is known.
    pub fn argument(&self) -> String {
        let object = self
            .object
            .as_ref()
            .map(|object| format!("OBJECT:({})", object.written()));
        let seek = self.seek.as_ref().map(|seek| format!("SEEK:({seek}) ORDERED FORWARD"));
        let filter = self.filter.as_ref().map(|filter| format!("WHERE:({filter})"));
        let parts = [object, seek, filter, self.detail.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The operator as a line of SHOWPLAN_TEXT.
    pub fn written(&self) -> String {
        let argument = self.argument();
        let mut parts = Vec::new();
        if self.logical != self.physical {
            parts.push(self.logical.as_str());
        }
        if !argument.is_empty() {
            parts.push(&argument);
        }
        match parts.is_empty() {
            true => self.physical.clone(),
            false => format!("{}({})", self.physical, parts.join(", ")),
        }
    }
}

impl PlanObject {
    fn written(&self) -> String {
        let parts = [
            self.database.as_ref(),
            self.schema.as_ref(),
            Some(&self.table),
            self.index.as_ref(),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().map(|part| bracketed(part)).collect();
        parts.join(".")
    }
}
