//! The names of columns of FOR XML EXPLICIT: `element!tag!name!directive`.

use super::name::first_invalid;
use crate::{Ends, SqlError};

/// A column of a universal table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ExplicitColumn<'a> {
    /// The element of the tag.
    pub element: &'a str,
    /// The tag.
    pub tag: i64,
    /// The attribute or the child element; empty for the element's own content.
    pub name: &'a str,
    /// Whether it is not written.
    pub is_hidden: bool,
    form: ColumnForm,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ColumnForm {
    Plain,
    Element,
    Nillable,
    Xml,
    Cdata,
    Overflow,
}

impl ColumnForm {
    /// Each with its directive, which an attribute or text does not have.
    const DIRECTIVES: [(&'static str, Self); 5] = [
        ("element", Self::Element),
        ("elementxsinil", Self::Nillable),
        ("xml", Self::Xml),
        ("cdata", Self::Cdata),
        ("xmltext", Self::Overflow),
    ];
}

impl ExplicitColumn<'_> {
    /// Whether it is an attribute.
    pub fn is_attribute(&self) -> bool {
        !self.is_hidden && self.form == ColumnForm::Plain && !self.name.is_empty()
    }

    /// Whether NULL is an element, `elementxsinil`.
    pub fn is_nil(&self) -> bool {
        self.form == ColumnForm::Nillable
    }

    /// Whether it is written as it is, `xml`.
    pub fn is_raw(&self) -> bool {
        self.form == ColumnForm::Xml
    }

    /// Whether it is a CDATA section, `cdata`.
    pub fn is_cdata(&self) -> bool {
        self.form == ColumnForm::Cdata
    }

    /// Whether it is an element whose attributes and content are others', `xmltext`.
    pub fn is_overflow(&self) -> bool {
        self.form == ColumnForm::Overflow
    }

    /// As a column of the type xml, whose nodes are content.
    ///
    /// Errors: 6843 for a CDATA section; 40510 for other directives.
    pub fn holding_xml(mut self, written: &str) -> Result<Self, SqlError> {
        self.form = match self.form {
            ColumnForm::Plain | ColumnForm::Element | ColumnForm::Xml => ColumnForm::Xml,
            ColumnForm::Cdata if !self.is_hidden => return Err(SqlError::for_xml_cdata_of_xml(written)),
            ColumnForm::Cdata | ColumnForm::Nillable | ColumnForm::Overflow if self.is_hidden => self.form,
            ColumnForm::Cdata | ColumnForm::Nillable | ColumnForm::Overflow => {
                let what = "The directives XMLTEXT and ELEMENTXSINIL of a column of xml in FOR XML EXPLICIT";
                return Err(SqlError::unsupported(what));
            }
        };
        Ok(self)
    }

    /// The name that [`parse_explicit_column`] parses as this column.
    pub fn written(&self) -> String {
        let mut written = format!("{}!{}!{}", self.element, self.tag, self.name);
        let directive = ColumnForm::DIRECTIVES.iter().find(|(_, form)| *form == self.form);
        for directive in directive
            .map(|(name, _)| *name)
            .into_iter()
            .chain(self.is_hidden.then_some("hide"))
        {
            written.push('!');
            written.push_str(directive);
        }
        written
    }
}

/// The directives of a column.
#[derive(Default)]
struct Directives {
    forms: Vec<ColumnForm>,
    /// `id` and others.
    identities: usize,
    hides: usize,
    /// Whether one is of several rows, `idrefs` or `nmtokens`.
    is_list: bool,
}

