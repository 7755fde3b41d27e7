// Liquibase: update, status, rollback, diff, generateChangeLog and dropAll, by its public interface.
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.DiffGeneratorFactory;
import liquibase.diff.DiffResult;
import liquibase.diff.compare.CompareControl;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.snapshot.DatabaseSnapshot;
import liquibase.snapshot.SnapshotControl;
import liquibase.snapshot.SnapshotGeneratorFactory;
import liquibase.structure.core.Column;
import liquibase.structure.core.ForeignKey;
import liquibase.structure.core.Index;
import liquibase.structure.core.Table;
import liquibase.structure.core.UniqueConstraint;
import liquibase.structure.core.View;

public final class LiquibaseFlow {
  private static final Path FOLDER = Path.of("").toAbsolutePath();
  private static final Contexts NONE = new Contexts();

  private static final String CHANGELOG = """
      databaseChangeLog:
      - changeSet:
          id: author
          author: test
          changes:
          - createTable:
              tableName: author
              remarks: those who write
              columns:
              - column: {name: id, type: int, autoIncrement: true, constraints: {primaryKey: true, primaryKeyName: author_pk, nullable: false}}
              - column: {name: name, type: nvarchar(40), remarks: in full, constraints: {nullable: false}}
              - column: {name: email, type: nvarchar(80), constraints: {unique: true, uniqueConstraintName: author_email}}
              - column: {name: age, type: int, defaultValueNumeric: 18}
              - column: {name: height, type: int}
              - column: {name: made, type: datetime2, defaultValueComputed: sysdatetime()}
              - column: {name: known, type: boolean, defaultValueBoolean: true}
              - column: {name: note, type: clob}
              - column: {name: key, type: uuid, defaultValueComputed: newid()}
          - createIndex: {tableName: author, indexName: author_name, columns: [{column: {name: name}}, {column: {name: made, descending: true}}]}
          - insert: {tableName: author, columns: [{column: {name: name, value: Ada}}, {column: {name: email, value: a@x}}, {column: {name: age, valueNumeric: 36}}]}
          - insert: {tableName: author, columns: [{column: {name: name, value: Brian}}, {column: {name: email, value: b@x}}]}
          rollback:
          - dropTable: {tableName: author}
      - changeSet:
          id: book
          author: test
          changes:
          - tagDatabase: {tag: one}
      - changeSet:
          id: tables
          author: test
          changes:
          - createSequence: {sequenceName: number, startValue: 5, incrementBy: 2}
          - createTable:
              tableName: book
              columns:
              - column: {name: id, type: bigint, constraints: {primaryKey: true}}
              - column: {name: title, type: varchar(200)}
              - column: {name: author_id, type: int}
          - addForeignKeyConstraint: {baseTableName: book, baseColumnNames: author_id, referencedTableName: author, referencedColumnNames: id, constraintName: book_author, onDelete: CASCADE}
          - addUniqueConstraint: {tableName: book, columnNames: 'title, author_id', constraintName: book_title}
          - createView: {viewName: shelf, selectQuery: 'SELECT a.name, b.title FROM author a JOIN book b ON b.author_id = a.id'}
      - changeSet:
          id: changes
          author: test
          preConditions:
          - onFail: HALT
          - tableExists: {tableName: book}
          - sqlCheck: {expectedResult: 2, sql: SELECT COUNT(*) FROM author}
          changes:
          - addColumn: {tableName: book, columns: [{column: {name: pages, type: int, defaultValueNumeric: 1, constraints: {nullable: false}}}]}
          - renameColumn: {tableName: book, oldColumnName: title, newColumnName: name}
          - modifyDataType: {tableName: author, columnName: height, newDataType: bigint}
          - addNotNullConstraint: {tableName: author, columnName: known, columnDataType: bit, defaultNullValue: '1'}
          - addDefaultValue: {tableName: book, columnName: name, defaultValue: untitled}
          - renameTable: {oldTableName: book, newTableName: volume}
          - dropView: {viewName: shelf}
          - createView: {viewName: shelf, selectQuery: 'SELECT a.name AS author, b.name FROM author a JOIN volume b ON b.author_id = a.id'}
          - createProcedure: {procedureName: add_volume, procedureText: 'CREATE PROCEDURE add_volume @id bigint AS INSERT volume (id, author_id) VALUES (@id, 1)'}
          rollback:
          - sql: {sql: DROP PROCEDURE add_volume}
          - dropView: {viewName: shelf}
          - renameTable: {oldTableName: volume, newTableName: book}
          - dropDefaultValue: {tableName: book, columnName: name}
          - dropNotNullConstraint: {tableName: author, columnName: known, columnDataType: bit}
          - modifyDataType: {tableName: author, columnName: height, newDataType: int}
          - renameColumn: {tableName: book, oldColumnName: name, newColumnName: title}
          - dropColumn: {tableName: book, columnName: pages}
      """;

