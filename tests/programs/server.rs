//! A model server on 127.0.0.1 that answers from a script, in the protocol that it is asked in.
//!
//! It is as dumb as can be: one thread a connection, one answer a connection, and nothing remembered but the requests.
//! Which turn of the script a request is at is seen from the request itself: from the tool results that it holds.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::protocol::Protocol;
use crate::script::Turn;

/// The longest request that is read.
const REQUEST_LIMIT: u64 = 64 << 20;
/// How long a program may take to send a request that it began.
const READ_LIMIT: Duration = Duration::from_secs(60);

/// A running model server. It ends with the process.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

/// What the connections share.
struct Shared {
    turns: Vec<Turn>,
    requests: Vec<Request>,
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub body: Value,
}

/// An answer as it goes out.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub content_type: &'static str,
    pub body: String,
}

impl Response {
    /// A document.
    pub fn json(status: u16, body: &Value) -> Response {
        Response {
            status,
            headers: Vec::new(),
            content_type: "application/json",
            body: body.to_string(),
        }
    }

    /// A stream of server-sent events, as `(name, data)`; a name that is empty is left out.
    pub fn events(events: &[(&str, Value)]) -> Response {
        let line = |(name, data): &(&str, Value)| match *name {
            "" => format!("data: {data}\n\n"),
            name => format!("event: {name}\ndata: {data}\n\n"),
        };
        Response {
            status: 200,
            headers: Vec::new(),
            content_type: "text/event-stream",
            body: events.iter().map(line).collect(),
        }
    }
}

impl Server {
    /// Starts a server whose model does these turns.
    pub fn start(turns: Vec<Turn>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Server::on(listener, turns)
    }

    /// Starts a server on a listener.
    pub fn on(listener: TcpListener, turns: Vec<Turn>) -> Server {
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new(Shared {
            turns,
            requests: Vec::new(),
        }));
        let of_connections = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&of_connections);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Server { address, shared }
    }

    /// The address as programs are told it, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().unwrap().requests.clone()
    }

    /// Lets the model do these turns from now on.
    pub fn now_does(&self, turns: Vec<Turn>) {
        self.shared.lock().unwrap().turns = turns;
    }
}

/// Answers one request. A connection that breaks is the program's own affair.
fn serve(stream: TcpStream, shared: &Mutex<Shared>) {
    let _ = stream.set_read_timeout(Some(READ_LIMIT));
    let mut reader = BufReader::new(&stream);
    let Some(request) = read(&mut reader) else {
        return;
    };
    let turns = {
        let mut shared = shared.lock().unwrap();
        shared.requests.push(request.clone());
        shared.turns.clone()
    };
    let _ = write(&stream, &answer(&request, &turns));
}

/// Returns what the model says to a request.
fn answer(request: &Request, turns: &[Turn]) -> Response {
    if request.method == "GET" && request.path.ends_with("/models") {
        let model =
            json!({"id": "scripted", "object": "model", "created": 0, "owned_by": "nobody"});
        return Response::json(
            200,
            &json!({"object": "list", "data": [model], "models": []}),
        );
    }
    match Protocol::of(&request.path) {
        Some(protocol) if request.method == "POST" => protocol.answer(request, turns),
        Some(_) | None => Response::json(404, &json!({"error": {"message": "not found"}})),
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let first = read_line(reader)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let line = read_line(reader)?.to_ascii_lowercase();
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        match (name, value.trim()) {
            ("content-length", value) => length = value.parse().ok()?,
            ("transfer-encoding", "chunked") => is_chunked = true,
            _ => {}
        }
    }
    let body = if is_chunked {
        read_chunks(reader)?
    } else {
        read_bytes(reader, length)?
    };
    Some(Request {
        method,
        path,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

fn read_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let count = reader.take(1 << 16).read_line(&mut line).ok()?;
    (count > 0).then(|| line.trim_end().to_owned())
}

fn read_bytes(reader: &mut impl BufRead, length: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = reader
        .take(length.min(REQUEST_LIMIT))
        .read_to_end(&mut bytes)
        .ok()?;
    (count as u64 == length).then_some(bytes)
}

fn read_chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let length = u64::from_str_radix(read_line(reader)?.trim(), 16).ok()?;
        let chunk = read_bytes(reader, length)?;
        read_line(reader)?;
        if length == 0 {
            return Some(bytes);
        }
        bytes.extend(chunk);
    }
}

fn write(mut stream: &TcpStream, response: &Response) -> std::io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} Scripted\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n",
        response.status,
        response.content_type,
        response.body.len()
    );
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{}", response.body).as_bytes())?;
    stream.flush()
}
