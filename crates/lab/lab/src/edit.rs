//! Edits of a configuration's text on request of a command, with comments and order kept.
//!
//! By crate `toml_edit`: the resulting text is what is stored and hashed.

use toml_edit::{DocumentMut, Item, Table, Value};

use crate::config::{Config, ConfigError};
use crate::pattern::matches;

/// A configuration's text that is being edited.
#[derive(Clone)]
pub struct Edit {
    document: DocumentMut,
}

impl Edit {
    /// Parses a text.
    ///
    /// Errors: it is not TOML.
    pub fn new(text: &str) -> Result<Self, ConfigError> {
        let document = text
            .parse()
            .map_err(|error: toml_edit::TomlError| problem(error.to_string().trim().to_owned(), ""))?;
        Ok(Self { document })
    }

    /// Sets a value: `data.size=64MiB`, `study.sessions=5`. A value that is not a number, truth
    /// value, list or table is a text.
    ///
    /// Errors: there is no `=`, or a name in the path is not that of a table.
    pub fn set(&mut self, assignment: &str) -> Result<(), ConfigError> {
        let (path, value) = assignment
            .split_once('=')
            .ok_or_else(|| problem(format!("`{assignment}` is not an assignment"), "write KEY=VALUE"))?;
        let names: Vec<&str> = path.split('.').map(str::trim).collect();
        let Some((last, tables)) = names.split_last() else {
            return Ok(());
        };
        let mut table: &mut dyn toml_edit::TableLike = self.document.as_table_mut();
        for name in tables {
            let is_new = table.get(name).is_none();
            if is_new {
                table.insert(name, Item::Table(Table::new()));
            }
            table = table
                .get_mut(name)
                .and_then(Item::as_table_like_mut)
                .ok_or_else(|| problem(format!("`{name}` in `{path}` is not a table"), "see the configuration"))?;
        }
        let value = value.trim();
        let value: Value = value.parse().unwrap_or_else(|_| Value::from(value));
        table.insert(last, Item::Value(value));
        Ok(())
    }

    /// The configuration with all assignments applied.
    ///
    /// Errors: those of [`Edit::set`] and [`Config::parse`]. The user has not seen the line numbers
    /// of the resulting text, so an error names the assignments to blame: those without which there
    /// is no error, or a different one.
    pub fn with(&self, assignments: &[String]) -> Result<Config, ConfigError> {
        let parsed = |but: Option<usize>| {
            let mut edit = self.clone();
            let mut set = assignments.iter().enumerate().filter(|(index, _)| Some(*index) != but);
            set.try_for_each(|(_, assignment)| edit.set(assignment))?;
            Config::parse(&edit.text())
        };
        parsed(None).map_err(|error| {
            let without: Vec<Option<String>> = (0..assignments.len())
                .map(|index| parsed(Some(index)).err().map(|other| other.what))
                .collect();
            let blamed = |is_to_blame: &dyn Fn(&Option<String>) -> bool| -> Vec<String> {
                let named = assignments.iter().zip(&without);
                let named = named.filter(|(_, other)| is_to_blame(other));
                named.map(|(assignment, _)| format!("--set {assignment}")).collect()
            };
            let named = [
                blamed(&|other| other.is_none()),
                blamed(&|other| other.as_ref() != Some(&error.what)),
                blamed(&|_| true),
            ];
            let named = named.into_iter().find(|named| !named.is_empty());
            ConfigError {
                line: None,
                what: named.map_or_else(
                    || error.what.clone(),
                    |named| format!("{}: {}", named.join(", "), error.what),
                ),
                next: error.next,
            }
        })
    }

