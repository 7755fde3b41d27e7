//! Which logins are admitted, and what the others are told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selenite_server::master::NewLogin;
use selenite_server::password::{PasswordCost, PasswordHash};
use selenite_server::{Instance, SessionLimits};
use selenite_tds::client::{Token, new_login};
use selenite_tds::{Done, Feature, PacketSize, TdsVersion};

use super::client::{Answer, Mode};
use super::fixture::Fixture;

const FAILED: [(i32, u8); 1] = [(18456, 14)];

fn add(instance: &Instance, name: &str, password: &str, must_change: bool) {
    let hash = PasswordHash::new(password, PasswordCost::LEAST).unwrap();
    let new = NewLogin {
        name,
        sid: None,
        password: &hash,
        must_change,
        default_database: "master",
    };
    instance.master().add_login(&new).unwrap();
}

fn answer(fixture: &Fixture, change: impl FnOnce(&mut selenite_tds::Login)) -> Answer {
    let mut login = new_login("sa", &fixture.password);
    change(&mut login);
    fixture.connect(Mode::On).log_in_by(login).unwrap()
}

fn try_in(fixture: &Fixture, user: &str, password: &str) -> Vec<(i32, u8)> {
    fixture.connect(Mode::On).log_in(user, password).errors()
}

#[test]
fn a_login_that_is_dropped_or_disabled_while_it_is_let_in_gets_no_session() {
    let fixture = Fixture::new();
    for (name, error) in [("dropped", 18456), ("replaced", 18456), ("disabled", 18470)] {
        add(fixture.running().instance(), name, "Corr3ct-horse", false);
        assert_eq!(try_in(&fixture, name, "Corr3ct-horse"), [(error, 14)], "{name}");
    }
    assert!(fixture.running().instance().registry().sessions().is_empty());
}

#[test]
fn a_login_is_answered_as_sql_server_answers_it() {
    let fixture = Fixture::new();
    let mut client = fixture.connect(Mode::On);
    client.packet_size = PacketSize::new(8000).unwrap();
    let mut login = new_login("SA", &fixture.password);
    login.features = vec![
        Feature {
            id: Feature::UTF8,
            data: Vec::new(),
        },
        Feature {
            id: Feature::SESSION_RECOVERY,
            data: Vec::new(),
        },
    ];
    let answer = client.log_in_by(login).unwrap();
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.infos(), [5701, 5703]);
    assert_eq!(answer.change(1).as_deref(), Some("master"));
    assert_eq!(answer.change(2).as_deref(), Some("us_english"));
    assert_eq!(answer.change(4).as_deref(), Some("8000"));
    assert_eq!(answer.status(), Done::FINAL);
    let kinds = answer.0.iter().map(|token| match token {
        Token::EnvChange(change) => i32::from(change.kind),
        Token::Info(said) => said.number,
        Token::LoginAck {
            tds_version, program, ..
        } => {
            assert_eq!(
                (*tds_version, program.as_str()),
                (TdsVersion::V7_4, "Microsoft SQL Server")
            );
            -1
        }
        Token::FeatureExtAck(features) => {
            assert_eq!(
                features.iter().map(|feature| feature.id).collect::<Vec<_>>(),
                [Feature::UTF8]
            );
            -2
        }
        Token::Done(_) => -3,
        Token::Columns(_) | Token::Row(_) | Token::Error(_) | Token::Order(_) => panic!("{token:?}"),
        Token::ReturnStatus(_) | Token::ReturnValue { .. } => panic!("{token:?}"),
        Token::TableNames(_) | Token::ColumnInfo(_) => panic!("{token:?}"),
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [1, 5701, 7, 2, 5703, -1, 4, -2, -3]);
    assert!(client.works());
}

