use selenite_worker::protocol::Workload;

use super::*;

const TEXT: &str = r#"
[study]
name = "s"
[data]
kind = "scan"
size = "16MiB"
[data.cards]
kind = "cards"
rows = 100
[arms.zeta]
engine = "selenite"
cipher = "AES_256"
[arms.alpha]
engine = "mine"
worker = "/opt/mine"
cipher = "x"
aes_instructions = false
settings = { pool = "0" }
[[cells]]
name = "like"
work = { kind = "like" }
cache = "page"
gating = true
[[cells]]
name = "h"
data = "cards"
processes = 10
work = { kind = "hummer", loops = 100, pause_every = 10, pause = "2s" }
mixes = ["10/0/0", "4/3/3"]
cache = "cold"
"#;

fn refused(from: &str, to: &str) -> ConfigError {
    assert!(TEXT.contains(from), "{from}");
    Config::parse(&TEXT.replacen(from, to, 1)).unwrap_err()
}

#[test]
fn a_configuration_is_read_in_the_order_of_its_text() {
    let config = Config::parse(TEXT).unwrap();
    assert_eq!(
        config.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(),
        ["zeta", "alpha"]
    );
    assert_eq!(
        config.cells.iter().map(|cell| cell.name.as_str()).collect::<Vec<_>>(),
        ["like", "h/10-0-0", "h/4-3-3"]
    );
    assert_eq!(config.cells[0].work, Workload::Like { rehearsals: 1 });
    let Workload::Hummer { hummer } = config.cells[2].work else {
        panic!("no hummer")
    };
    assert_eq!(
        (hummer.mix, hummer.loops, hummer.pause_every, hummer.pause_ms),
        ([4, 3, 3], 100, 10, 2000)
    );
    assert_eq!(
        (config.study.sessions, config.study.pairs, config.study.seed),
        (8, 8, 0)
    );
    assert_eq!(config.layout.cache_kib, 2048);
    assert_eq!(config.data["main"], Dataset::Scan { bytes: 16 << 20 });
    assert_eq!(config.sha256().len(), 64);
    let cell = serde_json::to_string(&config.cells[2]).unwrap();
    assert_eq!(serde_json::from_str::<Cell>(&cell).unwrap(), config.cells[2]);
}

#[test]
fn an_unknown_key_has_its_line_and_the_nearest_name() {
    for (from, to, line, near) in [
        ("name = \"s\"", "name = \"s\"\nsesions = 8", 4, "`sessions`"),
        ("size = ", "sise = ", 6, "`size`"),
        ("rows = 100", "row = 100", 9, "`rows`"),
        ("cipher = \"AES_256\"", "ciphre = \"AES_256\"", 12, "`cipher`"),
        ("gating = true", "gatting = true", 23, "`gating`"),
        ("loops = 100", "loop = 100", 28, "`loops`"),
        ("cache = \"cold\"", "cache = \"colt\"", 30, "`cold`"),
        ("kind = \"like\"", "kind = \"lik\"", 21, "`like`"),
        ("kind = \"cards\"", "kind = \"card\"", 8, "`cards`"),
        ("engine = \"selenite\"", "engine = \"selenit\"", 10, "`selenite`"),
        ("data = \"cards\"", "data = \"cads\"", 24, "`cards`"),
        ("[study]", "[sturdy]\n[study]", 2, "`study`"),
    ] {
        let error = refused(from, to);
        let told = error.to_string();
        assert_eq!(error.line, Some(line), "{told}");
        assert!(told.contains(&format!("did you mean {near}?")), "{told}");
    }
}