    /// Keeps only these arms; all of them if the list is empty.
    ///
    /// Errors: one of them does not exist.
    pub fn keep_arms(&mut self, names: &[String]) -> Result<(), ConfigError> {
        if names.is_empty() {
            return Ok(());
        }
        let arms = self.document.get_mut("arms").and_then(Item::as_table_like_mut);
        let known: Vec<String> = arms
            .iter()
            .flat_map(|arms| arms.iter())
            .map(|(name, _)| name.to_owned())
            .collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(ConfigError::unknown("arm", unknown, &known));
        }
        if let Some(arms) = arms {
            for name in known.iter().filter(|name| !names.contains(name)) {
                arms.remove(name);
            }
        }
        self.drop_published();
        Ok(())
    }

    /// Removes all arms: stock SQLite remains, twice.
    pub fn drop_arms(&mut self) {
        self.document.remove("arms");
        self.drop_published();
    }

    /// Keeps only the cells with these names; `*` matches any characters. Data that no cell uses
    /// any more is removed.
    ///
    /// Errors: a pattern that matches no cell.
    pub fn keep_cells(&mut self, patterns: &[String]) -> Result<(), ConfigError> {
        let Some(cells) = self.document.get_mut("cells").and_then(Item::as_array_of_tables_mut) else {
            return Ok(());
        };
        if patterns.is_empty() {
            return Ok(());
        }
        let name = |cell: &Table| cell.get("name").and_then(Item::as_str).unwrap_or_default().to_owned();
        let names: Vec<String> = cells.iter().map(name).collect();
        if let Some(unknown) = patterns
            .iter()
            .find(|pattern| !names.iter().any(|name| matches(pattern, name)))
        {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(ConfigError::unknown("cell", unknown, &known));
        }
        cells.retain(|cell| patterns.iter().any(|pattern| matches(pattern, &name(cell))));
        let data = |cell: &Table| cell.get("data").and_then(Item::as_str).unwrap_or_default().to_owned();
        let used: Vec<String> = cells.iter().map(data).collect();
        self.drop_data(&used);
        self.drop_published();
        Ok(())
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Removes published figures whose arm or cells are no longer there.
    fn drop_published(&mut self) {
        let arms = self.document.get("arms").and_then(Item::as_table_like);
        let arms: Vec<String> = arms
            .iter()
            .flat_map(|arms| arms.iter())
            .map(|(name, _)| name.to_owned())
            .collect();
        let cells = self.document.get("cells").and_then(Item::as_array_of_tables);
        let cells: Vec<String> = cells
            .iter()
            .flat_map(|cells| cells.iter())
            .flat_map(cell_names)
            .collect();
        let published = self.document.get_mut("published").and_then(Item::as_table_like_mut);
        let figures = published.and_then(|published| published.get_mut("figures"));
        let Some(figures) = figures.and_then(Item::as_array_of_tables_mut) else {
            return;
        };
        figures.retain(|figure| {
            let text = |key: &str| figure.get(key).and_then(Item::as_str).unwrap_or_default();
            arms.iter().any(|arm| arm == text("arm")) && cells.iter().any(|cell| matches(text("cells"), cell))
        });
        if figures.is_empty() {
            self.document.remove("published");
        }
    }

    fn drop_data(&mut self, used: &[String]) {
        let Some(data) = self.document.get_mut("data").and_then(Item::as_table_like_mut) else {
            return;
        };
        let named: Vec<String> = data
            .iter()
            .filter(|(_, item)| item.is_table_like())
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in named.iter().filter(|name| !used.contains(name)) {
            data.remove(name);
        }
        if !used.iter().any(String::is_empty) {
            let own: Vec<String> = data
                .iter()
                .filter(|(_, item)| !item.is_table_like())
                .map(|(name, _)| name.to_owned())
                .collect();
            for key in own {
                data.remove(&key);
            }
        }
    }
}

/// The names of the cells that a table makes: one, or one for each mix.
fn cell_names(table: &Table) -> Vec<String> {
    let name = table.get("name").and_then(Item::as_str).unwrap_or_default();
    match table.get("mixes").and_then(Item::as_array) {
        Some(mixes) => {
            let mixes = mixes.iter().filter_map(Value::as_str);
            mixes.map(|mix| format!("{name}/{}", mix.replace('/', "-"))).collect()
        }
        None => vec![name.to_owned()],
    }
}

