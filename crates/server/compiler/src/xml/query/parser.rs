//! Parses XQuery.

use std::collections::HashMap;
use std::sync::Arc;

use selenite_types::Comparison;

use super::call::FUNCTIONS;
use super::token::{Token, tokens};
use super::{Axis, External, NodeTest, PathStart, QueryExpr, QueryPath, QueryStep, XmlQuery};
use crate::{Ends, SqlError};

impl XmlQuery {
    /// The query of a text; `method` is for messages.
    ///
    /// Errors: 2209 for a syntax error, 2229 for an unknown prefix, 2395 for an unknown function, 40510 for what is not
    /// supported.
    pub fn parse(text: &str, method: &str) -> Result<Self, SqlError> {
        let mut parser = Parser {
            tokens: tokens(text),
            at: 0,
            method,
            prefixes: HashMap::from([
                ("xml".to_owned(), Arc::from("http://www.w3.org/XML/1998/namespace")),
                ("xs".to_owned(), Arc::from("http://www.w3.org/2001/XMLSchema")),
                ("xsi".to_owned(), Arc::from("http://www.w3.org/2001/XMLSchema-instance")),
                ("fn".to_owned(), Arc::from(FUNCTION_NAMESPACE)),
                ("sql".to_owned(), Arc::from("urn:schemas-microsoft-com:xml-sql")),
            ]),
            default: Arc::from(""),
            externals: Vec::new(),
            depth: 0,
        };
        parser.prolog()?;
        let root = match parser.peek().is_none() {
            true => QueryExpr::Sequence(Vec::new()),
            false => parser.sequence()?,
        };
        match parser.peek() {
            None => Ok(Self {
                root,
                externals: parser.externals,
            }),
            Some(_) => Err(parser.unexpected()),
        }
    }
}

struct Parser<'a> {
    /// Each with whether white space is before it.
    tokens: Vec<(Token, bool)>,
    at: usize,
    method: &'a str,
    /// Prefixes and their namespaces, the last one of a prefix counts.
    prefixes: HashMap<String, Arc<str>>,
    /// The namespace of elements without a prefix.
    default: Arc<str>,
    externals: Vec<External>,
    depth: usize,
}

