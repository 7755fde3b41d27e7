//! What the items of an expression are, as far as its form says.

use super::{Axis, NodeTest, Number, PathStart, QueryExpr, QueryFunction, QueryPath};

/// What items are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Nothing.
    Empty,
    /// Nodes of the document.
    Nodes,
    /// Nodes that a constructor makes, and others.
    Made,
    /// Numbers.
    Numbers,
    /// Texts.
    Texts,
    /// true or false.
    Booleans,
    /// Values without a type.
    Untyped,
    /// Values of sql:column and sql:variable.
    External,
    /// Values of several types.
    Mixed,
}

impl Kind {
    /// Whether there are values of one type.
    pub fn is_typed(self) -> bool {
        matches!(self, Self::Numbers | Self::Texts | Self::Booleans | Self::External)
    }

    /// Whether there are nodes.
    pub fn is_nodes(self) -> bool {
        matches!(self, Self::Nodes | Self::Made)
    }

    /// Whether there are values.
    pub fn is_values(self) -> bool {
        !matches!(self, Self::Nodes | Self::Made | Self::Empty)
    }

    /// Of items of both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, kind) | (kind, Self::Empty) => kind,
            _ if self == other => self,
            (Self::Made, _) | (_, Self::Made) => Self::Made,
            _ if self.is_nodes() || other.is_nodes() => Self::Nodes,
            (_, _) => Self::Mixed,
        }
    }
}

impl QueryExpr {
    /// What the items are.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Number(_) | Self::Arithmetic(..) | Self::Negate(_) => Kind::Numbers,
            Self::Text(_) => Kind::Texts,
            Self::External(_) => Kind::External,
            Self::Compare(..) | Self::And(_) | Self::Or(_) | Self::Quantified(..) => Kind::Booleans,
            Self::Call(function, arguments) => kind_of(*function, arguments.first().map_or(Kind::Nodes, Self::kind)),
            Self::Sequence(parts) => parts.iter().map(Self::kind).fold(Kind::Empty, Kind::with),
            Self::Variable(variable) => variable.kind,
            Self::If(parts) => {
                let [_, then, otherwise] = &**parts;
                then.kind().with(otherwise.kind())
            }
            Self::Flwor(flwor) => flwor.result.kind(),
            Self::Element(_) | Self::Attribute(..) | Self::TextNode(_) | Self::Markup(_) => Kind::Made,
            Self::Path(path) => match &path.start {
                PathStart::Expr(expr) if path.steps.is_empty() => expr.kind(),
                PathStart::Expr(_) | PathStart::Context | PathStart::Root => Kind::Nodes,
            },
        }
    }

    /// The type as messages have it, with `?` or `*`.
    pub(super) fn described(&self) -> String {
        let (name, is_literal) = match self {
            Self::Number(Number::Exact(_)) => ("xs:integer".to_owned(), true),
            Self::Number(Number::Double(_)) => ("xs:double".to_owned(), true),
            Self::Text(_) => ("xs:string".to_owned(), true),
            Self::Path(path) => match &path.start {
                PathStart::Expr(expr) if path.steps.is_empty() && path.predicates.is_empty() => {
                    return expr.described();
                }
                PathStart::Expr(expr) if path.steps.is_empty() => (without_sign(&expr.described()), false),
                PathStart::Expr(_) | PathStart::Context | PathStart::Root => (path.described(), false),
            },
            Self::Attribute(_, name, _) => (format!("attribute({name},xdt:untypedAtomic)"), true),
            Self::Element(element) => (format!("element({},xdt:untyped)", element.name), true),
            Self::Flwor(flwor) => (without_sign(&flwor.result.described()), false),
            Self::External(_)
            | Self::Compare(..)
            | Self::And(_)
            | Self::Or(_)
            | Self::Call(..)
            | Self::Sequence(_)
            | Self::Variable(_)
            | Self::Arithmetic(..)
            | Self::Negate(_)
            | Self::If(_)
            | Self::Quantified(..)
            | Self::TextNode(_)
            | Self::Markup(_) => match self.kind() {
                Kind::Empty => return "empty".to_owned(),
                Kind::Nodes | Kind::Made => ("node()".to_owned(), false),
                Kind::Numbers => ("xs:decimal".to_owned(), false),
                Kind::Texts => ("xs:string".to_owned(), false),
                Kind::Booleans => ("xs:boolean".to_owned(), true),
                Kind::Untyped | Kind::External | Kind::Mixed => ("xdt:untypedAtomic".to_owned(), false),
            },
        };
        match (is_literal, self.is_single()) {
            (true, _) => name,
            (false, true) => format!("{name} ?"),
            (false, false) => format!("{name} *"),
        }
    }
}

impl QueryPath {
    fn described(&self) -> String {
        let Some(step) = self.steps.last() else {
            return "document { (element(*,xdt:untyped) ? & text ? & comment ? & processing-instruction ?) * }"
                .to_owned();
        };
        match &step.test {
            NodeTest::Text => "text".to_owned(),
            NodeTest::Comment => "comment".to_owned(),
            NodeTest::Instruction(_) => "processing-instruction".to_owned(),
            NodeTest::Node => "node()".to_owned(),
            NodeTest::Name { local, .. } => {
                let name = local.as_deref().unwrap_or("*");
                match step.axis {
                    Axis::Attribute => format!("attribute({name},xdt:untypedAtomic)"),
                    Axis::Child | Axis::Own | Axis::Parent | Axis::Descendant | Axis::DescendantOrSelf => {
                        format!("element({name},xdt:untyped)")
                    }
                }
            }
        }
    }
}

fn without_sign(described: &str) -> String {
    described.trim_end_matches([' ', '?', '*']).to_owned()
}

/// What a function's result is; `first` is its first argument.
fn kind_of(function: QueryFunction, first: Kind) -> Kind {
    match function {
        QueryFunction::Min | QueryFunction::Max if first.is_typed() => first,
        QueryFunction::Data | QueryFunction::DistinctValues if first.is_values() => first,
        QueryFunction::Count
        | QueryFunction::Sum
        | QueryFunction::Min
        | QueryFunction::Max
        | QueryFunction::Avg
        | QueryFunction::Number
        | QueryFunction::TextLength
        | QueryFunction::Last
        | QueryFunction::Position
        | QueryFunction::Floor
        | QueryFunction::Ceiling
        | QueryFunction::Round => Kind::Numbers,
        QueryFunction::Text
        | QueryFunction::Concat
        | QueryFunction::UpperCase
        | QueryFunction::LowerCase
        | QueryFunction::LocalName
        | QueryFunction::NamespaceUri
        | QueryFunction::Substring => Kind::Texts,
        QueryFunction::Not
        | QueryFunction::Empty
        | QueryFunction::True
        | QueryFunction::False
        | QueryFunction::Contains => Kind::Booleans,
        QueryFunction::Data | QueryFunction::DistinctValues => Kind::Untyped,
    }
}
