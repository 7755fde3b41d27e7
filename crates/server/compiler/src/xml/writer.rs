//! Writes elements.

use selenite_types::{DataType, Value};

use crate::SqlError;
use crate::json::exact_text;

/// Writes elements, attributes and text.
pub(crate) struct XmlWriter<'a> {
    /// The text so far.
    pub text: String,
    open: Vec<String>,
    /// Whether the last start tag is not closed, so that an attribute may follow.
    in_tag: bool,
    /// Whether the last content was an atom of `data()`.
    after_atom: bool,
    /// The declarations of elements without a parent, as attributes.
    declarations: &'a str,
}

impl<'a> XmlWriter<'a> {
    /// An empty text; `declarations` are attributes of elements without a parent.
    pub fn new(declarations: &'a str) -> Self {
        Self {
            text: String::new(),
            open: Vec::new(),
            in_tag: false,
            after_atom: false,
            declarations,
        }
    }

    /// The number of open elements.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Opens an element.
    pub fn open(&mut self, name: &str) {
        self.finish_tag();
        self.text.push('<');
        self.text.push_str(name);
        if self.open.is_empty() {
            self.text.push_str(self.declarations);
        }
        self.open.push(name.to_owned());
        self.in_tag = true;
    }

    /// Closes the innermost element.
    pub fn close(&mut self) {
        let Some(name) = self.open.pop() else { return };
        if std::mem::replace(&mut self.in_tag, false) {
            self.text.push_str("/>");
        } else {
            self.text.push_str("</");
            self.text.push_str(&name);
            self.text.push('>');
        }
        self.after_atom = false;
    }

    /// Closes and opens elements below the first `kept` ones so that these are open.
    pub fn enter(&mut self, kept: usize, steps: &[&str]) {
        let open = self.open.iter().skip(kept);
        let common = open.zip(steps).take_while(|(open, step)| open == step).count();
        while self.open.len() > kept + common {
            self.close();
        }
        for step in steps.iter().skip(common) {
            self.open(step);
        }
    }

    /// An attribute of the element that was opened last.
    pub fn attribute(&mut self, name: &str, value: &str) {
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        for character in value.chars() {
            match character {
                '"' => self.text.push_str("&quot;"),
                '\t' => self.text.push_str("&#x09;"),
                '\n' => self.text.push_str("&#x0A;"),
                other => self.escaped(other),
            }
        }
        self.text.push('"');
    }

    /// An attribute whose value is escaped already.
    pub fn raw_attribute(&mut self, name: &str, value: &str) {
        self.text.push_str(&format!(" {name}=\"{value}\""));
    }

    /// Text.
    pub fn content(&mut self, value: &str) {
        self.finish_tag();
        value.chars().for_each(|character| self.escaped(character));
    }

    /// An atom of `data()`, after a space if there is one before it.
    pub fn atom(&mut self, value: &str) {
        if self.after_atom {
            self.content(" ");
        }
        self.content(value);
        self.after_atom = true;
    }

    /// Text that is XML already.
    pub fn raw(&mut self, xml: &str) {
        self.finish_tag();
        self.text.push_str(xml);
    }

    /// Marks the element that was opened last as NULL.
    pub fn nil(&mut self) {
        if self.in_tag {
            self.text.push_str(" xsi:nil=\"true\"");
        }
    }

    fn finish_tag(&mut self) {
        if std::mem::replace(&mut self.in_tag, false) {
            self.text.push('>');
        }
        self.after_atom = false;
    }

    fn escaped(&mut self, character: char) {
        match character {
            '&' => self.text.push_str("&amp;"),
            '<' => self.text.push_str("&lt;"),
            '>' => self.text.push_str("&gt;"),
            '\t' | '\n' => self.text.push(character),
            // No XML parser takes those other than a carriage return.
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {
                self.text.push_str(&format!("&#x{:02X};", u32::from(character)));
            }
            other => self.text.push(other),
        }
    }
}

/// The text of a value in XML.
///
/// Errors: 8624 for a value that is not of its type.
pub(crate) fn value_text(value: &Value, of: &DataType) -> Result<String, SqlError> {
    exact_text(value, of)
}

/// The namespace of `xsi:nil`.
pub(crate) const XSI: &str = " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
