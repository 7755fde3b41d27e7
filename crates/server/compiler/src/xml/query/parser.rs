//! Parses XQuery.

mod change;
mod constructor;
mod flwor;
mod operators;
mod path;

use std::collections::HashMap;
use std::sync::Arc;

use super::call::FUNCTIONS;
use super::token::{Lexer, Token, reference_fault};
use super::{Binding, External, Kind, QueryExpr, QueryFunction, QueryVariable, XmlQuery};
use crate::{Ends, SqlError};

impl XmlQuery {
    /// The query of a text; `method` is for messages.
    ///
    /// Errors: 2209 for a syntax error, 2229 for an unknown prefix, 2389 for several items where there can be one, 2373
    /// for what reads nodes that are made, 40510 for what is not supported, and others.
    pub fn parse(text: &str, method: &str) -> Result<Self, SqlError> {
        let mut parser = Parser::new(text, method);
        parser.prolog()?;
        let root = match parser.peek().is_none() {
            true => QueryExpr::Sequence(Vec::new()),
            false => parser.sequence()?,
        };
        match method {
            "value" => parser.check_read(&root, "data()")?,
            "nodes" => {
                parser.check_read(&root, "'nodes()'")?;
                if root.kind().is_values() {
                    return Err(parser.error(2374, "A node or set of nodes is required for 'nodes()'"));
                }
            }
            _ => {}
        }
        match parser.peek() {
            None => Ok(Self {
                root,
                externals: parser.externals,
                prolog: parser.declared,
            }),
            Some(_) => Err(parser.unexpected()),
        }
    }
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    method: &'a str,
    /// Prefixes and their namespaces, the last one of a prefix counts.
    prefixes: HashMap<String, Arc<str>>,
    /// The namespace of elements without a prefix.
    default: Arc<str>,
    /// The declarations of the prolog.
    declared: Vec<Binding>,
    externals: Vec<External>,
    /// The variables of the expressions around.
    variables: Vec<(String, QueryVariable)>,
    depth: usize,
    /// The predicates around.
    predicate_depth: usize,
}

type Parse<T> = Result<T, SqlError>;

impl<'a> Parser<'a> {
    fn new(text: &'a str, method: &'a str) -> Self {
        Self {
            lexer: Lexer::new(text),
            method,
            prefixes: HashMap::from([
                ("xml".to_owned(), Arc::from("http://www.w3.org/XML/1998/namespace")),
                ("xs".to_owned(), Arc::from("http://www.w3.org/2001/XMLSchema")),
                ("xsi".to_owned(), Arc::from("http://www.w3.org/2001/XMLSchema-instance")),
                ("fn".to_owned(), Arc::from(FUNCTION_NAMESPACE)),
                ("sql".to_owned(), Arc::from("urn:schemas-microsoft-com:xml-sql")),
            ]),
            default: Arc::from(""),
            declared: Vec::new(),
            externals: Vec::new(),
            variables: Vec::new(),
            depth: 0,
            predicate_depth: 0,
        }
    }

    fn peek(&mut self) -> Option<&Token> {
        self.lexer.peek(0)
    }

    fn is(&mut self, sign: &str) -> bool {
        self.is_at(0, sign)
    }

