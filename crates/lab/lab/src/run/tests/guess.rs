use super::*;

/// A forecast that is far too high deters users from a study; one far too low makes them wait.
#[test]
fn guesses_are_near_to_what_published_studies_took() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/studies");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(summary) = crate::report::json::parse(&text) else {
            continue;
        };
        let config = Config::parse(&summary.study.config).unwrap();
        let guessed = forecast(&config, None).unwrap().duration.as_secs_f64();
        let blocks = summary.evidence.samples.iter().map(|sample| sample.at_s);
        let took = blocks.fold(0.0, f64::max);
        let ratio = guessed / took;
        println!("{}: guessed {guessed:.0} s, {ratio:.2} of {took:.0} s", path.display());
        // Studies of peers that encrypt in software, and of checks by them, take several times as
        // long as others.
        assert!((0.25..2.5).contains(&ratio), "{}: {ratio}", path.display());
        seen += 1;
    }
    assert!(seen >= 9, "{seen}");
}
