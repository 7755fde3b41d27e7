//! Marks and lines of charts. Horizontal positions are percentages, so that a chart fits any width
//! and its text keeps its size; vertical positions are pixels.

use std::fmt::Write;

/// Escapes text for HTML and SVG.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            control if control.is_control() && !matches!(control, '\n' | '\t') => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// Escaped text with typographic minus signs, and without line breaks between numbers and units.
pub fn typeset(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let letters: Vec<char> = text.chars().collect();
    for (index, &letter) in letters.iter().enumerate() {
        let next = letters.get(index + 1).copied().unwrap_or(' ');
        let minus = letter == '-' && next.is_ascii_digit() && matches!(before, ' ' | '[' | '(');
        let sum = letter == '-' && before == ' ' && next == ' ';
        let end =
            letter == ' ' && before == ',' && (next == '-' || next.is_ascii_digit()) && is_inside(&letters[..index]);
        let tied = end || letter == ' ' && before.is_ascii_digit() && is_unit(&letters[index + 1..]);
        out.push(match letter {
            '-' if minus || sum => '\u{2212}',
            ' ' if tied => '\u{a0}',
            other => other,
        });
        before = letter;
    }
    let out = out.replace("\u{a0}us", "\u{a0}\u{b5}s");
    escape(&out)
}

/// `x`, a share of the width, as a percentage.
pub fn across(x: f64) -> String {
    format!("{:.2}%", x.clamp(-1.0, 2.0) * 100.0)
}

/// The shape of an arm's marks, which distinguishes arms without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(usize);

impl Shape {
    /// The shape of the encrypted arm at `index`.
    pub fn of(index: usize) -> Self {
        Self(index % OUTLINES.len())
    }

    /// The shape of a second unencrypted copy.
    pub fn floor() -> Self {
        Self(usize::MAX)
    }

    /// The CSS class of its colour.
    pub fn class(self) -> String {
        if self == Self::floor() {
            "arm floor".to_owned()
        } else {
            format!("arm arm{}", self.0)
        }
    }

    /// A mark at a position of a chart, in a page that contains [`OUTLINES`](outlines).
    pub fn mark(self, x: f64, y: f64, size: Size) -> String {
        let name = match size {
            Size::Usual => 'm',
            Size::Small => 's',
        };
        let index = if self == Self::floor() { 0 } else { self.0 };
        let (class, x) = (self.class(), across(x));
        format!(r##"<use class="{class}" href="#{name}{index}" x="{x}" y="{y:.1}"/>"##)
    }

    /// The mark alone, for a legend or a label; hidden from screen readers.
    pub fn key(self) -> String {
        let mark = self.mark(0.5, 7.0, Size::Usual);
        format!(r#"<svg class="key" width="14" height="14" aria-hidden="true" focusable="false">{mark}</svg>"#)
    }
}

/// The size of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// An estimate.
    Usual,
    /// One of many points.
    Small,
}

/// The definitions of all outlines, once per page.
pub fn outlines() -> String {
    let mut body = String::new();
    for (index, outline) in OUTLINES.iter().enumerate() {
        let _ = write!(
            body,
            r#"<path id="m{index}" d="{outline}"/><path id="s{index}" transform="scale(0.5)" d="{outline}"/>"#
        );
    }
    format!(
        r#"<svg class="outlines" width="0" height="0" aria-hidden="true" focusable="false"><defs>{body}</defs></svg>"#
    )
}

/// A straight line; `class` is its meaning.
pub fn line(from: (f64, f64), to: (f64, f64), class: &str) -> String {
    let (x1, x2) = (across(from.0), across(to.0));
    format!(
        r#"<line class="{class}" x1="{x1}" y1="{:.1}" x2="{x2}" y2="{:.1}"/>"#,
        from.1, to.1
    )
}

/// A band between two horizontal positions, over the whole height.
pub fn band(from: f64, to: f64, height: f64, class: &str) -> String {
    let width = across((to - from).max(0.002));
    format!(
        r#"<rect class="{class}" x="{}" y="0" width="{width}" height="{height}"/>"#,
        across(from)
    )
}

/// Text at a position; `anchor` is start, middle or end.
pub fn text(x: f64, y: f64, anchor: &str, class: &str, text: &str) -> String {
    format!(
        r#"<text class="{class}" x="{}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#,
        across(x),
        typeset(text)
    )
}

/// A line through points: x as a share of the width, y in pixels. Its stroke does not stretch with the chart.
pub fn path(points: &[(f64, f64)], height: f64, class: &str) -> String {
    let mut data = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let verb = if index == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{verb}{:.1} {y:.1}", x * 1000.0);
    }
    format!(
        r#"<svg width="100%" height="{height}" viewBox="0 0 1000 {height}" preserveAspectRatio="none"><path class="{class}" vector-effect="non-scaling-stroke" d="{data}"/></svg>"#
    )
}

/// A chart: a picture with a name and a description.
pub fn chart(id: &str, height: f64, title: &str, description: &str, body: &str) -> String {
    let (title, description) = (typeset(title), typeset(description));
    format!(
        r#"<svg class="chart" role="img" width="100%" height="{height}" aria-labelledby="{id}-t {id}-d"><title id="{id}-t">{title}</title><desc id="{id}-d">{description}</desc>{body}</svg>"#
    )
}

/// Whether a bracket is open: an interval is not broken across lines.
fn is_inside(before: &[char]) -> bool {
    before.iter().rev().find(|letter| matches!(letter, '[' | ']')) == Some(&'[')
}

fn is_unit(rest: &[char]) -> bool {
    UNITS.iter().any(|unit| {
        let length = unit.chars().count();
        rest.len() >= length
            && unit.chars().zip(rest).all(|(a, b)| a == *b)
            && rest.get(length).is_none_or(|next| !next.is_alphanumeric())
    })
}

const UNITS: [&str; 10] = ["%", "ns", "us", "ms", "s", "min", "KiB", "MiB", "GiB", "MHz"];

const OUTLINES: [&str; 6] = [
    "M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z",
    "M-4.2 -4.2h8.4v8.4h-8.4z",
    "M0 -5.6L5.6 0L0 5.6L-5.6 0z",
    "M0 -5.2L5.2 4.2H-5.2z",
    "M0 5.2L5.2 -4.2H-5.2z",
    "M-1.8 -5h3.6v3.2h3.2v3.6h-3.2v3.2h-3.6v-3.2h-3.2v-3.6h3.2z",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<script>\"&'\u{1b}"), "&lt;script&gt;&quot;&amp;&#39;\u{fffd}");
        assert!(!chart("a", 10.0, "<b>", "</desc><script>", "").contains("<script>"));
        assert!(!text(0.0, 0.0, "start", "t", "<g>").contains("<g>"));
    }

    #[test]
    fn numbers_keep_their_units_and_signs() {
        assert_eq!(
            typeset("costs -2.1 % [-3.0, 1.0], 1.40 us"),
            "costs \u{2212}2.1\u{a0}% [\u{2212}3.0,\u{a0}1.0], 1.40\u{a0}\u{b5}s"
        );
        assert_eq!(typeset("like-cold 5 sessions x-3"), "like-cold 5 sessions x-3");
    }
}
