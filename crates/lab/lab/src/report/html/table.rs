//! HTML tables, which scroll horizontally on narrow screens.

use crate::report::svg::typeset;

/// A table with a caption. The first field of each row is its header.
pub fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let titles: String = head
        .iter()
        .map(|title| format!("<th scope=\"col\">{}</th>", typeset(title)))
        .collect();
    let mut body = String::new();
    for row in rows {
        body.push_str("<tr>");
        for (index, field) in row.iter().enumerate() {
            let class = if is_number(field) { " class=\"n\"" } else { "" };
            let text = typeset(field);
            match index {
                0 => body.push_str(&format!("<th scope=\"row\">{text}</th>")),
                _ => body.push_str(&format!("<td{class}>{text}</td>")),
            }
        }
        body.push_str("</tr>");
    }
    let caption = typeset(caption);
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table><caption>{caption}</caption>\
         <thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

/// A collapsed section.
pub fn folded(label: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<details><summary>{}</summary>{body}</details>", typeset(label))
}

/// A section with a heading, an anchor and an introduction; nothing if its body is empty.
pub fn section(id: &str, heading: &str, about: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    let (heading, about) = (typeset(heading), typeset(about));
    let about = if about.is_empty() {
        about
    } else {
        format!("<p class=\"about\">{about}</p>")
    };
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\"><a href=\"#{id}\">{heading}</a></h2>{about}{body}</section>\n"
    )
}

fn is_number(field: &str) -> bool {
    field.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '+' | '-' | '[')) || field.is_empty()
}
