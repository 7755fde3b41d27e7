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

    /// Applies a directive of the column that is written so. Returns whether it is one of identity.
    fn direct(&mut self, directive: &str, (written, has_identity): (&str, bool)) -> Result<bool, SqlError> {
        let form = match directive.to_ascii_lowercase().as_str() {
            "element" => ColumnForm::Element,
            "elementxsinil" => ColumnForm::Nillable,
            "xml" => ColumnForm::Xml,
            "cdata" => ColumnForm::Cdata,
            "xmltext" => return Err(SqlError::unsupported("The directive XMLTEXT of FOR XML EXPLICIT")),
            "hide" if self.is_hidden => {
                let text = format!("FOR XML EXPLICIT field '{written}' can specify the directive HIDE only once.");
                return Err(error(6835, text));
            }
            "hide" => {
                self.is_hidden = true;
                return Ok(false);
            }
            "id" | "idref" | "nmtoken" if has_identity => {
                let text = format!(
                    "FOR XML EXPLICIT cannot combine multiple occurrences of ID, IDREF, IDREFS, NMTOKEN, and/or NMTOKENS in \
                     column name '{written}'."
                );
                return Err(error(6813, text));
            }
            "id" | "idref" | "nmtoken" => return Ok(true),
            "idrefs" | "nmtokens" => {
                let text = "Every IDREFS or NMTOKENS column in a FOR XML EXPLICIT query must appear in a separate SELECT clause, \
                            and the instances must be ordered directly after the element to which they belong.";
                return Err(error(6826, text.to_owned()));
            }
            _ => {
                let text = format!("In the FOR XML EXPLICIT clause, mode '{directive}' in a column name is invalid.");
                return Err(error(6824, text));
            }
        };
        if self.form != ColumnForm::Plain {
            let text = format!(
                "FOR XML EXPLICIT cannot combine multiple occurrences of ELEMENT, XML, XMLTEXT, and CDATA in column name \
                 '{written}'."
            );
            return Err(error(6817, text));
        }
        self.form = form;
        Ok(false)
    }
}

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Batch, text)
}

/// The column of a name.
///
/// Errors: 6802 for another form, 6813 to 6826 and 6835 for directives; 40510 for xmltext, and for names that XML does
/// not have.
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
    let mut column = ExplicitColumn {
        element,
        tag,
        name: parts.next().unwrap_or_default(),
        is_hidden: false,
        form: ColumnForm::Plain,
    };
    let mut has_identity = false;
    for directive in parts {
        has_identity |= column.direct(directive, (written, has_identity))?;
    }
    if has_identity && column.is_hidden {
        let text = format!(
            "In the FOR XML EXPLICIT clause, ID, IDREF, IDREFS, NMTOKEN, and NMTOKENS attributes cannot be hidden in '{written}'."
        );
        return Err(error(6815, text));
    }
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
            ("e!1!!xmltext", 40510),
            ("e f!1!a", 40510),
        ] {
            assert_eq!(parse_explicit_column(name).unwrap_err().number(), number, "{name}");
        }
    }
}
