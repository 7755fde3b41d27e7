//! What the outermost query of an SQL text does that SQLite's plan does not tell: GROUP BY, aggregates and LIMIT.

/// The outermost query.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Outline {
    /// Whether it has GROUP BY, or aggregates.
    pub is_aggregate: bool,
    /// Whether it has LIMIT.
    pub is_limited: bool,
}

impl Outline {
    /// Of a text that the compiler's writer wrote.
    pub fn of(sql: &str) -> Self {
        let mut outline = Self::default();
        let (mut depth, mut word) = (0_u32, String::new());
        let mut before = String::new();
        let mut aggregate_at = None;
        let mut characters = sql.chars();
        while let Some(character) = characters.next() {
            if character.is_ascii_alphanumeric() || character == '_' {
                word.push(character);
                continue;
            }
            if depth == 0 && !word.is_empty() {
                outline.is_limited |= word == "LIMIT";
                outline.is_aggregate |= before == "GROUP" && word == "BY";
                // With OVER behind its arguments it is a window function.
                if aggregate_at == Some(depth) {
                    outline.is_aggregate |= word != "OVER";
                    aggregate_at = None;
                }
                if character == '(' && AGGREGATES.contains(&word.as_str()) {
                    aggregate_at = Some(depth);
                }
            }
            if !word.is_empty() {
                before = std::mem::take(&mut word);
            }
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                '"' | '\'' => {
                    characters.by_ref().find(|next| *next == character);
                }
                _ => {}
            }
        }
        outline.is_aggregate |= aggregate_at.is_some();
        outline
    }
}

/// The aggregates that the writer uses.
const AGGREGATES: [&str; 8] = [
    "count",
    "sum",
    "min",
    "max",
    "tsql_aggregate",
    "tsql_count",
    "json_group_array",
    "group_concat",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_query_counts() {
        let of = |sql| {
            let outline = Outline::of(sql);
            (outline.is_aggregate, outline.is_limited)
        };
        assert_eq!(
            of("SELECT t0.\"GROUP BY\" FROM \"main\".\"LIMIT\" AS t0"),
            (false, false)
        );
        assert_eq!(of("SELECT t0.a FROM x AS t0 GROUP BY t0.a"), (true, false));
        assert_eq!(of("SELECT count(*) FROM x AS t0"), (true, false));
        assert_eq!(of("SELECT count(*) OVER () FROM x AS t0"), (false, false));
        assert_eq!(
            of("SELECT a FROM (SELECT sum(a) FROM x GROUP BY b LIMIT 2) AS t1"),
            (false, false)
        );
        assert_eq!(of("SELECT a FROM x WHERE b = 'LIMIT' LIMIT ?1"), (false, true));
    }
}
