//! A forest plot: estimates with their intervals (whiskers), one per row, in one or two panels that
//! share the rows.

use std::fmt::Write;

use crate::report::scale::Scale;
use crate::report::sentence;
use crate::report::svg::{Shape, Size, across, band, line, text, typeset};
use crate::summary::Verdict;

/// A column of plots.
pub struct Panel {
    /// Its title.
    pub name: String,
    /// The scale of its values.
    pub scale: Scale,
    /// The position of the limit.
    pub limit: Option<f64>,
    /// The minimum distance of the axis labels, as a share of the width.
    pub apart: f64,
    /// The format of the axis labels.
    pub tick: fn(f64) -> String,
}

/// A group of rows.
pub struct Group {
    /// Their name.
    pub name: String,
    /// A short note about the group.
    pub note: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row.
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its mark.
    pub shape: Shape,
    /// The mark in each panel, if there is one.
    pub marks: Vec<Option<Mark>>,
}

/// An estimate.
pub struct Mark {
    /// The estimate.
    pub center: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// The difference of a second unencrypted copy.
    pub floor: Option<(f64, f64)>,
    /// Its figures as text.
    pub text: String,
    /// The verdict, if one is possible.
    pub verdict: Option<Verdict>,
}

/// The forest plot of all groups.
pub fn forest(id: &str, label: &str, panels: &[Panel], groups: &[Group]) -> String {
    let mut out = String::new();
    let columns = if panels.len() > 1 { "two" } else { "one" };
    let label = typeset(label);
    let _ = write!(
        out,
        "<div class=\"forest {columns}\" id=\"{id}\" role=\"group\" aria-label=\"{label}\">"
    );
    out.push_str(&axes(panels, true));
    for group in groups {
        let (name, note) = (typeset(&group.name), typeset(&group.note));
        let note = if note.is_empty() {
            note
        } else {
            format!("<small>{note}</small>")
        };
        let _ = write!(
            out,
            "<div class=\"group\"><div class=\"name\"><b>{name}</b>{note}</div><div class=\"rows\">"
        );
        for row in &group.rows {
            out.push_str(&drawn(row, group, panels));
        }
        out.push_str("</div></div>");
    }
    out.push_str(&axes(panels, false));
    out.push_str("</div>");
    out
}

fn drawn(row: &Row, group: &Group, panels: &[Panel]) -> String {
    let mut out = format!(
        "<div class=\"row\"><span class=\"who\">{}{}</span>",
        row.shape.key(),
        typeset(&row.name)
    );
    for (panel, mark) in panels.iter().zip(&row.marks) {
        let name = format!("{}, {}: {}", row.name, group.name, panel.name);
        match mark {
            Some(mark) => {
                out.push_str(&plot(panel, row.shape, Some(mark), &format!("{name} {}", mark.text)));
                let state = mark.verdict.map(badge).unwrap_or_default();
                let text = typeset(&mark.text);
                let panel = typeset(panel.name.trim_end_matches(", %"));
                let _ = write!(
                    out,
                    "<span class=\"says\"><i>{panel}: </i><span>{text}</span>{state}</span>"
                );
            }
            None => {
                out.push_str(&plot(panel, row.shape, None, &format!("{name} was not measured")));
                out.push_str("<span class=\"says none\">none</span>");
            }
        }
    }
    out.push_str("</div>");
    out
}

/// A verdict as a symbol and words.
pub fn badge(verdict: Verdict) -> String {
    let (class, sign) = match verdict {
        Verdict::Above => ("above", "\u{25b2}"),
        Verdict::Within { .. } => ("within", "\u{25cf}"),
        Verdict::NotResolved { .. } => ("open", "\u{25cb}"),
    };
    let words = sentence::state(verdict);
    format!("<span class=\"state {class}\"><span aria-hidden=\"true\">{sign}</span> {words}</span>")
}

fn plot(panel: &Panel, shape: Shape, mark: Option<&Mark>, title: &str) -> String {
    let at = |value: f64| panel.scale.at(value);
    let mut body = String::new();
    if let Some((low, high)) = mark.and_then(|mark| mark.floor) {
        body.push_str(&band(at(low), at(high), HEIGHT, "noise"));
    }
    for tick in ticks(panel) {
        let class = if tick == 0.0 { "zero" } else { "grid" };
        body.push_str(&line((at(tick), 0.0), (at(tick), HEIGHT), class));
    }
    if let Some(limit) = panel.limit {
        body.push_str(&line((at(limit), 0.0), (at(limit), HEIGHT), "limit"));
    }
    if let Some(mark) = mark {
        let middle = HEIGHT / 2.0;
        let class = format!("range {}", shape.class());
        if let Some((low, high)) = mark.interval {
            body.push_str(&line((at(low), middle), (at(high), middle), &class));
            for end in [low, high] {
                body.push_str(&line((at(end), middle - 4.0), (at(end), middle + 4.0), &class));
            }
        }
        body.push_str(&shape.mark(at(mark.center), middle, Size::Usual));
    }
    let title = typeset(title);
    format!("<svg class=\"plot\" role=\"img\" width=\"100%\" height=\"{HEIGHT}\"><title>{title}</title>{body}</svg>")
}

fn axes(panels: &[Panel], top: bool) -> String {
    let mut cells = String::from("<span class=\"who\"></span>");
    // A line for the word `limit`, only if there is a limit.
    let more = if panels.iter().any(|panel| panel.limit.is_some()) {
        16.0
    } else {
        0.0
    };
    for panel in panels {
        let mut body = String::new();
        for tick in ticks(panel) {
            let x = panel.scale.at(tick);
            let anchor = match x {
                x if x < 0.04 => "start",
                x if x > 0.94 => "end",
                _ => "middle",
            };
            body.push_str(&text(
                x,
                if top { 28.0 + more } else { 14.0 },
                anchor,
                "tick",
                &(panel.tick)(tick),
            ));
        }
        if top {
            body.push_str(&text(0.0, 11.0, "start", "panel", &panel.name));
            if let Some(limit) = panel.limit {
                let x = across(panel.scale.at(limit));
                let _ = write!(
                    body,
                    r#"<text class="tick limit-word" x="{x}" y="28" text-anchor="middle">limit</text>"#
                );
            }
        }
        let height = if top { 34.0 + more } else { 20.0 };
        let _ = write!(
            cells,
            "<svg class=\"axis\" width=\"100%\" height=\"{height}\" aria-hidden=\"true\">{body}</svg><span></span>"
        );
    }
    let class = if top { "top" } else { "bottom" };
    format!(
        "<div class=\"group ends {class}\"><div class=\"name\"></div><div class=\"rows\"><div class=\"row\">{cells}</div></div></div>"
    )
}

fn ticks(panel: &Panel) -> Vec<f64> {
    panel.scale.ticks(panel.apart, &[0.0, panel.limit.unwrap_or(0.0)])
}

const HEIGHT: f64 = 22.0;
