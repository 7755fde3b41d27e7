//! Elements of no namespace where another default may be in force.

/// xml in its one form, where each outermost element without a prefix that has no default namespace declares that there is
/// none, behind its attributes. `only_top`: elements within others are left as they are.
pub(crate) fn without_default(xml: &str, only_top: bool) -> String {
    let mut out = String::with_capacity(xml.len());
    let mut rest = xml;
    // The open elements, and those of them within one that has a default namespace of its own.
    let (mut depth, mut covered) = (0_usize, 0_usize);
    while let Some(at) = rest.find('<') {
        let (text, markup) = rest.split_at(at);
        out.push_str(text);
        let end = match () {
            () if markup.starts_with("<!--") => "-->",
            () if markup.starts_with("<?") => "?>",
            () => ">",
        };
        let length = markup.find(end).map_or(markup.len(), |found| found + end.len());
        let (tag, behind) = markup.split_at(length);
        rest = behind;
        if tag.starts_with("<!") || tag.starts_with("<?") {
            out.push_str(tag);
            continue;
        }
        if tag.starts_with("</") {
            (depth, covered) = (depth.saturating_sub(1), covered.saturating_sub(1));
            out.push_str(tag);
            continue;
        }
        let is_empty = tag.ends_with("/>");
        let declares = tag.contains(" xmlns=\"");
        let name = tag.split([' ', '/', '>']).next().unwrap_or_default();
        let has_one = name.contains(':') || declares || covered > 0;
        let is_bare = !has_one && (depth == 0 || !only_top);
        let inside = tag.len() - if is_empty { "/>".len() } else { ">".len() };
        let (start, close) = tag.split_at(inside);
        out.push_str(start);
        out.push_str(if is_bare { " xmlns=\"\"" } else { "" });
        out.push_str(close);
        if !is_empty {
            covered += usize::from(covered > 0 || declares || is_bare);
            depth += 1;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_without_a_namespace_say_so() {
        for (xml, all, top) in [
            ("", "", ""),
            ("text", "text", "text"),
            ("<a/>", "<a xmlns=\"\"/>", "<a xmlns=\"\"/>"),
            (
                "x<a b=\"1\"><c/></a><d>y</d>",
                "x<a b=\"1\" xmlns=\"\"><c/></a><d xmlns=\"\">y</d>",
                "x<a b=\"1\" xmlns=\"\"><c/></a><d xmlns=\"\">y</d>",
            ),
            (
                "<a xmlns=\"u\"><b/></a>",
                "<a xmlns=\"u\"><b/></a>",
                "<a xmlns=\"u\"><b/></a>",
            ),
            (
                "<p:a xmlns:p=\"u\"><b><c/></b><p:d><e/></p:d></p:a>",
                "<p:a xmlns:p=\"u\"><b xmlns=\"\"><c/></b><p:d><e xmlns=\"\"/></p:d></p:a>",
                "<p:a xmlns:p=\"u\"><b><c/></b><p:d><e/></p:d></p:a>",
            ),
            (
                "<!--<a>--><?p <b>?><c d=\"&lt;/&gt;\"/>",
                "<!--<a>--><?p <b>?><c d=\"&lt;/&gt;\" xmlns=\"\"/>",
                "<!--<a>--><?p <b>?><c d=\"&lt;/&gt;\" xmlns=\"\"/>",
            ),
        ] {
            assert_eq!(without_default(xml, false), all, "{xml}");
            assert_eq!(without_default(xml, true), top, "{xml}");
        }
    }
}
