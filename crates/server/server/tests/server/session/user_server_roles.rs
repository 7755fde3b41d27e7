//! Roles of the server that CREATE SERVER ROLE makes: who may, what their members have, and what no member gets.

use std::sync::Barrier;
use std::thread;

use super::client::{Client, all_fail, fails, numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, and the logins `ann` and `bob`.
fn logins(fixture: &Fixture) -> [Client; 3] {
    let mut client = fixture.client();
    for login in ["ann", "bob"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    let ann = fixture.client_as("ann", PASSWORD, "");
    let bob = fixture.client_as("bob", PASSWORD, "");
    [client, ann, bob]
}

#[test]
fn a_role_is_made_shown_renamed_and_dropped() {
    let fixture = Fixture::new();
    let [mut client, ann, bob] = logins(&fixture);
    succeed(
        &mut client,
        "CREATE SERVER ROLE clerks; CREATE SERVER ROLE auditors AUTHORIZATION securityadmin;
         CREATE SERVER ROLE staff AUTHORIZATION ann; CREATE SERVER ROLE guards AUTHORIZATION clerks",
    );
    let listed = "SELECT STRING_AGG(CONCAT(r.name, ' ', o.name, ' ', r.type, r.is_fixed_role), ', ')
         WITHIN GROUP (ORDER BY r.principal_id) FROM sys.server_principals r
         JOIN sys.server_principals o ON o.principal_id = r.owning_principal_id WHERE r.principal_id > 255";
    let expected = "clerks sa R0, auditors securityadmin R0, staff ann R0, guards clerks R0";
    assert_eq!(client.text(listed), expected);
    assert_eq!(
        client.int("SELECT COUNT(DISTINCT principal_id) - COUNT(*) FROM sys.server_principals"),
        0
    );
    assert_eq!(client.text("SELECT SUSER_NAME(SUSER_ID('auditors'))"), "auditors");
    all_fail(
        &mut client,
        &[
            (15025, "CREATE SERVER ROLE clerks"),
            (15025, "CREATE SERVER ROLE Ann"),
            (15025, "CREATE SERVER ROLE sysadmin"),
            (15025, "CREATE SERVER ROLE diskadmin"),
            (15025, "CREATE SERVER ROLE [public]"),
            (15025, "CREATE LOGIN clerks WITH PASSWORD = 'Corr3ct-horse'"),
            (15025, "ALTER LOGIN bob WITH NAME = clerks"),
            (15025, "ALTER SERVER ROLE clerks WITH NAME = ann"),
            (15025, "ALTER SERVER ROLE clerks WITH NAME = bulkadmin"),
            (15151, "CREATE SERVER ROLE others AUTHORIZATION missing"),
            (15151, "ALTER SERVER ROLE missing WITH NAME = others"),
            (15151, "DROP SERVER ROLE missing"),
            (15141, "DROP SERVER ROLE clerks"),
            (15150, "DROP SERVER ROLE sysadmin"),
        ],
    );
    succeed(
        &mut client,
        "ALTER SERVER ROLE clerks WITH NAME = Clerks; ALTER SERVER ROLE clerks WITH NAME = people;
         ALTER SERVER ROLE people ADD MEMBER bob",
    );
    drop((client, ann, bob));
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(client.text(listed), expected.replace("clerks", "people"));
    fails(&mut client, 15141, "DROP LOGIN ann");
    succeed(&mut client, "DROP SERVER ROLE guards");
    fails(&mut client, 15144, "DROP SERVER ROLE people");
    succeed(&mut client, "ALTER SERVER ROLE people DROP MEMBER bob");
    succeed(
        &mut client,
        "DROP SERVER ROLE people; DROP SERVER ROLE staff; DROP SERVER ROLE auditors; DROP LOGIN ann",
    );
    drop(client);
    fixture.stop();
}

#[test]
fn members_have_what_their_roles_were_granted() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = logins(&fixture);
    succeed(
        &mut client,
        "CREATE SERVER ROLE clerks; CREATE SERVER ROLE staff; ALTER SERVER ROLE staff ADD MEMBER clerks;
         GRANT VIEW SERVER STATE, ALTER ANY LOGIN TO staff; DENY ALTER ANY LOGIN TO clerks;
         ALTER SERVER ROLE dbcreator ADD MEMBER staff; GRANT IMPERSONATE ON LOGIN::bob TO staff;
         ALTER SERVER ROLE clerks ADD MEMBER ann",
    );
    let has = |client: &mut Client, permission: &str| {
        client.int(&format!("SELECT HAS_PERMS_BY_NAME(NULL, NULL, '{permission}')"))
    };
    assert_eq!(has(&mut ann, "VIEW SERVER STATE"), 1);
    assert_eq!(has(&mut ann, "CREATE ANY DATABASE"), 1);
    assert_eq!(has(&mut ann, "ALTER ANY LOGIN"), 0);
    assert_eq!(has(&mut bob, "VIEW SERVER STATE"), 0);
    assert_eq!(ann.text("EXECUTE AS LOGIN = 'bob'; SELECT SUSER_NAME(); REVERT"), "bob");
    for role in ["clerks", "staff", "dbcreator"] {
        assert_eq!(ann.int(&format!("SELECT IS_SRVROLEMEMBER('{role}')")), 1, "{role}");
    }
    assert_eq!(client.int("SELECT IS_SRVROLEMEMBER('clerks')"), 0);
    // Who is not in it does not see it.
    assert_eq!(bob.int("SELECT ISNULL(IS_SRVROLEMEMBER('clerks'), -1)"), -1);
    let seen = "SELECT COUNT(*) FROM sys.server_principals WHERE principal_id > 255 AND type = 'R'";
    assert_eq!([client.int(seen), ann.int(seen), bob.int(seen)], [2, 2, 0]);
    let members = "SELECT COUNT(*) FROM sys.server_role_members";
    assert_eq!([client.int(members), ann.int(members), bob.int(members)], [4, 4, 1]);
    let granted = "SELECT COUNT(*) FROM sys.server_permissions p JOIN sys.server_principals r
         ON r.principal_id = p.grantee_principal_id WHERE r.name IN ('clerks', 'staff')";
    assert_eq!([client.int(granted), bob.int(granted)], [4, 0]);
    let own = client.batch("EXEC sp_helpsrvrolemember 'dbcreator'");
    assert_eq!(own.rows().len(), 1);
    assert_eq!(client.batch("EXEC sp_helpsrvrole").rows().len(), 5);
    assert_eq!(
        client
            .batch("EXEC sp_helpsrvrole @srvrolename = 'sysadmin'")
            .rows()
            .len(),
        1
    );
    assert_eq!(numbers(&client.batch("EXEC sp_helpsrvrole 'clerks'")), [15412]);
    assert_eq!(numbers(&client.batch("EXEC sp_helpsrvrolemember 'clerks'")), [15412]);
    all_fail(
        &mut client,
        &[
            (15413, "ALTER SERVER ROLE clerks ADD MEMBER clerks"),
            (15413, "ALTER SERVER ROLE clerks ADD MEMBER staff"),
            (40510, "ALTER SERVER ROLE sysadmin ADD MEMBER clerks"),
            (40510, "EXEC sp_addsrvrolemember 'clerks', 'sysadmin'"),
            (15405, "ALTER SERVER ROLE clerks ADD MEMBER sa"),
            (15405, "ALTER SERVER ROLE clerks ADD MEMBER bulkadmin"),
            (15151, "ALTER SERVER ROLE clerks ADD MEMBER missing"),
            (15402, "EXEC sp_addsrvrolemember 'bob', 'clerks'"),
        ],
    );
    // What is in force is what is there now, in a session that has begun before.
    succeed(&mut client, "ALTER SERVER ROLE staff DROP MEMBER clerks");
    assert_eq!(has(&mut ann, "VIEW SERVER STATE"), 0);
    fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'bob'");
    succeed(&mut client, "DENY CONNECT SQL TO clerks");
    assert_eq!(numbers(&fixture.client_as("ann", PASSWORD, "").login), [18456]);
    succeed(
        &mut client,
        "ALTER SERVER ROLE clerks DROP MEMBER ann; DROP SERVER ROLE clerks",
    );
    succeed(
        &mut client,
        "CREATE SERVER ROLE clerks; ALTER SERVER ROLE clerks ADD MEMBER ann",
    );
    assert_eq!(has(&mut fixture.client_as("ann", PASSWORD, ""), "CONNECT SQL"), 1);
    drop((client, ann, bob));
    fixture.stop();
}

#[test]
fn who_may_alter_roles_of_the_server() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = logins(&fixture);
    succeed(
        &mut client,
        "CREATE SERVER ROLE clerks; ALTER SERVER ROLE clerks ADD MEMBER bob",
    );
    let tries = [
        (15247, "CREATE SERVER ROLE own"),
        (15151, "ALTER SERVER ROLE clerks WITH NAME = others"),
        (15151, "ALTER SERVER ROLE clerks ADD MEMBER ann"),
        (15151, "ALTER SERVER ROLE clerks DROP MEMBER bob"),
        (15151, "DROP SERVER ROLE clerks"),
        (15151, "ALTER SERVER ROLE bulkadmin ADD MEMBER ann"),
    ];
    all_fail(&mut ann, &tries);
    // A member is no administrator of its role.
    all_fail(&mut bob, &tries);
    succeed(&mut client, "GRANT CREATE SERVER ROLE TO ann");
    succeed(&mut ann, "CREATE SERVER ROLE own; ALTER SERVER ROLE own ADD MEMBER ann");
    all_fail(&mut ann, &tries[1..]);
    all_fail(
        &mut ann,
        &[
            (15151, "CREATE SERVER ROLE more AUTHORIZATION sa"),
            (15151, "CREATE SERVER ROLE more AUTHORIZATION bob"),
            (15151, "CREATE SERVER ROLE more AUTHORIZATION clerks"),
            (15151, "CREATE SERVER ROLE more AUTHORIZATION sysadmin"),
            (4613, "GRANT VIEW SERVER STATE TO own"),
        ],
    );
    succeed(
        &mut ann,
        "CREATE SERVER ROLE more AUTHORIZATION own; DROP SERVER ROLE more",
    );
    succeed(
        &mut client,
        "REVOKE CREATE SERVER ROLE FROM ann; GRANT ALTER ANY SERVER ROLE TO ann",
    );
    succeed(
        &mut ann,
        "CREATE SERVER ROLE more; ALTER SERVER ROLE clerks ADD MEMBER ann; ALTER SERVER ROLE clerks DROP MEMBER bob;
         ALTER SERVER ROLE clerks WITH NAME = others; ALTER SERVER ROLE others DROP MEMBER ann; DROP SERVER ROLE others",
    );
    fails(&mut ann, 15151, "ALTER SERVER ROLE bulkadmin ADD MEMBER ann");
    // A user of EXECUTE AS has no rights of its login on the server.
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d; CREATE USER ann FOR LOGIN ann");
    assert_eq!(
        numbers(&client.batch("EXECUTE AS USER = 'ann'; DROP SERVER ROLE more")),
        [15151]
    );
    drop((client, ann, bob));
    fixture.stop();
}

