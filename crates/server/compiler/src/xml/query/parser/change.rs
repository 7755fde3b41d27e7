//! The changes of modify().

use super::super::{InsertPlace, NodeTest, PathStart, QueryExpr, QueryStep, XmlChange, XmlChangeKind};
use super::{Kind, Parse, Parser};
use crate::xml::query::Axis;
use crate::{Ends, SqlError};

impl XmlChange {
    /// The change of a text.
    ///
    /// Errors: 6306 for an empty text, 6305 for what is no change; those of queries, and of what is changed.
    pub fn parse(text: &str) -> Result<Self, SqlError> {
        if text.trim().is_empty() {
            return Err(SqlError::xml_query_missing());
        }
        let mut parser = Parser::new(text, "modify");
        parser.prolog()?;
        let kind = match () {
            () if parser.eat_word("insert") => parser.insert()?,
            () if parser.eat_word("delete") => parser.delete()?,
            () if parser.is_word("replace") && parser.is_word_at(1, "value") && parser.is_word_at(2, "of") => {
                parser.lexer.skip(3);
                parser.replace()?
            }
            () => {
                parser.sequence()?;
                let text = "XQuery data manipulation expression required in XML data type method.";
                // 6305: a query.
                return Err(SqlError::new(6305, Ends::Batch, text));
            }
        };
        if parser.peek().is_some() {
            return Err(parser.unexpected());
        }
        let inserted = match &kind {
            XmlChangeKind::Insert(source, ..) => externals_of(source),
            XmlChangeKind::Delete(_) | XmlChangeKind::Replace(..) => Vec::new(),
        };
        Ok(Self {
            kind,
            externals: parser.externals,
            inserted,
            prolog: parser.declared,
        })
    }
}

impl Parser<'_> {
    fn insert(&mut self) -> Parse<XmlChangeKind> {
        let source = self.expr()?;
        let place = match () {
            () if self.eat_word("into") => InsertPlace::Last,
            () if self.eat_word("before") => InsertPlace::Before,
            () if self.eat_word("after") => InsertPlace::After,
            () if self.eat_word("as") => {
                let place = match () {
                    () if self.eat_word("first") => InsertPlace::First,
                    () if self.eat_word("last") => InsertPlace::Last,
                    () => return Err(self.unexpected()),
                };
                if !self.eat_word("into") {
                    return Err(self.unexpected());
                }
                place
            }
            () => return Err(self.unexpected()),
        };
        let target = self.expr()?;
        self.check_read(&target, "'insert'")?;
        if !target.is_single() || !target.kind().is_nodes() {
            return Err(SqlError::xml_insert_not_single(&target.described()));
        }
        if source.kind().is_values() && externals_of(&source).is_empty() {
            return Err(SqlError::xml_not_inserted(&source.described()));
        }
        let is_inside = matches!(place, InsertPlace::First | InsertPlace::Last);
        if let (false, QueryExpr::Attribute(..)) = (is_inside, &source) {
            return Err(SqlError::xml_attribute_beside(&source.described()));
        }
        match (is_inside, node_of(&target)) {
            (true, Some(TargetNode::Attribute | TargetNode::Text | TargetNode::Other)) => {
                Err(SqlError::xml_not_inserted_into(&target.described()))
            }
            (false, Some(TargetNode::Attribute | TargetNode::Document)) => {
                Err(SqlError::xml_not_inserted_beside(&target.described()))
            }
            (_, _) => Ok(XmlChangeKind::Insert(source, place, target)),
        }
    }

    fn delete(&mut self) -> Parse<XmlChangeKind> {
        let target = self.expr()?;
        self.check_read(&target, "'delete'")?;
        if target.kind().is_values() || node_of(&target) == Some(TargetNode::Document) {
            return Err(SqlError::xml_not_deleted(&target.described()));
        }
        Ok(XmlChangeKind::Delete(target))
    }

    fn replace(&mut self) -> Parse<XmlChangeKind> {
        let target = self.expr()?;
        if !self.eat_word("with") {
            return Err(self.error(2205, "\"with\" was expected."));
        }
        let value = self.expr()?;
        self.check_read(&target, "'replace'")?;
        if !target.is_single() {
            return Err(SqlError::xml_replace_not_single(&target.described()));
        }
        match node_of(&target) {
            Some(TargetNode::Attribute | TargetNode::Text) | None if target.kind().is_nodes() => {}
            Some(_) | None => return Err(SqlError::xml_not_replaced(&target.described())),
        }
        if value.kind() == Kind::Made {
            let text = "The 'with' clause of 'replace value of' cannot contain constructed XML.";
            return Err(self.error(9310, text));
        }
        Ok(XmlChangeKind::Replace(target, value))
    }
}

/// What a target is, as far as its form says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetNode {
    Document,
    Element,
    Attribute,
    Text,
    Other,
}

fn node_of(target: &QueryExpr) -> Option<TargetNode> {
    let QueryExpr::Path(path) = target else { return None };
    let Some(QueryStep { axis, test, .. }) = path.steps.last() else {
        return match &path.start {
            PathStart::Context | PathStart::Root => Some(TargetNode::Document),
            PathStart::Expr(expr) => node_of(expr),
        };
    };
    let is_own = matches!(
        (&path.start, axis, path.steps.len()),
        (PathStart::Context, Axis::Own, 1)
    );
    match test {
        NodeTest::Text => Some(TargetNode::Text),
        NodeTest::Comment | NodeTest::Instruction(_) => Some(TargetNode::Other),
        NodeTest::Node if is_own => Some(TargetNode::Document),
        NodeTest::Node => None,
        NodeTest::Name { .. } => Some(match axis {
            Axis::Attribute => TargetNode::Attribute,
            Axis::Child | Axis::Own | Axis::Parent | Axis::Descendant | Axis::DescendantOrSelf => TargetNode::Element,
        }),
    }
}

/// The values of sql:variable and sql:column that an expression consists of.
fn externals_of(source: &QueryExpr) -> Vec<usize> {
    if let QueryExpr::External(at) = source {
        return vec![*at];
    }
    let QueryExpr::Sequence(parts) = source else {
        return Vec::new();
    };
    let found: Vec<usize> = parts.iter().flat_map(externals_of).collect();
    if found.len() == parts.len() { found } else { Vec::new() }
}
