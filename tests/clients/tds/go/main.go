// go-mssqldb: answers requests on stdin, one line of JSON each, as ../python/serve.py says.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/golang-sql/civil"
	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/shopspring/decimal"
)

type request struct {
	Action      string  `json:"action"`
	Name        string  `json:"name"`
	Port        int     `json:"port"`
	User        string  `json:"user"`
	Password    string  `json:"password"`
	Encryption  string  `json:"encryption"`
	Certificate *string `json:"certificate"`
	Database    *string `json:"database"`
	PacketSize  *int    `json:"packet_size"`
	SQL         string  `json:"sql"`
	// A type and a text each; of a call, a name before them.
	Parameters [][]*string `json:"parameters"`
	Outputs    [][2]string `json:"outputs"`
	// Whether the text is the name of a procedure, and the type of the table that it is given.
	Procedure bool   `json:"procedure"`
	Type      string `json:"type"`
	// Of a bulk copy or a table: names and types, and the texts of the rows.
	Table   string      `json:"table"`
	Columns [][2]string `json:"columns"`
	Rows    [][]*string `json:"rows"`
	AfterMs *int        `json:"after_ms"`
}

type notice struct {
	Text      string  `json:"text"`
	Number    *int32  `json:"number"`
	State     *uint8  `json:"state"`
	Severity  *uint8  `json:"severity"`
	Line      *int32  `json:"line"`
	Procedure *string `json:"procedure"`
}

type resultSet struct {
	Columns []string    `json:"columns"`
	Rows    [][]*string `json:"rows"`
}

type reply struct {
	Sets        []resultSet `json:"sets"`
	Counts      []int64     `json:"counts"`
	Messages    []notice    `json:"messages"`
	Errors      []notice    `json:"errors"`
	Status      *int32      `json:"status"`
	Outputs     []*string   `json:"outputs"`
	CancelledMs *float64    `json:"cancelled_ms"`
}

// connection is one connection, and the transaction that the client has begun on it.
type connection struct {
	pool        *sql.DB
	one         *sql.Conn
	transaction *sql.Tx
	dialer      *dialer
}

// dialer remembers the connection that it has made.
type dialer struct {
	net.Dialer
	made net.Conn
}

func (d *dialer) DialContext(ctx context.Context, network string, address string) (net.Conn, error) {
	made, err := d.Dialer.DialContext(ctx, network, address)
	d.made = made
	return made, err
}

var (
	connections = map[string]*connection{}
	encrypt     = map[string]string{"off": "disable", "login": "false", "on": "true", "verified": "true", "strict": "strict"}
	placeholder = regexp.MustCompile(`@p\d+`)
)

// refused is what the server said.
type refused struct{ notices []notice }

func (r refused) Error() string { return r.notices[0].Text }

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		var answer any
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		said, err := act(&asked)
		var no refused
		switch {
		case errors.As(err, &no):
			answer = map[string]any{"refused": no.notices}
		case err != nil:
			answer = map[string]any{"failed": err.Error(), "trace": ""}
		default:
			answer = map[string]any{"answer": said}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
		out.Flush()
	}
}

func act(asked *request) (*reply, error) {
	ctx := context.Background()
	if asked.Action == "connect" {
		return nil, connect(ctx, asked)
	}
	to := connections[asked.Name]
	switch asked.Action {
	case "batch":
		return run(ctx, to, asked.SQL)
	case "execute":
		arguments := make([]any, len(asked.Parameters))
		for i, parameter := range asked.Parameters {
			value, err := valueOf(*parameter[0], parameter[1])
			if err != nil {
				return nil, err
			}
			arguments[i] = value
		}
		return run(ctx, to, asked.SQL, arguments...)
	case "call":
		return call(ctx, to, asked)
	case "bulk":
		return bulk(ctx, to, asked)
	case "table":
		value, err := tableOf(asked)
		if err != nil {
			return nil, err
		}
		return run(ctx, to, asked.SQL, sql.Named("p1", mssql.TVP{TypeName: asked.Type, Value: value}))
	case "cancel":
		return cancel(to, asked)
	case "begin":
		transaction, err := to.one.BeginTx(ctx, nil)
		to.transaction = transaction
		return nil, told(err)
	case "commit":
		transaction := to.transaction
		to.transaction = nil
		return nil, told(transaction.Commit())
	case "rollback":
		transaction := to.transaction
		to.transaction = nil
		return nil, told(transaction.Rollback())
	case "close":
		delete(connections, asked.Name)
		if to.transaction != nil {
			// The pool waits for whoever has begun one, and would roll it back: here the client just leaves.
			to.dialer.made.Close()
			to.transaction.Rollback()
		}
		to.one.Close()
		return nil, to.pool.Close()
	}
	return nil, fmt.Errorf("no action %q", asked.Action)
}

