//! JSON-RPC 2.0: parses the text of a message into a request, a response, or the answer to a
//! message that is neither.
//!
//! A reader that keeps no stack decides whether a message is JSON, so that no nesting is too deep
//! for finding the `id` that the answer repeats.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use super::surrogates;

/// A message from the client.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A request, or a notification where it has no id.
    Request(Request),
    /// The answer to a request of the server.
    Response(Response),
    /// Several messages at once. Source: JSON-RPC 2.0, section 6.
    Batch(Vec<Incoming>),
    /// A message that is answered with an error and does nothing.
    Refused(MessageRefusal),
    /// A response that nothing waits for: it has no usable id.
    Ignored,
}

/// An error for a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MessageRefusal {
    /// The id as the client wrote it; `null` where the message has none that could be repeated.
    id: String,
    code: ErrorCode,
    why: Cow<'static, str>,
}

impl MessageRefusal {
    /// For bytes that are no JSON: -32700.
    pub(super) fn not_json(why: impl Into<Cow<'static, str>>) -> MessageRefusal {
        MessageRefusal { id: "null".into(), code: ErrorCode::ParseError, why: why.into() }
    }

    /// For JSON that is no request: -32600.
    fn invalid_request(id: &str, why: impl Into<Cow<'static, str>>) -> MessageRefusal {
        MessageRefusal { id: id.into(), code: ErrorCode::InvalidRequest, why: why.into() }
    }

    /// Returns the answer as JSON.
    pub(super) fn to_json(&self) -> String {
        let message = format!("{}: {}", self.code.description(), self.why);
        let error = serde_json::json!({"code": self.code.code(), "message": message});
        format!(r#"{{"jsonrpc":"2.0","error":{error},"id":{}}}"#, self.id)
    }
}

/// Reads the body of a message. `Err`: it is no JSON, so that its length may be wrong as well.
pub(super) fn read(body: &mut [u8]) -> Result<Incoming, MessageRefusal> {
    surrogates::replace_lone(body);
    let text = std::str::from_utf8(body)
        .map_err(|_| MessageRefusal::not_json("the message is not UTF-8"))?;
    let not_json = |error: serde_json::Error| MessageRefusal::not_json(error.to_string());
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => {
            serde_json::from_str::<MessageMembers<'_>>(text).map(parse_single).map_err(not_json)
        }
        Some(b'[') => {
            serde_json::from_str::<Vec<&RawValue>>(text).map(parse_batch).map_err(not_json)
        }
        _ => serde_json::from_str::<&RawValue>(text).map(|_| no_object()).map_err(not_json),
    }
}

fn no_object() -> Incoming {
    Incoming::Refused(MessageRefusal::invalid_request("null", "a message is an object"))
}

/// An empty batch is one invalid request. Source: JSON-RPC 2.0, section 6.
fn parse_batch(messages: Vec<&RawValue>) -> Incoming {
    if messages.is_empty() {
        Incoming::Refused(MessageRefusal::invalid_request(
            "null",
            "a batch holds at least one message",
        ))
    } else {
        Incoming::Batch(
            messages
                .into_iter()
                .map(|raw| match serde_json::from_str::<MessageMembers<'_>>(raw.get()) {
                    Ok(members) => parse_single(members),
                    Err(_) => no_object(),
                })
                .collect(),
        )
    }
}

/// The members of a message that count, as they are written. Of one that is given twice the last
/// counts, as in JavaScript.
#[derive(Default)]
struct MessageMembers<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for MessageMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MessageMembers<'a>, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = MessageMembers<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<MessageMembers<'de>, M::Error> {
        let mut members = MessageMembers::default();
        while let Some((BorrowedText(name), value)) =
            map.next_entry::<BorrowedText<'de>, &'de RawValue>()?
        {
            match &*name {
                "jsonrpc" => members.jsonrpc = Some(value),
                "id" => members.id = Some(value),
                "method" => members.method = Some(value),
                "params" => members.params = Some(value),
                "result" => members.result = Some(value),
                "error" => members.error = Some(value),
                _ => {}
            }
        }
        Ok(members)
    }
}

/// A string, borrowed where it holds no escape.
#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// A message's id.
enum MessageId {
    /// There is no id: the message is a notification.
    Absent,
    Valid(Id),
    /// The id is neither a string nor an integer.
    Invalid,
}

fn message_id(written: Option<&RawValue>) -> MessageId {
    let Some(written) = written else { return MessageId::Absent };
    match serde_json::from_str::<Value>(written.get()) {
        Ok(Value::String(text)) => MessageId::Valid(Id::String(text)),
        Ok(Value::Number(number)) => {
            match number.as_i64().or_else(|| parse_integer(number.as_f64()?)) {
                Some(number) => MessageId::Valid(Id::Number(number)),
                None => MessageId::Invalid,
            }
        }
        _ => MessageId::Invalid,
    }
}

/// Returns an integer that is written with a point or an exponent, as some languages write every
/// number.
fn parse_integer(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_integer = number.fract() == 0.0 && number.abs() <= EXACT;
    is_integer.then_some(number as i64)
}

/// Returns the id that an answer repeats: a string or a number of any kind, else `null`.
fn repeated_id(written: Option<&RawValue>) -> &str {
    match written.map(RawValue::get) {
        Some(id) if id.starts_with(['"', '-']) || id.starts_with(|c: char| c.is_ascii_digit()) => {
            id
        }
        _ => "null",
    }
}

fn parse_single(members: MessageMembers<'_>) -> Incoming {
    if members.method.is_none() && (members.result.is_some() || members.error.is_some()) {
        return parse_response(&members);
    }
    parse_request(&members).map_or_else(
        |why| Incoming::Refused(MessageRefusal::invalid_request(repeated_id(members.id), why)),
        Incoming::Request,
    )
}

fn parse_request(members: &MessageMembers<'_>) -> Result<Request, Cow<'static, str>> {
    if members.jsonrpc.is_none_or(|version| version.get() != r#""2.0""#) {
        return Err("jsonrpc is not \"2.0\"".into());
    }
    let method = members.method.ok_or("the method is missing")?;
    let BorrowedText(method) =
        serde_json::from_str(method.get()).map_err(|_| "the method is no string")?;
    let params = members
        .params
        .map(|params| serde_json::from_str::<Value>(params.get()))
        .transpose()
        .map_err(|error| format!("params: {error}"))?;
    let mut request = Request::build(method.into_owned());
    if let Some(params) = params {
        request = request.params(params);
    }
    match message_id(members.id) {
        MessageId::Absent => Ok(request.finish()),
        MessageId::Valid(id) => Ok(request.id(id).finish()),
        MessageId::Invalid => Err("the id is neither a string nor an integer".into()),
    }
}

/// Handles a response. It is never answered: two peers that misunderstand each other would not
/// stop.
fn parse_response(members: &MessageMembers<'_>) -> Incoming {
    let MessageId::Valid(id) = message_id(members.id) else { return Incoming::Ignored };
    let result = match (members.error.map(parse_value), members.result.map(parse_value)) {
        (Some(Ok(Value::Null)) | None, Some(Ok(result))) => Ok(result),
        (Some(Ok(error)), _) => Err(client_error(&error)),
        _ => Err(Error::parse_error()),
    };
    Incoming::Response(Response::from_parts(id, result))
}

fn parse_value(raw: &RawValue) -> serde_json::Result<Value> {
    serde_json::from_str::<Value>(raw.get())
}

fn client_error(error: &Value) -> Error {
    let code = error["code"].as_i64().map_or(ErrorCode::InternalError, ErrorCode::from);
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    Error { code, message: message.into(), data: error.get("data").cloned() }
}
