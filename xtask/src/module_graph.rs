//! Which modules of a crate use which, read from paths in the code.
//!
//! A name that a module only re-exports (`pub use`) counts for the module that defines it. Code for tests alone does
//! not count. It is no compiler: names that macros make, and methods, are not seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust_source::RustSource;

/// A module's path from the root of its crate: empty for `lib.rs` and `main.rs`.
pub type ModulePath = Vec<String>;

/// What the modules of one crate use of each other.
pub struct ModuleGraph {
    modules: BTreeMap<ModulePath, Module>,
}

/// Modules of one parent that use each other, directly or not, with all that lies below them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cycle {
    /// The parent.
    pub parent: ModulePath,
    /// Its children in the cycle, in the order of their names.
    pub members: Vec<String>,
}

#[derive(Default)]
struct Module {
    /// What a name stands for here, by `use`.
    names: BTreeMap<String, Vec<String>>,
    /// Paths that stand in the code, and in private `use` declarations.
    paths: Vec<Vec<String>>,
}

impl ModuleGraph {
    /// The graph of a crate's sources: their paths below `src/`, without `.rs`, and what they hold.
    pub fn new<'a>(sources: impl Iterator<Item = (&'a str, &'a RustSource)>) -> Self {
        let mut modules = BTreeMap::new();
        for (path, source) in sources {
            let mut parts: ModulePath = path.split('/').map(str::to_owned).collect();
            if parts == ["lib"] || parts == ["main"] {
                parts.clear();
            }
            if !parts.iter().any(|part| part == "tests") {
                modules.insert(parts, Module::read(&without_tests(source)));
            }
        }
        Self { modules }
    }

    /// All cycles among the children of one module, for each module.
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut levels: BTreeMap<ModulePath, Edges> = BTreeMap::new();
        for (from, module) in &self.modules {
            for to in module.paths.iter().filter_map(|path| self.resolve(from, path, 0)) {
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                    let level = levels.entry(from[..shared].to_vec()).or_default();
                    level.entry(a.clone()).or_default().insert(b.clone());
                }
            }
        }
        levels
            .into_iter()
            .flat_map(|(parent, edges)| {
                components(&edges).into_iter().map(move |members| Cycle {
                    parent: parent.clone(),
                    members,
                })
            })
            .collect()
    }

    /// The module that defines what a path names in `here`; none if that is not of this crate.
    fn resolve(&self, here: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        if depth > RE_EXPORTS_MAX {
            return None;
        }
        let mut at = here.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            name if self.modules.contains_key(&child(&at, name)) => {}
            name => {
                let target = self.modules.get(&at)?.names.get(name)?;
                let is_same = target.len() == 1 && target[0] == name;
                return match is_same {
                    true => None,
                    false => self.resolve(here, &[target, &rest[1..]].concat(), depth + 1),
                };
            }
        }
        while let Some((name, after)) = rest.split_first() {
            if self.modules.contains_key(&child(&at, name)) {
                at.push(name.clone());
                rest = after;
                continue;
            }
            let target = self.modules.get(&at).and_then(|module| module.names.get(name));
            let defined = target.and_then(|target| self.resolve(&at, &[target, after].concat(), depth + 1));
            return Some(defined.unwrap_or(at));
        }
        Some(at)
    }
}

impl Module {
    fn read(code: &str) -> Self {
        let mut module = Self::default();
        let mut rest = String::new();
        for item in code.split_inclusive(';') {
            let Some((before, tree, is_public)) = use_declaration(item) else {
                rest.push_str(item);
                continue;
            };
            rest.push_str(before);
            for (path, name) in expand(&[], tree) {
                module.names.insert(name, path.clone());
                if !is_public {
                    module.paths.push(path);
                }
            }
        }
        module.paths.extend(paths_in(&rest));
        module
    }
}

/// What stands before a `use` that ends an item's text, its tree, and whether it re-exports.
fn use_declaration(item: &str) -> Option<(&str, &str, bool)> {
    let item = item.strip_suffix(';')?;
    let at = item.rfind("use ").filter(|at| {
        let line = item[..*at].rsplit('\n').next().unwrap_or_default().trim();
        line.is_empty() || line.starts_with("pub")
    })?;
    let line_start = item[..at].rfind('\n').map_or(0, |end| end + 1);
    Some((
        &item[..line_start],
        &item[at + "use ".len()..],
        item[line_start..at].contains("pub"),
    ))
}

