//! Errors of XML text.

use std::fmt;

/// An error of a text that is to be xml, with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XmlError {
    /// What is wrong.
    pub fault: XmlFault,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub character: usize,
}

/// What is wrong with a text that is to be xml.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum XmlFault {
    /// 6335: elements that are nested too deeply.
    Depth,
    /// 6359: a document type.
    DocumentType,
    /// 9400: the text ends too early.
    End,
    /// 9401: an encoding that there is not.
    UnknownEncoding,
    /// 9402: the declared encoding is not that of the text.
    Encoding,
    /// 9410: white space is missing.
    Space,
    /// 9411: a semicolon is missing.
    Semicolon,
    /// 9412: `>` is missing.
    TagEnd,
    /// 9413: a value in quotes is missing.
    Quote,
    /// 9414: an equal sign is missing.
    Equal,
    /// 9415: `<` in a value.
    LessThan,
    /// 9416: a hexadecimal digit is missing.
    HexDigit,
    /// 9417: a digit is missing.
    Digit,
    /// 9420: a character that XML does not have.
    Character,
    /// 9421: what follows `&`.
    NameCharacter,
    /// 9422: any other error.
    Syntax,
    /// 9423: a CDATA section.
    CData,
    /// 9424: a comment without its end.
    Comment,
    /// 9436: an end tag of another element.
    EndTag,
    /// 9437: two attributes of a name.
    Duplicate,
    /// 9438: a declaration that is not the first.
    Declaration,
    /// 9439: an instruction whose target is `xml` in another case.
    XmlTarget,
    /// 9441: what is in a declaration.
    DeclarationSyntax,
    /// 9448: an entity that XML does not have.
    Entity,
    /// 9451: an instruction without its end.
    Instruction,
    /// 9454: the end of a CDATA section in a text.
    CDataEnd,
    /// 9455: a character that no name has in its place.
    Name,
    /// 9456: two colons in a name.
    Colons,
    /// 9458: a prefix that an element declares twice.
    Redeclared,
    /// 9459: a prefix without a namespace.
    Prefix,
    /// 9460: a prefix of no namespace.
    EmptyNamespace,
    /// 9464: another namespace of the prefix `xml`.
    XmlPrefix,
    /// 9465: the prefix `xmlns`.
    XmlnsPrefix,
    /// 9466: another prefix of the namespace of `xml`.
    XmlNamespace,
    /// 9467: the namespace of declarations.
    XmlnsNamespace,
    /// The caller does not go on; it has an error of its own.
    Interrupted,
}

impl XmlError {
    /// SQL Server's message number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.fault.described().0
    }
}

impl XmlFault {
    fn described(self) -> (u16, &'static str) {
        match self {
            Self::Depth => (6335, ""),
            Self::DocumentType => (6359, ""),
            Self::End => (9400, "unexpected end of input"),
            Self::UnknownEncoding => (9401, "unrecognized encoding"),
            Self::Encoding => (9402, "unable to switch the encoding"),
            Self::Space => (9410, "whitespace expected"),
            Self::Semicolon => (9411, "semicolon expected"),
            Self::TagEnd => (9412, "'>' expected"),
            Self::Quote => (9413, "A string literal was expected"),
            Self::Equal => (9414, "equal expected"),
            Self::LessThan => (9415, "well formed check: no '<' in attribute value"),
            Self::HexDigit => (9416, "hexadecimal digit expected"),
            Self::Digit => (9417, "decimal digit expected"),
            Self::Character => (9420, "illegal xml character"),
            Self::NameCharacter => (9421, "illegal name character"),
            Self::Syntax => (9422, "incorrect document syntax"),
            Self::CData => (9423, "incorrect CDATA section syntax"),
            Self::Comment => (9424, "incorrect comment syntax"),
            Self::EndTag => (9436, "end tag does not match start tag"),
            Self::Duplicate => (9437, "duplicate attribute"),
            Self::Declaration => (9438, "text/xmldecl not at the beginning of input"),
            Self::XmlTarget => (9439, "namespaces beginning with \"xml\" are reserved"),
            Self::DeclarationSyntax => (9441, "incorrect xml declaration syntax"),
            Self::Entity => (9448, "well formed check: undeclared entity"),
            Self::Instruction => (9451, "incorrect processing instruction syntax"),
            Self::CDataEnd => (9454, "no ']]>' in element content"),
            Self::Name => (9455, "illegal qualified name character"),
            Self::Colons => (9456, "multiple colons in qualified name"),
            Self::Redeclared => (9458, "redeclared prefix"),
            Self::Prefix => (9459, "undeclared prefix"),
            Self::EmptyNamespace => (9460, "non default namespace with empty uri"),
            Self::XmlPrefix => (
                9464,
                "XML namespace prefix 'xml' can only be associated with the URI http://www.w3.org/XML/1998/namespace. \
                 This URI cannot be used with other prefixes.",
            ),
            Self::XmlnsPrefix => (9465, "XML namespace prefix 'xmlns' is reserved for use by XML."),
            Self::XmlNamespace => (
                9466,
                "XML namespace xml namespace URI (http://www.w3.org/XML/1998/namespace) must be assigned only to \
                 prefix 'xml'.",
            ),
            Self::XmlnsNamespace => (
                9467,
                "xmlns namespace URI (http://www.w3.org/2000/xmlns/) is reserved and must not be used.",
            ),
            Self::Interrupted => (0, "interrupted"),
        }
    }
}

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, line, character } = self;
        match fault.described() {
            (6335, _) => write!(
                f,
                "XML datatype instance has too many levels of nested nodes. Maximum allowed depth is {} levels.",
                DEPTH_MAX
            ),
            (6359, _) => f.write_str(
                "Parsing XML with internal subset DTDs not allowed. Use CONVERT with style option 2 to enable limited \
                 internal subset DTD support.",
            ),
            (_, what) => write!(f, "XML parsing: line {line}, character {character}, {what}"),
        }
    }
}

impl std::error::Error for XmlError {}

/// The nesting of elements.
pub(super) const DEPTH_MAX: usize = 128;