    fn is_at(&mut self, ahead: usize, sign: &str) -> bool {
        matches!(self.lexer.peek(ahead), Some(Token::Sign(next)) if *next == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_next = self.is(sign);
        self.lexer.skip(usize::from(is_next));
        is_next
    }

    fn expect(&mut self, sign: &str) -> Parse<()> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn is_word(&mut self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    fn is_word_at(&mut self, ahead: usize, word: &str) -> bool {
        matches!(self.lexer.peek(ahead), Some(Token::Name(next)) if next == word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.lexer.skip(usize::from(is_next));
        is_next
    }

    /// Errors: 9303 for another token.
    fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) {
            return Ok(());
        }
        let near = self.near();
        Err(self.error(9303, &format!("Syntax error near '{near}', expected '{word}'.")))
    }

    fn name(&mut self) -> Parse<String> {
        let name = match self.peek() {
            Some(Token::Name(name)) => name.clone(),
            Some(_) | None => return Err(self.unexpected()),
        };
        self.lexer.skip(1);
        Ok(name)
    }

    fn text(&mut self) -> Parse<String> {
        let text = match self.peek() {
            Some(Token::Text(text)) => text.clone(),
            Some(_) | None => return Err(self.unexpected()),
        };
        self.lexer.skip(1);
        Ok(text)
    }

    /// The next token, as messages have it.
    fn near(&mut self) -> String {
        match self.peek() {
            None => "<eof>".to_owned(),
            Some(Token::Name(text) | Token::Number(text) | Token::Text(text) | Token::BadReference(text)) => {
                text.clone()
            }
            Some(Token::Sign(sign)) => (*sign).to_owned(),
            Some(Token::Other(other)) => other.to_string(),
        }
    }

    /// 2209, at the next token; the error of its reference.
    fn unexpected(&mut self) -> SqlError {
        if let Some(Token::BadReference(behind)) = self.peek() {
            let (number, text) = reference_fault(behind);
            return self.error(number, &text);
        }
        let near = self.near();
        self.error(2209, &format!("Syntax error near '{near}'"))
    }

    fn error(&self, number: i32, what: &str) -> SqlError {
        SqlError::new(number, Ends::Batch, format!("XQuery [{}()]: {what}", self.method))
    }

    fn refused(&self, what: &str) -> SqlError {
        SqlError::unsupported(&format!("XQuery: {what}"))
    }

    /// Begins an expression within another one.
    ///
    /// Errors: 40510 for one that is nested too deeply.
    fn deeper(&mut self) -> Parse<()> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(self.refused("an expression that is nested so deeply")),
            false => Ok(()),
        }
    }

    /// Errors: 2373 for nodes that are made, which nothing reads.
    fn check_read(&self, expr: &QueryExpr, what: &str) -> Parse<()> {
        match expr.kind() == Kind::Made {
            true => Err(self.error(2373, &format!("{what} is not supported with constructed XML"))),
            false => Ok(()),
        }
    }

    /// Errors: 2389 for what may be several items.
    fn check_single(&self, expr: &QueryExpr, what: &str) -> Parse<()> {
        if expr.is_single() {
            return Ok(());
        }
        let found = match expr.kind().is_nodes() {
            true => "xdt:untypedAtomic *".to_owned(),
            false => expr.described(),
        };
        let text = format!("'{what}' requires a singleton (or empty sequence), found operand of type '{found}'");
        Err(self.error(2389, &text))
    }

    /// Errors: 2204 for what is neither true or false nor nodes.
    fn check_condition(&self, expr: &QueryExpr) -> Parse<()> {
        match expr.kind() {
            Kind::Numbers | Kind::Texts | Kind::Untyped | Kind::Mixed => {
                let text = format!(
                    "Only 'http://www.w3.org/2001/XMLSchema#boolean?' or 'node()*' expressions allowed in conditions and with \
                     logical operators, found '{}'",
                    expr.described()
                );
                Err(self.error(2204, &text))
            }
            Kind::Empty | Kind::Nodes | Kind::Made | Kind::Booleans | Kind::External => Ok(()),
        }
    }

    /// Errors: 2210 for nodes beside values.
    fn check_alike<'b>(&self, parts: impl Iterator<Item = &'b QueryExpr> + Clone) -> Parse<()> {
        let value = parts.clone().find(|part| part.kind().is_values());
        let node = parts.clone().find(|part| part.kind().is_nodes());
        let (Some(value), Some(node)) = (value, node) else {
            return Ok(());
        };
        let (value, node) = (value.described(), node.described());
        let text = format!("Heterogeneous sequences are not allowed: found '{value}' and '{node}'");
        Err(self.error(2210, &text))
    }

    /// Declarations of namespaces.
    fn prolog(&mut self) -> Parse<()> {
        while self.is_word("declare") {
            self.lexer.skip(1);
            if self.eat_word("namespace") {
                let prefix = self.name()?;
                self.expect("=")?;
                let namespace: Arc<str> = Arc::from(self.text()?);
                self.declared.push((Arc::from(prefix.as_str()), Arc::clone(&namespace)));
                self.prefixes.insert(prefix, namespace);
            } else if self.is_word("default") && self.is_word_at(1, "element") && self.is_word_at(2, "namespace") {
                self.lexer.skip(3);
                self.eat("=");
                self.default = Arc::from(self.text()?);
                self.declared.push((Arc::from(""), Arc::clone(&self.default)));
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
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        self.check_alike(parts.iter())?;
        Ok(QueryExpr::Sequence(parts))
    }

    fn expr(&mut self) -> Parse<QueryExpr> {
        self.deeper()?;
        let expr = match () {
            () if self.is_word("if") && self.is_at(1, "(") => self.conditional()?,
            () if (self.is_word("for") || self.is_word("let")) && self.is_at(1, "$") => self.flwor()?,
            () if (self.is_word("some") || self.is_word("every")) && self.is_at(1, "$") => self.quantified()?,
            () => self.disjunction()?,
        };
        self.depth -= 1;
        Ok(expr)
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
        let is_own = prefix.is_empty() || *self.namespace(prefix)? == *FUNCTION_NAMESPACE;
        let found = FUNCTIONS.iter().find(|(known, ..)| is_own && *known == name);
        let Some((_, function, least, most)) = found else {
            let prefix = if prefix.is_empty() {
                String::new()
            } else {
                format!("{prefix}:")
            };
            return Err(self.refused(&format!("{prefix}{name}()")));
        };
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.expr()?);
        }
        if arguments.len() < *least {
            let text = format!("There are not enough actual arguments in the call to function \"{name}()\".");
            return Err(self.error(2236, &text));
        }
        if arguments.len() > *most {
            return Err(self.error(2238, &format!("Too many arguments in call to function '{name}()'")));
        }
        self.check_call(*function, name, &arguments)?;
        Ok(QueryExpr::Call(*function, arguments))
    }

    /// Errors: 2371 for a position outside of predicates, 2389, 2373, 2204, and those of types.
    fn check_call(&self, function: QueryFunction, name: &str, arguments: &[QueryExpr]) -> Parse<()> {
        if matches!(function, QueryFunction::Last | QueryFunction::Position) && self.predicate_depth == 0 {
            let text = format!("'{name}()' can only be used within a predicate or XPath selector");
            return Err(self.error(2371, &text));
        }
        for argument in arguments {
            if function == QueryFunction::Not {
                self.check_condition(argument)?;
                continue;
            }
            self.check_read(argument, &format!("{name}()"))?;
            if function.takes_single() {
                self.check_single(argument, &format!("{name}()"))?;
            }
        }
        let mut arguments = arguments.iter().enumerate();
        arguments.try_for_each(|(at, argument)| self.check_argument(function, name, at, argument))
    }

    /// Errors: 2374 for what is no node, 9308 for what is not summed up, 2364 for what is neither a text nor without a
    /// type, 40510 for values of several types.
    fn check_argument(&self, function: QueryFunction, name: &str, at: usize, argument: &QueryExpr) -> Parse<()> {
        let kind = argument.kind();
        let takes_text = matches!(
            function,
            QueryFunction::Concat
                | QueryFunction::Contains
                | QueryFunction::TextLength
                | QueryFunction::UpperCase
                | QueryFunction::LowerCase
        );
        let is_position = function == QueryFunction::Substring && at > 0;
        let is_text = takes_text || function == QueryFunction::Substring && at == 0;
        if function == QueryFunction::Number && kind.is_values() {
            return Err(self.error(2374, "A node or set of nodes is required for number()"));
        }
        if matches!(function, QueryFunction::Sum | QueryFunction::Avg)
            && matches!(kind, Kind::Texts | Kind::Booleans | Kind::Mixed)
        {
            return Err(self.no_operand(&format!("{name}()"), argument));
        }
        if matches!(function, QueryFunction::Min | QueryFunction::Max) && kind == Kind::Mixed {
            return Err(self.refused(&format!("{name}() of values of several types")));
        }
        if is_text && matches!(kind, Kind::Numbers | Kind::Booleans) {
            return Err(self.not_converted(argument, "xs:string"));
        }
        match is_position && kind == Kind::Texts {
            true => Err(self.not_converted(argument, "xs:decimal")),
            false => Ok(()),
        }
    }

    fn not_converted(&self, argument: &QueryExpr, wanted: &str) -> SqlError {
        let text = format!(
            "Cannot implicitly convert from '{}' to '{wanted}'",
            argument.described()
        );
        self.error(2364, &text)
    }

    fn namespace(&self, prefix: &str) -> Parse<Arc<str>> {
        let unknown = || self.error(2229, &format!("The name \"{prefix}\" does not denote a namespace."));
        self.prefixes.get(prefix).cloned().ok_or_else(unknown)
    }
}

fn unbracketed(part: &str) -> &str {
    let part = part.trim();
    part.strip_prefix('[')
        .and_then(|part| part.strip_suffix(']'))
        .unwrap_or(part)
}

const FUNCTION_NAMESPACE: &str = "http://www.w3.org/2004/07/xpath-functions";
/// The nesting of parentheses, predicates, constructors and variables.
const DEPTH_MAX: usize = 64;