type Parse<T> = Result<T, SqlError>;

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|(token, _)| token)
    }

    fn is(&self, sign: &str) -> bool {
        self.is_at(0, sign)
    }

    fn is_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek_at(ahead), Some(Token::Sign(next)) if *next == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_next = self.is(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Parse<()> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek_at(ahead), Some(Token::Name(next)) if next == word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.at += usize::from(is_next);
        is_next
    }

    fn name(&mut self) -> Parse<String> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            Some(_) | None => Err(self.unexpected()),
        }
    }

    fn text(&mut self) -> Parse<String> {
        match self.peek() {
            Some(Token::Text(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            Some(_) | None => Err(self.unexpected()),
        }
    }

    /// 2209, at the next token.
    fn unexpected(&self) -> SqlError {
        let near = match self.peek() {
            None => "<eof>".to_owned(),
            Some(Token::Name(name)) => name.clone(),
            Some(Token::Number(number)) => number.to_string(),
            Some(Token::Text(text)) => text.clone(),
            Some(Token::Sign(sign)) => (*sign).to_owned(),
            Some(Token::Other(other)) => other.to_string(),
        };
        self.error(2209, &format!("Syntax error near '{near}'"))
    }

    fn error(&self, number: i32, what: &str) -> SqlError {
        SqlError::new(number, Ends::Batch, format!("XQuery [{}()]: {what}", self.method))
    }

    fn refused(&self, what: &str) -> SqlError {
        SqlError::unsupported(&format!("XQuery: {what}"))
    }

    /// Declarations of namespaces.
    fn prolog(&mut self) -> Parse<()> {
        while self.is_word("declare") {
            self.at += 1;
            if self.eat_word("namespace") {
                let prefix = self.name()?;
                self.expect("=")?;
                let namespace = Arc::from(self.text()?);
                self.prefixes.insert(prefix, namespace);
            } else if self.is_word("default") && self.is_word_at(1, "element") && self.is_word_at(2, "namespace") {
                self.at += 3;
                self.eat("=");
                self.default = Arc::from(self.text()?);
            } else {
                return Err(self.refused("a declaration other than of a namespace"));
            }
            self.expect(";")?;
        }
        Ok(())
    }

    fn sequence(&mut self) -> Parse<QueryExpr> {
        let mut parts = vec![self.expr()?];
        while self.eat(",") {
            parts.push(self.expr()?);
        }
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(QueryExpr::Sequence(parts)),
        }
    }

    fn expr(&mut self) -> Parse<QueryExpr> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.refused("an expression that is nested so deeply"));
        }
        let mut parts = vec![self.conjunction()?];
        while self.eat_word("or") {
            parts.push(self.conjunction()?);
        }
        self.depth -= 1;
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(QueryExpr::Or(parts)),
        }
    }

    fn conjunction(&mut self) -> Parse<QueryExpr> {
        let mut parts = vec![self.comparison()?];
        while self.eat_word("and") {
            parts.push(self.comparison()?);
        }
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Ok(QueryExpr::And(parts)),
        }
    }

    fn comparison(&mut self) -> Parse<QueryExpr> {
        let left = self.path()?;
        let found = COMPARISONS
            .iter()
            .find(|(sign, word, _)| self.is(sign) || self.is_word(word));
        let Some((_, _, comparison)) = found else {
            let refused = ["+", "|", "$"].iter().find(|sign| self.is(sign)).copied();
            let words = [
                "div",
                "mod",
                "idiv",
                "union",
                "to",
                "is",
                "cast",
                "instance",
                "intersect",
                "except",
            ];
            let word = words.iter().find(|word| self.is_word(word)).copied();
            return match refused.or(word) {
                Some(what) => Err(self.refused(what)),
                None => Ok(left),
            };
        };
        self.at += 1;
        let right = self.path()?;
        Ok(QueryExpr::Compare(*comparison, Box::new(left), Box::new(right)))
    }

    fn path(&mut self) -> Parse<QueryExpr> {
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
            path.predicates = self.predicates()?;
            if path.predicates.is_empty() && !self.is("/") && !self.is("//") {
                return Ok(primary);
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

    fn begins_step(&self) -> bool {
        matches!(self.peek(), Some(Token::Name(_) | Token::Sign("@" | "*" | "." | "..")))
    }

    /// A constant, a call, or what is in parentheses; `None` before a step.
    fn primary(&mut self) -> Parse<Option<QueryExpr>> {
        if let Some(Token::Number(number)) = self.peek() {
            let number = *number;
            self.at += 1;
            return Ok(Some(QueryExpr::Number(number)));
        }
        if let Some(Token::Text(text)) = self.peek() {
            let text = Arc::from(text.as_str());
            self.at += 1;
            return Ok(Some(QueryExpr::Text(text)));
        }
        if self.eat("(") {
            if self.eat(")") {
                return Ok(Some(QueryExpr::Sequence(Vec::new())));
            }
            let inner = self.sequence()?;
            self.expect(")")?;
            return Ok(Some(inner));
        }
        if self.is("$") {
            return Err(self.refused("variables"));
        }
        if self.is("<") {
            return Err(self.refused("constructors of nodes"));
        }
        let prefixed = self.is_at(1, ":");
        let opens = self.is_at(if prefixed { 3 } else { 1 }, "(");
        match self.peek() {
            Some(Token::Name(word)) if !prefixed && !opens => {
                let next_is_variable = matches!(self.peek_at(1), Some(Token::Sign("$")));
                let is_flwor = ["for", "let", "some", "every"].contains(&word.as_str()) && next_is_variable;
                let next_is_brace = matches!(self.peek_at(1), Some(Token::Other('{')));
                match is_flwor || next_is_brace {
                    true => Err(self.refused(word)),
                    false => Ok(None),
                }
            }
            Some(Token::Name(word)) if opens && (prefixed || !NODE_TESTS.contains(&word.as_str())) => {
                let mut name = word.clone();
                self.at += 1;
                let mut prefix = String::new();
                if prefixed {
                    self.at += 1;
                    prefix = std::mem::replace(&mut name, self.name()?);
                }
                self.call(&prefix, &name).map(Some)
            }
            Some(Token::Name(_) | Token::Number(_) | Token::Text(_) | Token::Sign(_) | Token::Other(_)) | None => {
                Ok(None)
            }
        }
    }

    fn call(&mut self, prefix: &str, name: &str) -> Parse<QueryExpr> {
        if prefix == "sql" && matches!(name, "column" | "variable") {
            self.expect("(")?;
            let written = self.text()?;
            self.expect(")")?;
            let external = match name {
                "column" => External::Column(written.split('.').map(|part| unbracketed(part).to_owned()).collect()),
                _ => External::Variable(written),
            };
            self.externals.push(external);
            return Ok(QueryExpr::External(self.externals.len() - 1));
        }
        if name == "if" {
            return Err(self.refused(name));
        }
        let is_own = prefix.is_empty() || *self.namespace(prefix)? == *FUNCTION_NAMESPACE;
        let found = FUNCTIONS.iter().find(|(known, ..)| is_own && *known == name);
        let Some((_, function, least, most)) = found else {
            let name = if prefix.is_empty() {
                name.to_owned()
            } else {
                format!("{prefix}:{name}")
            };
            return Err(self.refused(&format!("{name}()")));
        };
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.expr()?);
        }
        if arguments.len() < *least || arguments.len() > *most {
            return Err(self.unexpected());
        }
        Ok(QueryExpr::Call(*function, arguments))
    }

    fn predicates(&mut self) -> Parse<Vec<QueryExpr>> {
        let mut predicates = Vec::new();
        while self.eat("[") {
            predicates.push(self.sequence()?);
            self.expect("]")?;
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
        self.at += 1;
        Ok(axis)
    }

    fn node_test(&mut self, axis: Axis) -> Parse<NodeTest> {
        if self.eat("*") {
            if self.eat(":") {
                let local = Some(Arc::from(self.name()?));
                return Ok(NodeTest::Name { namespace: None, local });
            }
            return Ok(NodeTest::Name {
                namespace: None,
                local: None,
            });
        }
        let name = self.name()?;
        if self.eat("(") {
            let test = match name.as_str() {
                "node" => NodeTest::Node,
                "text" => NodeTest::Text,
                "comment" => NodeTest::Comment,
                "processing-instruction" => {
                    let target = match self.peek() {
                        Some(Token::Text(_)) => Some(Arc::from(self.text()?)),
                        Some(Token::Name(_) | Token::Number(_) | Token::Sign(_) | Token::Other(_)) | None => None,
                    };
                    NodeTest::Instruction(target)
                }
                _ => return Err(self.refused(&format!("{name}()"))),
            };
            self.expect(")")?;
            return Ok(test);
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

    fn namespace(&self, prefix: &str) -> Parse<Arc<str>> {
        let unknown = || self.error(2229, &format!("The name \"{prefix}\" does not denote a namespace."));
        self.prefixes.get(prefix).cloned().ok_or_else(unknown)
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

fn unbracketed(part: &str) -> &str {
    let part = part.trim();
    part.strip_prefix('[')
        .and_then(|part| part.strip_suffix(']'))
        .unwrap_or(part)
}

const COMPARISONS: [(&str, &str, Comparison); 6] = [
    ("=", "eq", Comparison::Equal),
    ("!=", "ne", Comparison::NotEqual),
    ("<", "lt", Comparison::Less),
    ("<=", "le", Comparison::LessOrEqual),
    (">", "gt", Comparison::Greater),
    (">=", "ge", Comparison::GreaterOrEqual),
];
const NODE_TESTS: [&str; 7] = [
    "node",
    "text",
    "comment",
    "processing-instruction",
    "element",
    "attribute",
    "document-node",
];
const FUNCTION_NAMESPACE: &str = "http://www.w3.org/2004/07/xpath-functions";
/// The nesting of parentheses and predicates.
const DEPTH_MAX: usize = 64;