  private interface Use {
    void with(Liquibase liquibase, Database database) throws Exception;
  }

  private static void liquibase(String changelog, Use use) throws Exception {
    Database database = database();
    // It closes the database, too.
    try (Liquibase liquibase = new Liquibase(changelog, new DirectoryResourceAccessor(FOLDER), database)) {
      use.with(liquibase, database);
    }
  }

  private static Database database() throws Exception {
    return DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(Flow.connect()));
  }

  /** The same program, which updates and nothing else. */
  private static Process updating() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), "LiquibaseFlow", "update")
        .directory(FOLDER.toFile()).redirectOutput(FOLDER.resolve("update.log").toFile()).redirectErrorStream(true).start();
  }

  private static DatabaseSnapshot snapshot(Database database) throws Exception {
    return SnapshotGeneratorFactory.getInstance().createSnapshot(database.getDefaultSchema(), database, new SnapshotControl(database));
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 1) {
      liquibase("changes.yaml", (liquibase, database) -> liquibase.update(NONE));
      return;
    }
    Flow.write(FOLDER, "changes.yaml", CHANGELOG);
    Flow.write(FOLDER, "empty.yaml", "databaseChangeLog: []\n");

    Flow.check("status before anything", () -> liquibase("changes.yaml", (liquibase, database) -> {
      Flow.equal("Microsoft SQL Server", database.getDatabaseProductName());
      Flow.equal(4, liquibase.listUnrunChangeSets(NONE, new LabelExpression()).size());
    }));
    Flow.check("updateSQL writes what it would do", () -> liquibase("changes.yaml", (liquibase, database) -> {
      StringWriter text = new StringWriter();
      liquibase.update(NONE, text);
      Flow.equal(true, text.toString().contains("CREATE TABLE"));
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.tables WHERE name = 'author'"));
    }));
    Flow.check("two processes update at once, and each change runs once", () -> {
      // Its own tables are made without a lock.
      liquibase("empty.yaml", (liquibase, database) -> liquibase.update(NONE));
      Process[] both = {updating(), updating()};
      for (Process one : both) {
        Flow.equal(0, one.waitFor());
      }
      Flow.equal(List.of("author", "book", "tables", "changes"), Flow.rows("SELECT ID FROM DATABASECHANGELOG ORDER BY ORDEREXECUTED"));
      Flow.equal(List.of("Ada,36,1", "Brian,18,1"), Flow.rows("SELECT name, age, known FROM author ORDER BY id"));
      Flow.execute("EXEC add_volume 7");
      Flow.equal(List.of("Ada,untitled"), Flow.rows("SELECT author, name FROM shelf"));
      Flow.equal(List.of("5"), Flow.rows("SELECT NEXT VALUE FOR number"));
      Flow.equal(List.of("0"), Flow.rows("SELECT LOCKED FROM DATABASECHANGELOGLOCK"));
    });
    Flow.check("remarks are extended properties", () -> Flow.equal(List.of("those who write", "in full"),
        Flow.rows("SELECT value FROM sys.extended_properties WHERE major_id = OBJECT_ID('author') ORDER BY minor_id")));
    Flow.check("status and validate after it", () -> liquibase("changes.yaml", (liquibase, database) -> {
      liquibase.validate();
      Flow.equal(0, liquibase.listUnrunChangeSets(NONE, new LabelExpression()).size());
    }));
    Flow.check("a snapshot sees tables, keys and indexes", () -> liquibase("changes.yaml", (liquibase, database) -> {
      DatabaseSnapshot found = snapshot(database);
      Set<String> tables = new TreeSet<>(found.get(Table.class).stream().map(Table::getName).toList());
      Flow.equal(Set.of("author", "volume", "DATABASECHANGELOG", "DATABASECHANGELOGLOCK"), tables);
      Table author = found.get(new Table().setName("author"));
      Flow.equal("author_pk", author.getPrimaryKey().getName());
      Flow.equal(9, author.getColumns().size());
      Column age = author.getColumn("age");
      Flow.equal("bigint", author.getColumn("height").getType().getTypeName().toLowerCase());
      Flow.equal(18, ((Number) age.getDefaultValue()).intValue());
      Flow.equal(true, author.getColumn("id").isAutoIncrement());
      ForeignKey key = found.get(ForeignKey.class).iterator().next();
      Flow.equal("book_author", key.getName());
      Flow.equal("author", key.getPrimaryKeyTable().getName());
      Flow.equal(new TreeSet<>(List.of("author_email", "book_title")), new TreeSet<>(found.get(UniqueConstraint.class).stream().map(UniqueConstraint::getName).toList()));
      Flow.equal(true, found.get(Index.class).stream().anyMatch(index -> "author_name".equals(index.getName())));
      Flow.equal(1, found.get(View.class).size());
    }));
    Flow.check("a diff with itself finds nothing", () -> liquibase("changes.yaml", (liquibase, database) -> {
      DiffResult diff = DiffGeneratorFactory.getInstance().compare(snapshot(database), snapshot(database), new CompareControl());
      Flow.equal(true, diff.areEqual());
    }));
    Flow.check("generateChangeLog makes the same tables again", () -> liquibase("changes.yaml", (liquibase, database) -> {
      String file = FOLDER.resolve("generated.yaml").toString();
      new liquibase.command.CommandScope("generateChangeLog").addArgumentValue("url", Flow.URL).addArgumentValue("username", Flow.USER)
          .addArgumentValue("password", Flow.PASSWORD).addArgumentValue("changelogFile", file).addArgumentValue("overwriteOutputFile", true)
          .setOutput(new java.io.ByteArrayOutputStream()).execute();
      String text = java.nio.file.Files.readString(Path.of(file));
      for (String name : List.of("author_pk", "book_author", "book_title", "author_name", "shelf", "number")) {
        Flow.equal(true, text.contains(name));
      }
    }));
    Flow.check("rollback to a tag, and by count", () -> liquibase("changes.yaml", (liquibase, database) -> {
      liquibase.rollback(1, NONE, new LabelExpression());
      Flow.equal(List.of("id,title,author_id"), Flow.rows("SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY column_id) FROM sys.columns WHERE object_id = OBJECT_ID('book')"));
      Flow.execute("DROP VIEW IF EXISTS shelf; EXEC('CREATE VIEW shelf AS SELECT 1 AS a')");
      liquibase.rollback("one", NONE);
      Flow.equal(List.of("author"), Flow.rows("SELECT name FROM sys.tables WHERE name NOT LIKE 'DATABASECHANGE%'"));
      // The change that made the tag is rolled back, too.
      Flow.equal(List.of("author"), Flow.rows("SELECT ID FROM DATABASECHANGELOG ORDER BY ORDEREXECUTED"));
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.sequences"));
      liquibase.update(NONE);
      Flow.equal(4, Flow.rows("SELECT ID FROM DATABASECHANGELOG").size());
    }));
    Flow.check("a change that fails is not recorded", () -> {
      Flow.write(FOLDER, "broken.yaml", """
          databaseChangeLog:
          - changeSet:
              id: broken
              author: test
              changes:
              - createTable: {tableName: half, columns: [{column: {name: a, type: int}}]}
              - sql: {sql: INSERT nothing_of_this_name VALUES (1)}
          """);
      Flow.fails("Invalid object name 'nothing_of_this_name'", () -> liquibase("broken.yaml", (liquibase, database) -> liquibase.update(NONE)));
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.tables WHERE name = 'half'"));
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM DATABASECHANGELOG WHERE ID = 'broken'"));
    });
    Flow.check("dropAll removes all tables", () -> liquibase("changes.yaml", (liquibase, database) -> {
      liquibase.dropAll();
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.tables WHERE name NOT LIKE 'DATABASECHANGE%'"));
      Flow.equal(List.of("0"), Flow.rows("SELECT COUNT(*) FROM sys.views"));
    }));
  }
}
