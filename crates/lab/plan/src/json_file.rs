//! Files of JSON with the version of their format: observations and predictions.
//!
//! - `version-first`: a file of another version is refused for its version, whatever else it has.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Observation, PlanError, Prediction};

impl Observation {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`PlanError::Input`] if it is not an observation, or one of another version.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        parse("observation", OBSERVATION_FORMAT, text)
    }

    /// The text of its file.
    ///
    /// # Errors
    /// [`PlanError::Input`] for values that JSON does not have.
    pub fn text(&self) -> Result<String, PlanError> {
        encode("observation", OBSERVATION_FORMAT, self)
    }
}

impl Prediction {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`PlanError::Input`] if it is not a prediction, or one of another version.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        parse("prediction", PREDICTION_FORMAT, text)
    }

    /// The text of its file.
    ///
    /// # Errors
    /// [`PlanError::Input`] for values that JSON does not have.
    pub fn text(&self) -> Result<String, PlanError> {
        encode("prediction", PREDICTION_FORMAT, self)
    }
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    format: u32,
    #[serde(flatten)]
    contents: T,
}

fn encode<T: Serialize>(what: &str, format: u32, contents: &T) -> Result<String, PlanError> {
    serde_json::to_string_pretty(&Versioned { format, contents })
        .map_err(|error| PlanError::input(what, error.to_string()))
}

fn parse<T: DeserializeOwned>(what: &str, known: u32, text: &str) -> Result<T, PlanError> {
    let failed = |error: serde_json::Error| PlanError::input(what, format!("it is no {what}: {error}"));
    let mut value: Value = serde_json::from_str(text).map_err(failed)?;
    let format = value.as_object_mut().and_then(|object| object.remove("format"));
    match format.as_ref().and_then(Value::as_u64) {
        Some(format) if format == u64::from(known) => serde_json::from_value(value).map_err(failed),
        Some(format) => {
            let reason = format!("it is of version {format}, and this program reads version {known}");
            Err(PlanError::input(what, reason))
        }
        None => Err(PlanError::input(what, format!("it has no version: it is no {what}"))),
    }
}

/// The version of an observation's file.
pub const OBSERVATION_FORMAT: u32 = 1;
/// The version of a prediction's file.
pub const PREDICTION_FORMAT: u32 = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::observation::{Engine, ObservedInterval};
    use crate::operation::{Amount, Load, Operation};
    use crate::predict::tests::{calibration, cipher, load, observation};
    use crate::{Question, predict};

    fn of(count: f64, cores: Option<f64>, note: String) -> Observation {
        let mut load = Load::default();
        load.add(
            Operation::ReadRandom,
            Amount {
                count,
                kib: count * 8.0,
            },
        );
        Observation {
            engine: Engine::PostgreSql,
            notes: vec![note],
            page_size: 8192,
            cores,
            database_mib: None,
            serialized_share: None,
            intervals: vec![ObservedInterval {
                seconds: 60.0,
                load,
                requests: None,
                cpu_seconds: Some(count / 3.0),
            }],
        }
    }

    proptest! {
        #[test]
        fn an_observation_comes_back_to_the_last_bit(
            count in 0.0..1e15_f64,
            cores in proptest::option::of(0.1..4096.0_f64),
            note in ".*",
        ) {
            let observation = of(count, cores, note);
            prop_assert_eq!(Observation::parse(&observation.text().unwrap()).unwrap(), observation);
        }

        #[test]
        fn another_version_is_refused_whatever_it_has(format in 0_u64.., rest in "(, \"[a-z]{1,9}\": [1-9]{1,9}){0,3}") {
            prop_assume!(format != u64::from(OBSERVATION_FORMAT));
            let text = format!("{{\"format\": {format}{rest}}}");
            let reason = format!("it is of version {format}, and this program reads version 1");
            prop_assert_eq!(Observation::parse(&text), Err(PlanError::input("observation", reason.as_str())));
            prop_assert_eq!(Prediction::parse(&text), Err(PlanError::input("prediction", reason.as_str())));
        }
    }

    #[test]
    fn the_version_is_the_first_field() {
        let text = of(1.0, None, String::new()).text().unwrap();
        assert!(text.starts_with("{\n  \"format\": 1,\n"), "{text}");
        for end in 0..text.len() {
            assert!(Observation::parse(&text[..end]).is_err(), "{end}");
        }
        for other in [
            "{}",
            "[1]",
            "1",
            "{\"format\": \"1\"}",
            "{\"format\": 1.0}",
            "{\"format\": 1}",
        ] {
            assert!(Observation::parse(other).is_err(), "{other}");
        }
    }

    #[test]
    fn engines_have_their_own_names_and_files_of_before_are_read() {
        let text = of(1.0, None, String::new()).text().unwrap();
        assert!(text.contains("\"engine\": \"postgresql\""), "{text}");
        for (name, engine) in [
            ("postgresql", Engine::PostgreSql),
            ("postgre-sql", Engine::PostgreSql),
            ("mariadb", Engine::MariaDb),
            ("maria-db", Engine::MariaDb),
        ] {
            let named = text.replacen("\"postgresql\"", &format!("\"{name}\""), 1);
            assert_eq!(Observation::parse(&named).unwrap().engine, engine, "{name}");
        }
    }

    #[test]
    fn a_prediction_comes_back_to_the_last_bit() {
        let loads = vec![load(&[(Operation::ReadRandom, 100.0), (Operation::Commit, 7.0)]); 3];
        let prediction = predict(&observation(loads), &calibration(0.1), &Question::of(cipher())).unwrap();
        let text = prediction.text().unwrap();
        assert!(text.starts_with("{\n  \"format\": 1,\n"), "{text}");
        assert_eq!(Prediction::parse(&text).unwrap(), prediction);
    }
}
