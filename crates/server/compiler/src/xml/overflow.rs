//! The element of XMLTEXT: attributes and content as they are written.

use selenite_types::normalized;

use crate::{Ends, SqlError};

/// The first element of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Overflow<'a> {
    /// Names with their prefixes, and values as they are written between their quotes.
    pub attributes: Vec<(&'a str, &'a str)>,
    /// What is between its tags; `None` of one tag.
    pub content: Option<&'a str>,
}

impl<'a> Overflow<'a> {
    /// The element of a text; `field` is for messages.
    ///
    /// Errors: 6834; 40510 for what stands before the element, and for a quote in a value.
    pub fn parse(text: &'a str, field: &str) -> Result<Self, SqlError> {
        let form = normalized(text, true).map_err(|_| SqlError::xml_overflow(field, 2))?;
        let begins_element = |(at, _): &(usize, &str)| !form[at + 1..].starts_with(['!', '?', '/']);
        if !form.match_indices('<').any(|found| begins_element(&found)) {
            return Err(SqlError::xml_overflow(field, 1));
        }
        let trimmed = text.trim_start();
        let inside = trimmed
            .strip_prefix('<')
            .filter(|inside| !inside.starts_with(['!', '?']));
        let inside = inside.ok_or_else(|| SqlError::unsupported("What stands before the element of XMLTEXT"))?;
        let end = tag_end(inside);
        let (tag, behind) = (&inside[..end], &inside[end + 1..]);
        let attributes = attributes(tag.strip_suffix('/').unwrap_or(tag));
        if attributes.iter().any(|(_, value)| value.contains('"')) {
            return Err(SqlError::unsupported("A quote in an attribute of XMLTEXT"));
        }
        Ok(Self {
            attributes,
            content: (!tag.ends_with('/')).then(|| &behind[..content_end(behind)]),
        })
    }
}

/// Where a tag without its `<` ends: at the first `>` outside of values.
fn tag_end(inside: &str) -> usize {
    let mut quote = None;
    let end = inside.find(|sign| match (quote, sign) {
        (None, '"' | '\'') => {
            quote = Some(sign);
            false
        }
        (None, sign) => sign == '>',
        (Some(open), sign) => {
            if open == sign {
                quote = None;
            }
            false
        }
    });
    end.unwrap_or(inside.len().saturating_sub(1))
}

/// The attributes of a tag that is well-formed.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = tag.split_once(is_space).map_or("", |(_, rest)| rest);
    while let Some((name, behind)) = rest.split_once('=') {
        let value = behind.trim_start_matches(is_space);
        let Some(quote) = value.chars().next() else { break };
        let Some((value, behind)) = value[1..].split_once(quote) else {
            break;
        };
        found.push((name.trim_matches(is_space), value));
        rest = behind;
    }
    found
}

/// Where the end tag of an element begins behind its start tag.
fn content_end(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        let markup = &text[start..];
        let closed = |end: &str| markup.find(end).map_or(text.len(), |found| start + found + end.len());
        at = match () {
            () if markup.starts_with("<!--") => closed("-->"),
            () if markup.starts_with("<![CDATA[") => closed("]]>"),
            () if markup.starts_with("<?") => closed("?>"),
            () if markup.starts_with("</") => {
                if depth == 0 {
                    return start;
                }
                depth -= 1;
                closed(">")
            }
            () => {
                let end = tag_end(&markup[1..]);
                depth += usize::from(!markup[..=end].ends_with('/'));
                start + 1 + end + 1
            }
        };
    }
    text.len()
}

fn is_space(sign: char) -> bool {
    matches!(sign, ' ' | '\t' | '\r' | '\n')
}

impl SqlError {
    /// 6834: XMLTEXT of what is no element.
    fn xml_overflow(field: &str, state: u8) -> Self {
        let text =
            format!("XMLTEXT field '{field}' contains an invalid XML document. Check the root tag and its attributes.");
        Self::new(6834, Ends::Statement, text).with_state(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_content_are_as_they_are_written() {
        for (text, attributes, content) in [
            ("<a/>", vec![], None),
            ("  <a></a>  ", vec![], Some("")),
            (
                "<o  p = \"1\" q='&lt;>' >  <k  ></k>  </o>",
                vec![("p", "1"), ("q", "&lt;>")],
                Some("  <k  ></k>  "),
            ),
            (
                "<a x:b=\"1\"\n xmlns:x=\"u\"><a><a/></a><!--</a>--><![CDATA[</a>]]><?p </a>?></a ><b/>",
                vec![("x:b", "1"), ("xmlns:x", "u")],
                Some("<a><a/></a><!--</a>--><![CDATA[</a>]]><?p </a>?>"),
            ),
            (
                "<a><b c='/>'/><d e=\">\"></d></a>",
                vec![],
                Some("<b c='/>'/><d e=\">\"></d>"),
            ),
            ("<a b=''/>", vec![("b", "")], None),
        ] {
            let found = Overflow::parse(text, "").unwrap();
            assert_eq!((found.attributes, found.content), (attributes, content), "{text}");
        }
    }

    #[test]
    fn what_is_no_element_is_refused() {
        for (text, number) in [
            ("", 6834),
            ("plain", 6834),
            ("<!--x-->", 6834),
            ("<a>", 6834),
            ("<p:a/>", 6834),
            ("x<a/>", 40510),
            ("<!--x--><a/>", 40510),
            ("<a b='\"'/>", 40510),
        ] {
            assert_eq!(Overflow::parse(text, "f").unwrap_err().number(), number, "{text}");
        }
    }

    #[test]
    fn any_cut_of_a_text_is_an_element_or_an_error() {
        let whole = " <a b='1' c=\"&gt;>\"><d/>x<![CDATA[</a>]]><!--<--><?p q?><e f='/'>\u{e9}</e></a><g/>";
        for (at, _) in whole.char_indices() {
            let _ = Overflow::parse(&whole[..at], "");
            let _ = Overflow::parse(&whole[at..], "");
        }
    }
}
