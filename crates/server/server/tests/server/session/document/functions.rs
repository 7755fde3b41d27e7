//! Functions, from the binder's own table.

use selenite_compiler::{AggregateKind, Function};

use super::{Page, WORKS, code};

pub fn write(page: &mut Page) {
    page.heading("Aggregates", &["function", "over a group", "with OVER"]);
    for kind in AGGREGATES {
        let name = kind.name().to_ascii_uppercase();
        let arguments = match kind {
            AggregateKind::StringAgg => "b, N','",
            AggregateKind::Count
            | AggregateKind::CountBig
            | AggregateKind::Sum
            | AggregateKind::Avg
            | AggregateKind::Min
            | AggregateKind::Max
            | AggregateKind::StDev
            | AggregateKind::StDevP
            | AggregateKind::Var
            | AggregateKind::VarP
            | AggregateKind::ChecksumAgg
            | AggregateKind::ApproxCountDistinct
            | AggregateKind::PercentileCont
            | AggregateKind::PercentileDisc
            | AggregateKind::FirstValue
            | AggregateKind::LastValue => "a",
        };
        let group = page.state(&format!("SELECT {name}({arguments}) FROM t"));
        let over = page.state(&format!("SELECT {name}({arguments}) OVER (PARTITION BY a) FROM t"));
        page.row(&[&code(&name), &group, &over]);
    }
    for (name, arguments) in NOT_AGGREGATES {
        let group = page.state(&format!("SELECT {name}({arguments}) FROM t GROUP BY a"));
        page.row(&[&code(name), &group, ""]);
    }
    page.heading("Functions of windows", &["function", "state"]);
    for (name, arguments) in WINDOWS {
        let over = match name.starts_with("PERCENTILE") {
            true => "WITHIN GROUP (ORDER BY a) OVER ()",
            false => "OVER (ORDER BY a)",
        };
        let state = page.state(&format!("SELECT {name}({arguments}) {over} FROM t"));
        page.row(&[&code(name), &state]);
    }
    page.heading("Functions of values", &["function", "family", "state"]);
    for function in Function::states() {
        let name = function.name.to_ascii_uppercase();
        let state = match function.is_supported {
            true => WORKS.to_owned(),
            false => format!("refused: Function '{name}' is not supported."),
        };
        page.row(&[&code(&name), function.family, &state]);
    }
    page.line("");
    page.line("Any other name is error 195 (a function without a schema) or 4121 (one with it).");
}

const AGGREGATES: [AggregateKind; 13] = [
    AggregateKind::Count,
    AggregateKind::CountBig,
    AggregateKind::Sum,
    AggregateKind::Avg,
    AggregateKind::Min,
    AggregateKind::Max,
    AggregateKind::StDev,
    AggregateKind::StDevP,
    AggregateKind::Var,
    AggregateKind::VarP,
    AggregateKind::StringAgg,
    AggregateKind::ChecksumAgg,
    AggregateKind::ApproxCountDistinct,
];

const NOT_AGGREGATES: [(&str, &str); 2] = [("GROUPING", "a"), ("GROUPING_ID", "a")];

const WINDOWS: [(&str, &str); 12] = [
    ("ROW_NUMBER", ""),
    ("RANK", ""),
    ("DENSE_RANK", ""),
    ("PERCENT_RANK", ""),
    ("CUME_DIST", ""),
    ("NTILE", "2"),
    ("LAG", "a"),
    ("LEAD", "a, 1, 0"),
    ("FIRST_VALUE", "a"),
    ("LAST_VALUE", "a"),
    ("PERCENTILE_CONT", "0.5"),
    ("PERCENTILE_DISC", "0.5"),
];