fn problem(what: String, next: &str) -> ConfigError {
    ConfigError {
        line: None,
        what,
        next: (!next.is_empty()).then(|| next.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::preset::{PRESETS, preset};

    fn quick() -> Edit {
        Edit::new(preset("quick").unwrap().text).unwrap()
    }

    #[test]
    fn values_are_replaced_and_comments_kept() {
        let mut edit = quick();
        edit.set("data.size=1MiB").unwrap();
        edit.set("study.sessions = 7").unwrap();
        edit.set("arms.NONE.engine=selenite").unwrap();
        edit.set("arms.NONE.cipher=NONE").unwrap();
        let config = Config::parse(&edit.text()).unwrap();
        assert_eq!(config.study.sessions, 7);
        assert_eq!(config.arms.len(), 2);
        assert!(edit.text().contains("# A little of everything"));
    }

    #[test]
    fn published_figures_go_with_their_arms_and_cells() {
        let edit = || Edit::new(preset("mcgiffen-2018").unwrap().text).unwrap();
        let figures = |edit: &Edit| {
            Config::parse(&edit.text())
                .unwrap()
                .published
                .map(|source| source.figures.len())
        };
        let all = figures(&edit()).unwrap();
        let mut cold = edit();
        cold.keep_cells(&["like-cold".to_owned()]).unwrap();
        assert!(figures(&cold).unwrap() < all);
        let mut none = edit();
        none.drop_arms();
        assert_eq!(figures(&none), None);
        let mut mixes = Edit::new(preset("garrison-2009").unwrap().text).unwrap();
        mixes.keep_cells(&["hummer".to_owned()]).unwrap();
        assert_eq!(figures(&mixes), Some(1));
    }

    #[test]
    fn a_key_can_be_set_in_every_preset() {
        for preset in PRESETS {
            let set = |assignment| {
                let mut edit = Edit::new(preset.text).unwrap();
                edit.set(assignment).unwrap();
                Config::parse(&edit.text())
            };
            assert_eq!(set("study.sessions=7").unwrap().study.sessions, 7);
            let error = set("study.sesions=7").unwrap_err().to_string();
            assert!(error.contains("did you mean `sessions`?"), "{error}");
        }
    }

    #[test]
    fn an_error_names_what_was_set_and_no_line() {
        let with = |assignments: &[&str]| {
            let assignments: Vec<String> = assignments.iter().map(|text| (*text).to_owned()).collect();
            quick().with(&assignments)
        };
        assert_eq!(with(&["data.size=1M", "study.sessions=7"]).unwrap().study.sessions, 7);
        for (assignments, named) in [
            (&["study.sessions=7", "data.size=64MB"][..], "--set data.size=64MB: "),
            (&["study.pairs=3", "study.sessions=7"], "--set study.pairs=3: "),
            (&["study.sesions=7"], "--set study.sesions=7: "),
            (&["study.sessions=7", "sessions"], "--set sessions: "),
            // Neither alone is to blame.
            (
                &["arms.a.engine=selenit", "arms.a.cipher=AES_256"],
                "--set arms.a.engine=selenit, --set arms.a.cipher=",
            ),
            // Each of the two is to blame by itself.
            (&["study.pairs=3", "study.sessions=0"], "--set "),
        ] {
            let error = with(assignments).unwrap_err();
            let told = error.to_string();
            assert!(told.starts_with(named) && !told.contains("line "), "{told}");
        }
        assert!(
            with(&["study.sesions=7"])
                .unwrap_err()
                .next
                .unwrap()
                .contains("`sessions`")
        );
    }

    #[test]
    fn an_assignment_that_sets_no_key_is_refused() {
        assert!(quick().set("sessions").is_err());
        assert!(quick().set("study.sessions.more=1").is_err());
    }

    #[test]
    fn cells_and_arms_can_be_chosen() {
        let mut edit = quick();
        edit.keep_cells(&["*-cold".to_owned()]).unwrap();
        edit.keep_arms(&["AES_256".to_owned()]).unwrap();
        let config = Config::parse(&edit.text()).unwrap();
        assert!(config.cells.iter().all(|cell| cell.name.ends_with("-cold")) && !config.cells.is_empty());
        assert_eq!((config.arms.len(), config.data.len()), (1, 1));
        assert!(quick().keep_cells(&["nothing".to_owned()]).is_err());
        assert!(quick().keep_arms(&["nothing".to_owned()]).is_err());
    }

    #[test]
    fn without_arms_every_preset_still_parses() {
        for preset in PRESETS {
            let mut edit = Edit::new(preset.text).unwrap();
            edit.drop_arms();
            Config::parse(&edit.text()).unwrap();
        }
    }
}