#[test]
fn invalid_values_are_refused() {
    for (from, to, part) in [
        ("name = \"s\"", "name = \"s\"\npairs = 3", "even"),
        ("name = \"s\"", "name = \"s\"\npairs = 0", "even"),
        ("name = \"s\"", "name = \"s\"\nsessions = 0", "from 1"),
        ("name = \"s\"", "name = \"../s\"", "not a valid name"),
        ("name = \"s\"", "name = \"s\"\nlimit = \"3\"", "`3` is not a share"),
        ("name = \"s\"", "name = \"s\"\nbudget = \"3\"", "not a time"),
        ("[data]", "[layout]\npage_size = 1000\n[data]", "power of two"),
        (
            "[data]",
            "[layout]\njournal_mode = \"wall\"\n[data]",
            "did you mean `wal`?",
        ),
        ("[data]", "[layout]\ncache = \"1KiB\"\n[data]", "64KiB"),
        ("size = \"16MiB\"", "size = \"16MB\"", "`16MB` is not a size"),
        ("size = \"16MiB\"", "rows = 5", "`size`"),
        ("size = \"16MiB\"", "size = \"1KiB\"", "1MiB"),
        ("rows = 100", "rows = 0", "from 1"),
        ("kind = \"scan\"", "", "missing field `kind`"),
        ("[arms.zeta]", "[arms.plain2]", "implied"),
        ("[arms.zeta]", "[arms.selenite-plain]", "implied"),
        ("cipher = \"AES_256\"", "cipher = \"plain\"", "implied"),
        ("engine = \"selenite\"", "engine = \"sqlite\"", "does not encrypt"),
        ("worker = \"/opt/mine\"", "", "unknown engine `mine`"),
        ("name = \"like\"", "name = \"like\"\nprocesses = 2", "several processes"),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"like\", rehearsals = 0 }",
            "one rehearsal",
        ),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"like\", rows = 9 }",
            "no `rows`",
        ),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"insert\", rows = 9 }",
            "kind `statements`",
        ),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"convert\", to = \"AES_256\" }",
            "to = \"arm\"",
        ),
        ("name = \"h\"", "name = \"like\"\nmixes = []", "duplicate key"),
        ("\"4/3/3\"", "\"4/3/4\"", "add up to 10"),
        ("\"4/3/3\"", "\"4/3/3/0\"", "add up to 10"),
        ("\"4/3/3\"", "\"10/0/0\"", "two cells"),
        ("data = \"cards\"", "", "kind `cards`"),
        ("processes = 10", "processes = 0", "from 1"),
        ("loops = 100", "loops = 0", "at least 1"),
        ("kind = \"scan\"", "kind = 3", "wanted string"),
    ] {
        let error = refused(from, to).to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
    assert!(Config::parse("").unwrap_err().to_string().contains("study"));
    assert!(Config::parse("[study").unwrap_err().line.is_some());
}

#[test]
fn connections_openings_indexes_and_pools_that_make_no_sense_are_refused() {
    for (from, to, part) in [
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"readers\" }",
            "needs `connections`",
        ),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"readers\", connections = 0 }",
            "needs `connections`",
        ),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"open\", connections = 2 }",
            "no `connections`",
        ),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"open\" }",
            "needs `times`",
        ),
        ("size = \"16MiB\"", "size = \"16MiB\"\nindexes = 1", "only `statements`"),
        (
            "rows = 100",
            "rows = 100\n[data.more]\nkind = \"statements\"\nrows = 1\nindexes = 3",
            "from 0 to 2",
        ),
        (
            "engine = \"mine\"",
            "engine = \"mine\"\npool = \"1MiB\"",
            "`selenite` has a `pool`",
        ),
        (
            "engine = \"selenite\"",
            "engine = \"selenite\"\nsettings = { pool_size = \"1M\" }",
            "with `pool`",
        ),
    ] {
        let error = refused(from, to).to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
}

