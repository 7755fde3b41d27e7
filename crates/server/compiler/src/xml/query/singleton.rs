//! Whether an expression has at most one item, as far as its form says.

use super::{Axis, PathStart, QueryExpr, QueryFunction, QueryPath};

impl QueryExpr {
    /// Whether there is at most one item, whatever the document.
    pub fn is_single(&self) -> bool {
        match self {
            Self::Number(_)
            | Self::Text(_)
            | Self::External(_)
            | Self::Compare(..)
            | Self::And(_)
            | Self::Or(_)
            | Self::Arithmetic(..)
            | Self::Negate(_)
            | Self::Quantified(..)
            | Self::Element(_)
            | Self::Attribute(..)
            | Self::TextNode(_)
            | Self::Markup(_) => true,
            Self::Variable(variable) => variable.single,
            Self::If(parts) => {
                let [_, then, otherwise] = &**parts;
                then.is_single() && otherwise.is_single()
            }
            Self::Flwor(flwor) => {
                let mut variables = flwor.variables.iter();
                variables.all(|(is_let, items)| *is_let || items.is_single()) && flwor.result.is_single()
            }
            Self::Call(QueryFunction::Data | QueryFunction::DistinctValues, arguments) => {
                arguments.iter().all(Self::is_single)
            }
            Self::Call(..) => true,
            Self::Path(path) => path.is_single(),
            Self::Sequence(parts) => parts.len() < 2 && parts.iter().all(Self::is_single),
        }
    }

    /// Whether it is a position: a number, or last().
    fn is_position(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Call(QueryFunction::Last, _))
    }
}

impl QueryPath {
    fn is_single(&self) -> bool {
        let start = match &self.start {
            PathStart::Context | PathStart::Root => true,
            PathStart::Expr(expr) => expr.is_single(),
        };
        let single = start || self.predicates.iter().any(QueryExpr::is_position);
        single
            && self.steps.iter().all(|step| {
                let is_one = match step.axis {
                    Axis::Own | Axis::Parent => true,
                    Axis::Attribute => step.test.is_one_name(),
                    Axis::Child | Axis::Descendant | Axis::DescendantOrSelf => false,
                };
                is_one || step.predicates.iter().any(QueryExpr::is_position)
            })
    }
}

impl super::NodeTest {
    /// Whether an element has at most one such attribute.
    fn is_one_name(&self) -> bool {
        matches!(
            self,
            Self::Name {
                namespace: Some(_),
                local: Some(_)
            }
        )
    }
}
