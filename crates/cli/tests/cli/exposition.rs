//! A small parser of Prometheus' text format, version 0.0.4, as strict as Prometheus.

use std::collections::{BTreeMap, BTreeSet};

/// A sample: its metric, its labels and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

/// All samples of a text. Panics on an invalid line, on samples of a metric that are not together
/// after its HELP and TYPE, and on a repeated sample.
pub fn parse(text: &str) -> Vec<Sample> {
    assert!(text.ends_with('\n'), "the last line has its end");
    let mut samples: Vec<Sample> = Vec::new();
    let mut known = BTreeSet::new();
    let mut present = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, words) = help.split_once(' ').unwrap();
            assert!(!words.is_empty() && known.insert(name.to_owned()), "{name} twice");
            let kind = lines.next().unwrap();
            assert_eq!(kind, format!("# TYPE {name} gauge"));
            name.clone_into(&mut present);
            continue;
        }
        let sample = sample(line);
        assert_eq!(sample.name, present, "a sample stands behind its HELP: {line}");
        let same = |other: &Sample| (&other.name, &other.labels) == (&sample.name, &sample.labels);
        assert!(!samples.iter().any(same), "twice: {line}");
        samples.push(sample);
    }
    samples
}

fn sample(line: &str) -> Sample {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = line.find(|c| !is_name(c)).unwrap();
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = rest.split_once("=\"").unwrap();
            assert!(label.chars().all(is_name) && !label.is_empty(), "{line}");
            let (text, after) = quoted(after);
            assert!(labels.insert(label.to_owned(), text).is_none(), "{line}");
            rest = &after[1..];
            if after.starts_with('}') {
                break;
            }
            assert!(after.starts_with(','), "{line}");
        }
    }
    let value = rest.strip_prefix(' ').unwrap().parse().unwrap();
    Sample {
        name: name.to_owned(),
        labels,
        value,
    }
}

/// The text before the closing quote, and the text after it.
fn quoted(text: &str) -> (String, &str) {
    let mut inner = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (inner, &text[at + 1..]),
            '\\' => inner.push(match chars.next().unwrap().1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                other => panic!("no such escape: {other}"),
            }),
            c => inner.push(c),
        }
    }
    panic!("a quote is not closed: {text}")
}

#[test]
fn the_parser_reads_what_prometheus_would() {
    let text = "# HELP a_b What it is.\n# TYPE a_b gauge\na_b{path=\"x\\\\\\\"\\n,}\",q=\"\"} 0.5\na_b 3\n";
    let [one, two] = &parse(text)[..] else { panic!("two") };
    assert_eq!(
        (one.labels["path"].as_str(), one.labels["q"].as_str(), one.value),
        ("x\\\"\n,}", "", 0.5)
    );
    assert_eq!((two.name.as_str(), two.labels.len(), two.value), ("a_b", 0, 3.0));
}
