use tempfile::TempDir;

use super::*;

const CREDENTIALS: &str = "[default]\naws_access_key_id = D\naws_secret_access_key = ds\n[work]\naws_access_key_id = W\n\
    aws_secret_access_key = ws\naws_session_token = wt\n[half]\naws_access_key_id = H\n";
const CONFIG: &str = "[default]\nregion = eu-north-1\n[profile work]\nregion = eu-west-1\nservices = here\n[profile sso]\nsso_session = x\n\
    [profile plain]\nendpoint_url = http://10.0.0.1\n[services here]\ns3 =\n  endpoint_url = https://s3.example.org/\n";

fn settings(variables: &[(&str, &str)]) -> (Settings, TempDir) {
    let home = tempfile::tempdir().unwrap();
    let aws = home.path().join(".aws");
    std::fs::create_dir(&aws).unwrap();
    std::fs::write(aws.join("credentials"), CREDENTIALS).unwrap();
    std::fs::write(aws.join("config"), CONFIG).unwrap();
    let mut settings = Settings::default();
    let home_path = home.path().to_str().unwrap();
    for (name, value) in [("HOME", home_path)].iter().chain(variables) {
        settings.environment.insert((*name).to_owned(), (*value).to_owned());
    }
    (settings, home)
}

fn find(variables: &[(&str, &str)]) -> Result<PlaceSettings, StoreError> {
    let (settings, _home) = settings(variables);
    settings.find("s3://bucket")
}

/// Key id, secret, token, region, endpoint.
fn shown(variables: &[(&str, &str)]) -> [String; 5] {
    let found = find(variables).unwrap();
    let keys = found.keys.unwrap();
    let endpoint = found.endpoint.map(|endpoint| endpoint.url);
    [
        keys.key_id,
        keys.secret_key,
        keys.token.unwrap_or_default(),
        found.region,
        endpoint.unwrap_or_default(),
    ]
}

#[test]
fn the_default_profile_is_used_by_default() {
    assert_eq!(shown(&[]), ["D", "ds", "", "eu-north-1", ""]);
}

#[test]
fn a_named_profile_is_read_from_both_files() {
    assert_eq!(
        shown(&[("AWS_PROFILE", "work")]),
        ["W", "ws", "wt", "eu-west-1", "https://s3.example.org"]
    );
}

#[test]
fn variables_take_precedence_over_profiles() {
    let variables = [
        ("AWS_PROFILE", "work"),
        ("AWS_ACCESS_KEY_ID", "E"),
        ("AWS_SECRET_ACCESS_KEY", "es"),
        ("AWS_DEFAULT_REGION", "later"),
        ("AWS_ENDPOINT_URL", "https://later"),
    ];
    assert_eq!(shown(&variables), ["E", "es", "", "later", "https://later"]);
    let more = [
        ("AWS_REGION", "first"),
        ("AWS_ENDPOINT_URL_S3", "https://first"),
        ("AWS_SESSION_TOKEN", "t"),
    ];
    assert_eq!(
        shown(&[&variables[..], &more[..]].concat()),
        ["E", "es", "t", "first", "https://first"]
    );
}

#[test]
fn an_empty_variable_is_ignored() {
    let variables = [("AWS_ACCESS_KEY_ID", ""), ("AWS_PROFILE", ""), ("AWS_REGION", "")];
    assert_eq!(shown(&variables), ["D", "ds", "", "eu-north-1", ""]);
}

#[test]
fn configured_endpoints_may_be_ignored() {
    let variables = [("AWS_PROFILE", "work"), ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")];
    assert_eq!(shown(&variables)[4], "");
}

#[test]
fn configured_paths_of_files_are_used() {
    let (settings, home) = settings(&[
        ("AWS_SHARED_CREDENTIALS_FILE", "~/keys"),
        ("AWS_CONFIG_FILE", "/nonexistent"),
    ]);
    std::fs::write(
        home.path().join("keys"),
        "[default]\naws_access_key_id=K\naws_secret_access_key=ks\n",
    )
    .unwrap();
    let found = settings.find("s3://bucket").unwrap();
    assert_eq!(found.keys.unwrap().key_id, "K");
    assert_eq!(found.region, "us-east-1");
}

#[test]
fn invalid_settings_are_refused_without_showing_a_secret() {
    for (variables, part) in [
        (&[("AWS_PROFILE", "nobody")][..], "does not exist"),
        (
            &[("AWS_PROFILE", "half")],
            "aws_secret_access_key is not in the profile half",
        ),
        (&[("AWS_PROFILE", "sso")], "sso_session"),
        (&[("AWS_PROFILE", "plain")], "AWS_ALLOW_HTTP"),
        (&[("AWS_SECRET_ACCESS_KEY", "hunter2")], "AWS_ACCESS_KEY_ID is not"),
        (&[("AWS_REGION", "x.example.org/")], "region"),
        (&[("AWS_CA_BUNDLE", "/nonexistent")], "AWS_CA_BUNDLE"),
    ] {
        let error = find(variables).err().unwrap();
        assert_eq!(error.kind, StoreErrorKind::Usage);
        let error = error.to_string();
        assert!(error.contains(part) && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn without_keys_a_service_provides_them() {
    let nowhere = [("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")];
    assert!(find(&nowhere).unwrap().keys.is_none());
    let web = [("AWS_WEB_IDENTITY_TOKEN_FILE", "/token"), ("AWS_ROLE_ARN", "arn")];
    assert!(find(&web).unwrap().keys.is_none());
    assert!(settings(&nowhere).0.asks_the_machine() && !settings(&web).0.asks_the_machine());
}
