//! Constructors of nodes: direct ones, which are written as XML, and computed ones.

use std::sync::Arc;

use selenite_types::{is_xml_name, is_xml_name_part};

use super::super::token::{Token, reference, reference_fault};
use super::super::{Binding, Content, ElementConstructor, QueryExpr};
use super::{Parse, Parser};

/// What is in a start tag.
struct StartTag {
    name: Arc<str>,
    declared: Vec<Binding>,
    /// Names with their prefixes, and values.
    attributes: Vec<(Arc<str>, QueryExpr)>,
    is_empty: bool,
}

impl<'a> Parser<'a> {
    /// A direct constructor, from its `<` on.
    pub(super) fn direct(&mut self) -> Parse<QueryExpr> {
        self.lexer.skip(1);
        let rest = self.lexer.rest();
        let (made, rest) = match rest.starts_with("![CDATA[") {
            true => return Err(self.error(2209, "Syntax error near '<!'")),
            false => self.direct_node(rest)?,
        };
        self.lexer.resume(rest.len());
        Ok(made)
    }

    /// The node behind a `<`, and what follows it.
    fn direct_node(&mut self, rest: &'a str) -> Parse<(QueryExpr, &'a str)> {
        if let Some(inside) = rest.strip_prefix("!--") {
            let (text, rest) = inside.split_once("-->").ok_or_else(|| self.markup_error("<!--"))?;
            if text.contains("--") || text.ends_with('-') {
                let text = "Two consecutive '-' can only appear in a comment constructor if they are used to close the comment \
                            ('-->').";
                return Err(self.error(9322, text));
            }
            return Ok((QueryExpr::Markup(Arc::from(format!("<!--{text}-->"))), rest));
        }
        if let Some(inside) = rest.strip_prefix('?') {
            let (inside, rest) = inside.split_once("?>").ok_or_else(|| self.markup_error("<?"))?;
            let (target, data) = inside.split_once([' ', '\t', '\r', '\n']).unwrap_or((inside, ""));
            if !is_xml_name(target) || target.eq_ignore_ascii_case("xml") {
                return Err(self.markup_error("<?"));
            }
            let data = data.trim_start();
            let blank = if data.is_empty() { "" } else { " " };
            return Ok((QueryExpr::Markup(Arc::from(format!("<?{target}{blank}{data}?>"))), rest));
        }
        self.direct_element(rest)
    }

    fn markup_error(&self, near: &str) -> crate::SqlError {
        self.error(2209, &format!("Syntax error near '{near}'"))
    }

    fn direct_element(&mut self, rest: &'a str) -> Parse<(QueryExpr, &'a str)> {
        self.deeper()?;
        let (tag, rest) = self.start_tag(rest)?;
        let around: Vec<(Arc<str>, Option<Arc<str>>)> = tag
            .declared
            .iter()
            .map(|(prefix, namespace)| (Arc::clone(prefix), self.declare_prefix(prefix, Arc::clone(namespace))))
            .collect();
        let element = self.element_of(&tag)?;
        let (content, rest) = match tag.is_empty {
            true => (Vec::new(), rest),
            false => self.direct_content(&tag.name, rest)?,
        };
        for (prefix, namespace) in around.into_iter().rev() {
            self.restore_prefix(&prefix, namespace);
        }
        self.depth -= 1;
        let element = ElementConstructor { content, ..element };
        Ok((QueryExpr::Element(Box::new(element)), rest))
    }

    /// The element of a tag, without content.
    fn element_of(&self, tag: &StartTag) -> Parse<ElementConstructor> {
        let binding = self.binding(&tag.name, true)?;
        let mut used = vec![binding];
        let mut attributes = Vec::with_capacity(tag.attributes.len());
        for (name, value) in &tag.attributes {
            let binding = self.binding(name, false)?;
            attributes.push((Arc::clone(name), Arc::clone(&binding.1), value.clone()));
            if !binding.0.is_empty() {
                used.push(binding);
            }
        }
        Ok(ElementConstructor {
            name: Arc::clone(&tag.name),
            declared: tag.declared.clone(),
            used,
            attributes,
            content: Vec::new(),
        })
    }

    /// The prefix of a name, and its namespace.
    ///
    /// Errors: 2229 for an unknown prefix.
    fn binding(&self, name: &str, is_element: bool) -> Parse<Binding> {
        match name.split_once(':') {
            Some((prefix, _)) => Ok((Arc::from(prefix), self.namespace(prefix)?)),
            None if is_element => Ok((Arc::from(""), Arc::clone(&self.default))),
            None => Ok((Arc::from(""), Arc::from(""))),
        }
    }

    /// Declares a prefix, empty for the default; returns the namespace that it had.
    fn declare_prefix(&mut self, prefix: &str, namespace: Arc<str>) -> Option<Arc<str>> {
        match prefix.is_empty() {
            true => Some(std::mem::replace(&mut self.default, namespace)),
            false => self.prefixes.insert(prefix.to_owned(), namespace),
        }
    }

