//! Paths, and what they begin with.

use std::sync::Arc;

use super::super::token::Token;
use super::super::{Axis, Kind, NodeTest, Number, PathStart, QueryExpr, QueryPath, QueryStep};
use super::{Parse, Parser};

impl Parser<'_> {
    pub(super) fn path(&mut self) -> Parse<QueryExpr> {
        let mut path = QueryPath {
            start: PathStart::Context,
            predicates: Vec::new(),
            steps: Vec::new(),
        };
        if self.eat("//") {
            path.start = PathStart::Root;
            path.steps.push(anywhere());
            path.steps.push(self.step()?);
        } else if self.eat("/") {
            path.start = PathStart::Root;
            if !self.begins_step() {
                return Ok(QueryExpr::Path(Box::new(path)));
            }
            path.steps.push(self.step()?);
        } else if let Some(primary) = self.primary()? {
            if self.is("[") {
                self.check_read(&primary, "'[]'")?;
            }
            path.predicates = self.predicates()?;
            if path.predicates.is_empty() && !self.is("/") && !self.is("//") {
                return Ok(primary);
            }
            if self.is("/") || self.is("//") {
                self.check_read(&primary, "'/'")?;
            }
            path.start = PathStart::Expr(primary);
        } else {
            path.steps.push(self.step()?);
        }
        loop {
            if self.eat("//") {
                path.steps.push(anywhere());
            } else if !self.eat("/") {
                return Ok(QueryExpr::Path(Box::new(path)));
            }
            path.steps.push(self.step()?);
        }
    }

    fn begins_step(&mut self) -> bool {
        matches!(self.peek(), Some(Token::Name(_) | Token::Sign("@" | "*" | "." | "..")))
    }

    /// A constant, a variable, a call, a constructor, or what is in parentheses; `None` before a step.
    fn primary(&mut self) -> Parse<Option<QueryExpr>> {
        match self.peek() {
            Some(Token::Number(text)) => {
                let text = text.clone();
                self.lexer.skip(1);
                return self.number(&text).map(Some);
            }
            Some(Token::Text(text)) => {
                let text = Arc::from(text.as_str());
                self.lexer.skip(1);
                return Ok(Some(QueryExpr::Text(text)));
            }
            Some(Token::Sign("$")) => return self.variable().map(Some),
            Some(Token::Sign("<")) => return self.direct().map(Some),
            Some(Token::Sign("(")) => {}
            Some(Token::Name(_)) => return self.named_primary(),
            Some(Token::BadReference(_)) => return Err(self.unexpected()),
            Some(Token::Sign(_) | Token::Other(_)) | None => return Ok(None),
        }
        self.lexer.skip(1);
        if self.eat(")") {
            return Ok(Some(QueryExpr::Sequence(Vec::new())));
        }
        let inner = self.sequence()?;
        self.expect(")")?;
        Ok(Some(inner))
    }

    /// Errors: 2342 for too many digits.
    fn number(&self, text: &str) -> Parse<QueryExpr> {
        let number = match text.contains(['e', 'E']) {
            true => text.parse().ok().map(Number::Double),
            false => Number::exact(text),
        };
        let number = number.ok_or_else(|| self.error(2342, "Invalid numeric constant."))?;
        Ok(QueryExpr::Number(number))
    }

    /// A call or a constructor; `None` before a step.
    fn named_primary(&mut self) -> Parse<Option<QueryExpr>> {
        if let Some(made) = self.computed()? {
            return Ok(Some(made));
        }
        let prefixed = self.is_at(1, ":");
        let opens = self.is_at(if prefixed { 3 } else { 1 }, "(");
        let next_is_brace = !prefixed && self.is_at(1, "{");
        let Some(Token::Name(word)) = self.peek() else {
            return Ok(None);
        };
        let word = word.clone();
        if next_is_brace {
            return Err(self.refused(&word));
        }
        if !opens || !prefixed && NODE_TESTS.contains(&word.as_str()) {
            return Ok(None);
        }
        self.lexer.skip(1);
        if !prefixed {
            return self.call("", &word).map(Some);
        }
        self.lexer.skip(1);
        let name = self.name()?;
        self.call(&word, &name).map(Some)
    }

    /// Errors: 2203 for a value that is neither a position nor a condition.
    fn predicates(&mut self) -> Parse<Vec<QueryExpr>> {
        let mut predicates = Vec::new();
        while self.eat("[") {
            self.predicate_depth += 1;
            let predicate = self.expr()?;
            self.predicate_depth -= 1;
            if self.is(",") {
                return Err(self.error(9303, "Syntax error near ',', expected ']'."));
            }
            self.expect("]")?;
            if let Kind::Texts | Kind::Untyped | Kind::Mixed = predicate.kind() {
                let text = format!(
                    "Only 'http://www.w3.org/2001/XMLSchema#decimal?', 'http://www.w3.org/2001/XMLSchema#boolean?' or \
                     'node()*' expressions allowed as predicates, found '{}'",
                    predicate.described()
                );
                return Err(self.error(2203, &text));
            }
            predicates.push(predicate);
        }
        Ok(predicates)
    }

    fn step(&mut self) -> Parse<QueryStep> {
        let (axis, test) = if self.eat("..") {
            (Axis::Parent, NodeTest::Node)
        } else if self.eat(".") {
            (Axis::Own, NodeTest::Node)
        } else {
            let axis = self.axis()?;
            (axis, self.node_test(axis)?)
        };
        Ok(QueryStep {
            axis,
            test,
            predicates: self.predicates()?,
        })
    }

    fn axis(&mut self) -> Parse<Axis> {
        if self.eat("@") {
            return Ok(Axis::Attribute);
        }
        if !self.is_at(1, "::") {
            return Ok(Axis::Child);
        }
        let name = self.name()?;
        let axis = match name.as_str() {
            "child" => Axis::Child,
            "attribute" => Axis::Attribute,
            "self" => Axis::Own,
            "parent" => Axis::Parent,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            _ => return Err(self.refused(&format!("the axis {name}"))),
        };
        self.lexer.skip(1);
        Ok(axis)
    }

    fn node_test(&mut self, axis: Axis) -> Parse<NodeTest> {
        if self.eat("*") {
            let local = match self.eat(":") {
                true => Some(Arc::from(self.name()?)),
                false => None,
            };
            return Ok(NodeTest::Name { namespace: None, local });
        }
        let name = self.name()?;
        if self.eat("(") {
            return self.kind_test(&name);
        }
        if self.eat(":") {
            let namespace = Some(self.namespace(&name)?);
            let local = match self.eat("*") {
                true => None,
                false => Some(Arc::from(self.name()?)),
            };
            return Ok(NodeTest::Name { namespace, local });
        }
        let namespace = match axis {
            Axis::Attribute => Arc::from(""),
            Axis::Child | Axis::Own | Axis::Parent | Axis::Descendant | Axis::DescendantOrSelf => {
                Arc::clone(&self.default)
            }
        };
        Ok(NodeTest::Name {
            namespace: Some(namespace),
            local: Some(Arc::from(name)),
        })
    }

    /// What is behind `text(` and others.
    fn kind_test(&mut self, name: &str) -> Parse<NodeTest> {
        let test = match name {
            "node" => NodeTest::Node,
            "text" => NodeTest::Text,
            "comment" => NodeTest::Comment,
            "processing-instruction" => {
                let has_target = matches!(self.peek(), Some(Token::Text(_)));
                NodeTest::Instruction(match has_target {
                    true => Some(Arc::from(self.text()?)),
                    false => None,
                })
            }
            _ => return Err(self.refused(&format!("{name}()"))),
        };
        self.expect(")")?;
        Ok(test)
    }
}

/// The step that `//` stands for.
fn anywhere() -> QueryStep {
    QueryStep {
        axis: Axis::DescendantOrSelf,
        test: NodeTest::Node,
        predicates: Vec::new(),
    }
}

const NODE_TESTS: [&str; 7] = [
    "node",
    "text",
    "comment",
    "processing-instruction",
    "element",
    "attribute",
    "document-node",
];
