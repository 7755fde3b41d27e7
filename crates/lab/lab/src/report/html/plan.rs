//! A prediction as a page of its own.

use selenite_plan::Prediction;

use super::forest::{Group, Mark, Panel, Row, forest};
use super::table::{folded, section, table};
use super::{STYLE, svg};
use crate::report::plan::{HEAD, answer, conditions, figures, row, short, statements};
use crate::report::scale::Scale;
use crate::report::svg::{Shape, typeset};

/// The page. It needs nothing but itself.
#[must_use]
pub fn page(prediction: &Prediction) -> String {
    let facts: String = prediction
        .observed
        .iter()
        .map(|fact| format!("<li>{}</li>", typeset(fact)))
        .collect();
    let statements: String = statements(prediction)
        .iter()
        .map(|(name, text)| format!("<div><h3>{}</h3><p>{}</p></div>", typeset(name), typeset(text)))
        .collect();
    let statements = match statements.as_str() {
        "" => statements,
        _ => format!("<div class=\"multiples\">{statements}</div>"),
    };
    let warnings: String = prediction
        .warnings
        .iter()
        .map(|warning| format!("<li>{}</li>", typeset(warning)))
        .collect();
    let sections = [
        section(
            "parts",
            "What makes up the cost",
            "Cores that each operation keeps busy in addition, with 90 % intervals.",
            &parts(prediction),
        ),
        section("times", "Times, space, network", "", &statements),
        section("limits", "Assumptions and limits", "", &listed(&warnings)),
    ]
    .concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"selenite plan\">\n\
         <title>What encryption will cost</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{}\n<main>\n<header><p class=\"brand\">Selenite plan<span> / what encryption will cost</span></p>\
         <h1>{}</h1><p>{}</p><ul class=\"facts\">{facts}</ul></header>\n{sections}</main>\n\
         <footer><p>A prediction by selenite plan {}: nothing was encrypted. One file; nothing is loaded from elsewhere.</p></footer>\n</body>\n</html>\n",
        svg::outlines(),
        typeset(&answer(prediction)),
        typeset(&conditions(prediction)),
        env!("CARGO_PKG_VERSION"),
    )
}

fn parts(prediction: &Prediction) -> String {
    if prediction.parts.is_empty() {
        return String::new();
    }
    let row_of = |name: &str, index: usize, cores: selenite_plan::predict::Estimate| Row {
        name: name.to_owned(),
        shape: Shape::of(index),
        marks: vec![Some(Mark {
            center: cores.value,
            interval: Some((cores.low, cores.high)),
            floor: None,
            text: figures(cores),
            verdict: None,
        })],
    };
    let each = prediction.parts.iter();
    let rows = each
        .clone()
        .map(|part| row_of(part.operation.name(), 0, part.cores))
        .collect();
    let values = each.flat_map(|part| [part.cores.low, part.cores.high]).chain([
        0.0,
        prediction.added_cores.low,
        prediction.added_cores.high,
    ]);
    let panel = Panel {
        name: "Cores, added".to_owned(),
        scale: Scale::linear(values),
        limit: None,
        apart: 0.12,
        tick: short,
    };
    let group = |name: &str, rows| Group {
        name: name.to_owned(),
        note: String::new(),
        rows,
    };
    let groups = [
        group("Operations", rows),
        group("All", vec![row_of("together", 1, prediction.added_cores)]),
    ];
    let plot = forest("parts-plot", "Cores that each operation adds", &[panel], &groups);
    let figures: Vec<Vec<String>> = prediction.parts.iter().map(|part| row(part).to_vec()).collect();
    format!(
        "<figure class=\"parts\">{plot}{}</figure>",
        folded(
            "The figures of this chart",
            &table("What each operation adds", &HEAD, &figures)
        )
    )
}

fn listed(items: &str) -> String {
    match items {
        "" => String::new(),
        _ => format!("<ul>{items}</ul>"),
    }
}
