//! The lines with which a program opens a database: those of docs/HOSTS.md.

use std::path::Path;

use selenite::{Access, Spec};

use crate::arguments::init::Language;

/// What the lines of a program name.
pub struct Opening {
    database: String,
    identity: String,
    uri: String,
    extension: String,
}

impl Opening {
    /// None if a path is not UTF-8, or has control characters, for which each language has another
    /// notation.
    pub fn new(database: &Path, access: &Access, spec: &Spec, extension: Option<&Path>) -> Option<Self> {
        let uri = Access {
            identity: Some(spec.clone()),
            ..access.clone()
        }
        .uri(database);
        let identity = spec.to_string();
        let opening = Self {
            database: database.to_str()?.to_owned(),
            identity,
            uri: uri.as_str().to_owned(),
            extension: extension.unwrap_or(Path::new(UNKNOWN)).to_str()?.to_owned(),
        };
        let paths = [&opening.database, &opening.identity, &opening.extension];
        let is_unclear = |character: char| character.is_control() || character == char::REPLACEMENT_CHARACTER;
        (!paths.iter().any(|path| path.contains(is_unclear))).then_some(opening)
    }
}

impl Language {
    /// The word for it on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Go => "go",
            Self::Java => "java",
            Self::Rust => "rust",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Shell => "shell",
        }
    }

    /// The packages that the lines use.
    pub fn needs(self) -> &'static str {
        match self {
            Self::Python => "the Python package selenite",
            Self::Node => "the npm packages selenite-sqlite and better-sqlite3",
            Self::Go => "github.com/mattn/go-sqlite3",
            Self::Java => "org.xerial:sqlite-jdbc",
            Self::Rust => "the crate selenite",
            Self::Ruby => "the gem sqlite3",
            Self::Php => "pdo_sqlite and sqlite3; in php.ini, sqlite3.extension_dir is the extension's folder",
            Self::Shell => "sqlite3, 3.40 or later",
        }
    }

    /// The lines.
    pub fn lines(self, opening: &Opening) -> Vec<String> {
        let Opening {
            database,
            identity,
            uri,
            extension,
        } = opening;
        let file = Path::new(extension).file_name().unwrap_or_default().to_string_lossy();
        match self {
            Self::Python => vec![
                "import selenite".to_owned(),
                format!(
                    "db = selenite.connect({}, identity={})",
                    double(database),
                    double(identity)
                ),
            ],
            Self::Node => vec![
                "import { connect } from 'selenite-sqlite/better-sqlite3'".to_owned(),
                format!(
                    "const db = connect({}, {{ identity: {} }})",
                    single(database),
                    single(identity)
                ),
            ],
            Self::Go => vec![
                format!(
                    "sql.Register(\"sqlite3_boot\", &sqlite3.SQLiteDriver{{Extensions: []string{{{}}}}})",
                    double(extension)
                ),
                "boot, err := sql.Open(\"sqlite3_boot\", \":memory:\")".to_owned(),
                "err = boot.Ping() // loads the extension, once for the process".to_owned(),
                format!("db, err := sql.Open(\"sqlite3\", {})", double(uri)),
            ],
            Self::Java => java(uri, extension),
            Self::Rust => vec![
                "use selenite::{Access, EncryptedFile};".to_owned(),
                format!(
                    "let db = EncryptedFile::new({}, Access::with_identity({})).open()?;",
                    double(database),
                    double(identity)
                ),
            ],
            Self::Ruby => vec![
                "boot = SQLite3::Database.new(\":memory:\")".to_owned(),
                "boot.enable_load_extension(true)".to_owned(),
                format!("boot.load_extension({})", ruby(extension)),
                format!("db = SQLite3::Database.new({})", ruby(uri)),
            ],
            Self::Php => vec![
                "$boot = new SQLite3(':memory:');".to_owned(),
                format!("$boot->loadExtension({});", single(&file)),
                format!("$db = new PDO({});", single(&format!("sqlite:{uri}"))),
            ],
            Self::Shell => vec![format!(
                "sqlite3 -cmd {} -cmd {}",
                shell(&format!(".load {}", double(extension))),
                shell(&format!(".open {}", double(uri)))
            )],
        }
    }
}