#[test]
fn no_one_is_added_to_a_role_that_leads_to_sysadmin() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = logins(&fixture);
    succeed(
        &mut client,
        "CREATE SERVER ROLE bosses; CREATE SERVER ROLE deputies; CREATE SERVER ROLE friends;
         GRANT IMPERSONATE ON LOGIN::sa TO ann; REVOKE IMPERSONATE ON LOGIN::sa FROM ann;
         GRANT IMPERSONATE ON LOGIN::sa TO bosses; ALTER SERVER ROLE bosses ADD MEMBER deputies;
         GRANT IMPERSONATE ON LOGIN::bob TO friends; GRANT ALTER ANY SERVER ROLE, ALTER ANY LOGIN TO ann",
    );
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER SERVER ROLE bosses ADD MEMBER ann"),
            (15151, "ALTER SERVER ROLE deputies ADD MEMBER ann"),
            // Nor to one that may execute as others.
            (15151, "ALTER SERVER ROLE friends ADD MEMBER ann"),
            (15151, "CREATE SERVER ROLE more AUTHORIZATION deputies"),
        ],
    );
    // A role of one's own that is a member of such a role.
    succeed(&mut ann, "CREATE SERVER ROLE own");
    fails(&mut ann, 15151, "ALTER SERVER ROLE deputies ADD MEMBER own");
    succeed(&mut client, "ALTER SERVER ROLE deputies ADD MEMBER own");
    fails(&mut ann, 15151, "ALTER SERVER ROLE own ADD MEMBER ann");
    fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'sa'");
    succeed(&mut client, "ALTER SERVER ROLE deputies DROP MEMBER own");
    // The logins of members and owners of such a role are out of reach.
    succeed(&mut ann, "ALTER LOGIN bob WITH PASSWORD = 'Other-l0ng-one'");
    succeed(&mut client, "ALTER SERVER ROLE deputies ADD MEMBER bob");
    fails(&mut ann, 15151, "ALTER LOGIN bob WITH PASSWORD = 'Corr3ct-horse'");
    assert_eq!(bob.text("EXECUTE AS LOGIN = 'sa'; SELECT SUSER_NAME(); REVERT"), "sa");
    succeed(
        &mut client,
        "ALTER SERVER ROLE deputies DROP MEMBER bob; CREATE SERVER ROLE bobs AUTHORIZATION bob;
         ALTER SERVER ROLE bosses ADD MEMBER bobs",
    );
    fails(&mut bob, 15151, "ALTER SERVER ROLE bobs ADD MEMBER bob");
    fails(&mut ann, 15151, "ALTER LOGIN bob WITH PASSWORD = 'Corr3ct-horse'");
    fails(&mut ann, 15151, "DROP LOGIN bob");
    drop((client, ann, bob));
    fixture.stop();
}

