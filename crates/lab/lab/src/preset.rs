//! Built-in studies.

use crate::config::ConfigError;

/// The configuration of a study, to be used or edited.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its purpose, in one line.
    pub about: &'static str,
    /// The TOML.
    pub text: &'static str,
}

/// All of them.
pub const PRESETS: [Preset; 36] = [
    Preset {
        name: "quick",
        about: "a little of everything in under three minutes",
        text: include_str!("presets/quick.toml"),
    },
    Preset {
        name: "scan-like-eq",
        about: "two queries that read every page, cold and warm",
        text: include_str!("presets/scan-like-eq.toml"),
    },
    Preset {
        name: "dml-before-after",
        about: "insert, update, select and backup of a small table",
        text: include_str!("presets/dml-before-after.toml"),
    },
    Preset {
        name: "hummer",
        about: "ten processes, sixteen mixes of reads, updates and inserts",
        text: include_str!("presets/hummer.toml"),
    },
    Preset {
        name: "convert-scan",
        about: "encrypting, decrypting and re-encrypting a whole database, by suite",
        text: include_str!("presets/convert-scan.toml"),
    },
    Preset {
        name: "integrity-check",
        about: "three ways to check a whole database, by suite",
        text: include_str!("presets/integrity-check.toml"),
    },
    Preset {
        name: "connections",
        about: "many connections of one process, and opening a database",
        text: include_str!("presets/connections.toml"),
    },
    Preset {
        name: "growth",
        about: "the cost of a page by size, and of a commit by connections",
        text: include_str!("presets/growth.toml"),
    },
    Preset {
        name: "online",
        about: "a workload before, while and after every page is re-encrypted",
        text: include_str!("presets/online.toml"),
    },
    Preset {
        name: "backup",
        about: "a full and an incremental backup, compared with zstd and age",
        text: include_str!("presets/backup.toml"),
    },
    Preset {
        name: "tds-messages",
        about: "a server's answers, unencrypted and encrypted, in packets of three sizes",
        text: include_str!("presets/tds-messages.toml"),
    },
    Preset {
        name: "mariadb-scan",
        about: "MariaDB: two queries that read every page",
        text: include_str!("presets/mariadb-scan.toml"),
    },
    Preset {
        name: "mariadb-dml",
        about: "MariaDB: statements on a small table",
        text: include_str!("presets/mariadb-dml.toml"),
    },
    Preset {
        name: "mariadb-hummer",
        about: "MariaDB: ten sessions that run stored procedures",
        text: include_str!("presets/mariadb-hummer.toml"),
    },
    Preset {
        name: "mariadb-mixes",
        about: "MariaDB: ten sessions, all sixteen mixes of the hummer",
        text: include_str!("presets/mariadb-mixes.toml"),
    },
    Preset {
        name: "mariadb-messages",
        about: "MariaDB: rows to a client, unencrypted and by TLS",
        text: include_str!("presets/mariadb-messages.toml"),
    },
    Preset {
        name: "mariadb-tls",
        about: "MariaDB: statements, with the connection, the files or both encrypted",
        text: include_str!("presets/mariadb-tls.toml"),
    },
    Preset {
        name: "mariadb-convert",
        about: "MariaDB: encrypting, decrypting and checking all tables, by algorithm",
        text: include_str!("presets/mariadb-convert.toml"),
    },
    Preset {
        name: "mariadb-redo",
        about: "MariaDB 10.11 and 11.8: inserts with an encrypted redo log, for lab bisect",
        text: include_str!("presets/mariadb-redo.toml"),
    },
    Preset {
        name: "postgresql-messages",
        about: "PostgreSQL: rows to a client, unencrypted and by TLS",
        text: include_str!("presets/postgresql-messages.toml"),
    },
    Preset {
        name: "postgresql-hummer",
        about: "PostgreSQL: ten sessions over TLS, all sixteen mixes of the hummer",
        text: include_str!("presets/postgresql-hummer.toml"),
    },
    Preset {
        name: "duckdb-scan",
        about: "DuckDB: a query that reads a whole column, inserts and an update",
        text: include_str!("presets/duckdb-scan.toml"),
    },
    Preset {
        name: "serve-tde",
        about: "selenite serve: scans, inserts and updates by T-SQL, in suite NONE and encrypted",
        text: include_str!("presets/serve-tde.toml"),
    },
    Preset {
        name: "serve-hummer",
        about: "selenite serve: ten sessions, all sixteen mixes of the hummer in T-SQL",
        text: include_str!("presets/serve-hummer.toml"),
    },
    Preset {
        name: "league",
        about: "what the planner is compared with: scans, statements, sixteen mixes",
        text: include_str!("presets/league.toml"),
    },
    Preset {
        name: "league-cache",
        about: "the same with a larger page cache, and by several processes",
        text: include_str!("presets/league-cache.toml"),
    },
    Preset {
        name: "league-pages",
        about: "what the planner is compared with: pages of 8 KiB",
        text: include_str!("presets/league-pages.toml"),
    },
    Preset {
        name: "league-rollback",
        about: "what the planner is compared with: a rollback journal",
        text: include_str!("presets/league-rollback.toml"),
    },
    Preset {
        name: "garrison-2009",
        about: "Garrison 2009 again: sixteen mixes of ten processes",
        text: include_str!("presets/garrison-2009.toml"),
    },
    Preset {
        name: "mcgiffen-2018",
        about: "McGiffen 2018 again: LIKE and = over every page, from storage and from memory",
        text: include_str!("presets/mcgiffen-2018.toml"),
    },
    Preset {
        name: "singh-2021",
        about: "Singh 2021 again: four statements before and after encryption",
        text: include_str!("presets/singh-2021.toml"),
    },
    Preset {
        name: "microsoft-2017",
        about: "Microsoft 2017 again: a database check, with and without AES instructions",
        text: include_str!("presets/microsoft-2017.toml"),
    },
    Preset {
        name: "noveljic-2018",
        about: "Noveljic 2018 again: a server's answers over TLS",
        text: include_str!("presets/noveljic-2018.toml"),
    },
    Preset {
        name: "cybertec-2025",
        about: "Cybertec 2025 again: a page cache that is too small, by length of the key",
        text: include_str!("presets/cybertec-2025.toml"),
    },
    Preset {
        name: "percona-2019",
        about: "Percona 2019 again: reads that miss the buffer pool (MariaDB)",
        text: include_str!("presets/percona-2019.toml"),
    },
    Preset {
        name: "mdev-36024",
        about: "MDEV-36024 again: inserts with an encrypted redo log (MariaDB)",
        text: include_str!("presets/mdev-36024.toml"),
    },
];

