//! The package and the dependencies in a `Cargo.toml`.
//!
//! Only the forms that Cargo writes are read: one key per line, tables in brackets.

/// A package and its dependencies.
#[derive(Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The name of the package.
    pub package: String,
    /// The dependencies in file order.
    pub dependencies: Vec<Dependency>,
}

/// One dependency of a package.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the package, even if the dependency is renamed.
    pub package: String,
    /// The kind of the dependency.
    pub kind: DependencyKind,
    /// The line, counted from 1.
    pub line: usize,
}

/// The targets that use a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyKind {
    /// The crate, or its build script.
    Build,
    /// Tests, benches and examples.
    Dev,
}

impl Manifest {
    /// Parses a manifest; `None` if it names no package, as a workspace without a root package.
    pub fn parse(text: &str) -> Option<Self> {
        let mut package = None;
        let mut dependencies: Vec<Dependency> = Vec::new();
        let mut section = Section::Other;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[') {
                section = Section::of(header.trim_end_matches(']').trim());
                if let Section::OneDependency(kind, name) = &section {
                    dependencies.push(Dependency::new(name, *kind, index));
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let key = key.trim().trim_matches('"');
            match &section {
                Section::Package if key == "name" => package = string_in(value),
                Section::Package | Section::Other => {}
                Section::Dependencies(kind) => {
                    // `name.workspace = true` or `name = { package = "..", .. }`
                    let name = key.split('.').next().unwrap_or(key);
                    let renamed = value.split_once("package").and_then(|(_, v)| string_in(v));
                    let name = renamed.as_deref().unwrap_or(name);
                    dependencies.push(Dependency::new(name, *kind, index));
                }
                Section::OneDependency(..) if key == "package" => {
                    if let (Some(last), Some(name)) = (dependencies.last_mut(), string_in(value)) {
                        last.package = name;
                    }
                }
                Section::OneDependency(..) => {}
            }
        }
        package.map(|package| Self { package, dependencies })
    }
}

impl Dependency {
    fn new(package: &str, kind: DependencyKind, line_index: usize) -> Self {
        Self {
            package: package.to_owned(),
            kind,
            line: line_index + 1,
        }
    }
}

enum Section {
    Package,
    Dependencies(DependencyKind),
    OneDependency(DependencyKind, String),
    Other,
}

impl Section {
    fn of(header: &str) -> Self {
        if header == "package" {
            return Self::Package;
        }
        for (table, kind) in TABLES {
            // `target.'cfg(unix)'.dependencies` counts as well; a target is not a separate kind.
            let Some(at) = header.find(table) else {
                continue;
            };
            let is_table = at == 0 || header.starts_with("target.");
            match &header[at + table.len()..] {
                "" if is_table => return Self::Dependencies(*kind),
                rest if is_table => {
                    if let Some(name) = rest.strip_prefix('.') {
                        return Self::OneDependency(*kind, name.trim_matches('"').to_owned());
                    }
                }
                _ => {}
            }
        }
        Self::Other
    }
}

/// The text between the first two quotation marks.
fn string_in(value: &str) -> Option<String> {
    value.split('"').nth(1).map(str::to_owned)
}

/// The longer names come first, because they end in the shortest.
const TABLES: &[(&str, DependencyKind)] = &[
    ("dev-dependencies", DependencyKind::Dev),
    ("build-dependencies", DependencyKind::Build),
    ("dependencies", DependencyKind::Build),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, DependencyKind, usize)> {
        let manifest = Manifest::parse(text).unwrap();
        let dependencies = manifest.dependencies.into_iter();
        dependencies.map(|d| (d.package, d.kind, d.line)).collect()
    }

    #[test]
    fn all_forms_of_a_dependency_are_read() {
        let text = "[package]\nname = \"a\"\n\
            [dependencies]\nb.workspace = true\nc = { path = \"../c\" }\nd = { package = \"e\" }\n\
            [dev-dependencies.f]\npath = \"../f\"\n\
            [target.'cfg(unix)'.build-dependencies]\ng = \"1\"\n\
            [dependencies.h]\npackage = \"i\"\n";
        let expected = [
            ("b", DependencyKind::Build, 4),
            ("c", DependencyKind::Build, 5),
            ("e", DependencyKind::Build, 6),
            ("f", DependencyKind::Dev, 7),
            ("g", DependencyKind::Build, 10),
            ("i", DependencyKind::Build, 11),
        ];
        let expected = expected.map(|(name, kind, line)| (name.to_owned(), kind, line));
        assert_eq!(found(text), expected);
    }

    #[test]
    fn a_workspace_is_no_package() {
        let text = "[workspace.package]\nname = \"x\"\n[workspace.dependencies]\na = \"1\"\n";
        assert_eq!(Manifest::parse(text), None);
    }

    #[test]
    fn other_tables_are_ignored() {
        let text = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n[features]\nb = [\"c\"]\n";
        assert!(found(text).is_empty());
    }
}