func connect(ctx context.Context, asked *request) error {
	query := url.Values{}
	query.Set("encrypt", encrypt[asked.Encryption])
	query.Set("dial timeout", "20")
	if asked.Encryption == "verified" || asked.Encryption == "strict" {
		query.Set("certificate", *asked.Certificate)
	} else {
		query.Set("TrustServerCertificate", "true")
	}
	if asked.Database != nil {
		query.Set("database", *asked.Database)
	}
	if asked.PacketSize != nil {
		query.Set("packet size", strconv.Itoa(*asked.PacketSize))
	}
	where := url.URL{
		Scheme: "sqlserver", Host: fmt.Sprintf("127.0.0.1:%d", asked.Port),
		User: url.UserPassword(asked.User, asked.Password), RawQuery: query.Encode(),
	}
	connector, err := mssql.NewConnector(where.String())
	if err != nil {
		return err
	}
	dialer := &dialer{}
	connector.Dialer = dialer
	pool := sql.OpenDB(connector)
	one, err := pool.Conn(ctx)
	if err != nil {
		pool.Close()
		return told(err)
	}
	connections[asked.Name] = &connection{pool: pool, one: one, dialer: dialer}
	return nil
}

// run runs a request and keeps all that comes, in the order in which it comes.
func run(ctx context.Context, on *connection, text string, arguments ...any) (*reply, error) {
	kept := &reply{Sets: []resultSet{}, Counts: []int64{}, Messages: []notice{}, Errors: []notice{}, Outputs: []*string{}}
	messages := &sqlexp.ReturnMessage{}
	arguments = append(arguments, messages)
	var rows *sql.Rows
	var err error
	if on.transaction != nil {
		rows, err = on.transaction.QueryContext(ctx, text, arguments...)
	} else {
		rows, err = on.one.QueryContext(ctx, text, arguments...)
	}
	if err != nil {
		kept.Errors = append(kept.Errors, notices(err)...)
		return kept, nil
	}
	defer rows.Close()
	for active := true; active; {
		switch message := messages.Message(ctx).(type) {
		case sqlexp.MsgNotice:
			if said, is := message.Message.(mssql.Error); is {
				kept.Messages = append(kept.Messages, notices(said)...)
			} else {
				kept.Messages = append(kept.Messages, notice{Text: message.Message.String()})
			}
		case sqlexp.MsgError:
			kept.Errors = append(kept.Errors, notices(message.Error)...)
		case sqlexp.MsgRowsAffected:
			kept.Counts = append(kept.Counts, message.Count)
		case sqlexp.MsgNext:
			set, err := readSet(rows)
			if err != nil {
				kept.Errors = append(kept.Errors, notices(err)...)
			}
			kept.Sets = append(kept.Sets, set)
		case sqlexp.MsgNextResultSet:
			active = rows.NextResultSet()
		}
	}
	if err := rows.Err(); err != nil && len(kept.Errors) == 0 {
		kept.Errors = append(kept.Errors, notices(err)...)
	}
	return kept, nil
}

func readSet(rows *sql.Rows) (resultSet, error) {
	set := resultSet{Rows: [][]*string{}}
	kinds, err := rows.ColumnTypes()
	if err != nil {
		return set, err
	}
	for _, kind := range kinds {
		set.Columns = append(set.Columns, kind.Name())
	}
	for rows.Next() {
		cells := make([]any, len(kinds))
		places := make([]any, len(kinds))
		for i := range cells {
			places[i] = &cells[i]
		}
		if err := rows.Scan(places...); err != nil {
			return set, err
		}
		row := make([]*string, len(kinds))
		for i, cell := range cells {
			row[i] = textOf(kinds[i].DatabaseTypeName(), cell)
		}
		set.Rows = append(set.Rows, row)
	}
	return set, rows.Err()
}

// call runs a procedure by its name: what comes is its status, and its parameters that come back.
func call(ctx context.Context, on *connection, asked *request) (*reply, error) {
	var status mssql.ReturnStatus
	arguments := []any{&status}
	for _, parameter := range asked.Parameters {
		value, err := valueOf(*parameter[1], parameter[2])
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, sql.Named(*parameter[0], value))
	}
	numbers := make([]sql.NullInt64, len(asked.Outputs))
	texts := make([]sql.NullString, len(asked.Outputs))
	for i, output := range asked.Outputs {
		var place any = &texts[i]
		if output[1] == "int" {
			place = &numbers[i]
		}
		arguments = append(arguments, sql.Named(output[0], sql.Out{Dest: place}))
	}
	kept, err := run(ctx, on, asked.SQL, arguments...)
	if err != nil || len(kept.Errors) > 0 {
		return kept, err
	}
	code := int32(status)
	kept.Status = &code
	for i, output := range asked.Outputs {
		var value any
		if output[1] == "int" && numbers[i].Valid {
			value = numbers[i].Int64
		} else if output[1] != "int" && texts[i].Valid {
			value = texts[i].String
		}
		kept.Outputs = append(kept.Outputs, textOf("", value))
	}
	return kept, nil
}

