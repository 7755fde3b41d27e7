//! The types that are tried where nothing determines a parameter's own, and which of them is best.

use selenite_compiler::{
    Binder, ColumnRef, Expr as Bound, ExprKind as BoundKind, Predicate, QueryHook, QueryNodeRef, SqlError,
};
use selenite_tsql::ast::{
    Arguments, CaseBranches, ColumnName, Expr, ExprKind, FunctionCall, Literal, Position, Quantifier, Query,
};
use selenite_types::{Comparison, Conversion, DataType, Family, Width};

use super::positions::Scope;
use super::search::untyped;
use super::{Inference, fault};

/// How many conversions of each kind, the worst first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Cost {
    /// Any but those below.
    other: u32,
    /// Of the word NULL.
    null: u32,
    /// Between a padded type and one that varies.
    padding: u32,
    /// To another length of the same type.
    length: u32,
}

/// One of the types, as it was tried.
type Trial<'a> = (&'a str, DataType);

impl Inference<'_> {
    /// The best of the types.
    ///
    /// # Errors
    /// 11506, 11507.
    pub(crate) fn best(
        &self,
        name: &str,
        whole: &Expr,
        target: Option<DataType>,
        scope: &Scope,
    ) -> Result<DataType, SqlError> {
        let mut best: Option<(Cost, Vec<DataType>)> = None;
        for candidate in CANDIDATES {
            let Ok(cost) = self.tried(whole, target, (name, *candidate), scope) else {
                continue;
            };
            match &mut best {
                Some((least, alike)) if *least == cost => alike.push(*candidate),
                Some((least, _)) if *least < cost => {}
                Some(_) | None => best = Some((cost, vec![*candidate])),
            }
        }
        let Some((_, alike)) = best else {
            return Err(fault::none_possible(name));
        };
        // Of two lengths of one type the smaller comes first in the list.
        let first = alike.iter().copied().reduce(|best, next| {
            let is_higher = next.precedence() > best.precedence();
            if is_higher { next } else { best }
        });
        let Some(highest) = first else {
            return Err(fault::none_possible(name));
        };
        let strange = alike
            .iter()
            .find(|data_type| Conversion::check_implicit(data_type, &highest).is_err());
        match strange {
            Some(strange) => Err(fault::two_possible(name, &highest, strange)),
            None => Ok(highest),
        }
    }

    fn tried(&self, whole: &Expr, target: Option<DataType>, trial: Trial<'_>, scope: &Scope) -> Result<Cost, SqlError> {
        let mut cost = self.cost(whole, scope, trial)?;
        if let Some(target) = target {
            let own = self.type_of(whole, scope, Some(trial))?;
            Conversion::check_implicit(&own, &target)?;
            cost.add(&own, &target);
        }
        Ok(cost)
    }

    /// What an expression that holds the parameter converts.
    fn cost(&self, expr: &Expr, scope: &Scope, trial: Trial<'_>) -> Result<Cost, SqlError> {
        if untyped(expr, &|name| selenite_compiler::same_name(name, trial.0)).is_none() {
            return Ok(Cost::default());
        }
        let mut cost = Cost::default();
        let mut parts = Vec::new();
        match &expr.kind {
            ExprKind::Unary { operand, .. } | ExprKind::Collate { operand, .. } => {
                self.type_of(expr, scope, Some(trial))?;
                return self.cost(operand, scope, trial);
            }
            ExprKind::Binary { left, right, .. } => parts.extend([&**left, &**right]),
            ExprKind::Case(case) => {
                match &case.branches {
                    CaseBranches::Simple { branches, .. } => parts.extend(branches.iter().map(|branch| &branch.result)),
                    CaseBranches::Searched(branches) => parts.extend(branches.iter().map(|branch| &branch.result)),
                }
                parts.extend(&case.otherwise);
            }
            ExprKind::Iif(iif) => parts.extend([&iif.then, &iif.otherwise]),
            ExprKind::Function(call) => return self.cost_of_call(expr, call, scope, trial),
            ExprKind::Literal(_)
            | ExprKind::OdbcLiteral(_)
            | ExprKind::Variable(_)
            | ExprKind::Global(_)
            | ExprKind::Column(_)
            | ExprKind::TimeZone { .. }
            | ExprKind::Cast(_)
            | ExprKind::Subquery(_)
            | ExprKind::NextValue(_)
            | ExprKind::Default => {}
        }
        if parts.is_empty() {
            return Ok(cost);
        }
        let result = self.type_of(expr, scope, Some(trial))?;
        for part in parts {
            cost.take(self.cost(part, scope, trial)?);
            if matches!(part.kind, ExprKind::Literal(Literal::Null)) {
                cost.null += u32::from(result != DataType::Int);
            } else {
                cost.add(&self.type_of(part, scope, Some(trial))?, &result);
            }
        }
        Ok(cost)
    }

    /// What a function converts its arguments to is seen in the bound call.
    fn cost_of_call(
        &self,
        expr: &Expr,
        call: &FunctionCall,
        scope: &Scope,
        trial: Trial<'_>,
    ) -> Result<Cost, SqlError> {
        let variables = self.variables(Some(trial));
        let mut hook = Types {
            inference: self,
            scope,
            trial,
        };
        let bound = Binder::new(&variables, &mut hook).expr(expr)?;
        let (Arguments::List(written) | Arguments::Distinct(written)) = &call.arguments else {
            return Ok(Cost::default());
        };
        let (skipped, taken) = match bound.kind {
            BoundKind::Call(call) => (usize::from(call.part.is_some()), call.arguments),
            BoundKind::UserCall(call) => (0, call.arguments),
            BoundKind::Coalesce(values) => (0, values),
            BoundKind::Choose { index, values } => (0, std::iter::once(*index).chain(values).collect()),
            BoundKind::Literal(_)
            | BoundKind::Null
            | BoundKind::Variable(_)
            | BoundKind::Column(_)
            | BoundKind::QueryNode(_)
            | BoundKind::Input(_)
            | BoundKind::Convert(_)
            | BoundKind::Unary { .. }
            | BoundKind::Binary { .. }
            | BoundKind::Whole(_)
            | BoundKind::Let(_)
            | BoundKind::Local
            | BoundKind::Case { .. } => (0, Vec::new()),
        };
        let mut cost = Cost::default();
        for (written, taken) in written.iter().skip(skipped).zip(&taken) {
            cost.take(self.cost(written, scope, trial)?);
            cost.add(&self.type_of(written, scope, Some(trial))?, &taken.data_type);
        }
        Ok(cost)
    }
}

