//! The layout of the page in a browser, light and dark, wide and narrow. `make test` sets the
//! browser in SELENITE_TEST_BROWSER; without one these tests do nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use selenite_lab::report::html::{plan, render};

use super::fixture::Fixture;
use super::html::{SECTIONS, write};
use super::online;
use super::plan::prediction;

#[test]
fn the_page_fits_every_window() {
    let Some(browser) = browser() else { return };
    for (name, summary) in [
        ("whole", Fixture::whole().summary()),
        ("tiny", Fixture::tiny().summary()),
        ("online", online::summary()),
    ] {
        let page = render(&summary);
        for width in [390, 800, 1280] {
            let framed = framed(&format!("{name}-{width}"), &page, width);
            let seen = seen(&browser, &framed, &[]);
            assert_eq!(seen["width"], u64::from(width), "{name}");
            assert_eq!(
                seen["scroll"],
                u64::from(width),
                "{name} is wider than {width}: {}",
                seen["widest"]
            );
            assert!(seen["height"].as_u64().unwrap() > 1500, "{name} at {width}: {seen}");
            assert_eq!(seen["charts_without_size"], 0, "{name} at {width}");
            assert_eq!(seen["overlaps"], serde_json::json!([]), "{name} at {width}");
            let sections = match name {
                "whole" => &SECTIONS[..],
                "online" => &["verdicts", "effects", "phases", "levels", "course"][..],
                _ => &SECTIONS[..4],
            };
            for section in sections {
                assert!(
                    seen["sections"].as_array().unwrap().iter().any(|id| id == section),
                    "{section} of {name}"
                );
            }
        }
    }
}

#[test]
fn the_page_of_a_prediction_fits_every_window() {
    let Some(browser) = browser() else { return };
    let page = plan::page(&prediction());
    for width in [420, 800, 1200] {
        let framed = framed(&format!("prediction-{width}"), &page, width);
        let seen = seen(&browser, &framed, &[]);
        assert_eq!(seen["width"], u64::from(width));
        assert_eq!(seen["scroll"], u64::from(width), "{width}: {}", seen["widest"]);
        assert_eq!(seen["charts_without_size"], 0, "{width}");
        assert_eq!(seen["overlaps"], serde_json::json!([]), "{width}");
        assert_eq!(seen["sections"], serde_json::json!(["parts", "times", "limits"]));
        assert!(
            seen["contrast"].as_f64().unwrap() >= 4.5,
            "{width}: {}",
            seen["faintest"]
        );
    }
    let page = write("prediction.html", &page);
    for (name, size) in [
        ("prediction-wide.png", (1200, 1800)),
        ("prediction-narrow.png", (420, 2600)),
    ] {
        picture(&browser, &page, name, size, &[]);
    }
}

#[test]
fn text_can_be_read_in_light_and_dark() {
    let Some(browser) = browser() else { return };
    let path = framed("contrast", &render(&Fixture::whole().summary()), 1280);
    let [light, dark] =
        [&[][..], &["--blink-settings=preferredColorScheme=0"][..]].map(|more| seen(&browser, &path, more));
    assert_ne!(light["paper"], dark["paper"], "it is dark where that is asked for");
    for (name, look) in [("light", light), ("dark", dark)] {
        let contrast = look["contrast"].as_f64().unwrap();
        assert!(contrast >= 4.5, "{name}: {contrast} at {}", look["faintest"]);
    }
}

#[test]
fn pictures_of_the_page_are_not_blank() {
    let Some(browser) = browser() else { return };
    let page = write("whole.html", &render(&Fixture::whole().summary()));
    let tiny = write("tiny.html", &render(&Fixture::tiny().summary()));
    let blank = write("blank.html", "<!DOCTYPE html><title>blank</title>");
    let empty = picture(&browser, &blank, "blank.png", (1280, 900), &[]);
    for (name, page, size, more) in [
        ("light.png", &page, (1280, 900), &[][..]),
        (
            "dark.png",
            &page,
            (1280, 900),
            &["--blink-settings=preferredColorScheme=0"][..],
        ),
        ("narrow.png", &page, (390, 1600), &[][..]),
        ("tiny.png", &tiny, (1280, 900), &[][..]),
    ] {
        let drawn = picture(&browser, page, name, size, more);
        assert!(
            drawn.len() > 5 * empty.len(),
            "{name}: {} bytes, blank has {}",
            drawn.len(),
            empty.len()
        );
    }
}

fn browser() -> Option<OsString> {
    std::env::var_os("SELENITE_TEST_BROWSER").filter(|path| !path.is_empty())
}

fn run(browser: &OsString, more: &[&str], page: &Path) -> Output {
    let profile = tempfile::tempdir().expect("there is room for a profile");
    Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            "--enable-logging=stderr",
        ])
        .args([
            "--allow-file-access-from-files",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--timeout=20000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts")
}

/// Takes a screenshot and checks its size.
fn picture(browser: &OsString, page: &Path, name: &str, (width, height): (u32, u32), more: &[&str]) -> Vec<u8> {
    let path = page.with_file_name(name);
    let _ = std::fs::remove_file(&path);
    let size = format!("--window-size={width},{height}");
    let shot = format!("--screenshot={}", path.display());
    let output = run(browser, &[&[size.as_str(), shot.as_str()], more].concat(), page);
    let bytes =
        std::fs::read(&path).unwrap_or_else(|_| panic!("no picture: {}", String::from_utf8_lossy(&output.stderr)));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((number(16), number(20)), (width, height), "{name}");
    bytes
}

/// A page that shows another one in a frame of this width, and measures it: windows have a minimum
/// width, frames have none.
fn framed(name: &str, page: &str, width: u32) -> PathBuf {
    let inner = write(&format!("{name}-inner.html"), page);
    let inner = inner.file_name().expect("it has a name").to_string_lossy().into_owned();
    let frame = format!("<iframe src=\"{inner}\" style=\"border:0;width:{width}px;height:900px\"></iframe>");
    write(
        &format!("{name}.html"),
        &format!("<!DOCTYPE html><title>frame</title>{frame}<script>{MEASURE}</script>"),
    )
}

/// The results of the measuring page.
fn seen(browser: &OsString, page: &Path, more: &[&str]) -> serde_json::Value {
    let more = [
        &["--dump-dom", "--window-size=1400,1000", "--virtual-time-budget=10000"],
        more,
    ]
    .concat();
    let output = run(browser, &more, page);
    let (text, log) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let complaint = log.lines().find(|line| line.contains(":CONSOLE"));
    assert_eq!(complaint, None);
    let found = text
        .split("data-seen=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let found = found.unwrap_or_else(|| panic!("nothing was measured: {log}"));
    serde_json::from_str(&found.replace("&quot;", "\"").replace("&amp;", "&")).expect("it is JSON")
}

const MEASURE: &str = include_str!("measure.js");