#[test]
fn whatever_is_wrong_the_client_hears_18456_in_state_1_and_the_log_hears_why() {
    let fixture = Fixture::new();
    for (user, password, why) in [
        ("sa", "wrong", "wrong password"),
        ("sa", "", "wrong password"),
        ("nobody", "wrong", "no such login"),
        ("", "", "no such login"),
        ("nobody'; --", &fixture.password, "no such login"),
    ] {
        let mut client = fixture.connect(Mode::On);
        let answer = client.log_in(user, password);
        assert_eq!(answer.errors(), FAILED, "{user}");
        let said = answer.said().next().unwrap();
        assert_eq!(said.text, format!("Login failed for user '{user}'."));
        assert_eq!((said.state, answer.status()), (1, Done::ERROR));
        client.wait_for_end();
        assert!(fixture.has_said(&format!("login failed for user '{user}': {why}")));
    }
    assert!(!fixture.has_said(&fixture.password));
    assert_eq!(try_in(&fixture, "sa", &fixture.password), []);
}

#[test]
fn a_login_that_is_disabled_or_must_change_says_so_to_the_right_password_alone() {
    let fixture = Fixture::new();
    let instance = fixture.running().instance();
    add(instance, "off", "right", false);
    instance.master().set_disabled("off", true).unwrap();
    add(instance, "new", "right", true);
    for user in ["off", "new"] {
        assert_eq!(try_in(&fixture, user, "wrong"), FAILED);
    }
    assert_eq!(try_in(&fixture, "off", "right"), [(18470, 14)]);
    assert_eq!(try_in(&fixture, "new", "right"), [(18488, 14)]);
}

#[test]
fn a_new_password_is_set_at_the_login_if_it_is_good() {
    let fixture = Fixture::new();
    add(fixture.running().instance(), "hanna", "first", true);
    let change = |old: &str, new: &str| {
        let answer = answer(&fixture, |login| {
            login.user_name = "Hanna".to_owned();
            login.password = selenite_tds::Password::new(old);
            login.new_password = Some(selenite_tds::Password::new(new));
        });
        answer.errors()
    };
    assert_eq!(change("wrong", "Second-one"), FAILED);
    assert_eq!(change("first", "short"), [(18464, 14)]);
    // LOGIN7 has room for 128 units.
    assert_eq!(change("first", &"Aa1-".repeat(33)), [(17832, 20)]);
    assert_eq!(change("first", "secondone"), [(18466, 14)]);
    assert_eq!(try_in(&fixture, "hanna", "first"), [(18488, 14)]);
    assert_eq!(change("first", "Second-one"), []);
    assert_eq!(change("Second-one", "Second-one"), [(18463, 14)]);
    assert_eq!(try_in(&fixture, "hanna", "first"), FAILED);
    assert_eq!(try_in(&fixture, "hanna", "Second-one"), []);
}

#[test]
fn five_wrong_passwords_lock_a_login_and_not_the_others() {
    let fixture = Fixture::new();
    let instance = fixture.running().instance();
    add(instance, "hanna", "right", false);
    for _ in 0..5 {
        assert_eq!(try_in(&fixture, "hanna", "wrong"), FAILED);
    }
    for password in ["right", "wrong"] {
        assert_eq!(try_in(&fixture, "hanna", password), [(18486, 14)]);
    }
    assert!(fixture.has_said("locked after wrong passwords"));
    assert_eq!(try_in(&fixture, "sa", &fixture.password), []);
    instance
        .unlock(&instance.master().login("HANNA").unwrap().unwrap())
        .unwrap();
    assert_eq!(try_in(&fixture, "hanna", "right"), []);
}

#[test]
fn a_database_that_is_not_there_or_not_admitted_is_4060_and_then_18456() {
    let fixture = Fixture::new();
    for name in ["missing", "model"] {
        let answer = answer(&fixture, |login| login.database = name.to_owned());
        assert_eq!(answer.errors(), [(4060, 11), (18456, 14)]);
        let text = &answer.said().next().unwrap().text;
        let expected = format!("Cannot open database \"{name}\" requested by the login. The login failed.");
        assert_eq!(*text, expected);
    }
    let instance = fixture.running().instance();
    let name = selenite_server::master::DatabaseName::new("TestDB").unwrap();
    let added = instance.master().add_database(&name).unwrap();
    instance.master().finish_file(added.id).unwrap();
    let asked = answer(&fixture, |login| login.database = "testdb".to_owned());
    assert_eq!((asked.errors(), asked.change(1).as_deref()), (vec![], Some("TestDB")));
    instance.master().set_default_database("sa", "TESTDB").unwrap();
    let own = answer(&fixture, |_| {});
    assert_eq!((own.errors(), own.change(1).as_deref()), (vec![], Some("TestDB")));
    instance.master().remove_database("testdb").unwrap();
    assert_eq!(answer(&fixture, |_| {}).errors(), [(4064, 11), (18456, 14)]);
}