fn java(uri: &str, extension: &str) -> Vec<String> {
    vec![
        "var config = new SQLiteConfig();".to_owned(),
        "config.enableLoadExtension(true);".to_owned(),
        "var boot = config.createConnection(\"jdbc:sqlite::memory:\");".to_owned(),
        format!(
            "boot.createStatement().execute({});",
            double(&format!("SELECT load_extension('{}')", extension.replace('\'', "''")))
        ),
        format!(
            "var db = DriverManager.getConnection({});",
            double(&format!("jdbc:sqlite:{uri}"))
        ),
    ]
}

/// The language of the program in a folder, and the file that shows it.
pub fn guess(folder: &Path) -> (Language, Option<String>) {
    let found = FILES.iter().find(|(name, _)| folder.join(name).exists());
    found.map_or((Language::Shell, None), |(name, language)| {
        (*language, Some(format!("there is {name}")))
    })
}

/// A literal in double quotes.
fn double(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A literal in double quotes, in which Ruby replaces `#{}`.
fn ruby(text: &str) -> String {
    double(text).replace('#', "\\#")
}

/// A literal in single quotes, in which PHP and JavaScript replace nothing.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A word of a shell's command line.
fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

const UNKNOWN: &str = "/path/to/libselenite.so";
const FILES: &[(&str, Language)] = &[
    ("pyproject.toml", Language::Python),
    ("requirements.txt", Language::Python),
    ("setup.py", Language::Python),
    ("manage.py", Language::Python),
    ("package.json", Language::Node),
    ("go.mod", Language::Go),
    ("pom.xml", Language::Java),
    ("build.gradle", Language::Java),
    ("build.gradle.kts", Language::Java),
    ("Cargo.toml", Language::Rust),
    ("Gemfile", Language::Ruby),
    ("composer.json", Language::Php),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(language: Language, database: &str, identity: &str) -> Vec<String> {
        let spec = identity.parse().unwrap();
        let opening = Opening::new(Path::new(database), &Access::default(), &spec, None).unwrap();
        language.lines(&opening)
    }

    #[test]
    fn literals_are_those_of_the_language() {
        let python = lines(Language::Python, "a\"b\\c.db", "key.txt");
        assert_eq!(python[1], r#"db = selenite.connect("a\"b\\c.db", identity="key.txt")"#);
        let node = lines(Language::Node, "it's.db", "key.txt");
        assert_eq!(node[1], r"const db = connect('it\'s.db', { identity: 'key.txt' })");
        let go = lines(Language::Go, "50% off?.db", "key.txt");
        let uri = "file:50%25%20off%3f.db?vfs=selenite&selenite_identity=key.txt";
        assert_eq!(go[3], format!("db, err := sql.Open(\"sqlite3\", \"{uri}\")"));
        assert!(lines(Language::Shell, "it's.db", "key.txt")[0].contains("file:it%27s.db?"));
    }

    #[test]
    fn every_language_names_the_database_and_the_identity() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(guess(folder.path()), (Language::Shell, None));
        for (name, language) in FILES {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), "").unwrap();
            assert_eq!(guess(folder.path()), (*language, Some(format!("there is {name}"))));
            let text = lines(*language, "app.db", "key.txt").join("\n");
            assert!(text.contains("app.db") && text.contains("key.txt"), "{text}");
        }
    }

    /// docs/HOSTS.md has the same lines, with these names.
    #[test]
    fn the_lines_are_those_of_the_document() {
        let document = include_str!("../../../../../docs/HOSTS.md");
        for line in lines(Language::Python, "app.db", "key.txt") {
            assert!(document.contains(&line), "{line}");
        }
    }
}
