use selenite_worker::protocol::Work;

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
    assert_eq!(config.cells[0].work, Work::Like { rehearsals: 1 });
    let Work::Hummer { hummer } = config.cells[2].work else {
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
fn what_makes_no_sense_is_refused() {
    for (from, to, part) in [
        ("name = \"s\"", "name = \"s\"\npairs = 3", "even"),
        ("name = \"s\"", "name = \"s\"\npairs = 0", "even"),
        ("name = \"s\"", "name = \"s\"\nsessions = 0", "from 1"),
        ("name = \"s\"", "name = \"../s\"", "no name"),
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
        ("[arms.zeta]", "[arms.plain2]", "by themselves"),
        ("[arms.zeta]", "[arms.selenite-plain]", "by themselves"),
        ("cipher = \"AES_256\"", "cipher = \"plain\"", "by themselves"),
        ("engine = \"selenite\"", "engine = \"sqlite\"", "encrypts nothing"),
        ("worker = \"/opt/mine\"", "", "unknown engine `mine`"),
        ("name = \"like\"", "name = \"like\"\nprocesses = 2", "several processes"),
        (
            "work = { kind = \"like\" }",
            "work = { kind = \"like\", rehearsals = 0 }",
            "needs a rehearsal",
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
        ("loops = 100", "loops = 0", "1 at least"),
        ("kind = \"scan\"", "kind = 3", "wanted string"),
    ] {
        let error = refused(from, to).to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
    assert!(Config::parse("").unwrap_err().to_string().contains("study"));
    assert!(Config::parse("[study").unwrap_err().line.is_some());
}

#[test]
fn too_few_sessions_are_noted() {
    let config = Config::parse(&TEXT.replace("name = \"s\"", "name = \"s\"\nsessions = 4")).unwrap();
    assert!(config.notes()[0].contains("too few"));
}