#[test]
fn connections_openings_indexes_and_pools_are_read() {
    let text = TEXT
        .replacen(
            "rows = 100",
            "rows = 100\n[data.wide]\nkind = \"statements\"\nrows = 9\nindexes = 2",
            1,
        )
        .replacen("cipher = \"AES_256\"", "cipher = \"AES_256\"\npool = \"64MiB\"", 1)
        + "[[cells]]\nname = \"r\"\nwork = { kind = \"readers\", connections = 16 }\nsame_memory = true\ncache = \"os\"\n\
           [[cells]]\nname = \"o\"\nwork = { kind = \"open\", times = 7 }\ncache = \"os\"\n\
           [[cells]]\nname = \"i\"\ndata = \"wide\"\nprocesses = 4\nwork = { kind = \"insert\", rows = 5 }\ncache = \"os\"\n";
    let config = Config::parse(&text).unwrap();
    assert_eq!(config.arms[0].pool, Some(64 << 20));
    assert_eq!(config.arms[0].settings["pool_size"], (64 << 20).to_string());
    assert_eq!(config.data["wide"], Dataset::Statements { rows: 9, indexes: 2 });
    let [readers, open, insert] = &config.cells[3..] else {
        panic!("{:?}", config.cells)
    };
    assert_eq!(readers.work, Workload::Readers { connections: 16 });
    assert!(readers.same_memory && !open.same_memory);
    assert_eq!(readers.label, "16 connections that read all, OS cache, same memory");
    assert_eq!(open.work, Workload::Open { times: 7 });
    assert_eq!(
        (insert.processes, insert.label.as_str()),
        (4, "insert 5, 4 processes, OS cache")
    );
}

