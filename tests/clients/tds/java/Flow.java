// What the flows of tools share: the server that they are told of, and checks, each with a result of its own.
import com.google.gson.GsonBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class Flow {
  static final String URL = "jdbc:sqlserver://127.0.0.1:" + System.getenv("TDS_PORT") + ";databaseName="
      + System.getenv("TDS_DATABASE") + ";encrypt=true;trustServerCertificate=true";
  static final String USER = "sa";
  static final String PASSWORD = System.getenv("TDS_PASSWORD");

  interface Check {
    void run() throws Exception;
  }

  /** Runs one check. One that fails is reported, and does not end the others. */
  static void check(String name, Check check) {
    Map<String, String> line = new LinkedHashMap<>();
    line.put("check", name);
    line.put("error", null);
    try {
      check.run();
    } catch (Throwable thrown) {
      StringWriter text = new StringWriter();
      thrown.printStackTrace(new PrintWriter(text));
      line.put("error", text.toString());
    }
    System.out.println(new GsonBuilder().serializeNulls().create().toJson(line));
  }

  static void equal(Object expected, Object found) {
    if (!expected.equals(found)) {
      throw new AssertionError("expected " + expected + ", found " + found);
    }
  }

  /** That it fails, and says so. */
  static void fails(String text, Check check) throws Exception {
    try {
      check.run();
    } catch (Exception thrown) {
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
        if (String.valueOf(cause.getMessage()).contains(text)) {
          return;
        }
      }
      throw thrown;
    }
    throw new AssertionError("it did not fail: " + text);
  }

  static Connection connect() throws Exception {
    return DriverManager.getConnection(URL, USER, PASSWORD);
  }

  /** The rows of a query, each as its values with commas between them. */
  static List<String> rows(String sql) throws Exception {
    List<String> found = new ArrayList<>();
    try (Connection connection = connect(); ResultSet rows = connection.createStatement().executeQuery(sql)) {
      while (rows.next()) {
        List<String> values = new ArrayList<>();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
          values.add(rows.getString(i));
        }
        found.add(String.join(",", values));
      }
    }
    return found;
  }

  static void execute(String sql) throws Exception {
    try (Connection connection = connect()) {
      connection.createStatement().execute(sql);
    }
  }

  static void write(Path folder, String name, String text) throws Exception {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(name), text);
  }
}
