//! A server's traffic, compared with published figures of SQL Server: percentages of the unencrypted figures.

use super::sentence;
use crate::summary::{CellSummary, MESSAGES, Metric, Summary};

/// Whether the study measures a server's traffic, so that pages are packets.
#[must_use]
pub fn is_transit(summary: &Summary) -> bool {
    summary.cells.iter().any(|cell| cell.work == MESSAGES)
}

/// The name of a page.
#[must_use]
pub fn page(summary: &Summary) -> &'static str {
    if is_transit(summary) { "packet" } else { "page" }
}

/// The column headers.
pub const HEAD: [&str; 6] = [
    "server",
    "cell",
    "elapsed",
    "CPU",
    "context switches",
    "switches for each packet",
];

/// The source of the published figures, and their method.
pub const SOURCE: &str = "The figures of SQL Server are those of \"Excessive Context Switching due to TDS Encryption\" \
    (2018): one run of 100 million turns each, with 1,117 and 500 switches in clear. Its packets were not counted; \
    636,008 of 4096 bytes are what two DONEs of each turn fill. Percentages are (encrypted - clear) / clear.";

/// A row for each arm of each cell, after the published ones; none for other studies.
#[must_use]
pub fn rows(summary: &Summary) -> Vec<Vec<String>> {
    if !is_transit(summary) {
        return Vec::new();
    }
    let published = PUBLISHED.map(|published| published.row());
    let ours = summary.cells.iter().flat_map(|cell| {
        let arms = sentence::encrypted(summary);
        arms.into_iter()
            .filter_map(|arm| row(summary, cell, arm))
            .collect::<Vec<_>>()
    });
    published.into_iter().chain(ours).collect()
}

fn row(summary: &Summary, cell: &CellSummary, arm: &str) -> Option<Vec<String>> {
    let facts = summary.arms.iter().find(|facts| facts.name == arm);
    let other = facts.filter(|facts| !facts.library.starts_with(OWN_SERVER));
    let level = cell.levels.get(arm)?;
    let percent = |metric: Metric| {
        let effect = sentence::effect_in(cell, arm, metric);
        effect.map_or_else(String::new, |effect| signed(effect.ratio * 100.0))
    };
    let switches = level.metrics.get(&Metric::Switches).copied();
    let each = switches.filter(|_| level.pages > 0.0);
    Some(vec![
        other.map_or_else(|| format!("Selenite, {arm}"), |facts| facts.label.clone()),
        cell.label.clone(),
        percent(Metric::Elapsed),
        percent(Metric::Cpu),
        percent(Metric::Switches),
        each.map_or_else(String::new, |switches| format!("{:.4}", switches / level.pages)),
    ])
}

/// The published figures of one server: encrypted and unencrypted.
struct Published {
    server: &'static str,
    elapsed_ms: (f64, f64),
    cpu_ms: (f64, f64),
    switches: (f64, f64),
}

impl Published {
    fn row(&self) -> Vec<String> {
        let percent = |(encrypted, clear): (f64, f64)| signed((encrypted / clear - 1.0) * 100.0);
        vec![
            self.server.to_owned(),
            "context switches".to_owned(),
            percent(self.elapsed_ms),
            percent(self.cpu_ms),
            percent(self.switches),
            format!("{:.4}", self.switches.0 / PACKETS),
        ]
    }
}

fn signed(percent: f64) -> String {
    match percent.abs() >= 1000.0 {
        true => format!("{percent:+.0} %"),
        false => format!("{percent:+.1} %"),
    }
}

const PUBLISHED: [Published; 2] = [
    Published {
        server: "SQL Server 2014",
        elapsed_ms: (99_690.0, 62_127.0),
        cpu_ms: (84_490.0, 60_764.0),
        switches: (1_273_235.0, 1_117.0),
    },
    Published {
        server: "SQL Server 2017",
        elapsed_ms: (66_196.0, 62_442.0),
        cpu_ms: (65_114.0, 63_165.0),
        switches: (508.0, 500.0),
    },
];

/// The library of the arms that are this program.
const OWN_SERVER: &str = "selenite";

/// 200,000,001 DONEs of 13 bytes in packets of 4096 bytes, which contain 4088 bytes of data.
const PACKETS: f64 = 636_008.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_percentages_are_of_what_it_took_in_clear() {
        let rows: Vec<Vec<String>> = PUBLISHED.iter().map(Published::row).collect();
        assert_eq!(rows[0][2..5], ["+60.5 %", "+39.0 %", "+113887 %"]);
        assert_eq!(rows[1][2..5], ["+6.0 %", "+3.1 %", "+1.6 %"]);
        assert_eq!(rows[0][5], "2.0019");
    }

    #[test]
    fn so_many_packets_are_what_two_tokens_of_each_turn_fill() {
        assert_eq!(200_000_001_u64 * 13 / 4088 + 1, 636_008);
    }
}