impl Cost {
    fn take(&mut self, more: Self) {
        self.other += more.other;
        self.null += more.null;
        self.padding += more.padding;
        self.length += more.length;
    }

    fn add(&mut self, from: &DataType, to: &DataType) {
        if from == to {
            return;
        }
        let are_alike = from.family() == to.family() && from.is_national() == to.is_national();
        let is_string = matches!(from.family(), Family::Text | Family::Binary);
        let is_same = from.precedence() == to.precedence();
        match (are_alike, is_string) {
            _ if is_same => self.length += 1,
            (true, true) => self.padding += 1,
            (_, _) => self.other += 1,
        }
    }
}

/// What a call's arguments are, for the binder.
struct Types<'a> {
    inference: &'a Inference<'a>,
    scope: &'a Scope,
    trial: Trial<'a>,
}

impl Types<'_> {
    fn bound(&self, kind: ExprKind) -> Result<Bound, SqlError> {
        let expr = Expr {
            kind,
            position: Position::default(),
        };
        let data_type = self.inference.type_of(&expr, self.scope, Some(self.trial))?;
        Ok(Bound::new(
            BoundKind::Column(ColumnRef { source: 0, column: 0 }),
            data_type,
        ))
    }
}

impl QueryHook for Types<'_> {
    fn column(&mut self, name: &ColumnName) -> Result<Bound, SqlError> {
        self.bound(ExprKind::Column(Box::new(name.clone())))
    }

    fn call(&mut self, call: &FunctionCall, _: Position) -> Result<Bound, SqlError> {
        self.bound(ExprKind::Function(Box::new(call.clone())))
    }

    fn subquery(&mut self, query: &Query) -> Result<Bound, SqlError> {
        self.bound(ExprKind::Subquery(Box::new(query.clone())))
    }

    fn exists(&mut self, _: &Query) -> Result<Predicate, SqlError> {
        Ok(Predicate::QueryNode(QueryNodeRef(0)))
    }

    fn in_query(&mut self, _: Bound, _: &Query) -> Result<Predicate, SqlError> {
        Ok(Predicate::QueryNode(QueryNodeRef(0)))
    }

    fn quantified(&mut self, _: Bound, _: Comparison, _: Quantifier, _: &Query) -> Result<Predicate, SqlError> {
        Ok(Predicate::QueryNode(QueryNodeRef(0)))
    }
}

/// The types that SQL Server tries, but for those that we do not have.
const CANDIDATES: &[DataType] = &[
    DataType::Bit,
    DataType::TinyInt,
    DataType::SmallInt,
    DataType::Int,
    DataType::BigInt,
    DataType::SmallMoney,
    DataType::Money,
    DataType::Real,
    DataType::Float,
    DataType::Numeric {
        precision: 38,
        scale: 19,
    },
    DataType::VarChar(Width::Limited(8000)),
    DataType::VarChar(Width::Max),
    DataType::NVarChar(Width::Limited(4000)),
    DataType::NVarChar(Width::Max),
    DataType::VarBinary(Width::Limited(8000)),
    DataType::VarBinary(Width::Max),
    DataType::Date,
    DataType::Time(7),
    DataType::SmallDateTime,
    DataType::DateTime,
    DataType::DateTime2(7),
    DataType::DateTimeOffset(7),
];
