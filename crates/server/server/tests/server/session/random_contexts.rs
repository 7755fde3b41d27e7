//! Random batches of EXECUTE AS, REVERT, USE, texts and errors, compared with a model of the stack of contexts.

use super::client::{Client, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";
const USERS: [&str; 5] = ["reader", "none", "owner", "dbo", "friend"];
const LOGINS: [&str; 6] = ["reader", "none", "owner", "friend", "sa", "stranger"];
const DATABASES: [&str; 4] = ["d", "other", "tempdb", "master"];
const READ: &str = "SELECT CONCAT('r', a) FROM d.dbo.secret";

/// Whom a session acts as: a login, or a user of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Login(&'static str),
    User(&'static str, &'static str),
}

/// What a batch does.
enum Step {
    User(&'static str),
    Login(&'static str),
    Revert,
    Use(&'static str),
    Fail,
    Read,
    /// EXEC (..), with AS USER or without.
    Text(Vec<Step>, Option<&'static str>),
    /// sp_executesql.
    Call(Vec<Step>),
    Try(Vec<Step>),
}

/// How a step ends what is around it.
enum Ended {
    /// The batch or text, whatever TRY there is in it.
    Scope,
    /// What is in the innermost TRY.
    Caught,
}

struct Model {
    own: Who,
    /// Whom it acts as, where that began, and whether REVERT takes it back.
    stack: Vec<(Who, &'static str, bool)>,
    database: &'static str,
    /// How many contexts there were once each text had begun.
    texts: Vec<usize>,
    /// How many rows were read.
    rows: usize,
}

impl Model {
    fn who(&self) -> Who {
        self.stack.last().map_or(self.own, |(who, ..)| *who)
    }

    fn lets_in(who: Who, database: &str) -> bool {
        match who {
            Who::User(_, of) => database == of || database == "tempdb",
            Who::Login("sa") => true,
            Who::Login(name) => ["tempdb", "master"].contains(&database) || database == "d" && name != "stranger",
        }
    }

    /// The user that it is in the database in use.
    fn user(&self) -> &'static str {
        match self.who() {
            Who::User(name, of) if of == self.database => name,
            Who::Login("sa") => "dbo",
            Who::Login(name) if self.database == "d" && name != "stranger" => name,
            Who::User(..) | Who::Login(_) => "guest",
        }
    }

    fn may_be(&self, name: &str) -> bool {
        let own = self.user();
        match self.database {
            "d" => own == name || ["dbo", "owner"].contains(&own) || (own, name) == ("friend", "reader"),
            _ => name == "dbo" && own == "dbo",
        }
    }

    fn reads(&self) -> bool {
        match self.who() {
            Who::Login(name) => ["sa", "reader", "owner"].contains(&name),
            Who::User(name, of) => of == "d" && ["dbo", "reader", "owner"].contains(&name),
        }
    }

    /// Runs a step; whether it succeeds.
    fn run(&mut self, step: &Step, is_in_try: bool) -> Result<bool, Ended> {
        match step {
            Step::User(name) if self.may_be(name) => {
                self.stack.push((Who::User(name, self.database), self.database, true));
            }
            Step::Login(name) => {
                if ![Who::Login("sa"), Who::Login(name)].contains(&self.who()) {
                    return Ok(false);
                }
                if !Self::lets_in(Who::Login(name), self.database) {
                    return Err(Ended::Scope);
                }
                self.stack.push((Who::Login(name), self.database, true));
            }
            Step::Revert => {
                let is_own = self.stack.len() > self.texts.last().copied().unwrap_or_default();
                if let Some((_, database, reverts)) = self.stack.last().filter(|_| is_own) {
                    if !reverts || *database != self.database {
                        return Ok(false);
                    }
                    self.stack.pop();
                }
            }
            Step::Use(name) => match Self::lets_in(self.who(), name) {
                true => self.database = name,
                false => return Err(Ended::Scope),
            },
            Step::Read if !Self::lets_in(self.who(), "d") => return Err(Ended::Scope),
            Step::Read if self.reads() => self.rows += 1,
            Step::Text(_, Some(name)) if !self.may_be(name) => return Ok(false),
            Step::Text(steps, user) => return self.text(steps, *user, is_in_try),
            Step::Call(steps) => return self.text(steps, None, is_in_try),
            Step::Try(steps) => match self.all(steps, true) {
                Ok(()) | Err(Ended::Caught) => {}
                Err(Ended::Scope) => return Err(Ended::Scope),
            },
            Step::User(_) | Step::Fail | Step::Read => return Ok(false),
        }
        Ok(true)
    }

    fn text(&mut self, steps: &[Step], user: Option<&'static str>, is_in_try: bool) -> Result<bool, Ended> {
        let (count, database) = (self.stack.len(), self.database);
        if let Some(name) = user {
            self.stack.push((Who::User(name, database), database, false));
        }
        self.texts.push(self.stack.len());
        let done = self.all(steps, is_in_try);
        self.texts.pop();
        self.stack.truncate(count);
        self.database = database;
        match done {
            Ok(()) => Ok(true),
            Err(Ended::Scope) if !is_in_try => Ok(false),
            Err(Ended::Scope | Ended::Caught) => Err(Ended::Caught),
        }
    }

    fn all(&mut self, steps: &[Step], is_in_try: bool) -> Result<(), Ended> {
        for step in steps {
            if !self.run(step, is_in_try)? && is_in_try {
                return Err(Ended::Caught);
            }
        }
        Ok(())
    }
}

/// Numbers of xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    fn one(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }

    fn steps(&mut self, depth: usize) -> Vec<Step> {
        (0..=self.below(4)).map(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: usize) -> Step {
        match self.below(if depth < 3 { 16 } else { 11 }) {
            0..3 => Step::User(self.one(&USERS)),
            3 => Step::Login(self.one(&LOGINS)),
            4..7 => Step::Revert,
            7 => Step::Use(self.one(&DATABASES)),
            8 => Step::Fail,
            9..11 => Step::Read,
            11 => Step::Text(self.steps(depth + 1), None),
            12..14 => Step::Text(self.steps(depth + 1), Some(self.one(&USERS))),
            14 => Step::Call(self.steps(depth + 1)),
            _ => Step::Try(self.steps(depth + 1)),
        }
    }
}

fn written(steps: &[Step]) -> String {
    let constant = |steps: &[Step]| format!("N'{}'", written(steps).replace('\'', "''"));
    let texts = steps.iter().map(|step| match step {
        Step::User(name) => format!("EXECUTE AS USER = '{name}'"),
        Step::Login(name) => format!("EXECUTE AS LOGIN = '{name}'"),
        Step::Revert => "REVERT".to_owned(),
        Step::Use(name) => format!("USE {name}"),
        Step::Fail => "RAISERROR ('x', 16, 1)".to_owned(),
        Step::Read => READ.to_owned(),
        Step::Text(steps, None) => format!("EXEC ({})", constant(steps)),
        Step::Text(steps, Some(name)) => format!("EXEC ({}) AS USER = '{name}'", constant(steps)),
        Step::Call(steps) => format!("EXEC sp_executesql {}", constant(steps)),
        Step::Try(steps) => format!("BEGIN TRY {} END TRY BEGIN CATCH END CATCH", written(steps)),
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn row_count(client: &mut Client, sql: &str) -> usize {
    format!("{:?}", client.batch(sql)).matches("r424242").count()
}

#[test]
fn sessions_act_as_the_model_of_their_contexts_says() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE other CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d CREATE TABLE secret (a INT) INSERT secret VALUES (424242)",
    );
    for login in LOGINS.into_iter().filter(|login| *login != "sa") {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
        if login != "stranger" {
            succeed(&mut client, &format!("CREATE USER {login} FOR LOGIN {login}"));
        }
    }
    succeed(
        &mut client,
        "GRANT SELECT ON secret TO reader ALTER ROLE db_owner ADD MEMBER owner
         GRANT IMPERSONATE ON USER::reader TO friend",
    );
    let seed = selenite::now() | 1;
    let mut random = Random(seed);
    for _ in 0..SESSIONS {
        let login = random.one(&["sa", "sa", "owner", "friend", "none"]);
        let mut session = match login {
            "sa" => fixture.client(),
            login => fixture.client_as(login, PASSWORD, "d"),
        };
        succeed(&mut session, "USE d");
        let mut model = Model {
            own: Who::Login(login),
            stack: Vec::new(),
            database: "d",
            texts: Vec::new(),
            rows: 0,
        };
        let mut done: Vec<String> = Vec::new();
        for _ in 0..BATCHES {
            let steps = random.steps(0);
            done.push(written(&steps));
            model.rows = 0;
            let _ = model.all(&steps, false);
            let told = format!("seed {seed}, {login}: {done:#?}, then {:?}", model.stack);
            assert_eq!(row_count(&mut session, &written(&steps)), model.rows, "{told}");
            let own = match model.who() {
                Who::User("dbo", _) => "sa",
                Who::User(name, _) | Who::Login(name) => name,
            };
            let who = "SELECT CONCAT(SUSER_SNAME(), ' ', USER_NAME(), ' ', DB_NAME())";
            assert_eq!(
                session.text(who),
                format!("{own} {} {}", model.user(), model.database),
                "{told}"
            );
            let may_read = usize::from(Model::lets_in(model.who(), "d") && model.reads());
            assert_eq!(row_count(&mut session, READ), may_read, "{told}");
        }
    }
}

const SESSIONS: usize = 40;
const BATCHES: usize = 8;
