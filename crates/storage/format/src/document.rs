//! The tables of `docs/FORMAT.md`, for the tests that compare code with them.

const FORMAT: &str = include_str!("../../../../docs/FORMAT.md");

/// The rows of the first table in paragraph `paragraph`, such as "3.1".
pub(crate) fn rows(paragraph: &str) -> Vec<Vec<&'static str>> {
    let start = format!("{paragraph} ");
    let table: Vec<&str> = FORMAT
        .lines()
        .skip_while(|line| !line.starts_with(&start))
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(table.len() > 2, "no table in {paragraph}");
    table[2..]
        .iter()
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// Offset and size of the fields for which the document states both as numbers.
pub(crate) fn spans(paragraph: &str) -> Vec<(usize, usize)> {
    let number = |cell: &str| cell.parse().ok();
    rows(paragraph)
        .iter()
        .filter_map(|row| Some((number(row[0])?, number(row[1])?)))
        .collect()
}

/// The end of a record with these fields. Checks that they leave no gap and do not overlap.
pub(crate) fn end(spans: &[(usize, usize)]) -> usize {
    spans.iter().fold(0, |end, &(offset, size)| {
        assert_eq!(offset, end);
        offset + size
    })
}