#[test]
fn a_backup_is_read_and_needs_an_engine_that_makes_one() {
    let archive = "[[cells]]\nname = \"k\"\nwork = { kind = \"archive\", incremental = true }\ncache = \"os\"\n";
    let text = format!("{TEXT}{archive}");
    let cell = Config::parse(&text).unwrap().cells.pop().unwrap();
    assert_eq!(cell.work, Workload::Archive { incremental: true });
    assert_eq!(cell.label, "incremental backup, kept elsewhere, OS cache");
    let full = Config::parse(&text.replace(", incremental = true", ""))
        .unwrap()
        .cells
        .pop();
    assert_eq!(full.unwrap().work, Workload::Archive { incremental: false });
    for (from, to, part) in [
        ("\"os\"", "\"cold\"", "its cache is `os`"),
        ("\"archive\"", "\"rekey\"", "no `incremental`"),
        (
            "engine = \"selenite\"",
            "engine = \"sqlcipher\"",
            "arm `zeta` cannot make backups, which cell `k` needs",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Config::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
}

#[test]
fn a_rekey_cell_is_parsed_and_needs_a_key() {
    let rekey = "[[cells]]\nname = \"k\"\nwork = { kind = \"rekey\" }\ncache = \"os\"\n";
    let text = format!("{TEXT}{rekey}");
    let cell = Config::parse(&text).unwrap().cells.pop().unwrap();
    assert_eq!((cell.work, cell.label.as_str()), (Workload::Rekey, "rekey, OS cache"));
    for (from, to, part) in [
        ("\"os\"", "\"cold\"", "its cache is `os`"),
        ("\"os\"", "\"page\"", "its cache is `os`"),
        ("\"rekey\"", "\"rekey\", to = \"plain\"", "no `to`"),
        (
            "\"AES_256\"",
            "\"NONE\"",
            "arm `zeta` has no key, which cell `k` changes",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Config::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
}

#[test]
fn too_few_sessions_are_noted() {
    let config = Config::parse(&TEXT.replace("name = \"s\"", "name = \"s\"\nsessions = 4")).unwrap();
    assert!(config.notes()[0].contains("too few"));
}

#[test]
fn work_during_a_reencryption_is_parsed_and_excludes_other_work() {
    const ONLINE: &str = "[study]\nname = \"s\"\n[data]\nkind = \"cards\"\nrows = 100\n[[cells]]\nname = \"o\"\nprocesses = 4\n\
        work = { kind = \"online\", phase = \"5s\", options = [\"--max-rate\", \"1MB/s\"] }\n\
        mixes = [\"4/3/3\"]\ncache = \"os\"\n";
    let config = Config::parse(ONLINE).unwrap();
    let cell = &config.cells[0];
    let online = cell.online.as_ref().unwrap();
    assert_eq!(
        (online.phase_ms, online.options.len(), &online.administrator),
        (5000, 2, &None)
    );
    assert!(matches!(cell.work, Workload::Hummer { hummer } if hummer.mix == [4, 3, 3] && hummer.loops > 1 << 40));
    assert_eq!(
        cell.label,
        "mix 4/3/3, 4 processes, OS cache, while pages are re-encrypted"
    );
    let json = serde_json::to_string(cell).unwrap();
    assert_eq!(&serde_json::from_str::<Cell>(&json).unwrap(), cell);
    for (from, to, part) in [
        ("phase = \"5s\", ", "", "needs a `phase`"),
        ("\"5s\"", "\"5ms\"", "from 100ms"),
        ("\"5s\"", "\"5s\", loops = 7", "no `loops`"),
        ("cache = \"os\"", "cache = \"cold\"", "its cache is `os`"),
        ("kind = \"cards\"", "kind = \"statements\"", "kind `cards`"),
        (
            "cache = \"os\"",
            "cache = \"os\"\n[[cells]]\nname = \"c\"\nwork = { kind = \"backup\" }\ncache = \"os\"",
            "two studies",
        ),
    ] {
        assert!(ONLINE.contains(from), "{from}");
        let error = Config::parse(&ONLINE.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
    let error = refused(
        "work = { kind = \"like\" }",
        "work = { kind = \"like\", phase = \"5s\" }",
    );
    assert!(error.to_string().contains("no `phase`"), "{error}");
}

/// A study of arms of one engine, with a scan.
fn of_engine(engine: &str, baseline: &str) -> Result<Config, ConfigError> {
    Config::parse(&format!(
        "[study]\nname = \"s\"\n{baseline}\n[data]\nkind = \"scan\"\nsize = \"1MiB\"\n\
         [arms.a]\nengine = \"{engine}\"\ncipher = \"x\"\nworker = \"/w\"\n\
         [[cells]]\nname = \"l\"\nwork = {{ kind = \"like\" }}\ncache = \"os\"\n"
    ))
}

#[test]
fn the_baseline_is_the_engine_of_servers_and_otherwise_sqlite() {
    let baseline = |engine: &str, line: &str| of_engine(engine, line).unwrap().study.baseline;
    assert_eq!(Config::parse(TEXT).unwrap().study.baseline, "sqlite");
    assert_eq!(baseline("mariadb", ""), "mariadb");
    assert_eq!(baseline("mariadb118", ""), "mariadb118");
    assert_eq!(baseline("mine", ""), "sqlite");
    assert_eq!(baseline("mine", "baseline = \"mine\""), "mine");
    assert!(of_engine("mariadb", "").unwrap().has_servers());
    assert!(!of_engine("mine", "").unwrap().has_servers());
}

#[test]
fn an_unknown_baseline_or_one_of_another_kind_is_refused() {
    let error = of_engine("mine", "baseline = \"maria\"").unwrap_err().to_string();
    assert!(error.contains("unknown baseline `maria`"), "{error}");
    let error = of_engine("mariadb", "baseline = \"sqlite\"").unwrap_err().to_string();
    assert!(
        error.contains("cannot be compared with the baseline `sqlite`"),
        "{error}"
    );
    let error = refused("engine = \"mine\"", "engine = \"mariadb\"").to_string();
    assert!(
        error.contains("arm `zeta` of engine `selenite` cannot be compared with the baseline `mariadb`"),
        "{error}"
    );
}

#[test]
fn messages_are_sent_by_this_program_or_by_a_server() {
    let text = |engine: &str, cipher: &str| {
        format!(
            "[study]\nname = \"s\"\n[data]\nkind = \"wire\"\n[arms.a]\nengine = \"{engine}\"\ncipher = \"{cipher}\"\n\
             [[cells]]\nname = \"m\"\nwork = {{ kind = \"messages\", turns = 10 }}\ncache = \"os\"\n"
        )
    };
    let baseline =
        |engine: &str, cipher: &str| Config::parse(&text(engine, cipher)).map(|config| config.study.baseline);
    assert_eq!(baseline("tds", "require").unwrap(), "tds");
    assert_eq!(baseline("postgresql", "tls").unwrap(), "postgresql");
    let error = baseline("selenite", "AES_256").unwrap_err().to_string();
    assert!(
        error.contains("work `messages` is done by arms of engine `tds`"),
        "{error}"
    );
}
