// Microsoft's JDBC driver: answers requests on stdin, one line of JSON each, as ../python/serve.py says.
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.microsoft.sqlserver.jdbc.ISQLServerBulkData;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerDataTable;
import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import com.microsoft.sqlserver.jdbc.SQLServerException;
import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;
import com.microsoft.sqlserver.jdbc.SQLServerResultSet;
import com.microsoft.sqlserver.jdbc.SQLServerWarning;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public final class JdbcClient {
    static final class Request {
        String action, name, user, password, encryption, certificate, database, sql, what, table, type;
        boolean procedure;
        int port;
        Integer packet_size, after_ms;
        List<List<String>> parameters, outputs, rows, columns;
        List<String> kinds;
    }

    record Notice(String text, Integer number, Integer state, Integer severity, Integer line, String procedure) {}

    record Rows(List<String> columns, List<List<String>> rows) {}

    static final class Reply {
        final List<Rows> sets = new ArrayList<>();
        final List<Long> counts = new ArrayList<>();
        final List<Notice> messages = new ArrayList<>();
        final List<Notice> errors = new ArrayList<>();
        Integer status;
        final List<String> outputs = new ArrayList<>();
        Double cancelled_ms;
    }

    private final Map<String, Connection> connections = new HashMap<>();
    // Statements that were prepared, by their text: the driver's ways differ from one run to the next.
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        Locale.setDefault(Locale.ROOT);
        Gson gson = new GsonBuilder().serializeNulls().create();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        JdbcClient client = new JdbcClient();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> answer = new HashMap<>();
            try {
                answer.put("answer", client.act(gson.fromJson(line, Request.class)));
            } catch (SQLServerException error) {
                answer.put("refused", notices(error));
            } catch (Exception error) {
                answer.put("failed", error.toString());
                answer.put("trace", List.of(error.getStackTrace()).toString());
            }
            out.println(gson.toJson(answer));
        }
    }

    private Object act(Request asked) throws Exception {
        Connection on = connections.get(asked.name);
        switch (asked.action) {
            case "connect" -> connections.put(asked.name, connect(asked));
            case "batch" -> {
                try (Statement statement = on.createStatement()) {
                    return run(statement, () -> statement.execute(asked.sql));
                }
            }
            case "execute" -> {
                return execute(on, asked);
            }
            case "cancel" -> {
                return cancel(on, asked);
            }
            case "begin" -> on.setAutoCommit(false);
            case "commit" -> {
                on.commit();
                on.setAutoCommit(true);
            }
            case "rollback" -> {
                on.rollback();
                on.setAutoCommit(true);
            }
            case "catalog" -> {
                return catalog(on, asked.what, asked.table);
            }
            case "describe" -> {
                return describe(on, asked.sql, asked.what);
            }
            case "call" -> {
                return call(on, asked);
            }
            case "bulk" -> {
                return bulk(on, asked);
            }
            case "table" -> {
                return table(on, asked);
            }
            case "many" -> {
                return many(on, asked);
            }
            case "cursor" -> {
                return cursor(on, asked);
            }
            case "close" -> {
                prepared.keySet().removeIf(key -> key.startsWith(asked.name + "\0"));
                connections.remove(asked.name).close();
            }
            default -> throw new IllegalArgumentException(asked.action);
        }
        return null;
    }

    private static Connection connect(Request asked) throws SQLException, GeneralSecurityException, IOException {
        SQLServerDataSource source = new SQLServerDataSource();
        source.setServerName("127.0.0.1");
        source.setPortNumber(asked.port);
        source.setUser(asked.user);
        source.setPassword(asked.password);
        source.setEncrypt(switch (asked.encryption) {
            case "login" -> "false";
            case "strict" -> "strict";
            default -> "true";
        });
        Path store = null;
        switch (asked.encryption) {
            // It looks at serverCertificate in strict mode alone.
            case "strict" -> source.setServerCertificate(asked.certificate);
            case "verified" -> store = trust(source, asked.certificate);
            default -> source.setTrustServerCertificate(true);
        }
        // Else a time is sent as a datetime, which has no equal among times.
        source.setSendTimeAsDatetime(false);
        if (asked.database != null) {
            source.setDatabaseName(asked.database);
        }
        if (asked.packet_size != null) {
            source.setPacketSize(asked.packet_size);
        }
        source.setLoginTimeout(20);
        source.setConnectRetryCount(0);
        try {
            return source.getConnection();
        } finally {
            if (store != null) {
                Files.delete(store);
            }
        }
    }

    /// A store with that certificate alone.
    private static Path trust(SQLServerDataSource source, String certificate)
        throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream pem = Files.newInputStream(Path.of(certificate))) {
            store.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        Path file = Files.createTempFile("selenite-trust-", ".p12");
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, "password".toCharArray());
        }
        source.setTrustStore(file.toString());
        source.setTrustStorePassword("password");
        source.setTrustStoreType("PKCS12");
        return file;
    }

    private Reply execute(Connection on, Request asked) throws SQLException {
        String text = asked.sql.replaceAll("@p\\d+", "?");
        String key = asked.name + "\0" + text;
        PreparedStatement statement = prepared.get(key);
        if (statement == null) {
            statement = on.prepareStatement(text);
            prepared.put(key, statement);
        }
        for (int i = 0; i < asked.parameters.size(); i++) {
            List<String> parameter = asked.parameters.get(i);
            set((SQLServerPreparedStatement) statement, i + 1, parameter.get(0), parameter.get(1));
        }
        return run(statement, statement::execute);
    }

    private interface Start {
        boolean start() throws SQLException;
    }

    private static Reply run(Statement statement, Start start) {
        Reply reply = new Reply();
        Start next = start;
        try {
            while (true) {
                try {
                    boolean isRows = next.start();
                    hear(statement, reply);
                    if (isRows) {
                        try (ResultSet rows = statement.getResultSet()) {
                            reply.sets.add(read(rows));
                        }
                    } else {
                        long count = statement.getLargeUpdateCount();
                        if (count < 0) {
                            break;
                        }
                        reply.counts.add(count);
                    }
                } catch (SQLServerException error) {
                    // One of the server's hides nothing that comes after it.
                    if (error.getSQLServerError() == null || reply.errors.size() > 100) {
                        throw error;
                    }
                    reply.errors.addAll(notices(error));
                }
                next = statement::getMoreResults;
            }
            hear(statement, reply);
        } catch (SQLException error) {
            reply.errors.addAll(notices(error));
        }
        return reply;
    }

    private static void hear(Statement statement, Reply reply) throws SQLException {
        for (SQLWarning said = statement.getWarnings(); said != null; said = said.getNextWarning()) {
            if (said instanceof SQLServerWarning warning && warning.getSQLServerError() != null) {
                var error = warning.getSQLServerError();
                reply.messages.add(new Notice(error.getErrorMessage(), error.getErrorNumber(), error.getErrorState(),
                    error.getErrorSeverity(), (int) error.getLineNumber(), error.getProcedureName()));
            } else {
                reply.messages.add(new Notice(said.getMessage(), said.getErrorCode(), null, null, null, null));
            }
        }
        statement.clearWarnings();
    }

    /// The error alone: asked for the next one, the driver reads all that comes, and forgets it.
    private static List<Notice> notices(SQLException error) {
        var said = error instanceof SQLServerException server ? server.getSQLServerError() : null;
        if (said == null) {
            return List.of(new Notice(error.getMessage(), null, null, null, null, null));
        }
        return List.of(new Notice(said.getErrorMessage(), said.getErrorNumber(), said.getErrorState(),
            said.getErrorSeverity(), (int) said.getLineNumber(), said.getProcedureName()));
    }

    private static Reply cancel(Connection on, Request asked) throws Exception {
        Reply reply = new Reply();
        long[] started = new long[1];
        try (Statement statement = on.createStatement()) {
            Thread canceller = new Thread(() -> {
                try {
                    Thread.sleep(asked.after_ms == null ? 0 : asked.after_ms);
                    started[0] = System.nanoTime();
                    statement.cancel();
                } catch (InterruptedException | SQLException error) {
                    throw new IllegalStateException(error);
                }
            });
            try {
                if (asked.after_ms != null) {
                    canceller.start();
                }
                boolean isRows = statement.execute(asked.sql);
                if (asked.after_ms == null) {
                    statement.getResultSet().next();
                    canceller.start();
                }
                while (isRows || statement.getLargeUpdateCount() >= 0) {
                    isRows = statement.getMoreResults();
                }
            } catch (SQLException error) {
                reply.errors.addAll(notices(error));
            }
            canceller.join();
        } catch (SQLException error) {
            reply.errors.addAll(notices(error));
        }
        reply.cancelled_ms = (System.nanoTime() - started[0]) / 1e6;
        return reply;
    }

    /// What DatabaseMetaData says, under the names that the tests use.
    private static Reply catalog(Connection on, String what, String table) throws SQLException {
        DatabaseMetaData about = on.getMetaData();
        return switch (what) {
            case "catalogs" -> kept(about.getCatalogs(), "TABLE_CAT");
            case "schemas" -> kept(about.getSchemas(), "TABLE_SCHEM");
            case "tables" -> kept(about.getTables(null, "dbo", "%", null), "TABLE_NAME", "TABLE_TYPE");
            case "columns" -> kept(about.getColumns(null, "dbo", table, null),
                "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "NULLABLE");
            case "primary_keys" -> kept(about.getPrimaryKeys(null, "dbo", table), "COLUMN_NAME", "KEY_SEQ");
            case "foreign_keys" -> kept(about.getImportedKeys(null, "dbo", table),
                "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ");
            case "statistics" -> kept(about.getIndexInfo(null, "dbo", table, false, true), "INDEX_NAME", "COLUMN_NAME");
            case "row_id" -> kept(about.getBestRowIdentifier(null, "dbo", table, DatabaseMetaData.bestRowSession, true),
                "COLUMN_NAME", "TYPE_NAME");
            case "procedures" -> kept(about.getProcedures(null, "dbo", "%"), "PROCEDURE_NAME");
            case "procedure_columns" -> kept(about.getProcedureColumns(null, "dbo", table, null), "COLUMN_NAME", "TYPE_NAME");
            case "types" -> kept(about.getTypeInfo(), "TYPE_NAME");
            default -> throw new IllegalArgumentException(what);
        };
    }

    private static Reply kept(ResultSet from, String... columns) throws SQLException {
        Reply reply = new Reply();
        Rows rows = new Rows(List.of(columns), new ArrayList<>());
        try (from) {
            while (from.next()) {
                List<String> row = new ArrayList<>();
                for (String column : columns) {
                    row.add(from.getString(column));
                }
                rows.rows().add(row);
            }
        }
        reply.sets.add(rows);
        return reply;
    }

    /// What the server says of a statement's parameters, or of its columns, before it has run.
    private static Reply describe(Connection on, String sql, String what) throws SQLException {
        Reply reply = new Reply();
        try (PreparedStatement statement = on.prepareStatement(sql)) {
            if (what.equals("columns")) {
                ResultSetMetaData of = statement.getMetaData();
                Rows columns = new Rows(List.of("name", "type"), new ArrayList<>());
                for (int i = 1; i <= of.getColumnCount(); i++) {
                    columns.rows().add(List.of(of.getColumnLabel(i), of.getColumnTypeName(i)));
                }
                reply.sets.add(columns);
                return reply;
            }
            ParameterMetaData about = statement.getParameterMetaData();
            Rows parameters = new Rows(List.of("type", "precision", "scale"), new ArrayList<>());
            for (int i = 1; i <= about.getParameterCount(); i++) {
                parameters.rows().add(List.of(about.getParameterTypeName(i), String.valueOf(about.getPrecision(i)),
                    String.valueOf(about.getScale(i))));
            }
            reply.sets.add(parameters);
        }
        return reply;
    }

    /// A procedure by a call: its status, and its parameters that come back.
    private static Reply call(Connection on, Request asked) throws SQLException {
        int count = asked.parameters.size() + asked.outputs.size();
        String places = String.join(", ", Collections.nCopies(count, "?"));
        try (CallableStatement statement = on.prepareCall("{? = call " + asked.sql + "(" + places + ")}")) {
            int at = 1;
            statement.registerOutParameter(at++, Types.INTEGER);
            for (List<String> parameter : asked.parameters) {
                set((SQLServerPreparedStatement) statement, at++, parameter.get(1), parameter.get(2));
            }
            for (List<String> output : asked.outputs) {
                statement.registerOutParameter(at++, output.get(1).equals("int") ? Types.INTEGER : Types.NVARCHAR);
            }
            Reply reply = run(statement, statement::execute);
            if (reply.errors.isEmpty()) {
                reply.status = statement.getInt(1);
                for (int i = at - asked.outputs.size(); i < at; i++) {
                    reply.outputs.add(statement.getString(i));
                }
            }
            return reply;
        }
    }

    /// Rows of SQLServerBulkCopy.
    private record Copied(List<List<String>> columns, Iterator<List<String>> rows, List<List<String>> row)
        implements ISQLServerBulkData {
        @Override
        public Set<Integer> getColumnOrdinals() {
            return IntStream.rangeClosed(1, columns.size()).boxed().collect(Collectors.toCollection(TreeSet::new));
        }

        @Override
        public String getColumnName(int column) {
            return columns.get(column - 1).get(0);
        }

        @Override
        public int getColumnType(int column) {
            return switch (base(column)) {
                case "int" -> Types.INTEGER;
                case "bigint" -> Types.BIGINT;
                case "bit" -> Types.BIT;
                case "float" -> Types.DOUBLE;
                case "decimal" -> Types.DECIMAL;
                case "nvarchar" -> Types.NVARCHAR;
                case "varbinary" -> Types.VARBINARY;
                case "datetime2" -> Types.TIMESTAMP;
                case "uniqueidentifier" -> microsoft.sql.Types.GUID;
                default -> throw new IllegalArgumentException(base(column));
            };
        }

        @Override
        public int getPrecision(int column) {
            return switch (base(column)) {
                // As text.
                case "datetime2", "uniqueidentifier" -> 50;
                default -> size(column, 0);
            };
        }

        @Override
        public int getScale(int column) {
            return base(column).equals("datetime2") ? size(column, 0) : size(column, 1);
        }

        @Override
        public boolean next() {
            row.clear();
            if (rows.hasNext()) {
                row.add(rows.next());
            }
            return !row.isEmpty();
        }

        @Override
        public Object[] getRowData() {
            Object[] values = new Object[columns.size()];
            for (int i = 0; i < values.length; i++) {
                String text = row.get(0).get(i);
                values[i] = text == null ? null : value(base(i + 1), text);
            }
            return values;
        }

        private String base(int column) {
            return columns.get(column - 1).get(1).replaceAll("\\(.*", "");
        }

        private int size(int column, int at) {
            String[] sizes = columns.get(column - 1).get(1).replaceAll("[^0-9,]", "").split(",");
            return at < sizes.length && !sizes[at].isEmpty() ? Integer.parseInt(sizes[at]) : 0;
        }

        private static Object value(String base, String text) {
            return switch (base) {
                case "int" -> Integer.valueOf(text);
                case "bigint" -> Long.valueOf(text);
                case "bit" -> text.equals("1");
                case "float" -> Double.valueOf(text);
                case "decimal" -> new BigDecimal(text);
                case "varbinary" -> bytes(text);
                case "datetime2" -> Timestamp.valueOf(text);
                default -> text;
            };
        }
    }

    /// Rows by INSERT BULK.
    private static Reply bulk(Connection on, Request asked) throws SQLException {
        Reply reply = new Reply();
        try (SQLServerBulkCopy copy = new SQLServerBulkCopy(on)) {
            copy.setDestinationTableName(asked.table);
            for (List<String> column : asked.columns) {
                copy.addColumnMapping(column.get(0), column.get(0));
            }
            copy.writeToServer(new Copied(asked.columns, asked.rows.iterator(), new ArrayList<>()));
        } catch (SQLException error) {
            reply.errors.addAll(notices(error));
        }
        return reply;
    }

    /// A table-valued parameter, @p1 of a text or the only one of a procedure.
    private static Reply table(Connection on, Request asked) throws SQLException {
        SQLServerDataTable table = new SQLServerDataTable();
        for (int i = 0; i < asked.columns.size(); i++) {
            Copied of = new Copied(asked.columns, asked.rows.iterator(), new ArrayList<>());
            table.addColumnMetadata(of.getColumnName(i + 1), of.getColumnType(i + 1));
        }
        for (List<String> row : asked.rows) {
            Object[] cells = new Object[row.size()];
            for (int i = 0; i < cells.length; i++) {
                cells[i] = cell(asked.columns.get(i).get(1), row.get(i));
            }
            table.addRow(cells);
        }
        String text = asked.procedure ? "{call " + asked.sql + "(?)}" : asked.sql.replaceAll("@p\\d+", "?");
        try (PreparedStatement statement = asked.procedure ? on.prepareCall(text) : on.prepareStatement(text)) {
            ((SQLServerPreparedStatement) statement).setStructured(1, asked.type, table);
            return run(statement, statement::execute);
        }
    }

    private static Object cell(String kind, String text) {
        if (text == null) {
            return null;
        }
        return switch (kind.replaceAll("\\(.*", "")) {
            case "int" -> Integer.valueOf(text);
            case "bigint" -> Long.valueOf(text);
            case "bit" -> text.equals("1");
            case "float" -> Double.valueOf(text);
            case "decimal" -> new BigDecimal(text);
            case "varbinary" -> bytes(text);
            case "datetime2" -> Timestamp.valueOf(moment(text));
            default -> text;
        };
    }

    /// Many rows by one statement.
    private static Reply many(Connection on, Request asked) throws SQLException {
        Reply reply = new Reply();
        try (PreparedStatement statement = on.prepareStatement(asked.sql.replaceAll("@p\\d+", "?"))) {
            for (List<String> row : asked.rows) {
                for (int i = 0; i < row.size(); i++) {
                    set((SQLServerPreparedStatement) statement, i + 1, asked.kinds.get(i), row.get(i));
                }
                statement.addBatch();
            }
            for (int count : statement.executeBatch()) {
                reply.counts.add((long) count);
            }
        } catch (SQLException error) {
            reply.errors.addAll(notices(error));
        }
        return reply;
    }

    // The rows of a cursor on the server, fetched by threes: forwards, and backwards if it scrolls. A cursor that can
    // adds 1 to the second column of each row on the way, and deletes rows where that is NULL.
    private static Reply cursor(Connection on, Request asked) throws SQLException {
        boolean changes = !asked.what.equals("static");
        int type = switch (asked.what) {
            case "static" -> ResultSet.TYPE_SCROLL_INSENSITIVE;
            case "keyset" -> ResultSet.TYPE_SCROLL_SENSITIVE;
            case "dynamic" -> SQLServerResultSet.TYPE_SS_SCROLL_DYNAMIC;
            default -> SQLServerResultSet.TYPE_SS_SERVER_CURSOR_FORWARD_ONLY;
        };
        Reply reply = new Reply();
        int concurrency = changes ? ResultSet.CONCUR_UPDATABLE : ResultSet.CONCUR_READ_ONLY;
        try (PreparedStatement statement = on.prepareStatement(asked.sql, type, concurrency)) {
            statement.setInt(1, 0);
            statement.setFetchSize(3);
            try (ResultSet rows = statement.executeQuery()) {
                List<String> names = List.of(rows.getMetaData().getColumnName(1), rows.getMetaData().getColumnName(2));
                List<List<String>> there = new ArrayList<>();
                while (rows.next()) {
                    there.add(Arrays.asList(rows.getString(1), rows.getString(2)));
                    if (changes && rows.getString(2) == null) {
                        rows.deleteRow();
                    } else if (changes) {
                        rows.updateInt(2, rows.getInt(2) + 1);
                        rows.updateRow();
                    }
                }
                reply.sets.add(new Rows(names, there));
                List<List<String>> back = new ArrayList<>();
                while (!asked.what.equals("forward") && rows.previous()) {
                    if (!changes || !rows.rowDeleted()) {
                        back.add(Arrays.asList(rows.getString(1), rows.getString(2)));
                    }
                }
                reply.sets.add(new Rows(names, back));
            }
        } catch (SQLException error) {
            reply.errors.addAll(notices(error));
        }
        return reply;
    }

    private static void set(SQLServerPreparedStatement to, int i, String kind, String text) throws SQLException {
        String base = kind.replaceAll("\\(.*", "");
        String[] sizes = kind.contains("(") ? kind.replaceAll(".*\\(|\\)", "").split(",") : new String[0];
        int scale = sizes.length == 0 ? 7 : sizes[0].equals("max") ? 0 : Integer.parseInt(sizes[sizes.length - 1]);
        boolean isNull = text == null;
        switch (base) {
            case "bit" -> to.setObject(i, isNull ? null : text.equals("1"), Types.BIT);
            case "tinyint" -> to.setObject(i, isNull ? null : Short.valueOf(text), Types.TINYINT);
            case "smallint" -> to.setObject(i, isNull ? null : Short.valueOf(text), Types.SMALLINT);
            case "int" -> to.setObject(i, isNull ? null : Integer.valueOf(text), Types.INTEGER);
            case "bigint" -> to.setObject(i, isNull ? null : Long.valueOf(text), Types.BIGINT);
            case "decimal", "numeric" -> to.setBigDecimal(i, isNull ? null : new BigDecimal(text),
                Integer.parseInt(sizes[0]), scale);
            case "money" -> to.setMoney(i, isNull ? null : new BigDecimal(text));
            case "smallmoney" -> to.setSmallMoney(i, isNull ? null : new BigDecimal(text));
            case "float" -> to.setObject(i, isNull ? null : Double.valueOf(text), Types.DOUBLE);
            case "real" -> to.setObject(i, isNull ? null : Float.valueOf(text), Types.REAL);
            case "char" -> to.setObject(i, text, Types.CHAR);
            case "varchar" -> to.setObject(i, text, kind.endsWith("(max)") ? Types.LONGVARCHAR : Types.VARCHAR);
            case "nchar" -> to.setObject(i, text, Types.NCHAR);
            case "nvarchar" -> to.setObject(i, text, kind.endsWith("(max)") ? Types.LONGNVARCHAR : Types.NVARCHAR);
            case "binary" -> to.setObject(i, bytes(text), Types.BINARY);
            case "varbinary" -> to.setObject(i, bytes(text), kind.endsWith("(max)") ? Types.LONGVARBINARY : Types.VARBINARY);
            case "date" -> to.setObject(i, isNull ? null : LocalDate.parse(text), Types.DATE);
            case "time" -> to.setObject(i, isNull ? null : LocalTime.parse(text), Types.TIME, scale);
            case "datetime" -> to.setObject(i, moment(text), microsoft.sql.Types.DATETIME);
            case "smalldatetime" -> to.setObject(i, moment(text), microsoft.sql.Types.SMALLDATETIME);
            case "datetime2" -> to.setObject(i, moment(text), Types.TIMESTAMP, scale);
            case "datetimeoffset" -> to.setObject(i, isNull ? null : OffsetDateTime.parse(text.replace(' ', 'T')),
                Types.TIMESTAMP_WITH_TIMEZONE, scale);
            case "uniqueidentifier" -> to.setUniqueIdentifier(i, text);
            default -> throw new IllegalArgumentException(kind);
        }
    }

    private static LocalDateTime moment(String text) {
        return text == null ? null : LocalDateTime.parse(text.replace(' ', 'T'));
    }

    private static byte[] bytes(String text) {
        return text == null ? null : HexFormat.of().parseHex(text.substring(2));
    }

    private static Rows read(ResultSet from) throws SQLException {
        ResultSetMetaData about = from.getMetaData();
        List<String> columns = new ArrayList<>();
        for (int i = 1; i <= about.getColumnCount(); i++) {
            columns.add(about.getColumnLabel(i));
        }
        List<List<String>> rows = new ArrayList<>();
        while (from.next()) {
            List<String> row = new ArrayList<>();
            for (int i = 1; i <= columns.size(); i++) {
                row.add(text(from, i, about.getColumnTypeName(i)));
            }
            rows.add(row);
        }
        return new Rows(columns, rows);
    }

    private static String text(ResultSet from, int i, String kind) throws SQLException {
        Object value = switch (kind) {
            case "date" -> from.getObject(i, LocalDate.class);
            case "time" -> from.getObject(i, LocalTime.class);
            case "datetime", "smalldatetime", "datetime2" -> from.getObject(i, LocalDateTime.class);
            case "datetimeoffset" -> from.getObject(i, OffsetDateTime.class);
            default -> from.getObject(i);
        };
        if (value == null) {
            return null;
        }
        if (value instanceof Boolean bit) {
            return bit ? "1" : "0";
        }
        if (value instanceof byte[] bytes) {
            return "0x" + HexFormat.of().withUpperCase().formatHex(bytes);
        }
        if (value instanceof BigDecimal number) {
            return number.toPlainString();
        }
        if (value instanceof LocalDateTime || value instanceof OffsetDateTime) {
            return value.toString().replace('T', ' ').replaceFirst("Z$", "+00:00");
        }
        return value.toString();
    }
}
