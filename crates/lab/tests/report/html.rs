//! The page.

use std::path::Path;

use selenite_lab::report;

use crate::fixture::Fixture;

#[test]
fn the_page_is_whole_and_its_own() {
    let page = report::html::render(&Fixture::whole().summary());
    write("whole.html", &page);
    write("tiny.html", &report::html::render(&Fixture::tiny().summary()));
    assert!(
        !page.contains("<script") && !page.contains("http"),
        "nothing is loaded from elsewhere"
    );
}

fn write(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}
