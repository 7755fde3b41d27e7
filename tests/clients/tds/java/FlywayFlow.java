// Flyway: migrate, validate, info, repair, baseline, clean, by its public interface.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.configuration.FluentConfiguration;

public final class FlywayFlow {
  private static final Path FOLDER = Path.of("").toAbsolutePath().resolve("sql");

  private static FluentConfiguration configuration() {
    return Flyway.configure().dataSource(Flow.URL, Flow.USER, Flow.PASSWORD).locations("filesystem:" + FOLDER).cleanDisabled(false);
  }

  private static List<String> states(Flyway flyway) {
    return Arrays.stream(flyway.info().all()).map((MigrationInfo one) -> one.getVersion() + " " + one.getState()).toList();
  }

  public static void main(String[] arguments) throws Exception {
    Flow.write(FOLDER, "V1__author.sql", """
        CREATE TABLE author (id int IDENTITY CONSTRAINT author_pk PRIMARY KEY, name nvarchar(40) NOT NULL,
          age int CONSTRAINT author_age DEFAULT 18 CHECK (age >= 0));
        GO
        CREATE INDEX author_name ON author (name);
        GO
        INSERT author (name) VALUES (N'Ada'), (N'Brian');
        """);
    Flow.write(FOLDER, "V2__book.sql", """
        CREATE SCHEMA shop;
        GO
        CREATE TABLE shop.book (id uniqueidentifier PRIMARY KEY DEFAULT NEWID(), title varchar(80),
          author int REFERENCES author (id) ON DELETE CASCADE);
        GO
        CREATE VIEW shop.shelf AS SELECT b.title, a.name FROM shop.book b JOIN dbo.author a ON a.id = b.author;
        GO
        CREATE PROCEDURE shop.add_book @title varchar(80), @name nvarchar(40) AS
        BEGIN
          SET NOCOUNT ON;
          INSERT shop.book (title, author) SELECT @title, id FROM dbo.author WHERE name = @name;
        END
        GO
        EXEC shop.add_book '${placed}', N'Ada';
        """);
    Flow.write(FOLDER, "R__names.sql", """
        CREATE OR ALTER FUNCTION dbo.twice(@n int) RETURNS int AS BEGIN RETURN @n * 2 END
        """);
    Flyway flyway = configuration().placeholders(java.util.Map.of("placed", "Notes")).load();

    Flow.check("info before anything", () -> {
      Flow.equal(List.of("1 PENDING", "2 PENDING", "null PENDING"), states(flyway));
      Flow.equal("dbo", Flow.rows("SELECT SCHEMA_NAME()").get(0));
    });
    Flow.check("two migrate at once, and each migration runs once", () -> {
      CompletableFuture<?>[] both = new CompletableFuture<?>[2];
      Arrays.setAll(both, i -> CompletableFuture.runAsync(() -> configuration().placeholders(java.util.Map.of("placed", "Notes")).load().migrate()));
      CompletableFuture.allOf(both).get();
      Flow.equal(List.of("1 SUCCESS", "2 SUCCESS", "null SUCCESS"), states(flyway));
      Flow.equal(List.of("Notes,Ada"), Flow.rows("SELECT title, name FROM shop.shelf"));
      Flow.equal(List.of("42"), Flow.rows("SELECT dbo.twice(21)"));
      Flow.equal(List.of("1,1", "2,1", "3,1"), Flow.rows("SELECT installed_rank, success FROM flyway_schema_history ORDER BY 1"));
    });
    Flow.check("migrate again does nothing", () -> Flow.equal(0, flyway.migrate().migrationsExecuted));
    Flow.check("validate accepts what was run", () -> Flow.equal(true, flyway.validateWithResult().validationSuccessful));
    Flow.check("a repeatable migration runs again when it changes", () -> {
      Flow.write(FOLDER, "R__names.sql", "CREATE OR ALTER FUNCTION dbo.twice(@n int) RETURNS int AS BEGIN RETURN @n + @n + 0 END");
      Flow.equal(1, flyway.migrate().migrationsExecuted);
    });
    Flow.check("validate refuses a changed migration, and repair accepts it", () -> {
      Path file = FOLDER.resolve("V1__author.sql");
      Files.writeString(file, Files.readString(file) + "-- changed\n");
      Flow.fails("checksum mismatch", flyway::validate);
      flyway.repair();
      flyway.validate();
    });
    Flow.check("a migration that fails leaves nothing", () -> {
      Flow.write(FOLDER, "V3__broken.sql", """
          CREATE TABLE half (a int);
          GO
          INSERT nothing_of_this_name VALUES (1);
          """);
      Flow.fails("Invalid object name 'nothing_of_this_name'", flyway::migrate);
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.tables WHERE name = 'half'"));
      Files.delete(FOLDER.resolve("V3__broken.sql"));
      flyway.validate();
    });
    Flow.check("a migration outside of a transaction", () -> {
      Flow.write(FOLDER, "V4__alone.sql", "ALTER DATABASE CURRENT SET RECURSIVE_TRIGGERS OFF;");
      Flow.write(FOLDER, "V4__alone.sql.conf", "executeInTransaction=false");
      Flow.equal(1, flyway.migrate().migrationsExecuted);
    });
    Flow.check("clean removes everything of a schema", () -> {
      Flow.execute("CREATE TABLE kept_by_none (a int, b AS a + 1); ALTER TABLE kept_by_none ADD c int DEFAULT 3");
      Flow.execute("CREATE SYNONYM other FOR author; CREATE SEQUENCE counting; CREATE TYPE phone FROM varchar(20)");
      Flow.execute("CREATE TRIGGER author_told ON author AFTER INSERT AS SET NOCOUNT ON");
      Flyway all = configuration().schemas("shop", "dbo").load();
      all.clean();
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.objects WHERE is_ms_shipped = 0"));
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.types WHERE is_user_defined = 1"));
    });
    Flow.check("baseline of a database that has tables", () -> {
      Flow.execute("DROP SCHEMA shop");
      Flow.execute("CREATE TABLE author (id int PRIMARY KEY, name nvarchar(40)); INSERT author VALUES (1, 'Ada')");
      Files.delete(FOLDER.resolve("V4__alone.sql"));
      Files.delete(FOLDER.resolve("V4__alone.sql.conf"));
      Flyway based = configuration().placeholders(java.util.Map.of("placed", "Engine")).baselineVersion("1").load();
      Flow.fails("non-empty schema", based::migrate);
      based.baseline();
      Flow.equal(2, based.migrate().migrationsExecuted);
      Flow.equal(List.of("Engine,Ada"), Flow.rows("SELECT title, name FROM shop.shelf"));
    });
  }
}
