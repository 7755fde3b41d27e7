//! A crate depends only on crates of lower rank.

use std::collections::BTreeMap;

use crate::{
    finding::Finding,
    manifest::{Dependency, DependencyKind, Manifest},
    tree::Tree,
};

/// Finds dependencies on crates of equal or higher rank, and packages without a rank.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let packages = packages(tree);
    let folders: BTreeMap<&str, &str> = packages
        .iter()
        .map(|(folder, manifest)| (manifest.package.as_str(), *folder))
        .collect();
    let mut findings = Vec::new();
    for (folder, manifest) in &packages {
        let path = manifest_path(folder);
        let Some(standing) = standing(folder) else {
            let why = "add its row to RANKS in xtask/src/tidy/ranks.rs";
            findings.push(Finding::error(&path, 1, format!("`{folder}` has no rank"), why));
            continue;
        };
        for dependency in &manifest.dependencies {
            let Some(below) = folders.get(dependency.package.as_str()) else {
                continue;
            };
            if let Some(why) = fault(standing, below, dependency) {
                let what = format!("`{folder}` depends on `{below}`");
                findings.push(Finding::error(&path, dependency.line, what, why));
            }
        }
    }
    findings
}

/// Why one of our packages may not depend on another; `None` if it may.
fn fault(above: Standing, below: &str, dependency: &Dependency) -> Option<&'static str> {
    match (above, standing(below)?) {
        (Standing::TestOnly, _) => None,
        (Standing::Rank(_), Standing::TestOnly) => match dependency.kind {
            DependencyKind::Dev => None,
            DependencyKind::Build => Some("that one is for tests only"),
        },
        (Standing::Rank(above), Standing::Rank(rank)) => {
            (above <= rank).then_some("a crate depends only on lower ranks (RANKS in xtask/src/tidy/ranks.rs)")
        }
    }
}

fn packages(tree: &Tree) -> Vec<(&str, Manifest)> {
    let files = tree.files().iter();
    files
        .filter(|file| file.name() == "Cargo.toml")
        .filter_map(|file| {
            let folder = file.path.trim_end_matches("Cargo.toml");
            Some((folder.trim_end_matches('/'), Manifest::parse(&file.text)?))
        })
        .collect()
}

fn standing(folder: &str) -> Option<Standing> {
    let mut rows = RANKS.iter();
    rows.find(|(name, _)| *name == folder).map(|(_, standing)| *standing)
}

fn manifest_path(folder: &str) -> String {
    match folder {
        "" => "Cargo.toml".to_owned(),
        _ => format!("{folder}/Cargo.toml"),
    }
}

/// The position of a package in the order of dependencies.
#[derive(Clone, Copy)]
enum Standing {
    /// It may depend on packages of lower rank.
    Rank(u8),
    /// It may depend on all packages, and only tests may depend on it.
    TestOnly,
}

const RANKS: &[(&str, Standing)] = &[
    ("crates/collation", Standing::Rank(0)),
    ("crates/storage/cipher", Standing::Rank(0)),
    ("crates/lab/plan", Standing::Rank(2)),
    ("crates/lab/stats", Standing::Rank(0)),
    ("crates/lab/worker", Standing::Rank(0)),
    ("crates/server/tsql", Standing::Rank(0)),
    ("crates/server/types", Standing::Rank(1)),
    ("crates/storage/codec", Standing::Rank(1)),
    ("crates/storage/format", Standing::Rank(1)),
    ("crates/server/compiler", Standing::Rank(2)),
    ("crates/server/tds", Standing::Rank(2)),
    ("crates/storage/keyring", Standing::Rank(2)),
    ("crates/doctor", Standing::Rank(3)),
    ("crates/storage/backup", Standing::Rank(3)),
    ("crates/storage/vfs", Standing::Rank(3)),
    ("crates/storage/extension", Standing::Rank(4)),
    ("crates/storage/selenite", Standing::Rank(4)),
    ("crates/server/runtime", Standing::Rank(5)),
    ("crates/server/server", Standing::Rank(6)),
    ("crates/lab/lab", Standing::Rank(5)),
    ("crates/cli", Standing::Rank(7)),
    ("peers/peer", Standing::Rank(5)),
    ("peers/sqlcipher", Standing::Rank(6)),
    ("peers/sqlite3mc", Standing::Rank(6)),
    ("crates/testing", Standing::TestOnly),
    ("crates/fuzzing", Standing::TestOnly),
    ("peers/contract", Standing::TestOnly),
    ("fuzz", Standing::TestOnly),
    ("tests/clients/tds/suites/runtimes-macro", Standing::TestOnly),
    ("tests/clients/tds/tiberius", Standing::TestOnly),
    ("tests/hosts/rust", Standing::TestOnly),
    ("xtask", Standing::TestOnly),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    fn found(manifests: &[(&str, &str, &str)]) -> Vec<String> {
        let files: Vec<(String, String)> = manifests
            .iter()
            .map(|(folder, package, dependencies)| {
                let text = format!("[package]\nname = \"{package}\"\n{dependencies}");
                (manifest_path(folder), text)
            })
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        let findings = check(&fixture(&files)).into_iter();
        findings.map(|f| format!("{}:{}: {}", f.path, f.line, f.what)).collect()
    }

    #[test]
    fn a_dependency_leads_downwards() {
        let upwards = "[dependencies]\nvfs.workspace = true\n";
        let downwards = "[dependencies]\nkeyring.workspace = true\nserde = \"1\"\n";
        let fault = "crates/storage/keyring/Cargo.toml:4: `crates/storage/keyring` depends on `crates/storage/vfs`";
        assert_eq!(
            found(&[
                ("crates/storage/keyring", "keyring", upwards),
                ("crates/storage/vfs", "vfs", downwards)
            ]),
            [fault]
        );
    }

    #[test]
    fn dependencies_of_tests_lead_downwards_too() {
        let upwards = "[dev-dependencies]\next = { path = \"../ext\" }\n";
        assert_eq!(
            found(&[
                ("crates/storage/vfs", "vfs", upwards),
                ("crates/storage/extension", "ext", "")
            ])
            .len(),
            1
        );
    }

    #[test]
    fn crates_of_one_rank_do_not_depend_on_each_other() {
        let cipher = ("crates/storage/cipher", "cipher", "");
        let uses_cipher = "[dependencies]\ncipher.workspace = true\n";
        assert_eq!(
            found(&[cipher, ("crates/collation", "collation", uses_cipher)]).len(),
            1
        );
        assert!(found(&[cipher, ("crates/storage/format", "format", uses_cipher)]).is_empty());
    }

    #[test]
    fn a_package_for_tests_is_used_by_tests_alone() {
        let fuzz = ("fuzz", "fuzz", "[dependencies]\nvfs = \"0\"\n");
        let uses = |table: &str| format!("[{table}]\nfuzz = \"0\"\n");
        let in_tests = uses("dev-dependencies");
        assert!(found(&[fuzz, ("crates/storage/vfs", "vfs", &in_tests)]).is_empty());
        let in_code = uses("dependencies");
        assert_eq!(found(&[fuzz, ("crates/storage/vfs", "vfs", &in_code)]).len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_rank() {
        assert_eq!(
            found(&[("crates/new", "new", "")]),
            ["crates/new/Cargo.toml:1: `crates/new` has no rank"]
        );
    }
}
