//! An object store with injected faults. It implements S3's documented behaviour for the requests
//! of this crate, and checks no signature.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use super::listen;

/// A fault of one request.
pub enum Fault {
    /// The connection ends without any effect.
    Closes,
    /// The request takes effect, and the connection ends.
    Loses,
    /// No effect, and no response.
    Hangs,
    /// The request takes effect, without a response.
    LosesLate,
    /// Another writer's object is written in its place, and the connection ends.
    Overtaken(Vec<u8>),
    /// A response with this status and S3 code, without any effect.
    Says(u16, &'static str),
    /// A redirection.
    Redirects(String),
    /// A success status, with less of the body than was promised.
    Short(usize),
    /// The body is sent in chunks, without a length.
    Chunked,
    /// A successful response of a server that is no object store.
    Stranger,
    /// The request takes effect, and this header of the response has another value.
    Header(&'static str, &'static str),
}

/// Permanent properties of the store.
#[derive(Default)]
pub struct Habits {
    /// Whether it overwrites existing objects.
    pub writes_over: bool,
    /// The number of objects in one page of a list; 0: all.
    pub page_size: usize,
    /// Whether each page is followed by the first one.
    pub lists_in_circles: bool,
    /// Whether it reports that there is more, without a token.
    pub lists_without_token: bool,
    /// An additional listed name.
    pub lists_strange: Option<&'static str>,
}

/// A received request.
#[derive(Clone)]
pub struct Asked {
    /// `PUT`, `GET` and so on.
    pub method: String,
    /// The path and query.
    pub target: String,
    /// The headers by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The size of the body.
    pub size: usize,
}

#[derive(Default)]
pub struct State {
    /// Objects by path.
    pub objects: BTreeMap<String, Vec<u8>>,
    /// The requests received so far.
    pub asked: Vec<Asked>,
    /// The faults of the next requests, except those for the probe.
    pub faults: VecDeque<Fault>,
    habits: Habits,
}

pub struct FaultyStore {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

impl FaultyStore {
    pub fn start(habits: Habits) -> Self {
        let listener = listen();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State {
            habits,
            ..State::default()
        }));
        let shared = Arc::clone(&state);
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Injects faults into the next requests.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }

