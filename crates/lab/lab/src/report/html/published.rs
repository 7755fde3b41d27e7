//! A published measurement beside ours: a table, and what a reader needs to judge both.

use super::table::table;
use crate::report::published::{HEAD, about, method, rows, scale, source};
use crate::report::svg::typeset;
use crate::summary::Summary;

/// Nothing if the study repeats no publication.
pub fn published(summary: &Summary) -> String {
    let Some(rerun) = &summary.published else {
        return String::new();
    };
    let paragraph = |text: &str| format!("<p>{}</p>", typeset(text));
    let differs = rerun.source.differs.iter();
    let differs: String = differs.map(|text| format!("<li>{}</li>", typeset(text))).collect();
    let differs = match differs.is_empty() {
        true => differs,
        false => format!("<p>What differs:</p><ul>{differs}</ul>"),
    };
    format!(
        "{}{}{}{differs}{}<p class=\"note\">{}</p>",
        paragraph(&source(rerun)),
        paragraph(&scale(summary, rerun)),
        paragraph(&method(rerun)),
        table("Published and measured again", &HEAD, &rows(rerun)),
        typeset(&about(rerun)),
    )
}
