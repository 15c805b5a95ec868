//! The connection: HTTP with ureq, TLS with rustls; and its failures in words.
//!
//! Source of the failures: a PuppetDB 7.12 that was stopped, refused, cut off and asked wrongly.

use std::fmt;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::time::Duration;

use rustls::{AlertDescription, CertificateError};
use serde::Deserialize as _;
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde_json::value::RawValue;
use ureq::http::HeaderValue;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::{Agent, Timeout};

use super::PuppetdbConfig;
use super::connector::{connector, is_closed};
use crate::disk::{self, FileSystem as _, OsFs};
use crate::text::FilePath;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a request is sent whose connection is closed without an answer. Some systems drop what a
/// closed connection has brought, such as the refusal of a certificate.
pub(super) const ATTEMPTS: usize = 4;
/// The path of queries.
const PATH: &str = "/pdb/query/v4";
/// The longest file of a certificate, a key or a token that is read, in bytes.
const MAX_PEM: u64 = 1 << 20;
/// The longest text of a refusal that is quoted, in bytes.
const MAX_QUOTE: u64 = 300;

/// Asks a query, and calls `each` with each row of the answer, a JSON text. The answer has
/// `max_size` bytes at most. Returns a sentence about the file of the token where other users can
/// read it.
///
/// Errors: why there is no complete answer.
pub(super) fn ask(
    url: &str,
    config: &PuppetdbConfig,
    query: &str,
    max_size: u64,
    each: &mut dyn FnMut(&str) -> Result<(), String>,
) -> Result<Option<String>, String> {
    let agent = agent(url, config)?;
    let token = config.token_file.as_ref().map(|path| read_token(url, path)).transpose()?;
    let connection = Connection { url, config };
    let mut sent = send_query(&agent, url, token.as_ref(), query);
    for _ in 1..ATTEMPTS {
        if !matches!(&sent, Err(ureq::Error::Io(error)) if is_closed(error)) {
            break;
        }
        sent = send_query(&agent, url, token.as_ref(), query);
    }
    let mut answer = sent.map_err(|error| connection.failure(error, None))?;
    let status = answer.status().as_u16();
    if status != 200 {
        let place = answer.headers().get("location");
        let place = place.and_then(|place| place.to_str().ok()).map(str::to_owned);
        let mut text = Vec::new();
        // A text that breaks off is quoted as far as it came.
        let _ = answer.body_mut().as_reader().take(MAX_QUOTE).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        return Err(connection.refusal(status, place.as_deref(), text.trim()));
    }
    let mut size = Counted { inner: answer.body_mut().as_reader(), left: max_size };
    let mut rows = Rows { each, count: 0, refusal: None };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(&mut size));
    let read = (&mut rows).deserialize(&mut json).and_then(|()| json.end());
    let Err(error) = read else { return Ok(config.token_file.as_ref().and_then(mode_note)) };
    let count = rows.count;
    Err(match rows.refusal {
        Some(refusal) => refusal,
        None if size.left == 0 => {
            format!("the answer of {url} is longer than {max_size} bytes (`maxFileSize`)")
        }
        None if error.is_io() => {
            connection.failure(ureq::Error::from(std::io::Error::from(error)), Some(count))
        }
        None if error.is_eof() => broke_off(url, count),
        None => format!("{url} answers no list of nodes: {error}"),
    })
}

fn send_query(
    agent: &Agent,
    url: &str,
    token: Option<&HeaderValue>,
    query: &str,
) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
    let mut request = agent.post(format!("{url}{PATH}")).content_type("application/json");
    if let Some(token) = token {
        request = request.header("X-Authentication", token);
    }
    request.header("Accept", "application/json").send(query)
}

/// Reads the token in a file. No message quotes it, and no log has it.
///
/// Errors: the file cannot be read or has no token, or everybody on the way could read it.
pub(super) fn read_token(url: &str, path: &FilePath) -> Result<HeaderValue, String> {
    if !url.starts_with("https:") && !is_this_machine(url) {
        return Err(format!("the token in {path} is sent over https alone"));
    }
    let text =
        OsFs.read(path, MAX_PEM).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let token = HeaderValue::from_bytes(text.trim_ascii()).ok().filter(|token| !token.is_empty());
    let mut token = token.ok_or_else(|| format!("{path} is no file of a token"))?;
    token.set_sensitive(true);
    Ok(token)
}