#[test]
fn two_sessions_make_no_roles_members_of_each_other() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE SERVER ROLE one; CREATE SERVER ROLE two");
    let barrier = Barrier::new(2);
    let adds = |sql: &str| {
        let mut own = fixture.client();
        let answers = (0..ROUNDS).map(|_| {
            barrier.wait();
            let answer = numbers(&own.batch(sql));
            barrier.wait();
            own.batch("ALTER SERVER ROLE one DROP MEMBER two; ALTER SERVER ROLE two DROP MEMBER one");
            answer
        });
        answers.collect::<Vec<_>>()
    };
    let (one, two) = thread::scope(|scope| {
        let one = scope.spawn(|| adds("ALTER SERVER ROLE one ADD MEMBER two"));
        let two = adds("ALTER SERVER ROLE two ADD MEMBER one");
        (one.join().unwrap(), two)
    });
    for both in one.into_iter().zip(two) {
        assert!(
            [(vec![], vec![15413]), (vec![15413], vec![])].contains(&both),
            "{both:?}"
        );
    }
    drop(client);
    fixture.stop();
}

#[test]
fn principals_of_the_server_are_not_changed_in_a_transaction() {
    let fixture = Fixture::new();
    let [mut client, ann, bob] = logins(&fixture);
    succeed(&mut client, "CREATE SERVER ROLE clerks");
    for sql in [
        "CREATE LOGIN eve WITH PASSWORD = 'Corr3ct-horse'",
        "ALTER LOGIN ann DISABLE",
        "ALTER LOGIN ann WITH PASSWORD = 'Other-l0ng-one'",
        "DROP LOGIN bob",
        "CREATE SERVER ROLE staff",
        "ALTER SERVER ROLE clerks WITH NAME = people",
        "ALTER SERVER ROLE sysadmin ADD MEMBER ann",
        "DROP SERVER ROLE clerks",
        "GRANT CONTROL SERVER TO ann",
        "DENY CONNECT SQL TO ann",
        "REVOKE VIEW SERVER STATE FROM ann",
        "EXEC sp_addsrvrolemember 'ann', 'sysadmin'",
        "EXEC sp_dropsrvrolemember 'ann', 'sysadmin'",
    ] {
        fails(&mut client, 226, &format!("BEGIN TRAN {sql}"));
        succeed(&mut client, "ROLLBACK");
    }
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.server_principals WHERE name IN ('eve', 'staff')"),
        0
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.server_principals WHERE name IN ('bob', 'clerks')"),
        2
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.server_role_members"), 1);
    drop((client, ann, bob));
    drop(fixture.client_as("ann", PASSWORD, ""));
    fixture.stop();
}

#[test]
fn there_are_at_most_a_thousand_roles() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let master = fixture.running.instance().master();
    let insert = "WITH RECURSIVE n(n) AS (VALUES (1000) UNION ALL SELECT n + 1 FROM n WHERE n < 1998)
         INSERT INTO selenite_server_role (id, name, folded, sid, owner, created, modified)
         SELECT n, 'r' || n, 'r' || n, randomblob(16), x'01', 0, 0 FROM n";
    master.with(|connection| Ok(connection.execute_batch(insert)?)).unwrap();
    succeed(&mut client, "CREATE SERVER ROLE last");
    fails(&mut client, 40510, "CREATE SERVER ROLE more");
    succeed(&mut client, "DROP SERVER ROLE last; CREATE SERVER ROLE more");
    drop(client);
    fixture.stop();
}

/// So many that two changes meet.
const ROUNDS: usize = 40;
