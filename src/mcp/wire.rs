//! One message a line, in and out: the transport under the SDK.
//!
//! A thread of its own reads, so that waiting for a client costs nothing; what is written is
//! written at once. The SDK's own transport would do but for three things: it answers a request it
//! cannot read without the request's id, it ends when the first message is a notification, and it
//! says nothing to a line that is no JSON.
//!
//! Invariants: a line is bounded, so is what is read ahead; whatever arrives, the next line is
//! read; a notification is never answered.

use std::future::ready;
use std::io::{self, BufRead, BufReader, Read, Write};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta as _, JsonRpcMessage, RequestId,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Longest line that is read, in bytes. A request is an id or a question; the longest text that a
/// record may have is 1 MiB, and JSON spells a character in six at most where it is not hostile.
const LINE_MAX_BYTES: u64 = 4 << 20;

/// Lines that are read before they are asked for: what a client sends in one go.
const AHEAD: usize = 16;

/// The methods that are answered and take something.
const SERVED: [&str; 8] = [
    "initialize",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];

/// A line, without its end.
enum Line {
    Whole(Vec<u8>),
    /// The input ended in it.
    Cut(Vec<u8>),
    /// Longer than is read; it was passed over.
    Long,
}

/// The two streams, as the SDK wants them.
pub(super) struct Lines {
    input: Receiver<Line>,
    output: Box<dyn Write + Send>,
    /// A request came that settles how the two talk; the SDK gives up on anything else before it.
    opened: bool,
}

impl Lines {
    /// Starts to read.
    ///
    /// # Errors
    /// No thread to be had.
    pub fn new(input: Box<dyn Read + Send>, output: Box<dyn Write + Send>) -> io::Result<Self> {
        let (to, from) = channel(AHEAD);
        let reader = std::thread::Builder::new().name("mcp-input".into());
        reader.spawn(move || read(input, &to))?;
        Ok(Self { input: from, output, opened: false })
    }

    fn write(&mut self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let written = self.output.write_all(&line).and_then(|()| self.output.flush());
        if written.is_err() {
            // Nobody reads us any more: as if the input had ended.
            self.input.close();
        }
        written
    }

    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        // A failed write has closed the input, which ends the run.
        let _ = self.write(&JsonRpcMessage::error(error, id));
    }

    /// The message of a line, unless it is one that is answered or passed over here.
    fn message(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let message = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(_) => {
                let (error, id) = fault(serde_json::from_slice(line))?;
                self.refuse(error, id);
                return None;
            }
        };
        match &message {
            JsonRpcMessage::Request(request) => {
                if let ClientRequest::CustomRequest(custom) = &request.request
                    && SERVED.contains(&custom.method.as_str())
                {
                    // The SDK takes what does not fit a method for another method.
                    let (method, id) = (custom.method.clone(), request.id.clone());
                    self.refuse(misfit(&method), Some(id));
                    return None;
                }
                let opens = match &request.request {
                    ClientRequest::InitializeRequest(_) => true,
                    ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
                    other => other.get_meta().protocol_version().is_some(),
                };
                self.opened |= opens;
                Some(message)
            }
            _ if self.opened => Some(message),
            _ => None,
        }
    }
}

fn misfit(method: &str) -> ErrorData {
    ErrorData::invalid_params(format!("the params of {method} have another shape"), None)
}

/// What is wrong with a line that is no message, and whom to tell; none if nobody waits.
fn fault(line: Result<Value, serde_json::Error>) -> Option<(ErrorData, Option<RequestId>)> {
    let value = match line {
        Ok(value) => value,
        Err(error) => {
            return Some((ErrorData::parse_error(format!("no JSON: {error}"), None), None));
        }
    };
    if value.is_array() {
        let message = "batches are not read: send one message a line";
        return Some((ErrorData::invalid_request(message, None), None));
    }
    let method = value.get("method").and_then(Value::as_str);
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let error = match (method, &id) {
        (Some(_), None) if value.get("id").is_none() => return None,
        (Some(method), Some(_)) => misfit(method),
        _ => ErrorData::invalid_request("neither a request nor a notification", None),
    };
    Some((error, id))
}

/// Reads lines until the input ends or nobody wants them.
fn read(input: Box<dyn Read + Send>, lines: &Sender<Line>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LINE_MAX_BYTES + 1).read_until(b'\n', &mut line);
        let line = match (read, line.pop()) {
            (Err(_), _) | (_, None) => return,
            (_, Some(b'\n')) => Line::Whole(line),
            (_, Some(_)) if line.len() as u64 == LINE_MAX_BYTES => {
                if input.skip_until(b'\n').is_err() {
                    return;
                }
                Line::Long
            }
            (_, Some(last)) => {
                line.push(last);
                Line::Cut(line)
            }
        };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        ready(self.write(&message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = match self.input.recv().await? {
                Line::Whole(line) => self.message(&line),
                // What was cut off is no fault to speak of.
                Line::Cut(line) if serde_json::from_slice::<Value>(&line).is_err() => None,
                Line::Cut(line) => self.message(&line),
                Line::Long => {
                    let message = format!("a line has {LINE_MAX_BYTES} bytes at most");
                    self.refuse(ErrorData::invalid_request(message, None), None);
                    None
                }
            };
            if message.is_some() {
                return message;
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        self.input.close();
        ready(self.output.flush())
    }
}
