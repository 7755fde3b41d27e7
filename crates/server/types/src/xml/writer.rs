//! Writes nodes in the one form of xml.

use super::characters::is_space;
use super::parser::XmlSink;

/// Writes what is parsed.
pub(super) struct Normalizer {
    text: String,
    /// The names of open elements, and whether the last start tag is not closed yet.
    open: Vec<String>,
    in_tag: bool,
}

impl Normalizer {
    pub fn new(capacity: usize) -> Self {
        Self {
            text: String::with_capacity(capacity),
            open: Vec::new(),
            in_tag: false,
        }
    }

    pub fn into_text(self) -> String {
        self.text
    }

    fn close_tag(&mut self) {
        if self.in_tag {
            self.text.push('>');
            self.in_tag = false;
        }
    }
}

impl XmlSink for Normalizer {
    fn start(&mut self, name: &str, attributes: Vec<(&str, String)>) {
        self.close_tag();
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            push_attribute_value(&mut self.text, &value);
            self.text.push('"');
        }
        self.open.push(name.to_owned());
        self.in_tag = true;
    }

    fn end(&mut self) {
        let name = self.open.pop().unwrap_or_default();
        if self.in_tag {
            self.text.push_str("/>");
            self.in_tag = false;
        } else {
            self.text.push_str("</");
            self.text.push_str(&name);
            self.text.push('>');
        }
    }

    fn text(&mut self, text: &str) {
        self.close_tag();
        push_text(&mut self.text, text);
    }

    fn comment(&mut self, text: &str) {
        self.close_tag();
        self.text.push_str("<!--");
        self.text.push_str(text);
        self.text.push_str("-->");
    }

    fn instruction(&mut self, target: &str, content: &str) {
        self.close_tag();
        self.text.push_str("<?");
        self.text.push_str(target);
        if !content.is_empty() {
            self.text.push(' ');
            self.text.push_str(content);
        }
        self.text.push_str("?>");
    }
}

/// Appends a text node. Of one that is white space the last character is a reference, so that it is kept when it is
/// parsed.
pub fn push_text(out: &mut String, text: &str) {
    let last = match text.chars().all(is_space) {
        true => text.char_indices().next_back().map(|(at, _)| at),
        false => None,
    };
    for (at, character) in text.char_indices() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0D;"),
            ' ' if Some(at) == last => out.push_str("&#x20;"),
            '\t' if Some(at) == last => out.push_str("&#x09;"),
            '\n' if Some(at) == last => out.push_str("&#x0A;"),
            _ => out.push(character),
        }
    }
}

/// Appends the value of an attribute, without its quotes.
pub fn push_attribute_value(out: &mut String, value: &str) {
    for character in value.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#x0D;"),
            '\t' => out.push_str("&#x09;"),
            '\n' => out.push_str("&#x0A;"),
            _ => out.push(character),
        }
    }
}
