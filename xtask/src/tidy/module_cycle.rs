//! Modules of one parent have no cyclic dependencies.
//!
//! A module and its children count as one.

use std::collections::BTreeMap;

use crate::{
    finding::Finding,
    module_graph::{Cycle, ModuleGraph},
    rust_source::RustSource,
    tree::Tree,
};

/// Finds cycles.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (krate, sources) in crates(tree) {
        for cycle in ModuleGraph::new(sources.into_iter()).cycles() {
            let (at, members) = (place(krate, &cycle), cycle.members.join(", "));
            let what = format!("modules of `{at}` use each other in a circle: {members}");
            let why = "move what two of them need to a module below both";
            findings.push(Finding::error(&format!("{krate}/src"), 1, what, why));
        }
    }
    findings
}

fn place(krate: &str, cycle: &Cycle) -> String {
    let name = krate.rsplit('/').next().unwrap_or(krate);
    [&[name.to_owned()], cycle.parent.as_slice()].concat().join("::")
}

/// The sources of each crate below `crates/`: their paths below `src/` without `.rs`.
fn crates(tree: &Tree) -> BTreeMap<&str, Vec<(&str, &RustSource)>> {
    let mut crates: BTreeMap<&str, Vec<(&str, &RustSource)>> = BTreeMap::new();
    for (file, rust) in tree.rust_files().filter(|(file, _)| file.path.starts_with("crates/")) {
        if let Some((krate, path)) = file.path.split_once("/src/") {
            crates
                .entry(krate)
                .or_default()
                .push((path.trim_end_matches(".rs"), rust));
        }
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn a_cycle_is_refused() {
        let tree = fixture(&[
            ("crates/storage/cipher/src/lib.rs", "mod a; mod b; mod c;"),
            ("crates/storage/cipher/src/a.rs", "use crate::b::B;"),
            ("crates/storage/cipher/src/b.rs", "use crate::a::A;"),
            ("crates/storage/cipher/src/c.rs", "use crate::a::A;"),
        ]);
        let found: Vec<String> = check(&tree).into_iter().map(|finding| finding.what).collect();
        assert_eq!(found, ["modules of `cipher` use each other in a circle: a, b"]);
    }

    #[test]
    fn a_module_and_its_children_count_as_one() {
        let tree = fixture(&[
            ("crates/storage/cipher/src/lib.rs", "mod a; mod c;"),
            ("crates/storage/cipher/src/a.rs", "mod b; use b::B;"),
            ("crates/storage/cipher/src/a/b.rs", "use super::A;"),
            ("crates/storage/cipher/src/c.rs", "use crate::a::A;"),
        ]);
        assert!(check(&tree).is_empty());
    }
}
