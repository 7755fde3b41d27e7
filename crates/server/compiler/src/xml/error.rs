//! Errors of FOR XML, with SQL Server's texts.

use crate::{Ends, SqlError};

impl SqlError {
    fn for_xml(number: i32, text: impl Into<String>) -> Self {
        Self::new(number, Ends::Batch, text)
    }

    /// 6800: FOR XML AUTO without a table.
    pub(crate) fn for_xml_without_table() -> Self {
        let text = "FOR XML AUTO requires at least one table for generating XML tags. Use FOR XML RAW or add a FROM clause \
                    with a table name.";
        Self::for_xml(6800, text)
    }

    /// 6801: EXPLICIT of less than three columns.
    pub(crate) fn for_xml_explicit_columns() -> Self {
        let text = "FOR XML EXPLICIT requires at least three columns, including the tag column, the parent column, and at least \
                    one data column.";
        Self::for_xml(6801, text)
    }

    /// 6812: two elements of a tag.
    pub(crate) fn for_xml_other_element(tag: i64, before: &str, now: &str) -> Self {
        let text =
            format!("XML tag ID {tag} that was originally declared as '{before}' is being redeclared as '{now}'.");
        Self::for_xml(6812, text)
    }

    /// 6820: another name of Tag or Parent.
    pub(crate) fn for_xml_explicit_name(at: usize, wanted: &str, name: &str) -> Self {
        let text = format!("FOR XML EXPLICIT requires column {at} to be named '{wanted}' instead of '{name}'.");
        Self::for_xml(6820, text)
    }

    /// 6825: ELEMENTS of EXPLICIT.
    pub(crate) fn for_xml_elements() -> Self {
        Self::for_xml(
            6825,
            "ELEMENTS option is only allowed in RAW, AUTO, and PATH modes of FOR XML.",
        )
    }

    /// 6810: an attribute twice.
    pub(crate) fn for_xml_repeated(column: &str) -> Self {
        let text = format!(
            "Column name '{column}' is repeated. The same attribute cannot be generated more than once on the same XML tag."
        );
        Self::for_xml(6810, text)
    }

    /// 6827: two columns of XMLTEXT.
    pub(crate) fn for_xml_overflows(column: &str) -> Self {
        let text = format!(
            "FOR XML EXPLICIT queries allow only one XMLTEXT column per tag. Column '{column}' declares another XMLTEXT \
             column that is not permitted."
        );
        Self::for_xml(6827, text)
    }

    /// 6828: XMLTEXT of what is no text.
    pub(crate) fn for_xml_overflow_type(column: &str) -> Self {
        Self::for_xml(
            6828,
            format!("XMLTEXT column '{column}' must be of a string data type or of type XML."),
        )
    }

    /// 6843: xml in a CDATA section.
    pub(crate) fn for_xml_cdata_of_xml(column: &str) -> Self {
        let text = format!(
            "FOR XML EXPLICIT: XML data types and CLR types cannot be processed as CDATA in column name '{column}'. Consider \
             converting XML to a string type. Consider converting CLR types to XML and then to a string type."
        );
        Self::for_xml(6843, text)
    }

    /// 6854: an instruction without a target.
    pub(crate) fn for_xml_no_target(column: &str) -> Self {
        let text = format!(
            "Invalid column alias '{column}' for formatting column as XML processing instruction in FOR XML PATH - it must \
             be in 'processing-instruction(target)' format."
        );
        Self::for_xml(6854, text)
    }

    /// 6879: an instruction that would be a declaration.
    pub(crate) fn for_xml_declaration() -> Self {
        let text = "'xml' is an invalid XML processing instruction target. Possible attempt to construct XML declaration \
                    using XML processing instruction constructor. XML declaration construction with FOR XML is not supported.";
        Self::for_xml(6879, text)
    }

    /// 6809: a column without a name in RAW or AUTO.
    pub(crate) fn for_xml_unnamed() -> Self {
        let text = "Unnamed tables cannot be used as XML identifiers as well as unnamed columns cannot be used for attribute \
                    names. Name unnamed columns/tables using AS in the SELECT statement.";
        Self::for_xml(6809, text)
    }

    /// 6829: bytes in RAW without BINARY BASE64.
    pub(crate) fn for_xml_binary(column: &str) -> Self {
        let text = format!(
            "FOR XML EXPLICIT and RAW modes currently do not support addressing binary data as URLs in column '{column}'. \
             Remove the column, or use the BINARY BASE64 mode, or create the URL directly using the \
             'dbobject/TABLE[@PK1=\"V1\"]/@COLUMN' syntax."
        );
        Self::for_xml(6829, text)
    }

