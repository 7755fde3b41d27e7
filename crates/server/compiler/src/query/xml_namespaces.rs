//! WITH XMLNAMESPACES: the namespaces of a statement, for FOR XML and for the methods of xml.

use std::fmt::Write as _;

use selenite_tsql::ast::XmlNamespace;
use selenite_types::is_xml_character;

use crate::xml::{XmlWriter, first_invalid_part};
use crate::{Ends, SqlError};

/// The namespaces of a statement.
#[derive(Default, Debug)]
pub(super) struct StatementNamespaces {
    /// The declarations of a query of XQuery.
    pub prolog: String,
    /// The attributes of FOR XML's outermost elements. The last declaration comes first, as in SQL Server.
    pub attributes: String,
    /// Whether elements without a prefix have one.
    pub has_default: bool,
    /// Prefixes and their namespaces.
    prefixes: Vec<(String, String)>,
}

impl StatementNamespaces {
    /// Those of a statement without the clause.
    pub const NONE: Self = Self {
        prolog: String::new(),
        attributes: String::new(),
        has_default: false,
        prefixes: Vec::new(),
    };

    /// Those of a clause.
    ///
    /// Errors: 6869 to 6872, 6874, 6875; 40510 for the namespace of declarations.
    pub fn of(clause: &[XmlNamespace]) -> Result<Self, SqlError> {
        let mut namespaces = Self::NONE;
        for namespace in clause {
            let line = namespace.position.line;
            namespaces.declare(namespace).map_err(|error| error.on_line(line))?;
        }
        Ok(namespaces)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty() && !self.has_default
    }

    /// Whether a prefix is declared.
    pub fn has(&self, prefix: &str) -> bool {
        self.prefixes.iter().any(|(known, _)| known == prefix)
    }

    /// The namespace of an attribute's prefix, or the prefix if it has none, and the name behind it.
    pub fn attribute<'n>(&'n self, name: &'n str) -> (&'n str, &'n str) {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let known = self.prefixes.iter().find(|(known, _)| known == prefix);
        (known.map_or(prefix, |(_, namespace)| namespace), local)
    }

    fn declare(&mut self, XmlNamespace { prefix, uri, .. }: &XmlNamespace) -> Result<(), SqlError> {
        let prefix = prefix.as_ref().map(|prefix| prefix.text.as_str());
        if let Some(prefix) = prefix {
            check_prefix(prefix)?;
        }
        let (is_xml, is_its_uri) = (prefix == Some("xml"), uri == XML_NAMESPACE);
        if is_xml != is_its_uri {
            return Err(SqlError::xml_prefix(if is_xml { 1 } else { 2 }));
        }
        if uri.is_empty() {
            // 6874: an empty namespace.
            return Err(SqlError::new(
                6874,
                Ends::Batch,
                "Empty URI is not allowed in WITH XMLNAMESPACES clause.",
            ));
        }
        if let Some(fault) = uri.chars().find(|character| !is_xml_character(*character)) {
            let text = format!(
                "URI '{uri}' used in WITH XMLNAMESPACES is invalid. '{fault}'(0x{:04X}) is the first character at fault.",
                u32::from(fault)
            );
            // 6875: a namespace with a character that XML does not have.
            return Err(SqlError::new(6875, Ends::Batch, text));
        }
        if uri == XMLNS_NAMESPACE {
            return Err(SqlError::unsupported(
                "The namespace of declarations in WITH XMLNAMESPACES",
            ));
        }
        if prefix.map_or(self.has_default, |prefix| self.has(prefix)) {
            return Err(SqlError::xml_prefix_twice(prefix.unwrap_or("default")));
        }
        let quoted = uri.replace('&', "&amp;").replace('"', "\"\"");
        let mut attribute = XmlWriter::new("");
        // Writing to a text does not fail.
        match prefix {
            None => {
                self.has_default = true;
                let _ = write!(self.prolog, "declare default element namespace \"{quoted}\";");
                attribute.attribute("xmlns", uri);
            }
            Some(prefix) => {
                self.prefixes.push((prefix.to_owned(), uri.clone()));
                if prefix == "xml" {
                    return Ok(());
                }
                let _ = write!(self.prolog, "declare namespace {prefix}=\"{quoted}\";");
                attribute.attribute(&format!("xmlns:{prefix}"), uri);
            }
        }
        self.attributes.insert_str(0, &attribute.text);
        Ok(())
    }
}

/// Errors: 6870, 6871.
fn check_prefix(prefix: &str) -> Result<(), SqlError> {
    if prefix == "xmlns" {
        let text = "Prefix 'xmlns' used in WITH XMLNAMESPACES is reserved and cannot be used as a user-defined prefix.";
        // 6871: the prefix `xmlns`.
        return Err(SqlError::new(6871, Ends::Batch, text));
    }
    let Some(fault) = first_invalid_part(prefix) else {
        return Ok(());
    };
    let text = format!(
        "Prefix '{prefix}' used in WITH XMLNAMESPACES clause contains an invalid XML identifier. '{fault}'(0x{:04X}) is the \
         first character at fault.",
        u32::from(fault)
    );
    // 6870: a prefix that is no XML name.
    Err(SqlError::new(6870, Ends::Batch, text))
}

impl SqlError {
    /// 6872: another prefix than `xml` of its namespace, or another namespace of it.
    fn xml_prefix(state: u8) -> Self {
        let text = format!(
            "XML namespace prefix 'xml' can only be associated with the URI {XML_NAMESPACE}. This URI cannot be used with other \
             prefixes."
        );
        Self::new(6872, Ends::Batch, text).with_state(state)
    }

    /// 6869: a prefix, or DEFAULT, twice.
    fn xml_prefix_twice(prefix: &str) -> Self {
        Self::new(
            6869,
            Ends::Batch,
            format!("Attempt to redefine namespace prefix '{prefix}'"),
        )
    }
}

const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";
const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
