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
            | AggregateKind::ChecksumAgg => "a",
        };
        let group = page.state(&format!("SELECT {name}({arguments}) FROM t"));
        let over = page.state(&format!("SELECT {name}({arguments}) OVER (PARTITION BY a) FROM t"));
        page.row(&[&code(&name), &group, &over]);
    }
    for (name, arguments) in NOT_AGGREGATES {
        let group = page.state(&format!("SELECT {name}({arguments}) FROM t"));
        page.row(&[&code(name), &group, ""]);
    }
    page.heading("Functions of windows", &["function", "state"]);
    for (name, arguments) in WINDOWS {
        let state = page.state(&format!("SELECT {name}({arguments}) OVER (ORDER BY a) FROM t"));
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

const AGGREGATES: [AggregateKind; 12] = [
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
];

const NOT_AGGREGATES: [(&str, &str); 3] = [("APPROX_COUNT_DISTINCT", "a"), ("GROUPING", "a"), ("GROUPING_ID", "a")];

const WINDOWS: [(&str, &str); 11] = [
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
];