    fn restore_prefix(&mut self, prefix: &str, namespace: Option<Arc<str>>) {
        match namespace {
            Some(namespace) => drop(self.declare_prefix(prefix, namespace)),
            None => drop(self.prefixes.remove(prefix)),
        }
    }

    fn start_tag(&mut self, rest: &'a str) -> Parse<(StartTag, &'a str)> {
        let (name, mut rest) = self.markup_name(rest)?;
        let mut tag = StartTag {
            name: Arc::from(name),
            declared: Vec::new(),
            attributes: Vec::new(),
            is_empty: false,
        };
        loop {
            let trimmed = rest.trim_start();
            if let Some(rest) = trimmed.strip_prefix('>') {
                return Ok((tag, rest));
            }
            if let Some(rest) = trimmed.strip_prefix("/>") {
                tag.is_empty = true;
                return Ok((tag, rest));
            }
            if trimmed.len() == rest.len() {
                return Err(self.markup_error("<"));
            }
            let (name, behind) = self.markup_name(trimmed)?;
            let behind = behind.trim_start().strip_prefix('=').map(str::trim_start);
            let behind = behind.ok_or_else(|| self.markup_error(name))?;
            let (value, behind) = self.attribute_value(behind)?;
            rest = behind;
            let prefix = match name.strip_prefix("xmlns") {
                Some("") => Some(""),
                Some(prefix) => prefix.strip_prefix(':'),
                None => None,
            };
            let Some(prefix) = prefix else {
                tag.attributes.push((Arc::from(name), value));
                continue;
            };
            let QueryExpr::Text(namespace) = value else {
                return Err(self.refused("a namespace that is an expression"));
            };
            if namespace.is_empty() && !prefix.is_empty() || tag.declared.iter().any(|(known, _)| **known == *prefix) {
                return Err(self.markup_error(name));
            }
            tag.declared.push((Arc::from(prefix), namespace));
        }
    }

    /// A name with an optional prefix.
    fn markup_name(&self, rest: &'a str) -> Parse<(&'a str, &'a str)> {
        let end = rest
            .find(|sign| sign != ':' && !is_xml_name_part(sign))
            .unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let is_name = match name.split_once(':') {
            Some((prefix, local)) => is_xml_name(prefix) && is_xml_name(local),
            None => is_xml_name(name),
        };
        match is_name {
            true => Ok((name, rest)),
            false => Err(self.markup_error("<")),
        }
    }

    /// A value in quotes: a text, or one expression.
    ///
    /// Errors: 9313 for both.
    fn attribute_value(&mut self, rest: &'a str) -> Parse<(QueryExpr, &'a str)> {
        let quote = rest.chars().next().filter(|sign| matches!(sign, '"' | '\''));
        let quote = quote.ok_or_else(|| self.markup_error("="))?;
        let mut rest = &rest[1..];
        if rest.starts_with('{') && !rest.starts_with("{{") {
            let (value, behind) = self.enclosed(rest)?;
            return match behind.strip_prefix(quote) {
                Some(behind) => Ok((value, behind)),
                None => Err(self.mixed_attribute()),
            };
        }
        let mut text = String::new();
        loop {
            let sign = rest.chars().next().ok_or_else(|| self.markup_error("<eof>"))?;
            rest = &rest[sign.len_utf8()..];
            match sign {
                _ if sign == quote => match rest.strip_prefix(quote) {
                    Some(behind) => {
                        text.push(quote);
                        rest = behind;
                    }
                    None => return Ok((QueryExpr::Text(Arc::from(text)), rest)),
                },
                '<' => return Err(self.markup_error("<")),
                '{' if !rest.starts_with('{') => return Err(self.mixed_attribute()),
                '}' if !rest.starts_with('}') => return Err(self.markup_error("}")),
                '{' | '}' => {
                    text.push(sign);
                    rest = &rest[1..];
                }
                '&' => rest = self.push_reference(&mut text, rest)?,
                '\t' | '\r' | '\n' => text.push(' '),
                _ => text.push(sign),
            }
        }
    }

    /// 9313: text and an expression in one attribute.
    fn mixed_attribute(&self) -> crate::SqlError {
        self.error(
            9313,
            "This version of the server does not support multiple expressions or expressions mixed with strings in an attribute \
             constructor.",
        )
    }

