//! tiberius: answers requests on stdin, one line of JSON each, as ../python/serve.py says.

#![forbid(unsafe_code)]

mod value;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use serde_json::{Value, json};
use tiberius::error::{Error, TokenError};
use tiberius::{AuthMethod, Client, Config, EncryptionLevel, Query, QueryItem, QueryStream, TokenRow};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

type Connection = Client<Compat<TcpStream>>;
type Answer = Result<Value, Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut connections = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let answer = match act(&mut connections, &asked).await {
            Ok(answer) => json!({ "answer": answer }),
            Err(Error::Server(error)) => json!({ "refused": [notice(&error)] }),
            Err(error) => json!({ "failed": error.to_string(), "trace": format!("{error:?}") }),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("a reader");
    }
}

async fn act(connections: &mut HashMap<String, Connection>, asked: &Value) -> Answer {
    let name = text(asked, "name").to_owned();
    if asked["action"] == "connect" {
        connections.insert(name, connect(asked).await?);
        return Ok(Value::Null);
    }
    if asked["action"] == "close" {
        let connection = connections.remove(&name).expect("a connection");
        connection.close().await?;
        return Ok(Value::Null);
    }
    let connection = connections.get_mut(&name).expect("a connection");
    match text(asked, "action") {
        "batch" => run(connection.simple_query(text(asked, "sql")).await).await,
        "execute" => {
            let mut query = Query::new(text(asked, "sql").replace("@p", "@P"));
            for parameter in asked["parameters"].as_array().expect("parameters") {
                let kind = parameter[0].as_str().expect("a type");
                value::bind(&mut query, kind, parameter[1].as_str());
            }
            run(query.query(connection).await).await
        }
        "bulk" => bulk(connection, asked).await,
        "cancel" => cancel(connection, asked).await,
        "begin" => connection.begin_transaction().await.map(|()| Value::Null),
        "commit" => connection.commit_transaction().await.map(|()| Value::Null),
        "rollback" => connection.rollback_transaction().await.map(|()| Value::Null),
        other => panic!("no action {other}"),
    }
}

async fn connect(asked: &Value) -> Result<Connection, Error> {
    let mut config = Config::new();
    // The certificate names it; an address is no name that TLS asks for.
    config.host("localhost");
    config.port(u16::try_from(asked["port"].as_u64().expect("a port")).expect("a port"));
    config.authentication(AuthMethod::sql_server(text(asked, "user"), text(asked, "password")));
    let (level, is_checked) = match text(asked, "encryption") {
        "off" => (EncryptionLevel::NotSupported, false),
        "login" => (EncryptionLevel::Off, false),
        "on" => (EncryptionLevel::Required, false),
        "verified" => (EncryptionLevel::Required, true),
        "strict" => (EncryptionLevel::Strict, true),
        other => panic!("no encryption {other}"),
    };
    config.encryption(level);
    if is_checked {
        config.trust_cert_ca(text(asked, "certificate"));
    } else {
        config.trust_cert();
    }
    if let Some(database) = asked["database"].as_str() {
        config.database(database);
    }
    if let Some(size) = asked["packet_size"].as_u64() {
        config.packet_size(u32::try_from(size).expect("a size"));
    }
    let stream = TcpStream::connect(("127.0.0.1", config_port(asked))).await?;
    stream.set_nodelay(true)?;
    Client::connect(config, stream.compat_write()).await
}

fn config_port(asked: &Value) -> u16 {
    asked["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("a port")
}

/// All that came. The driver tells of no counts in a query, and of messages only in its log.
async fn run(started: Result<QueryStream<'_>, Error>) -> Answer {
    let mut sets: Vec<Value> = Vec::new();
    let mut rows: Vec<Value> = Vec::new();
    let mut columns: Option<Vec<String>> = None;
    let mut errors = Vec::new();
    match started {
        Ok(mut stream) => loop {
            match stream.try_next().await {
                Ok(Some(QueryItem::Metadata(metadata))) => {
                    if let Some(columns) = columns.take() {
                        sets.push(json!({ "columns": columns, "rows": std::mem::take(&mut rows) }));
                    }
                    columns = Some(metadata.columns().iter().map(|column| column.name().to_owned()).collect());
                }
                Ok(Some(QueryItem::Row(row))) => {
                    let cells: Vec<Option<String>> = row.into_iter().map(value::text_of).collect();
                    rows.push(json!(cells));
                }
                Ok(None) => break,
                Err(error) => {
                    errors.push(failed(error)?);
                    break;
                }
            }
        },
        Err(error) => errors.push(failed(error)?),
    }
    if let Some(columns) = columns {
        sets.push(json!({ "columns": columns, "rows": rows }));
    }
    Ok(json!({ "sets": sets, "counts": [], "messages": [], "errors": errors, "status": null, "outputs": [] }))
}

/// Rows by INSERT BULK.
async fn bulk(connection: &mut Connection, asked: &Value) -> Answer {
    let columns = asked["columns"].as_array().expect("columns");
    let copied = async {
        let mut load = connection.bulk_insert(text(asked, "table")).await?;
        for row in asked["rows"].as_array().expect("rows") {
            let mut sent = TokenRow::new();
            for (column, value) in columns.iter().zip(row.as_array().expect("a row")) {
                sent.push(value::data_of(column[1].as_str().expect("a type"), value.as_str()));
            }
            load.send(sent).await?;
        }
        load.finalize().await
    };
    let (counts, errors) = match copied.await {
        Ok(done) => (vec![done.total()], vec![]),
        Err(error) => (vec![], vec![failed(error)?]),
    };
    Ok(json!({ "sets": [], "counts": counts, "messages": [], "errors": errors, "status": null, "outputs": [] }))
}

/// Stops reading, and tells the server so.
async fn cancel(connection: &mut Connection, asked: &Value) -> Answer {
    let mut errors = Vec::new();
    match asked["after_ms"].as_u64() {
        Some(after_ms) => {
            let run = async {
                let mut stream = connection.simple_query(text(asked, "sql")).await?;
                while stream.try_next().await?.is_some() {}
                Ok::<_, Error>(())
            };
            if let Ok(ended) = tokio::time::timeout(Duration::from_millis(after_ms), run).await {
                panic!("it ended: {ended:?}");
            }
        }
        None => {
            let mut stream = connection.simple_query(text(asked, "sql")).await?;
            while !matches!(stream.try_next().await?, Some(QueryItem::Row(_)) | None) {}
        }
    }
    let started = Instant::now();
    if let Err(error) = connection.cancel_query().await {
        errors.push(failed(error)?);
    }
    let took_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(json!({ "sets": [], "counts": [], "messages": [], "errors": errors, "status": null, "outputs": [], "cancelled_ms": took_ms }))
}

fn failed(error: Error) -> Answer {
    match error {
        Error::Server(error) => Ok(notice(&error)),
        error => Err(error),
    }
}

fn notice(error: &TokenError) -> Value {
    json!({
        "text": error.message(), "number": error.code(), "state": error.state(), "severity": error.class(),
        "line": error.line(), "procedure": error.procedure(),
    })
}

fn text<'a>(asked: &'a Value, key: &str) -> &'a str {
    asked[key].as_str().expect("a text")
}