// bulk copies rows: the driver asks for the columns by SET FMTONLY, and sends INSERT BULK.
func bulk(ctx context.Context, on *connection, asked *request) (*reply, error) {
	kept := &reply{Sets: []resultSet{}, Counts: []int64{}, Messages: []notice{}, Errors: []notice{}, Outputs: []*string{}}
	names := make([]string, len(asked.Columns))
	for i, column := range asked.Columns {
		names[i] = column[0]
	}
	copied, err := copyRows(ctx, on, asked, mssql.CopyIn(asked.Table, mssql.BulkOptions{}, names...))
	if err != nil {
		kept.Errors = append(kept.Errors, notices(err)...)
	} else {
		kept.Counts = append(kept.Counts, copied)
	}
	return kept, nil
}

func copyRows(ctx context.Context, on *connection, asked *request, text string) (int64, error) {
	statement, err := on.one.PrepareContext(ctx, text)
	if err != nil {
		return 0, err
	}
	defer statement.Close()
	for _, row := range asked.Rows {
		values := make([]any, len(row))
		for i, text := range row {
			if values[i], err = copied(asked.Columns[i][1], text); err != nil {
				return 0, err
			}
		}
		if _, err := statement.ExecContext(ctx, values...); err != nil {
			return 0, err
		}
	}
	result, err := statement.ExecContext(ctx)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// tableOf is the rows of a table-valued parameter: a slice of a struct with a field for each column.
func tableOf(asked *request) (any, error) {
	fields := make([]reflect.StructField, len(asked.Columns))
	for i, column := range asked.Columns {
		base, _, _ := strings.Cut(column[1], "(")
		fields[i] = reflect.StructField{Name: strings.ToUpper(column[0]), Type: fieldOf(base)}
	}
	row := reflect.StructOf(fields)
	rows := reflect.MakeSlice(reflect.SliceOf(row), len(asked.Rows), len(asked.Rows))
	for at, texts := range asked.Rows {
		for i, text := range texts {
			field := rows.Index(at).Field(i)
			if text == nil {
				continue
			}
			base, _, _ := strings.Cut(asked.Columns[i][1], "(")
			value, err := plain(base, text)
			if err != nil {
				return nil, err
			}
			if field.Kind() != reflect.Pointer {
				field.Set(reflect.ValueOf(value))
				continue
			}
			place := reflect.New(field.Type().Elem())
			place.Elem().Set(reflect.ValueOf(value))
			field.Set(place)
		}
	}
	return rows.Interface(), nil
}

// fieldOf is the type of a field, whose zero is NULL. What Go has no plain type for is sent as text.
func fieldOf(base string) reflect.Type {
	switch base {
	case "bit":
		return reflect.TypeFor[*bool]()
	case "int", "bigint":
		return reflect.TypeFor[*int64]()
	case "float":
		return reflect.TypeFor[*float64]()
	case "datetime2":
		return reflect.TypeFor[*time.Time]()
	case "varbinary":
		return reflect.TypeFor[[]byte]()
	}
	return reflect.TypeFor[*string]()
}

func plain(base string, text *string) (any, error) {
	switch base {
	case "bit", "int", "bigint", "float", "varbinary":
		return valueOf(base, text)
	case "datetime2":
		return time.Parse("2006-01-02 15:04:05", *text)
	}
	return *text, nil
}

// copied is a value as a bulk copy takes it: of the plain types alone.
func copied(kind string, text *string) (any, error) {
	if text == nil {
		return nil, nil
	}
	switch base, _, _ := strings.Cut(kind, "("); base {
	case "decimal", "nvarchar":
		return *text, nil
	case "datetime2":
		return time.Parse("2006-01-02 15:04:05", *text)
	case "uniqueidentifier":
		var id mssql.UniqueIdentifier
		if err := id.Scan(*text); err != nil {
			return nil, err
		}
		// In the order of the wire.
		return id.Value()
	}
	return valueOf(kind, text)
}

// cancel ends the context of a request: the driver sends ATTENTION then.
func cancel(on *connection, asked *request) (*reply, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var started time.Time
	kept := &reply{Sets: []resultSet{}, Counts: []int64{}, Messages: []notice{}, Errors: []notice{}, Outputs: []*string{}}
	if asked.AfterMs != nil {
		time.AfterFunc(time.Duration(*asked.AfterMs)*time.Millisecond, func() {
			started = time.Now()
			stop()
		})
	}
	rows, err := on.one.QueryContext(ctx, asked.SQL)
	if err == nil {
		if asked.AfterMs == nil {
			rows.Next()
			started = time.Now()
			stop()
		}
		for rows.Next() || rows.NextResultSet() {
		}
		err = rows.Err()
		rows.Close()
	}
	if err != nil {
		kept.Errors = append(kept.Errors, notices(err)...)
	}
	took := float64(time.Since(started).Microseconds()) / 1000
	kept.CancelledMs = &took
	return kept, nil
}

// told is an error as the server said it, if it did.
func told(err error) error {
	var said mssql.Error
	if errors.As(err, &said) {
		return refused{notices(said)}
	}
	return err
}

func notices(err error) []notice {
	var said mssql.Error
	if !errors.As(err, &said) {
		return []notice{{Text: err.Error()}}
	}
	all := said.All
	if len(all) == 0 {
		all = []mssql.Error{said}
	}
	var found []notice
	for _, one := range all {
		procedure := one.ProcName
		found = append(found, notice{one.Message, &one.Number, &one.State, &one.Class, &one.LineNo, &procedure})
	}
	return found
}

func valueOf(kind string, text *string) (any, error) {
	base, _, _ := strings.Cut(kind, "(")
	if text == nil {
		return nothing(base), nil
	}
	switch base {
	case "bit":
		return *text == "1", nil
	case "tinyint", "smallint", "int", "bigint":
		return strconv.ParseInt(*text, 10, 64)
	case "decimal", "numeric":
		return decimal.NewFromString(*text)
	case "money", "smallmoney":
		amount, err := decimal.NewFromString(*text)
		return mssql.Money[decimal.Decimal]{Decimal: amount}, err
	case "float", "real":
		return strconv.ParseFloat(*text, 64)
	case "char", "varchar":
		// The driver's own types for these send Go's UTF-8, whatever the code page is.
		return *text, nil
	case "nchar":
		return mssql.NChar(*text), nil
	case "nvarchar":
		if strings.Contains(kind, "max") {
			return mssql.NVarCharMax(*text), nil
		}
		return *text, nil
	case "binary", "varbinary":
		return hex.DecodeString((*text)[2:])
	case "date":
		return civil.ParseDate(*text)
	case "time":
		return civil.ParseTime(*text)
	case "datetime", "smalldatetime":
		moment, err := time.Parse("2006-01-02 15:04:05", *text)
		return mssql.DateTime1(moment), err
	case "datetime2":
		return civil.ParseDateTime(strings.Replace(*text, " ", "T", 1))
	case "datetimeoffset":
		moment, err := time.Parse("2006-01-02 15:04:05-07:00", *text)
		return mssql.DateTimeOffset(moment), err
	case "uniqueidentifier":
		var id mssql.UniqueIdentifier
		return id, id.Scan(*text)
	}
	return nil, fmt.Errorf("no value for %q", kind)
}

// nothing is the NULL of a type, as far as the driver has one.
func nothing(base string) any {
	switch base {
	case "bit":
		return sql.NullBool{}
	case "tinyint", "smallint", "int", "bigint":
		return sql.NullInt64{}
	case "float", "real":
		return sql.NullFloat64{}
	case "binary", "varbinary":
		return []byte(nil)
	case "datetime2", "date":
		return sql.NullTime{}
	}
	// Of uniqueidentifier too: for its NULL the driver says that no bytes follow, and sends 16.
	return sql.NullString{}
}

func textOf(kind string, value any) *string {
	if value == nil {
		return nil
	}
	text := ""
	switch value := value.(type) {
	case bool:
		text = "0"
		if value {
			text = "1"
		}
	case int64:
		text = strconv.FormatInt(value, 10)
	case float64:
		bits := 64
		if kind == "REAL" {
			bits = 32
		}
		text = strconv.FormatFloat(value, 'g', -1, bits)
	case string:
		text = value
	case []byte:
		switch kind {
		case "DECIMAL", "MONEY", "SMALLMONEY":
			text = string(value)
		case "UNIQUEIDENTIFIER":
			var id mssql.UniqueIdentifier
			if err := id.Scan(value); err != nil {
				panic(err)
			}
			text = id.String()
		default:
			text = "0x" + strings.ToUpper(hex.EncodeToString(value))
		}
	case time.Time:
		switch kind {
		case "DATE":
			text = value.Format("2006-01-02")
		case "TIME":
			text = value.Format("15:04:05.0000000")
		case "DATETIMEOFFSET":
			text = value.Format("2006-01-02 15:04:05.0000000-07:00")
		default:
			text = value.Format("2006-01-02 15:04:05.0000000")
		}
	case *big.Int:
		text = value.String()
	default:
		text = fmt.Sprint(value)
	}
	return &text
}