impl Directives {
    /// Errors: 6824 for an unknown one; those of [`Self::fault`].
    fn parse<'d>(directives: impl Iterator<Item = &'d str>, written: &str) -> Result<Self, SqlError> {
        let mut parsed = Self::default();
        for directive in directives {
            let lower = directive.to_ascii_lowercase();
            if let Some((_, form)) = ColumnForm::DIRECTIVES.iter().find(|(known, _)| *known == lower) {
                parsed.forms.push(*form);
                continue;
            }
            match lower.as_str() {
                "hide" => parsed.hides += 1,
                "id" | "idref" | "nmtoken" => parsed.identities += 1,
                "idrefs" | "nmtokens" => {
                    parsed.identities += 1;
                    parsed.is_list = true;
                }
                _ => {
                    let text =
                        format!("In the FOR XML EXPLICIT clause, mode '{directive}' in a column name is invalid.");
                    return Err(error(6824, text));
                }
            }
        }
        match parsed.fault(written) {
            Some((number, text)) => Err(error(number, text)),
            None => Ok(parsed),
        }
    }

    /// The error of directives that are not combined, in SQL Server's order: 6835, 6813, 6815, 6816, 6817, 6826.
    fn fault(&self, written: &str) -> Option<(i32, String)> {
        let is_raw = |form: &ColumnForm| matches!(form, ColumnForm::Xml | ColumnForm::Cdata | ColumnForm::Overflow);
        let cannot_be = |what: &str| {
            format!(
                "In the FOR XML EXPLICIT clause, ID, IDREF, IDREFS, NMTOKEN, and NMTOKENS attributes cannot be {what} in \
                 '{written}'."
            )
        };
        let combined = |what: &str| {
            format!("FOR XML EXPLICIT cannot combine multiple occurrences of {what} in column name '{written}'.")
        };
        Some(match () {
            () if self.hides > 1 => (
                6835,
                format!("FOR XML EXPLICIT field '{written}' can specify the directive HIDE only once."),
            ),
            () if self.identities > 1 => (6813, combined("ID, IDREF, IDREFS, NMTOKEN, and/or NMTOKENS")),
            () if self.identities > 0 && self.hides > 0 => (6815, cannot_be("hidden")),
            () if self.identities > 0 && self.forms.iter().any(is_raw) => {
                (6816, cannot_be("generated as CDATA, XML, or XMLTEXT"))
            }
            () if self.forms.len() > 1 => (6817, combined("ELEMENT, XML, XMLTEXT, and CDATA")),
            () if self.is_list => (
                6826,
                "Every IDREFS or NMTOKENS column in a FOR XML EXPLICIT query must appear in a separate SELECT clause, and \
                 the instances must be ordered directly after the element to which they belong."
                    .to_owned(),
            ),
            () => return None,
        })
    }
}

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Batch, text)
}

/// The column of a name.
///
/// Errors: 6802 for another form, 6813 to 6826 and 6835 for directives; 40510 for names that XML does not have.
pub(crate) fn parse_explicit_column(written: &str) -> Result<ExplicitColumn<'_>, SqlError> {
    let mut parts = written.split('!');
    let element = parts.next().unwrap_or_default();
    let digits = parts.next().unwrap_or_default();
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let tag = digits.parse().ok().filter(|tag| is_number && *tag > 0);
    let Some(tag) = tag.filter(|_| !element.is_empty()) else {
        return Err(error(
            6802,
            format!(
                "FOR XML EXPLICIT query contains the invalid column name '{written}'. Use the TAGNAME!TAGID!ATTRIBUTENAME[!..] \
                 format where TAGID is a positive integer."
            ),
        ));
    };
    let name = parts.next().unwrap_or_default();
    let directives = Directives::parse(parts, written)?;
    let column = ExplicitColumn {
        element,
        tag,
        name,
        is_hidden: directives.hides > 0,
        form: directives.forms.first().copied().unwrap_or(ColumnForm::Plain),
    };
    // SQL Server writes such names as they are, which is no XML.
    let is_name = |name: &str| first_invalid(name).is_none();
    match is_name(element) && is_name(column.name) {
        true => Ok(column),
        false => Err(SqlError::unsupported(
            "A name in FOR XML EXPLICIT that is no name of XML",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_elements_tags_attributes_and_directives() {
        let column = parse_explicit_column("e!12!a!ELEMENT!hide").unwrap();
        assert_eq!(
            (column.element, column.tag, column.name, column.is_hidden),
            ("e", 12, "a", true)
        );
        assert!(parse_explicit_column("e!1!a").unwrap().is_attribute());
        assert!(!parse_explicit_column("e!1").unwrap().is_attribute());
        assert!(parse_explicit_column("e!1!a!id").unwrap().is_attribute());
        assert!(parse_explicit_column("e!1!!XMLTEXT").unwrap().is_overflow());
        for name in [
            "e!1!",
            "e!1!a",
            "e!12!a!element!hide",
            "e!1!!xml",
            "e!1!a!xmltext",
            "e!1!!cdata",
        ] {
            let column = parse_explicit_column(name).unwrap();
            assert_eq!(column.written(), name);
        }
        for (name, number) in [
            ("e", 6802),
            ("", 6802),
            ("!1!a", 6802),
            ("e!0!a", 6802),
            ("e!x!a", 6802),
            ("e!+1!a", 6802),
            ("e!99999999999999999999!a", 6802),
            ("e!1!a!", 6824),
            ("e!1!a!none", 6824),
            ("e!1!a!hide!hide", 6835),
            ("e!1!a!id!idref", 6813),
            ("e!1!a!id!hide", 6815),
            ("e!1!a!element!xml", 6817),
            ("e!1!a!idrefs", 6826),
            ("e!1!a!cdata!id", 6816),
            ("e!1!a!element!element!hide!hide", 6835),
            ("e!1!a!element!element!id!id", 6813),
            ("e!1!a!nmtokens!hide", 6815),
            ("e f!1!a", 40510),
        ] {
            assert_eq!(parse_explicit_column(name).unwrap_err().number(), number, "{name}");
        }
    }
}