/// The paths of a `use` tree, with the name that each has here.
fn expand(prefix: &[String], tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let head = parts(&tree[..open]);
        let inner = tree[open + 1..].trim_end().strip_suffix('}').unwrap_or_default();
        let prefix = [prefix, &head].concat();
        return split_top(inner)
            .into_iter()
            .flat_map(|part| expand(&prefix, part))
            .collect();
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path = [prefix, &parts(path)].concat();
    if path.last().is_some_and(|last| last == "self" || last == "*") {
        path.pop();
    }
    match path.last().cloned() {
        Some(last) => vec![(path, alias.unwrap_or(last))],
        None => Vec::new(),
    }
}

fn parts(path: &str) -> Vec<String> {
    let parts = path.split("::").map(str::trim);
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Splits at commas that no brace encloses.
fn split_top(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_end = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(is_end).filter(|part| !part.trim().is_empty()).collect()
}

/// Every path of two names or more.
fn paths_in(code: &str) -> Vec<Vec<String>> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let texts = code.split(|c| !is_path(c)).filter(|text| text.contains("::"));
    texts.map(parts).filter(|path| path.len() > 1).collect()
}

fn without_tests(source: &RustSource) -> String {
    let code = source.code();
    let mut kept = String::new();
    let mut end = 0;
    for part in source.test_parts() {
        if part.start >= end {
            kept.push_str(&code[end..part.start]);
            end = part.end;
        }
    }
    kept.push_str(&code[end.min(code.len())..]);
    kept
}

fn child(parent: &[String], name: &str) -> ModulePath {
    [parent, &[name.to_owned()]].concat()
}

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Sets of more than one node of which each reaches each: few nodes, so all pairs are looked at.
fn components(edges: &Edges) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|from| (from.as_str(), reach(edges, from))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|found| found.contains(to));
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for from in edges.keys() {
        if !seen.contains(from) && reaches(from, from) {
            let mutual = edges.keys().filter(|to| reaches(from, to) && reaches(to, from));
            let members: Vec<String> = mutual.cloned().collect();
            seen.extend(members.iter().cloned());
            if members.len() > 1 {
                found.push(members);
            }
        }
    }
    found
}

fn reach<'a>(edges: &'a Edges, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(node) = next.pop() {
        for to in edges.get(node).into_iter().flatten() {
            if reached.insert(to.as_str()) {
                next.push(to);
            }
        }
    }
    reached
}

/// A name that leads through more re-exports than this leads in a circle.
const RE_EXPORTS_MAX: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<(&str, RustSource)> = files
            .iter()
            .map(|(path, text)| (*path, RustSource::new(text)))
            .collect();
        let graph = ModuleGraph::new(sources.iter().map(|(path, source)| (*path, source)));
        let shown = |cycle: Cycle| format!("{}: {}", cycle.parent.join("::"), cycle.members.join(", "));
        graph.cycles().into_iter().map(shown).collect()
    }

    #[test]
    fn siblings_that_use_each_other_are_a_cycle() {
        let found = cycles(&[
            ("lib", "mod a; mod b; mod c;"),
            ("a", "use crate::b::B; fn f() {}"),
            ("b", "fn g() { super::c::h() }"),
            ("c", "use super::{a::{self, f}, d};"),
        ]);
        assert_eq!(found, [": a, b, c"]);
    }

    #[test]
    fn a_parent_and_its_children_are_one() {
        let found = cycles(&[
            ("lib", "mod a;"),
            ("a", "mod inner; use inner::Inner; pub struct Outer;"),
            ("a/inner", "use super::Outer; pub struct Inner(Outer);"),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn what_lies_below_a_module_counts_for_it() {
        let found = cycles(&[
            ("lib", "mod a; mod b;"),
            ("a/deep", "use crate::b::B;"),
            ("a", "mod deep; pub struct A;"),
            ("b", "use crate::a::A;"),
        ]);
        assert_eq!(found, [": a, b"]);
    }

    #[test]
    fn a_re_export_leads_to_who_defines() {
        let files = [
            ("lib", "mod a; mod b; mod c; pub use a::A; pub use b::B;"),
            ("a", "use crate::B; pub struct A;"),
            ("b", "pub struct B;"),
            ("c", "use crate::{A as First, B};"),
        ];
        assert_eq!(cycles(&files), [""; 0]);
        let mut circular = files;
        circular[2].1 = "pub struct B; fn f() -> crate::A { todo() }";
        assert_eq!(cycles(&circular), [": a, b"]);
    }

    #[test]
    fn tests_comments_and_strings_do_not_count() {
        let found = cycles(&[
            ("lib", "mod a; mod b;"),
            (
                "a",
                "use crate::b::B;\n#[cfg(test)]\nmod tests { use super::*; use crate::b; }",
            ),
            (
                "b",
                "// crate::a::A\nconst S: &str = \"crate::a::A\";\n#[cfg(test)]\nmod tests { use crate::a::A; }",
            ),
            ("b/tests", "use crate::a::A;"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
