//! Modules of one parent do not use each other in a circle.
//!
//! A module and its children count as one. Cycles from before the rule are listed in `KNOWN`; none may grow or be
//! added.

use std::collections::BTreeMap;

use crate::{
    finding::Finding,
    module_graph::{Cycle, ModuleGraph},
    rust_source::RustSource,
    tree::Tree,
};

/// Finds cycles that are not known, and known ones that are gone.
pub fn check(tree: &Tree) -> Vec<Finding> {
    compare(tree, KNOWN)
}

fn compare(tree: &Tree, known: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut left: Vec<&(&str, &str)> = known.iter().collect();
    for (krate, sources) in crates(tree) {
        for cycle in ModuleGraph::new(sources.into_iter()).cycles() {
            let at = place(krate, &cycle);
            let is_known = |row: &&(&str, &str)| {
                let listed: Vec<&str> = row.1.split(' ').collect();
                row.0 == at && cycle.members.iter().all(|member| listed.contains(&member.as_str()))
            };
            match left.iter().position(is_known) {
                Some(index) if left[index].1 == cycle.members.join(" ") => {
                    left.remove(index);
                }
                Some(index) => {
                    left.remove(index);
                    let what = format!("the cycle of `{at}` is now {}", cycle.members.join(" "));
                    findings.push(Finding::error(RULE, 1, what, "shorten its row of KNOWN"));
                }
                None => {
                    let what = format!(
                        "modules of `{at}` use each other in a circle: {}",
                        cycle.members.join(", ")
                    );
                    let why = "move what two of them need to a module below both";
                    findings.push(Finding::error(&format!("{krate}/src"), 1, what, why));
                }
            }
        }
    }
    for (at, _) in left {
        findings.push(Finding::error(
            RULE,
            1,
            format!("`{at}` has that cycle no more"),
            "remove its row of KNOWN",
        ));
    }
    findings
}

fn place(krate: &str, cycle: &Cycle) -> String {
    let name = krate.rsplit('/').next().unwrap_or(krate);
    [&[name.to_owned()], cycle.parent.as_slice()].concat().join("::")
}

/// Sources of each crate below `crates/`: their paths below `src/` without `.rs`.
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

const RULE: &str = "xtask/src/tidy/module_cycle.rs";

/// Where cycles are, and their members in the order of their names.
const KNOWN: &[(&str, &str)] = &[("vfs", "database host")];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    fn found(known: &[(&str, &str)]) -> Vec<String> {
        let tree = fixture(&[
            ("crates/storage/cipher/src/lib.rs", "mod a; mod b; mod c;"),
            ("crates/storage/cipher/src/a.rs", "use crate::b::B;"),
            ("crates/storage/cipher/src/b.rs", "use crate::a::A;"),
            ("crates/storage/cipher/src/c.rs", "use crate::a::A;"),
        ]);
        compare(&tree, known).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_cycle_is_refused_unless_it_is_known() {
        assert_eq!(found(&[]), ["modules of `cipher` use each other in a circle: a, b"]);
        assert_eq!(found(&[("cipher", "a b")]), [""; 0]);
        assert_eq!(found(&[("vfs", "a b")]).len(), 2);
    }

    #[test]
    fn a_list_that_is_longer_than_the_cycle_is_refused() {
        assert_eq!(found(&[("cipher", "a b c")]), ["the cycle of `cipher` is now a b"]);
        assert_eq!(
            found(&[("cipher", "a b"), ("cipher", "c d")]),
            ["`cipher` has that cycle no more"]
        );
    }
}