    /// Errors: 2282, 2283 and 2285 for a reference that there is not.
    fn push_reference(&self, text: &mut String, behind: &'a str) -> Parse<&'a str> {
        match reference(behind) {
            Some((character, length)) => {
                text.push(character);
                Ok(&behind[length..])
            }
            None => {
                let (number, text) = reference_fault(behind);
                Err(self.error(number, &text))
            }
        }
    }

    /// `{ expression }`, and what follows it.
    fn enclosed(&mut self, rest: &'a str) -> Parse<(QueryExpr, &'a str)> {
        self.lexer.resume(rest.len());
        let expr = self.braced()?;
        Ok((expr, self.lexer.rest()))
    }

    fn braced(&mut self) -> Parse<QueryExpr> {
        self.expect("{")?;
        if self.eat("}") {
            return Ok(QueryExpr::Sequence(Vec::new()));
        }
        let expr = self.sequence()?;
        self.expect("}")?;
        Ok(expr)
    }

    /// The content of an element and its end tag, and what follows.
    fn direct_content(&mut self, name: &str, rest: &'a str) -> Parse<(Vec<Content>, &'a str)> {
        let mut content = Vec::new();
        let mut rest = rest;
        let mut text = DirectText::default();
        loop {
            let sign = rest.chars().next().ok_or_else(|| self.markup_error("<eof>"))?;
            let behind = &rest[sign.len_utf8()..];
            rest = match sign {
                '<' if behind.starts_with('/') => {
                    text.finish(&mut content);
                    let behind = behind[1..].strip_prefix(name).map(str::trim_start);
                    let behind = behind.and_then(|behind| behind.strip_prefix('>'));
                    return Ok((content, behind.ok_or_else(|| self.markup_error("</"))?));
                }
                '<' => match behind.strip_prefix("![CDATA[") {
                    Some(inside) => {
                        let (inside, behind) = inside.split_once("]]>").ok_or_else(|| self.markup_error("<!"))?;
                        text.text.push_str(inside);
                        text.counts = true;
                        behind
                    }
                    None => {
                        text.finish(&mut content);
                        let (node, behind) = self.direct_node(behind)?;
                        content.push(Content::Expr(node));
                        behind
                    }
                },
                '{' | '}' if behind.starts_with(sign) => {
                    text.push(sign);
                    &behind[1..]
                }
                '{' => {
                    text.finish(&mut content);
                    let (expr, behind) = self.enclosed(rest)?;
                    content.push(Content::Expr(expr));
                    behind
                }
                '}' => return Err(self.markup_error("}")),
                '&' => {
                    text.counts = true;
                    self.push_reference(&mut text.text, behind)?
                }
                '\r' => {
                    text.push('\n');
                    behind.strip_prefix('\n').unwrap_or(behind)
                }
                _ => {
                    text.push(sign);
                    behind
                }
            };
        }
    }

    /// `element name {..}`, `attribute name {..}` or `text {..}`; `None` before anything else.
    pub(super) fn computed(&mut self) -> Parse<Option<QueryExpr>> {
        if self.is_word("text") && self.is_at(1, "{") {
            self.lexer.skip(1);
            let value = self.braced()?;
            self.check_read(&value, "data()")?;
            return Ok(Some(QueryExpr::TextNode(Box::new(value))));
        }
        let is_element = self.is_word("element");
        if !is_element && !self.is_word("attribute") || !matches!(self.lexer.peek(1), Some(Token::Name(_))) {
            return Ok(None);
        }
        let has_prefix = self.is_at(2, ":");
        if !self.is_at(if has_prefix { 4 } else { 2 }, "{") {
            return Ok(None);
        }
        self.lexer.skip(1);
        let mut name = self.name()?;
        if self.eat(":") {
            name = format!("{name}:{}", self.name()?);
        }
        let value = self.braced()?;
        let name: Arc<str> = Arc::from(name);
        if is_element {
            let tag = StartTag {
                name,
                declared: Vec::new(),
                attributes: Vec::new(),
                is_empty: false,
            };
            let content = vec![Content::Expr(value)];
            let element = self.element_of(&tag)?;
            return Ok(Some(QueryExpr::Element(Box::new(ElementConstructor {
                content,
                ..element
            }))));
        }
        if *name == *"xmlns" || name.starts_with("xmlns:") {
            return Err(self.refused("the attribute xmlns of a computed constructor"));
        }
        self.check_read(&value, "data()")?;
        let binding = self.binding(&name, false)?;
        Ok(Some(QueryExpr::Attribute(binding, name, Box::new(value))))
    }
}

/// The text between two tags or expressions.
#[derive(Default)]
struct DirectText {
    text: String,
    /// Whether it is kept: there is more than white space, or white space of a reference or a CDATA section.
    counts: bool,
}

impl DirectText {
    fn push(&mut self, sign: char) {
        self.counts |= !sign.is_whitespace();
        self.text.push(sign);
    }

    fn finish(&mut self, content: &mut Vec<Content>) {
        if self.counts && !self.text.is_empty() {
            content.push(Content::Text(Arc::from(self.text.as_str())));
        }
        *self = Self::default();
    }
}
