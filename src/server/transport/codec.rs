//! The base protocol's frames: bytes of standard input to messages.
//!
//! The codec accepts deviations that do not make a message ambiguous: header names in any case,
//! line feeds without carriage returns, unknown headers, blank lines between messages, one length
//! given twice. Everything else that is wrong is answered once, and the codec looks for the next
//! `Content-Length` header to go on from. Neither half of such a header can stand in a JSON text
//! with its line break, so a body that holds one was announced with a wrong length.

use memchr::memchr_iter;

use super::message::{self, Incoming, MessageRefusal};

/// The longest message in bytes, and the most bytes to search for the next header.
const MAX_MESSAGE: usize = 256 << 20;

/// The longest block of headers in bytes.
const MAX_HEADERS: usize = 8 << 10;

/// The name of the header that every message has.
const LENGTH: &[u8] = b"content-length";

/// A decoder that is fed with bytes as they arrive.
pub(super) struct Codec {
    buffer: Vec<u8>,
    /// Where in `buffer` the next unread byte is.
    start: usize,
    /// Where in `buffer` the search for a header line continues.
    searched: usize,
    state: State,
    /// Whether the fault that the codec is recovering from was reported to the client.
    told: bool,
    /// Bytes that were skipped since the last valid header.
    skipped: usize,
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or within a block of headers.
    Headers,
    /// Within a body of so many bytes.
    Body(usize),
    /// Within a body that is too long to read; so many bytes are left.
    LongBody(usize),
    /// Somewhere in bytes that are no message.
    Lost,
}

/// A block of headers at the start of some bytes.
#[derive(Debug, PartialEq, Eq)]
enum Headers {
    /// The end of the headers has not arrived.
    Partial,
    /// The bytes are no headers.
    None,
    /// The headers take `size` bytes and announce a body of `length` bytes.
    Valid { size: usize, length: usize },
    /// The headers take `size` bytes, and the length is missing.
    WithoutLength,
    /// The headers take `size` bytes, and the body's length or encoding cannot be used.
    Unusable { size: usize, why: &'static str },
}

impl Default for Codec {
    fn default() -> Codec {
        Codec::with_limit(MAX_MESSAGE)
    }
}

impl Codec {
    fn with_limit(limit: usize) -> Codec {
        Codec {
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            state: State::Headers,
            told: false,
            skipped: 0,
            limit,
        }
    }

    /// Appends bytes that have arrived.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched = self.searched.saturating_sub(self.start);
            self.start = 0;
        }
        if self.buffer.is_empty() {
            // A long message's memory is not kept for the short ones that follow.
            self.buffer.shrink_to(64 << 10);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next message, or the answer to bytes that were none; `None` until more bytes
    /// arrive.
    pub(super) fn next(&mut self) -> Option<Incoming> {
        loop {
            let refusal = match self.state {
                State::Headers => self.read_headers()?,
                State::Body(length) => match self.read_body(length)? {
                    Ok(message) => return Some(message),
                    Err(refusal) => Some(refusal),
                },
                State::LongBody(left) => {
                    self.long_body(left)?;
                    None
                }
                State::Lost => {
                    self.find_headers()?;
                    None
                }
            };
            if let Some(refusal) = refusal
                && !std::mem::replace(&mut self.told, true)
            {
                return Some(Incoming::Refused(refusal));
            }
        }
    }

    /// Whether the codec has searched for the next header for too long.
    pub(super) fn is_lost(&self) -> bool {
        self.skipped > self.limit
    }

    /// Returns the reason why the input must not end here; `None` between two messages.
    pub(super) fn unfinished_reason(&self) -> Option<&'static str> {
        match self.state {
            State::Headers if self.unread_bytes().iter().all(u8::is_ascii_whitespace) => None,
            State::Headers | State::Body(_) | State::LongBody(_) => {
                Some("standard input ended within a message")
            }
            State::Lost => Some("standard input ended with bytes that are no message"),
        }
    }

    fn unread_bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    fn advance(&mut self, count: usize, state: State) {
        self.start += count;
        self.searched = self.start;
        self.state = state;
    }

    fn skip(&mut self, count: usize, state: State) {
        self.skipped = self.skipped.saturating_add(count);
        self.advance(count, state);
    }

    /// Reads a block of headers. `None`: more bytes are needed.
    fn read_headers(&mut self) -> Option<Option<MessageRefusal>> {
        let blank =
            self.unread_bytes().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.advance(blank, State::Headers);
        let refusal = match parse_headers(self.unread_bytes()) {
            Headers::Partial if self.unread_bytes().len() <= MAX_HEADERS => return None,
            Headers::Partial | Headers::None => {
                // The first byte is passed over: the search must not find the same bytes again.
                self.skip(1, State::Lost);
                MessageRefusal::not_json("these bytes are no header of a message")
            }
            Headers::WithoutLength => {
                self.skip(1, State::Lost);
                MessageRefusal::not_json("the header Content-Length is missing")
            }
            Headers::Unusable { size, why } => {
                self.skip(size, State::Lost);
                MessageRefusal::not_json(why)
            }
            Headers::Valid { size, length } if length > self.limit => {
                self.skip(size, State::LongBody(length));
                MessageRefusal::not_json("the message is too long")
            }
            Headers::Valid { size, length } => {
                self.advance(size, State::Body(length));
                self.told = false;
                self.skipped = 0;
                return Some(None);
            }
        };
        Some(Some(refusal))
    }