/// The preset with a name.
///
/// Errors: there is none; the message lists all names and the most similar one.
pub fn preset(name: &str) -> Result<Preset, ConfigError> {
    let found = PRESETS.into_iter().find(|preset| preset.name == name);
    found.ok_or_else(|| ConfigError::unknown("preset", name, &PRESETS.map(|preset| preset.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn every_preset_parses_under_its_own_name() {
        for preset in PRESETS {
            let config = Config::parse(preset.text).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            assert_eq!(config.study.name, preset.name);
            assert_eq!(config.notes(), Vec::<String>::new(), "{}", preset.name);
            assert!(preset.text.is_ascii());
        }
    }

    #[test]
    fn every_published_study_parses_under_its_own_name() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/studies");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read_to_string(&path).unwrap();
                let config = Config::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert_eq!(
                    Some(config.study.name.as_str()),
                    path.file_stem().and_then(|name| name.to_str())
                );
                assert_eq!(config.notes(), Vec::<String>::new(), "{}", path.display());
                seen += 1;
            }
        }
        assert!(seen >= 12, "{seen}");
    }

    /// A goal for something that no study measures could never be missed.
    #[test]
    fn every_goal_names_a_cell_and_an_arm_of_a_published_study() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs");
        let goals: toml::Table = toml::from_str(&std::fs::read_to_string(docs.join("goals.toml")).unwrap()).unwrap();
        let mut seen = 0;
        for goal in ["rows", "whole", "backup", "transit"]
            .iter()
            .flat_map(|kind| goals[*kind].as_array().unwrap())
        {
            let text = |key: &str| goal[key].as_str().unwrap();
            let study = docs.join("studies").join(format!("{}.toml", text("study")));
            let config = Config::parse(&std::fs::read_to_string(study).unwrap()).unwrap();
            assert!(config.cells.iter().any(|cell| cell.name == text("cell")), "{goal}");
            let suites = match goal.get("suites") {
                Some(suites) => suites
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|suite| suite.as_str().unwrap())
                    .collect(),
                None => vec!["AES_256", "AEGIS_256X4"],
            };
            for suite in suites {
                assert!(config.arms.iter().any(|arm| arm.name == suite), "{suite}: {goal}");
                seen += 1;
            }
        }
        assert!(seen > 50, "{seen}");
    }

    #[test]
    fn hummer_has_sixteen_different_mixes() {
        let cells = |name: &str| Config::parse(preset(name).unwrap().text).unwrap().cells;
        let names = |name: &str| cells(name).into_iter().map(|cell| cell.name).collect::<Vec<_>>();
        for other in ["mariadb-mixes", "postgresql-hummer", "serve-hummer"] {
            assert_eq!(names("hummer"), names(other), "{other}");
        }
        let config = Config::parse(preset("hummer").unwrap().text).unwrap();
        assert_eq!(config.cells.len(), 16);
        assert_eq!(config.cells[8].name, "hummer/4-3-3");
        assert_eq!(config.cells[8].label, "mix 4/3/3, 10 processes, cold");
    }

    #[test]
    fn a_preset_named_after_a_publication_has_its_source_and_figures() {
        let mut seen = 0;
        for preset in PRESETS {
            let config = Config::parse(preset.text).unwrap();
            let Some(published) = &config.published else {
                let ends_in_a_year = preset
                    .name
                    .rsplit('-')
                    .next()
                    .is_some_and(|part| part.parse::<u16>().is_ok());
                assert!(!ends_in_a_year, "{}", preset.name);
                continue;
            };
            let source = &published.source;
            let year = source.year.to_string();
            assert!(
                preset.name.ends_with(&year) || preset.name.starts_with("mdev-"),
                "{}",
                preset.name
            );
            assert!(
                !source.differs.is_empty() && !source.method.is_empty(),
                "{}",
                preset.name
            );
            // A figure of a cell that does not gate would have no place in the stopping rule.
            for figure in &published.figures {
                let gates = |name: &String| config.cells.iter().any(|cell| cell.name == *name && cell.gating);
                assert!(figure.cells.iter().all(gates), "{}: {}", preset.name, figure.what);
            }
            seen += 1;
        }
        assert_eq!(seen, 8);
    }

    #[test]
    fn published_figures_are_as_their_sources_have_them() {
        let change = |name: &str, index: usize| {
            let config = Config::parse(preset(name).unwrap().text).unwrap();
            let change = config.published.unwrap().figures[index].change;
            (change * 1000.0).round() / 10.0
        };
        assert_eq!(change("garrison-2009", 0), 6.4);
        // 0:49 to 0:59 h and 1:27 to 2:22 h, with the unencrypted time as denominator.
        assert_eq!((change("microsoft-2017", 0), change("microsoft-2017", 1)), (20.4, 63.2));
        assert_eq!((change("noveljic-2018", 0), change("noveljic-2018", 2)), (60.5, 6.0));
        assert_eq!((change("singh-2021", 0), change("singh-2021", 2)), (0.6, -51.6));
        // Throughput: 389.11 of 423.47 is 8.1 % less, each transaction 8.8 % longer.
        assert_eq!((change("percona-2019", 0), change("cybertec-2025", 2)), (8.8, 0.5));
        assert_eq!(change("mdev-36024", 0), 35.1);
    }

    #[test]
    fn an_unknown_preset_is_reported_with_the_nearest() {
        let error = preset("humer").unwrap_err().to_string();
        assert!(error.contains("did you mean `hummer`?"), "{error}");
    }
}