    /// 6846: a prefix without a namespace.
    pub(crate) fn for_xml_prefix(prefix: &str, kind: &str, name: &str) -> Self {
        let text = format!("XML name space prefix '{prefix}' declaration is missing for FOR XML {kind} name '{name}'.");
        Self::for_xml(6846, text).with_state(4)
    }

    /// 6849: a column of PATH with an empty step.
    pub(crate) fn for_xml_steps(column: &str) -> Self {
        let text = format!(
            "FOR XML PATH error in column '{column}' - '//' and leading and trailing '/' are not allowed in simple path \
             expressions."
        );
        Self::for_xml(6849, text)
    }

    /// 6850: a name that is no XML name.
    pub(crate) fn for_xml_name(kind: &str, name: &str, fault: char) -> Self {
        let code = u32::from(fault);
        let text = format!(
            "{kind} name '{name}' contains an invalid XML identifier as required by FOR XML; '{fault}'(0x{code:04X}) is \
             the first character at fault."
        );
        Self::for_xml(6850, text)
    }

    /// 6851: XML in an attribute.
    pub(crate) fn for_xml_attribute_type(column: &str) -> Self {
        let text =
            format!("Column '{column}' has invalid data type for attribute-centric XML serialization in FOR XML PATH.");
        Self::for_xml(6851, text)
    }

    /// 6852: an attribute behind an element.
    pub(crate) fn for_xml_late_attribute(column: &str) -> Self {
        let text = format!(
            "Attribute-centric column '{column}' must not come after a non-attribute-centric sibling in XML hierarchy in \
             FOR XML PATH."
        );
        Self::for_xml(6852, text)
    }

    /// 6853: XML where only text can be.
    pub(crate) fn for_xml_text_of_xml(column: &str) -> Self {
        let text = format!(
            "Column '{column}': the last step in the path can't be applied to XML data type or CLR type in FOR XML PATH."
        );
        Self::for_xml(6853, text)
    }

    /// 6861: an empty root.
    pub(crate) fn for_xml_empty_root() -> Self {
        Self::for_xml(6861, "Empty root tag name cannot be specified with FOR XML.")
    }

    /// 6864: attributes without an element of the row.
    pub(crate) fn for_xml_no_row_tag() -> Self {
        let text = "Row tag omission (empty row tag name) cannot be used with attribute-centric FOR XML serialization.";
        Self::for_xml(6864, text)
    }

    /// 6867: a declaration as a column.
    pub(crate) fn for_xml_xmlns() -> Self {
        let text =
            "'xmlns' is invalid in XML tag name in FOR XML PATH, or when WITH XMLNAMESPACES is used with FOR XML.";
        Self::for_xml(6867, text)
    }

    /// 6868: EXPLICIT with namespaces.
    pub(crate) fn for_xml_namespaces() -> Self {
        let text = "The following FOR XML features are not supported with WITH XMLNAMESPACES list: EXPLICIT mode, XMLSCHEMA and \
                    XMLDATA directives.";
        Self::for_xml(6868, text)
    }

    /// 6873: another namespace of `xsi`.
    pub(crate) fn for_xml_xsi() -> Self {
        let text =
            "Redefinition of 'xsi' XML namespace prefix is not supported with ELEMENTS XSINIL option of FOR XML.";
        Self::for_xml(6873, text)
    }

    /// 9322: hyphens in a comment.
    pub(crate) fn for_xml_comment(state: u8) -> Self {
        let text = "Two consecutive '-' can only appear in a comment constructor if they are used to close the comment ('-->').";
        Self::new(9322, Ends::Statement, text).with_state(state)
    }

    /// Rows with xml are not compared.
    pub(crate) fn xml_not_distinct(is_combined: bool) -> Self {
        match is_combined {
            // 5335: UNION, INTERSECT or EXCEPT of xml.
            true => Self::new(
                5335,
                Ends::Batch,
                "The data type xml cannot be used as an operand to the UNION, INTERSECT or EXCEPT operators because it is \
                 not comparable.",
            ),
            // 421: DISTINCT of xml.
            false => Self::new(
                421,
                Ends::Batch,
                "The xml data type cannot be selected as DISTINCT because it is not comparable.",
            ),
        }
    }
}
