//! Traces (FORMAT 14): what a reader takes from a file, and what the planner makes of its records.

use selenite_format::trace::{TraceHeader, next_section, records};
use selenite_plan::observe::Supplement;
use selenite_plan::observe::trace::TraceObserver;
use selenite_plan::replay::{PAGES_BYTES_MAX, ReplayBuilder, ReplayStep};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    match kind % 2 {
        0 => file(rest),
        _ => section(rest),
    }
}

/// A header comes back, and sections are pieces of the rest in their order.
fn file(data: &[u8]) {
    let Ok((header, mut rest)) = TraceHeader::parse(data) else {
        return;
    };
    assert_eq!([header.encode().as_slice(), rest].concat(), data);
    while let Ok(Some((section, behind))) = next_section(rest) {
        assert_eq!(section.len() + 4 + behind.len(), rest.len());
        rest = behind;
    }
}

/// An accepted observation is checked, and a script stays within its databases.
fn section(data: &[u8]) {
    let Ok(records) = records(data) else { return };
    let (mut observer, mut builder) = (TraceObserver::default(), ReplayBuilder::default());
    observer.begin_trace("trace");
    builder.begin_trace();
    observer.add(&records);
    records.iter().for_each(|record| builder.add(record));
    if let Ok(observation) = observer.finish(&Supplement::default()) {
        observation.check().expect("an observation is checked");
    }
    let Ok(script) = builder.finish() else { return };
    assert!(script.seconds >= 0.0);
    for database in &script.databases {
        let bytes = u64::from(database.pages) * u64::from(database.page_size);
        assert!(bytes <= u64::from(PAGES_BYTES_MAX));
        for step in &database.steps {
            let ReplayStep::Transaction { reads, writes } = step else {
                continue;
            };
            assert!(reads.iter().all(|(first, count)| first + count <= database.pages));
            assert!(writes.iter().all(|page| *page < database.pages));
        }
    }
}
