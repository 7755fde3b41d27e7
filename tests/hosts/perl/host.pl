# DBD::SQLite, as docs/HOSTS.md gives it to its users.
use strict;
use warnings;
use DBI;

my $uri = 'dbi:SQLite:uri=file:app.db?vfs=selenite&selenite_identity=key.txt';
my %attributes = (RaiseError => 1, PrintError => 0);

my $boot = DBI->connect('dbi:SQLite:dbname=:memory:', '', '', \%attributes);
$boot->sqlite_enable_load_extension(1);
$boot->sqlite_load_extension($ENV{SELENITE_TEST_EXTENSION});

sub look { system($ENV{SELENITE_TEST_LOOK}, @_) == 0 or exit 1 }

my $db = DBI->connect($uri, '', '', \%attributes);
$db->do('PRAGMA journal_mode = WAL');
$db->do('CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)');
$db->disconnect;
for (1 .. 4) {
    next if fork;
    my $own = DBI->connect($uri, '', '', \%attributes);
    $own->sqlite_busy_timeout(20_000);
    $own->do('INSERT INTO note(body) VALUES (?)', undef, "attack at dawn $_") for 1 .. 50;
    $own->disconnect;
    exit 0;
}
while (wait > 0) { $? == 0 or exit 1 }

$db = DBI->connect($uri, '', '', \%attributes);
$db->do(q{UPDATE note SET body = body || '!' WHERE id = 1});
look('app.db', 'app.db-wal');
$db->do('PRAGMA journal_mode = PERSIST');
$db->do(q{UPDATE note SET body = body || '!' WHERE id > 1});
look('app.db', 'app.db-journal');

if (eval { DBI->connect($uri =~ s/key/other/r, '', '', \%attributes)->do('SELECT count(*) FROM note') }) {
    die "the wrong key opened the database\n";
}
chomp(my $refused = $@);
print "SQLite $boot->{sqlite_version}\nwrong key: $refused: ",
    $boot->selectrow_array('SELECT selenite_last_error()'), "\n";
