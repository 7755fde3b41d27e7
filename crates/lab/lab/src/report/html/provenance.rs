//! The provenance of the figures: proofs, machine, versions, and raw data.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use selenite::utc;

use super::table::{folded, table};
use crate::report::{csv, json, number, sentence, svg};
use crate::summary::{ArmRole, Summary};

/// The evidence that each arm was encrypted.
pub fn proofs(summary: &Summary) -> String {
    let encrypted = summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted);
    let rows = encrypted.flat_map(|arm| {
        let none = [(
            "proof".to_owned(),
            "none: no figure of this arm can be trusted".to_owned(),
        )];
        let proof = if arm.proof.is_empty() {
            none.to_vec()
        } else {
            arm.proof.clone()
        };
        proof
            .into_iter()
            .map(|(what, found)| vec![arm.name.clone(), what, found])
    });
    table(
        "Proof of encryption, on the file",
        &["Arm", "What was looked at", "What was found"],
        &rows.collect::<Vec<_>>(),
    )
}

/// The arms, the machine and the study.
pub fn provenance(summary: &Summary) -> String {
    let study = &summary.study;
    let facts = [
        ("Study", study.name.clone()),
        ("Began", utc(study.created_s)),
        ("Ended", sentence::ending(study.state).to_owned()),
        ("Sessions", study.sessions.to_string()),
        ("Blocks took", number::time(study.busy_s)),
        ("Limit", number::share(study.limit)),
        ("Half-width asked for", number::share(study.target_half_width)),
        ("Seed", study.seed.to_string()),
        ("Version", study.lab_version.clone()),
        (
            "Commit",
            if study.commit.is_empty() {
                "unknown".to_owned()
            } else {
                study.commit.clone()
            },
        ),
        ("SHA-256 of the configuration", study.config_sha256.clone()),
        ("Command", study.command.clone()),
    ];
    let facts = facts.map(|(name, value)| vec![name.to_owned(), value]);
    let host: Vec<Vec<String>> = summary
        .host
        .facts
        .iter()
        .map(|(name, value)| vec![name.clone(), value.clone()])
        .collect();
    let arms = summary.arms.iter().map(|arm| {
        let control = arm.control.clone().unwrap_or_default();
        let size = number::bytes(crate::summary::as_f64(arm.bytes));
        let name = arm.label.clone();
        vec![
            arm.name.clone(),
            name,
            control,
            arm.cipher.clone(),
            arm.library.clone(),
            arm.sqlite_version.clone(),
            size,
        ]
    });
    let head = ["Arm", "Name", "Control", "Cipher", "Library", "SQLite", "Size"];
    let arms = table("Arms", &head, &arms.collect::<Vec<_>>());
    let events = summary
        .events
        .iter()
        .map(|event| vec![number::time(event.at_s), event.text.clone()]);
    let events = table("What happened besides", &["After", "What"], &events.collect::<Vec<_>>());
    let config = format!("<pre tabindex=\"0\">{}</pre>", svg::escape(&study.config));
    format!(
        "{}{}{arms}{}{events}<p class=\"about\">{}</p><p class=\"about\">{}</p>",
        table("The study", &["What", "Value"], &facts),
        table("The machine", &["What", "Value"], &host),
        folded("The configuration", &config),
        svg::typeset(&sentence::method(summary)),
        svg::typeset(sentence::HOLM),
    )
}

/// Files embedded in the page, and a table of every pair.
pub fn raw(summary: &Summary) -> String {
    let mut links = String::new();
    let files = [
        (
            "summary.json",
            "application/json",
            json::compact(summary).unwrap_or_default(),
        ),
        ("effects.csv", "text/csv", csv::effects(summary)),
        ("levels.csv", "text/csv", csv::levels(summary)),
        ("pairs.csv", "text/csv", csv::pairs(summary)),
    ];
    for (name, kind, text) in files.iter().filter(|(_, _, text)| !text.is_empty()) {
        let data = STANDARD.encode(text);
        let file = svg::escape(&format!("{}-{name}", summary.study.name));
        let size = number::bytes(crate::summary::as_f64(u64::try_from(text.len()).unwrap_or(0)));
        let name = svg::typeset(&format!("{name} ({size})"));
        links.push_str(&format!(
            "<li><a download=\"{file}\" href=\"data:{kind};charset=utf-8;base64,{data}\">{name}</a></li>"
        ));
    }
    let rows = summary.cells.iter().flat_map(|cell| {
        cell.pairs.iter().map(|pair| {
            let place = [pair.session, pair.pair].map(|number| number.to_string());
            let ratios = [
                format!("{:.0} s", pair.at_s),
                number::percent(pair.cpu),
                number::percent(pair.elapsed),
            ];
            [
                vec![cell.label.clone(), pair.arm.clone()],
                place.to_vec(),
                ratios.to_vec(),
            ]
            .concat()
        })
    });
    let head = ["Cell", "Arm", "Session", "Pair", "At", "CPU", "Elapsed"];
    let rows: Vec<Vec<String>> = rows.collect();
    let pairs = table("Every pair that counts", &head, &rows);
    format!(
        "<ul class=\"files\">{links}</ul>{}",
        folded(&format!("All {} pairs", rows.len()), &pairs)
    )
}