    /// Reads a body. `None`: more bytes are needed.
    fn read_body(&mut self, length: usize) -> Option<Result<Incoming, MessageRefusal>> {
        if self.unread_bytes().len() < length {
            let next = self.header_line()?;
            self.skip(next - self.start, State::Headers);
            return Some(Err(MessageRefusal::not_json(
                "the message is shorter than its header says",
            )));
        }
        let end = self.start + length;
        match message::read(&mut self.buffer[self.start..end]) {
            Ok(message) => {
                self.advance(length, State::Headers);
                Some(Ok(message))
            }
            Err(refusal) => {
                match find_length(self.unread_bytes()).filter(|next| *next < length) {
                    Some(next) => self.skip(next, State::Headers),
                    None => self.skip(length, State::Headers),
                }
                Some(Err(refusal))
            }
        }
    }

    /// Skips a body that is too long. `None`: more bytes are needed.
    fn long_body(&mut self, left: usize) -> Option<()> {
        if let Some(next) = self.header_line() {
            self.advance(next - self.start, State::Headers);
            return Some(());
        }
        let unread = self.unread_bytes().len();
        if unread >= left {
            self.advance(left, State::Headers);
            return Some(());
        }
        // The last bytes may be the start of a header line.
        let passed = unread.saturating_sub(MAX_HEADERS);
        self.start += passed;
        self.state = State::LongBody(left - passed);
        None
    }

    /// Finds the next header that gives a length. `None`: more bytes are needed.
    fn find_headers(&mut self) -> Option<()> {
        let unread = self.unread_bytes();
        let found =
            unread.windows(LENGTH.len()).position(|bytes| bytes.eq_ignore_ascii_case(LENGTH));
        match found {
            Some(next) => {
                self.skip(next, State::Headers);
                Some(())
            }
            None => {
                self.skip(unread.len().saturating_sub(LENGTH.len() - 1), State::Lost);
                None
            }
        }
    }

    /// Returns the place in the buffer of the first complete header line with a length, among the
    /// bytes that have not been searched yet.
    fn header_line(&mut self) -> Option<usize> {
        let from = self.searched;
        self.searched = self.buffer.len();
        memchr_iter(b'\n', &self.buffer[from..]).find_map(|at| {
            let end = from + at + 1;
            // A line of more than 64 bytes has useless blanks or digits, and no client writes such
            // a line.
            let line = &self.buffer[self.start.max(end.saturating_sub(64))..end];
            let next = find_length(line)?;
            Some(end - line.len() + next)
        })
    }
}

/// Returns the place where the first header line with a length begins. The line may end beyond the
/// bytes.
fn find_length(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find(|start| is_length_line(&bytes[*start..]))
}

/// Whether bytes start with a header line that gives a length, or are the start of one.
fn is_length_line(bytes: &[u8]) -> bool {
    let name = &bytes[..bytes.len().min(LENGTH.len())];
    if !name.eq_ignore_ascii_case(&LENGTH[..name.len()]) {
        return false;
    }
    let mut rest = bytes[name.len()..].trim_ascii_start();
    let Some((b':', value)) = rest.split_first() else { return rest.is_empty() };
    rest = value.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match rest.get(digits) {
        None => true,
        Some(b'\r' | b'\n' | b' ' | b'\t') => digits > 0,
        Some(_) => false,
    }
}

/// Reads the headers at the start of some bytes.
fn parse_headers(bytes: &[u8]) -> Headers {
    let mut length = None;
    let mut why = None;
    let mut at = 0;
    while let Some(end) = memchr::memchr(b'\n', &bytes[at..]) {
        let line = bytes[at..at + end].trim_ascii();
        at += end + 1;
        if line.is_empty() {
            return match (why, length) {
                (Some(why), _) => Headers::Unusable { size: at, why },
                (None, Some(length)) => Headers::Valid { size: at, length },
                (None, None) => Headers::WithoutLength,
            };
        }
        let Some((name, value)) = parse_header(line) else { return Headers::None };
        if name.eq_ignore_ascii_case(LENGTH) {
            match parse_number(value) {
                None => why = Some("Content-Length is no number of bytes"),
                Some(number) if length.is_some_and(|length| length != number) => {
                    why = Some("Content-Length is given twice");
                }
                Some(number) => length = Some(number),
            }
        } else if name.eq_ignore_ascii_case(b"content-type") && !is_utf8(value) {
            why = Some("Content-Type names an encoding other than UTF-8");
        }
    }
    if could_be_header(&bytes[at..]) { Headers::Partial } else { Headers::None }
}

/// Returns a header's name and value.
fn parse_header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = line[..colon].trim_ascii();
    let is_name = !name.is_empty() && name.iter().all(|byte| is_token(*byte));
    is_name.then(|| (name, line[colon + 1..].trim_ascii()))
}

/// Whether a line whose end has not arrived may become a header.
fn could_be_header(line: &[u8]) -> bool {
    if line.contains(&b':') {
        parse_header(line).is_some()
    } else {
        line.trim_ascii().iter().all(|byte| is_token(*byte))
    }
}

/// Source: RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn parse_number(value: &[u8]) -> Option<usize> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    // A number that is too long for the type is too long for a message as well.
    is_number.then(|| std::str::from_utf8(value).ok()?.parse().ok().or(Some(usize::MAX)))?
}

/// Whether a media type names UTF-8, or no encoding: then it is UTF-8, too.
fn is_utf8(media_type: &[u8]) -> bool {
    let text = String::from_utf8_lossy(media_type).to_ascii_lowercase();
    let charset = text.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim() == "charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    charset.is_none_or(|charset| charset == "utf-8" || charset == "utf8")
}

#[cfg(test)]
mod tests;
