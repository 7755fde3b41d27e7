use std::fs;

use super::*;

/// Beside the executable under test, because temporary folders may be in memory.
fn folder() -> tempfile::TempDir {
    let executable = std::env::current_exe().unwrap();
    tempfile::tempdir_in(executable.parent().unwrap()).unwrap()
}

#[test]
fn a_file_is_prefetched_and_evicted() {
    let folder = folder();
    let path = folder.path().join("twin.db");
    fs::write(&path, vec![7; 8 << 20]).unwrap();
    fs::write(folder.path().join("twin.db-wal"), vec![8; 1 << 20]).unwrap();
    let cache = PageCache::default();

    let warm = match cache.prefetch(&path) {
        Ok(warm) => warm,
        Err(CacheError::NoFincore) => return println!("skipped: {}", CacheError::NoFincore),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(warm.size, 9 << 20);
    assert!(warm.share() > 0.9, "{warm:?}");
    match cache.evict(&path) {
        Ok(cold) => assert!(cold.share() < COLD_SHARE_MAX, "{cold:?}"),
        Err(error @ CacheError::NotEvicted { .. }) => println!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_missing_fincore_is_named() {
    let folder = folder();
    let path = folder.path().join("twin.db");
    fs::write(&path, "x").unwrap();
    let cache = PageCache::with_fincore(folder.path().join("fincore"));
    let error = cache.evict(&path).unwrap_err();
    assert!(matches!(error, CacheError::NoFincore), "{error}");
    assert!(error.advice().contains("util-linux"));
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = folder();
    let error = PageCache::default().evict(&folder.path().join("none")).unwrap_err();
    assert!(matches!(error, CacheError::Io { verb: "open", .. }), "{error}");
}

#[test]
fn lines_of_fincore_are_summed() {
    let sum = |resident, size| Some(Residence { resident, size });
    assert_eq!(parse("4096 8192\n0 100\n"), sum(4096, 8292));
    assert_eq!(parse("0 0\n"), sum(0, 0));
    for rubbish in ["", "4096", "4096 8192 1", "a b", "-1 2", "18446744073709551615 1\n1 1"] {
        assert_eq!(parse(rubbish), None, "{rubbish:?}");
    }
}

#[test]
fn an_empty_file_is_cold() {
    assert!(Residence::default().share() < COLD_SHARE_MAX);
}