/// Whether the host of an address is this machine by its name.
pub(super) fn is_this_machine(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    let host =
        if host.starts_with('[') { host } else { host.split(':').next().unwrap_or_default() };
    host == "localhost" || host == "127.0.0.1" || host.split(']').next() == Some("[::1")
}

fn mode_note(path: &FilePath) -> Option<String> {
    disk::is_readable_by_others(path)
        .then(|| format!("other users can read the token in {path}: `chmod 600` hides it"))
}

/// Returns the agent of a request. It asks no proxy, as PuppetDB trusts certificates and not
/// networks, follows no redirects, as PuppetDB redirects wrong paths to a web page, and trusts no CA
/// but the one that the user names.
fn agent(url: &str, config: &PuppetdbConfig) -> Result<Agent, String> {
    let mut tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    if url.starts_with("https:") {
        let ca = config.ca.as_ref().ok_or(
            "its CA is not named (`nodes.puppetdb.ca`): Puppet's is certs/ca.pem in `puppet config print ssldir`",
        )?;
        tls = tls.root_certs(RootCerts::new_with_certs(&certificates(ca)?));
        tls = tls.client_cert(client_certificate(config)?);
    }
    let timeout = config.timeout();
    let config = Agent::config_builder()
        .tls_config(tls.build())
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("hiera-ls/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT.min(timeout)))
        .timeout_per_read(Some(timeout))
        .timeout_per_write(Some(timeout))
        .build();
    Ok(Agent::with_parts(config, connector(), DefaultResolver::default()))
}

fn client_certificate(config: &PuppetdbConfig) -> Result<Option<ClientCert>, String> {
    let (Some(cert), Some(key)) = (&config.cert, &config.key) else {
        return if config.cert.is_some() || config.key.is_some() {
            Err("a certificate needs its key, and a key its certificate".into())
        } else {
            Ok(None)
        };
    };
    let chain = certificates(cert)?;
    let key = private_key(key)?;
    Ok(Some(ClientCert::new_with_certs(&chain, key)))
}

fn certificates(path: &FilePath) -> Result<Vec<Certificate<'static>>, String> {
    let found: Vec<Certificate<'static>> = pem_items(path)?
        .into_iter()
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    if found.is_empty() { Err(format!("there is no certificate in {path}")) } else { Ok(found) }
}

fn private_key(path: &FilePath) -> Result<PrivateKey<'static>, String> {
    let key = pem_items(path)?.into_iter().find_map(|item| match item {
        PemItem::PrivateKey(key) => Some(key),
        _ => None,
    });
    key.ok_or_else(|| format!("there is no unencrypted private key in {path}"))
}

/// Reads a PEM file. No message quotes it.
fn pem_items(path: &FilePath) -> Result<Vec<PemItem<'static>>, String> {
    let text =
        OsFs.read(path, MAX_PEM).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let items: Result<Vec<_>, _> = parse_pem(&text).collect();
    items.map_err(|_| format!("{path} is no PEM file"))
}

fn broke_off(url: &str, count: usize) -> String {
    format!("{url} broke off after {count} nodes")
}

/// A reader that ends after so many bytes.
struct Counted<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.inner.read(&mut into[..most])?;
        self.left -= count as u64;
        Ok(count)
    }
}

/// A row: no other answer has a certname.
#[derive(serde::Deserialize)]
struct InventoryRow {
    #[serde(rename = "certname")]
    _certname: String,
}

/// Passes the rows of an answer on while the rest of it is not there yet.
struct Rows<'a> {
    each: &'a mut dyn FnMut(&str) -> Result<(), String>,
    count: usize,
    /// Why `each` took no more.
    refusal: Option<String>,
}

impl<'de> DeserializeSeed<'de> for &mut Rows<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        use serde::de::Error as _;
        while let Some(row) = rows.next_element::<Box<RawValue>>()? {
            let mut json = serde_json::Deserializer::from_str(row.get());
            InventoryRow::deserialize(&mut json).map_err(A::Error::custom)?;
            if let Err(refusal) = (self.each)(row.get()) {
                self.refusal = Some(refusal);
                return Err(A::Error::custom("the row was not taken"));
            }
            self.count += 1;
        }
        Ok(())
    }
}

/// The connection that messages about failures name.
struct Connection<'a> {
    url: &'a str,
    config: &'a PuppetdbConfig,
}

