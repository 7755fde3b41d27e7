<?php
// PHP's PDO and SQLite3 class, as docs/HOSTS.md gives them to their users.
const URI = 'file:app.db?vfs=selenite&selenite_identity=key.txt';
$boot = new SQLite3(':memory:');
$boot->loadExtension('libselenite.so');

function look(string ...$files): void
{
    passthru(getenv('SELENITE_TEST_LOOK') . ' ' . implode(' ', $files), $status);
    $status === 0 || exit(1);
}

/** Runs a function in processes of their own, like those of PHP-FPM. */
function inProcesses(int $count, callable $function): void
{
    for ($n = 0; $n < $count; $n++) {
        if (pcntl_fork() === 0) {
            $function();
            exit(0);
        }
    }
    while (pcntl_wait($status) > 0) {
        $status === 0 || exit(1);
    }
}

$db = new PDO('sqlite:' . URI);
$db->query('PRAGMA journal_mode = WAL')->fetchAll();
$db->exec('CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)');
$db = null;
inProcesses(4, function (): void {
    $db = new PDO('sqlite:' . URI, options: [PDO::ATTR_TIMEOUT => 20]);
    $insert = $db->prepare('INSERT INTO note(body) VALUES (?)');
    for ($n = 0; $n < 50; $n++) {
        $insert->execute(["attack at dawn $n"]);
    }
});
$db = new PDO('sqlite:' . URI);
$db->exec("UPDATE note SET body = body || '!' WHERE id = 1");
look('app.db', 'app.db-wal');
$db->query('PRAGMA journal_mode = PERSIST')->fetchAll();
$db->exec("UPDATE note SET body = body || '!' WHERE id > 1");
look('app.db', 'app.db-journal');
$db = null;

try {
    $wrong = new PDO('sqlite:' . str_replace('key.txt', 'other.txt', URI));
    $wrong->query('SELECT count(*) FROM note');
    throw new Exception('the wrong key opened the database');
} catch (PDOException $refused) {
    printf("SQLite %s\nwrong key: %s: %s\n", SQLite3::version()['versionString'], $refused->getMessage(),
        $boot->querySingle('SELECT selenite_last_error()'));
}

// The class takes no URIs: the VFS becomes the default one of the process, and the environment names the identity.
$boot->exec('SELECT selenite_default(1)');
putenv('SELENITE_IDENTITY=key.txt');
$count = (new SQLite3('app.db'))->querySingle('SELECT count(*) FROM note');
$count === 200 || throw new Exception("the class SQLite3 finds $count rows");