    /// The number of requests with that method, except the first writes of the probe.
    pub fn count(&self, method: &str) -> usize {
        let is = |asked: &&Asked| asked.method == method && !asked.target.ends_with("/.writes-once");
        self.state().asked.iter().filter(is).count()
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    while let Some((asked, body)) = read(&mut reader) {
        let is_probe = asked.target.ends_with("/.writes-once");
        let mut locked = state.lock().unwrap();
        locked.asked.push(asked.clone());
        let fault = if is_probe { None } else { locked.faults.pop_front() };
        let stream = reader.get_mut();
        let write = |stream: &mut TcpStream, answer: Answer| stream.write_all(&answer.bytes()).is_ok();
        let goes_on = match fault {
            None => write(stream, locked.answer(&asked, body)),
            Some(Fault::Closes) => false,
            Some(Fault::Loses) => {
                locked.answer(&asked, body);
                false
            }
            Some(Fault::Overtaken(bytes)) => {
                locked.objects.insert(asked.target.clone(), bytes);
                false
            }
            Some(Fault::Hangs) => {
                drop(locked);
                wait(stream);
                false
            }
            Some(Fault::LosesLate) => {
                locked.answer(&asked, body);
                drop(locked);
                wait(stream);
                false
            }
            Some(Fault::Says(status, code)) => {
                // Like the real one it repeats the signed text; the secret represents anything that
                // must not be shown.
                let body = format!(
                    "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>As told.</Message><StringToSign>{}</StringToSign></Error>",
                    super::SECRET
                );
                write(stream, Answer::new(status, body.into_bytes()))
            }
            Some(Fault::Redirects(to)) => write(stream, Answer::new(307, Vec::new()).with("location", &to)),
            Some(Fault::Short(missing)) => {
                let bytes = locked.answer(&asked, body).bytes();
                let _ = stream.write_all(&bytes[..bytes.len() - missing]);
                false
            }
            Some(Fault::Chunked) => {
                let answer =
                    b"HTTP/1.1 200 OK\r\netag: \"x\"\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
                let _ = stream.write_all(answer);
                false
            }
            Some(Fault::Stranger) => write(stream, Answer::new(200, b"<html>Please log in</html>".to_vec())),
            Some(Fault::Header(name, value)) => write(stream, locked.answer(&asked, body).with(name, value)),
        };
        if !goes_on {
            return;
        }
    }
}

/// Waits until the client has closed the connection.
fn wait(stream: &mut TcpStream) {
    let mut byte = [0];
    while stream.read(&mut byte).is_ok_and(|size| size > 0) {}
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<(Asked, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let size = headers.get("content-length").map_or(0, |size| size.parse().unwrap());
    let mut body = vec![0; size];
    reader.read_exact(&mut body).ok()?;
    let asked = Asked {
        method,
        target,
        headers,
        size,
    };
    Some((asked, body))
}

impl State {
    fn answer(&mut self, asked: &Asked, body: Vec<u8>) -> Answer {
        let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
        match asked.method.as_str() {
            "PUT" => {
                let is_new = asked.headers.get("if-none-match").is_some_and(|tag| tag == "*");
                if is_new && !self.habits.writes_over && self.objects.contains_key(path) {
                    return Answer::error(412, "PreconditionFailed");
                }
                self.objects.insert(path.to_owned(), body);
                Answer::new(200, Vec::new())
            }
            "GET" if query.is_empty() => match self.objects.get(path) {
                Some(bytes) => Answer::new(200, bytes.clone()),
                None => Answer::error(404, "NoSuchKey"),
            },
            "GET" => Answer::new(200, self.list(path, query).into_bytes()),
            "DELETE" => match self.objects.remove(path) {
                Some(_) => Answer::new(204, Vec::new()),
                None => Answer::error(404, "NoSuchKey"),
            },
            method => panic!("{method}"),
        }
    }

    fn list(&self, bucket: &str, query: &str) -> String {
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.replace("%2F", "/"))
        };
        let prefix = value("prefix").unwrap_or_default();
        let bucket = format!("{}/", bucket.trim_end_matches('/'));
        let mut names: Vec<&str> = self
            .objects
            .keys()
            .map(|path| path.strip_prefix(&bucket).unwrap())
            .collect();
        names.retain(|name| name.starts_with(&prefix));
        names.extend(self.habits.lists_strange);
        let from: usize = value("continuation-token").map_or(0, |token| token.trim_start_matches('t').parse().unwrap());
        let size = if self.habits.page_size == 0 {
            names.len()
        } else {
            self.habits.page_size
        };
        let page = &names[from.min(names.len())..(from + size).min(names.len())];
        let mut text = String::from("<?xml version=\"1.0\"?><ListBucketResult>");
        for name in page {
            let size = self.objects.get(&format!("{bucket}{name}")).map_or(0, Vec::len);
            text += &format!(
                "<Contents><Key>{name}</Key><LastModified>2026-11-22T01:00:00.000Z</LastModified><ETag>x</ETag><Size>{size}</Size></Contents>"
            );
        }
        let next = if self.habits.lists_in_circles { 0 } else { from + size };
        if self.habits.lists_without_token {
            text += "<IsTruncated>true</IsTruncated>";
        } else if next < names.len() {
            text += &format!("<IsTruncated>true</IsTruncated><NextContinuationToken>t{next}</NextContinuationToken>");
        }
        text + "</ListBucketResult>"
    }
}

struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: u16, body: Vec<u8>) -> Self {
        let mut answer = Self {
            status,
            headers: Vec::new(),
            body,
        };
        // A server that is no object store has no ETags.
        if !answer.body.starts_with(b"<html>") {
            answer = answer
                .with("etag", "\"wrong\"")
                .with("last-modified", "Sun, 22 Nov 2026 01:00:00 GMT");
        }
        answer
    }

    fn error(status: u16, code: &str) -> Self {
        Self::new(status, format!("<Error><Code>{code}</Code></Error>").into_bytes())
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = format!("HTTP/1.1 {} As told\r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend(format!("{name}: {value}\r\n").bytes());
        }
        if self.status != 204 {
            bytes.extend(format!("content-length: {}\r\n", self.body.len()).bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(self.body);
        bytes
    }
}