impl Connection<'_> {
    /// Describes an answer that is none.
    fn refusal(&self, status: u16, place: Option<&str>, text: &str) -> String {
        let url = self.url;
        let text = if text.starts_with('<') { "a web page" } else { text };
        match status {
            300..=399 => {
                let place = place.unwrap_or("another address");
                format!("there is no PuppetDB at {url}: it sends the reader on to {place}")
            }
            400 if self.config.query.is_some() => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                // The query has a line of its own before the condition.
                let place = if text.starts_with("PQL") { ", whose first line is 2" } else { "" };
                format!("{url} refuses the condition of `nodes.puppetdb.query`{place}: {text}")
            }
            401 => match &self.config.token_file {
                Some(path) => format!("{url} does not accept the token in {path}: {text}"),
                None => format!("{url} wants a token (`nodes.puppetdb.tokenFile`): {text}"),
            },
            403 => format!("{url} refuses this client: {text}"),
            404 => format!("there is no PuppetDB at {url}: it does not know {PATH}"),
            500 if text.contains("Connection refused") => {
                format!("{url} does not reach its database: {text}")
            }
            503 => format!("{url} is not ready: {text}"),
            _ => format!("{url} answers {status}: {text}"),
        }
    }

    /// Describes the end of a connection that had brought so many nodes; `None` before the answer
    /// began.
    fn failure(&self, error: ureq::Error, count: Option<usize>) -> String {
        let url = self.url;
        match error {
            ureq::Error::Io(error) => match error.get_ref().and_then(|it| it.downcast_ref()) {
                Some(error) => self.tls_failure(error),
                None => self.io_failure(&error, count),
            },
            ureq::Error::Rustls(error) => self.tls_failure(&error),
            ureq::Error::HostNotFound => format!("the name of the host in {url} is not known"),
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                let time = CONNECT.min(self.config.timeout()).as_secs();
                format!("no connection to {url} within {time} s")
            }
            ureq::Error::Timeout(_) => {
                let time = self.config.timeout().as_secs();
                match count {
                    None => format!("{url} has sent nothing for {time} s"),
                    Some(count) => {
                        format!("{url} has sent nothing for {time} s after {count} nodes")
                    }
                }
            }
            ureq::Error::Protocol(_) if count.is_none() => {
                let hint = if url.starts_with("http:") { "; perhaps it is https" } else { "" };
                format!("{url} does not speak HTTP{hint}")
            }
            // The rest of the compressed text is missing.
            ureq::Error::Decompress(_, error) => self.failure(ureq::Error::from(error), count),
            other => format!("{url} cannot be asked: {other}"),
        }
    }

    fn io_failure(&self, error: &std::io::Error, count: Option<usize>) -> String {
        let url = self.url;
        match (is_closed(error), count) {
            (true, Some(count)) => broke_off(url, count),
            (true, None) => format!("{url} has ended the connection without an answer"),
            (false, _) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                format!("there is no PuppetDB at {url}: connection refused")
            }
            (false, _) => format!("{url} cannot be asked: {error}"),
        }
    }

    fn tls_failure(&self, error: &rustls::Error) -> String {
        use rustls::Error as Tls;
        let url = self.url;
        let ca = self.config.ca.as_ref().map_or("", |path| path.as_str());
        match (error, &self.config.cert) {
            (Tls::InvalidCertificate(CertificateError::UnknownIssuer), _) => {
                format!("the certificate of {url} is not signed by {ca}")
            }
            (
                Tls::InvalidCertificate(CertificateError::NotValidForNameContext {
                    presented, ..
                }),
                _,
            ) => {
                // rustls writes each name with its kind: `DnsName("localhost")`.
                let names: Vec<String> = presented
                    .iter()
                    .map(|text| text.split('"').nth(1).unwrap_or(text).to_owned())
                    .collect();
                format!("the certificate of {url} is for other names: {}", names.join(", "))
            }
            (Tls::InvalidCertificate(reason), _) => {
                format!("the certificate of {url} is not valid: {reason}")
            }
            (
                Tls::AlertReceived(
                    AlertDescription::BadCertificate
                    | AlertDescription::CertificateRequired
                    | AlertDescription::HandshakeFailure,
                ),
                None,
            ) => format!(
                "{url} wants a client certificate (`nodes.puppetdb.cert`, `nodes.puppetdb.key`)"
            ),
            (Tls::AlertReceived(alert), Some(cert)) => {
                format!("{url} does not accept the certificate {cert}: {alert:?}")
            }
            (Tls::InvalidMessage(_), _) => format!("{url} does not speak TLS; perhaps it is http"),
            _ => format!("TLS with {url} fails: {error}"),
        }
    }
}
