//! `docs/TSQL.md`: what of T-SQL there is, made by asking a server and the code's own tables.
//!
//! - `state-is-the-servers-answer`: a state is what a server answers to the form beside it, never
//!   what someone believes.
//! - `no-unlisted-statements`: a kind of statement that the parser knows and the page does not is
//!   an error of the compiler or of a test.

mod errors;
mod forms;
mod functions;
mod kind;
mod procedures;
mod queries;
mod settings;
mod types;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use selenite_tds::PacketSize;
use selenite_tds::client::{ServerMessage, Token};
use selenite_tsql::{Options, parse};

use super::client::Client;
use super::fixture::Fixture;

/// A form of T-SQL: what it is called, and a text that has it.
pub type Form = (&'static str, &'static str);

/// Forms under a heading.
pub struct Group {
    pub heading: &'static str,
    pub forms: &'static [Form],
}

#[test]
fn the_page_of_t_sql_says_what_this_server_does() {
    let page = Page::new().make();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/TSQL.md");
    if std::env::var_os("SELENITE_BLESS").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let first = there.lines().zip(page.lines()).position(|(there, made)| there != made);
    let line = first.unwrap_or_else(|| there.lines().count().min(page.lines().count()));
    assert!(
        there == page,
        "docs/TSQL.md differs at line {}:\n  there: {}\n  made:  {}\nmake it again: \
         SELENITE_BLESS=1 cargo test -p selenite-server --test server the_page_of_t_sql",
        line + 1,
        there.lines().nth(line).unwrap_or_default(),
        page.lines().nth(line).unwrap_or_default(),
    );
}

#[test]
fn every_kind_of_statement_has_a_form_on_the_page() {
    let mut seen = BTreeSet::new();
    for (title, text) in all_groups().flat_map(|group| group.forms) {
        let (tree, errors) = match parse(text, Options::default()) {
            Ok(tree) => (Some(tree), None),
            Err(error) => (None, Some(error)),
        };
        assert!(errors.is_none(), "{title}: {text}: {errors:?}");
        for statement in tree.iter().flat_map(|tree| &tree.statements) {
            kind::walk(statement, &mut |statement| {
                seen.insert(kind::name(&statement.kind));
            });
        }
    }
    let missing: Vec<_> = kind::ALL.iter().filter(|name| !seen.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let unknown: Vec<_> = seen.iter().filter(|name| !kind::ALL.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

fn all_groups() -> impl Iterator<Item = &'static Group> {
    forms::GROUPS.iter().chain(queries::GROUPS)
}

/// The page while it is made.
pub struct Page {
    fixture: Fixture,
    client: Client,
    text: String,
}

impl Page {
    fn new() -> Self {
        // A file for BULK INSERT.
        let fixture = Fixture::with(|config| config.bulk_folders = vec![config.data.join("../loads")]);
        let loads = fixture.data_folder().join("../loads");
        std::fs::create_dir_all(&loads).unwrap();
        std::fs::write(loads.join("x"), "1\ta\r\n2\tb\r\n").unwrap();
        let mut client = fixture.client();
        for text in SETUP {
            assert_eq!(client.batch(text).errors(), [], "{text}");
        }
        Self {
            fixture,
            client,
            text: include_str!("document/head.txt").to_owned(),
        }
    }

    fn make(mut self) -> String {
        types::write(&mut self);
        for group in all_groups() {
            self.group(group);
        }
        functions::write(&mut self);
        settings::write(&mut self);
        procedures::write(&mut self);
        errors::write(&mut self);
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
        self.text
    }

    /// A heading and a table of forms.
    pub fn group(&mut self, group: &Group) {
        self.heading(group.heading, &["form", "for example", "state"]);
        for (title, text) in group.forms {
            let mut state = self.state(text);
            if title.starts_with("SET ENCRYPTION") && NOT_NOW.contains(&state.as_str()) {
                WORKS.clone_into(&mut state);
            }
            self.row(&[title, &code(text), &state]);
        }
    }

    /// A heading, and a table's head.
    pub fn heading(&mut self, heading: &str, columns: &[&str]) {
        let _ = write!(self.text, "\n## {heading}\n\n");
        self.head(columns);
    }

    pub fn head(&mut self, columns: &[&str]) {
        self.row(columns);
        let _ = writeln!(self.text, "|{}", "---|".repeat(columns.len()));
    }

    pub fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    pub fn row(&mut self, cells: &[&str]) {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(self.text, "| {} |", cells.join(" | "));
    }

    /// What the server answers to a form (`state-is-the-servers-answer`).
    pub fn state(&mut self, text: &str) -> String {
        let answered = self.ask(text);
        let state = match answered {
            Ok(None) => WORKS.to_owned(),
            Ok(Some(error)) => of_error(&error),
            // SHUTDOWN.
            Err(_) => "works, and ends the server".to_owned(),
        };
        match self.ask("WHILE @@TRANCOUNT > 0 ROLLBACK; USE shop") {
            Ok(None) => {}
            // The session went with the statement, or the server did.
            Ok(Some(_)) | Err(_) => {
                self.fixture = std::mem::replace(&mut self.fixture, Fixture::new()).restarted();
                self.client = self.fixture.client();
                assert_eq!(self.client.batch("USE shop").errors(), []);
            }
        }
        state
    }

    fn ask(&mut self, text: &str) -> io::Result<Option<ServerMessage>> {
        let bytes = selenite_tds::client::batch(
            &super::client::HEADERS,
            text,
            PacketSize::DEFAULT,
            selenite_tds::Reset::None,
        );
        self.client.send(&bytes.unwrap())?;
        let answer = self.client.answer()?;
        let error = answer.0.into_iter().find_map(|token| match token {
            Token::Error(said) => Some(said),
            _ => None,
        });
        Ok(error)
    }
}

/// What is refused says so by name; anything else is an error of that number.
fn of_error(error: &ServerMessage) -> String {
    match error.number {
        40510 | 40517 => format!("refused: {}", error.text.replace(" in this version of SQL Server", "")),
        number if UNKNOWN.contains(&number) => format!("unknown: error {number}"),
        number => format!("error {number}"),
    }
}

pub fn code(text: &str) -> String {
    format!("`{text}`")
}

pub const WORKS: &str = "works";
/// No such option, function, object, procedure, type.
const UNKNOWN: [i32; 5] = [195, 208, 243, 2715, 2812];

/// The form is carried out, and a scan of the pages that is under way, or has ended meanwhile, keeps it from being
/// done now.
const NOT_NOW: [&str; 2] = ["error 5058", "error 33109"];

/// What forms are about.
const SETUP: [&str; 9] = [
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE t (a int NOT NULL CONSTRAINT pk_t PRIMARY KEY, b nvarchar(20) NULL, c decimal(10,2) NULL DEFAULT 1)",
    "CREATE TABLE u (id int IDENTITY, a int NULL, d datetime NULL)",
    "CREATE INDEX i_u ON u (a)",
    "INSERT t (a, b) VALUES (1, 'one'), (2, 'two'); INSERT u (a) VALUES (1), (1), (2)",
    "CREATE VIEW v AS SELECT a, b FROM t",
    "CREATE PROCEDURE p @x int = 1, @y int = 0 OUTPUT AS SET @y = @x + 1; RETURN @x",
    "CREATE TABLE w (a int NULL, b nvarchar(20) NULL)",
];
