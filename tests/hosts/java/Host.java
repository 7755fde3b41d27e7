import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.sqlite.SQLiteConfig;

/** sqlite-jdbc, by itself and in a pool of HikariCP, as docs/HOSTS.md gives it to its users. */
class Host {
    static final String URL = "jdbc:sqlite:file:app.db?vfs=selenite&selenite_identity=key.txt";

    public static void main(String[] arguments) throws Exception {
        var config = new SQLiteConfig();
        config.enableLoadExtension(true);
        var boot = config.createConnection("jdbc:sqlite::memory:");
        execute(boot, "SELECT load_extension('" + System.getenv("SELENITE_TEST_EXTENSION") + "')");

        try (var db = DriverManager.getConnection(URL)) {
            execute(db, "PRAGMA journal_mode = WAL");
            execute(db, "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)");
        }
        writeFromManyConnections();
        try (var db = DriverManager.getConnection(URL)) {
            execute(db, "PRAGMA journal_mode = PERSIST");
            execute(db, "UPDATE note SET body = body || '!'");
            look("app.db", "app.db-journal");
            openInAnotherClassLoader();
        }
        try (var wrong = DriverManager.getConnection(URL.replace("key.txt", "other.txt"))) {
            throw new AssertionError("the wrong key opened the database: " + text(wrong, "SELECT count(*) FROM note"));
        } catch (SQLException refused) {
            System.out.printf("SQLite %s%nwrong key: %s: %s%n", text(boot, "SELECT sqlite_version()"),
                refused.getMessage(), text(boot, "SELECT selenite_last_error()"));
        }
    }

    /** All threads have their connections before the first writes. */
    static void writeFromManyConnections() throws Exception {
        var config = new HikariConfig();
        config.setJdbcUrl(URL);
        config.setMaximumPoolSize(4);
        config.addDataSourceProperty("busy_timeout", "20000");
        var connected = new CountDownLatch(4);
        var threads = Executors.newFixedThreadPool(4);
        try (var pool = new HikariDataSource(config)) {
            var writers = new ArrayList<Future<?>>();
            for (int writer = 0; writer < 4; writer++) {
                writers.add(threads.submit(() -> {
                    try (var db = pool.getConnection()) {
                        connected.countDown();
                        connected.await();
                        for (int n = 0; n < 50; n++) {
                            execute(db, "INSERT INTO note(body) VALUES ('attack at dawn " + n + "')");
                        }
                    }
                    return null;
                }));
            }
            for (var writer : writers) {
                writer.get();
            }
            look("app.db", "app.db-wal");
        } finally {
            threads.shutdownNow();
        }
    }

    /** It has a driver, and so a SQLite, of its own, which may not open what this one has open. */
    static void openInAnotherClassLoader() throws Exception {
        var jars = new ArrayList<URL>();
        for (var jar : System.getProperty("java.class.path").split(":")) {
            jars.add(Path.of(jar).toUri().toURL());
        }
        try (var loader = new URLClassLoader(jars.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            var driver = (Driver) loader.loadClass("org.sqlite.JDBC").getDeclaredConstructor().newInstance();
            var mayLoad = new Properties();
            mayLoad.setProperty("enable_load_extension", "true");
            var boot = driver.connect("jdbc:sqlite::memory:", mayLoad);
            execute(boot, "SELECT load_extension('" + System.getenv("SELENITE_TEST_EXTENSION") + "')");
            try (var open = driver.connect(URL, new Properties())) {
                throw new AssertionError("open in two copies of SQLite: " + open);
            } catch (SQLException refused) {
                var reason = text(boot, "SELECT selenite_last_error()");
                if (!reason.contains("in another copy of SQLite")) {
                    throw new AssertionError(reason, refused);
                }
            }
        }
    }

    static void look(String... files) throws Exception {
        var command = new ArrayList<>(List.of(files));
        command.add(0, System.getenv("SELENITE_TEST_LOOK"));
        if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
            throw new AssertionError("look");
        }
    }

    static void execute(Connection db, String sql) throws SQLException {
        try (var statement = db.createStatement()) {
            statement.execute(sql);
        }
    }

    static String text(Connection db, String sql) throws SQLException {
        try (var statement = db.createStatement(); var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