/// The request, the errors, and what the first one names.
type Wish = (fn(&mut selenite_tds::Login), &'static [(i32, u8)], &'static str);

#[test]
fn what_can_not_be_had_is_refused_by_its_name() {
    let fixture = Fixture::new();
    let cases: [Wish; 6] = [
        (|login| login.is_integrated = true, &[(18452, 14)], "Windows"),
        (|login| login.is_user_instance = true, &[(18493, 16)], "user instance"),
        (
            |login| login.attach_file = "a.mdf".to_owned(),
            &[(40510, 16)],
            "AttachDbFilename",
        ),
        (
            |login| login.language = "klingon".to_owned(),
            &[(2740, 16), (18456, 14)],
            "klingon",
        ),
        (
            |login| {
                let data = vec![1];
                login.features = vec![Feature {
                    id: Feature::FEDERATED,
                    data,
                }];
            },
            &[(40510, 16)],
            "federated",
        ),
        (
            |login| login.tds_version = TdsVersion(0x7209_0002),
            &[(40510, 16)],
            "TDS before",
        ),
    ];
    for (change, errors, what) in cases {
        let answer = answer(&fixture, change);
        assert_eq!(answer.errors(), errors, "{what}");
        let text = &answer.said().next().unwrap().text;
        assert!(text.contains(what), "{text}");
    }
    // A client that does not insist on its language is told that another one is used.
    let other = answer(&fixture, |login| {
        login.language = "british".to_owned();
        login.is_language_fatal = false;
    });
    assert_eq!(
        (other.errors(), other.change(2).as_deref()),
        (vec![], Some("us_english"))
    );
    assert_eq!(
        answer(&fixture, |login| login.language = "US_English".to_owned()).errors(),
        []
    );
}

#[test]
fn a_session_above_the_limit_gets_17809() {
    let fixture = Fixture::with(|config| {
        config.limits.sessions = SessionLimits {
            max: 2,
            per_login: 2,
            administrators: 0,
        }
    });
    let (mut one, two) = (fixture.client(Mode::On), fixture.client(Mode::On));
    assert_eq!(try_in(&fixture, "sa", &fixture.password), [(17809, 20)]);
    assert_eq!(try_in(&fixture, "sa", "wrong"), FAILED);
    drop(two);
    // Its place is free when the server has noticed.
    let registry = fixture.running().instance().registry();
    while registry.sessions().len() == 2 {
        std::thread::yield_now();
    }
    assert!(fixture.client(Mode::On).works() && one.works());
}

/// `equal-cost`. Times are not measured here: that the same is done is what keeps them equal.
#[test]
fn a_password_is_stretched_whoever_is_asked_for() {
    let fixture = Fixture::with(|config| config.limits.password_check_max = 1);
    let instance = fixture.running().instance().clone();
    let place = instance.password_gate().enter(std::time::Instant::now()).unwrap();
    let answered = Arc::new(AtomicUsize::new(0));
    let users = ["sa", "nobody"];
    std::thread::scope(|scope| {
        let tries: Vec<_> = users
            .iter()
            .map(|user| {
                let (fixture, answered) = (&fixture, answered.clone());
                let mut client = fixture.connect(Mode::On);
                scope.spawn(move || {
                    let errors = client.log_in(user, "wrong").errors();
                    answered.fetch_add(1, Ordering::AcqRel);
                    errors
                })
            })
            .collect();
        // Both have sent their logins, and neither is answered as long as nothing can be stretched.
        for _ in 0..10_000 {
            std::thread::yield_now();
        }
        assert_eq!(answered.load(Ordering::Acquire), 0);
        drop(place);
        for attempt in tries {
            assert_eq!(attempt.join().unwrap(), FAILED);
        }
    });
}
