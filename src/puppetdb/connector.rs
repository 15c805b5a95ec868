//! Connections that are read to their end after the other side has closed them.
//!
//! A server refuses the certificate of a client after the handshake of TLS 1.3, and closes the
//! connection. The request may meet the closed connection before the refusal is read: the refusal
//! has arrived, and a failure to send must not hide it.

use std::io;

use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, NextTimeout, RustlsConnector, TcpConnector, Transport,
};

/// Returns the connector of HTTP over TCP, with TLS where the address asks for it.
pub(super) fn connector() -> impl Connector {
    ().chain(TcpConnector::default()).chain(ReadToEnd).chain(RustlsConnector::default())
}

/// Whether the other side closed the connection. An error of TLS says why.
pub(super) fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let closed =
        [Kind::BrokenPipe, Kind::ConnectionReset, Kind::ConnectionAborted, Kind::UnexpectedEof];
    closed.contains(&error.kind()) && !error.get_ref().is_some_and(|it| it.is::<rustls::Error>())
}

/// Wraps connections, so that what has arrived is read although a request could not be sent.
#[derive(Debug)]
struct ReadToEnd;

impl<In: Transport> Connector<In> for ReadToEnd {
    type Out = ReadableTransport<In>;

    fn connect(
        &self,
        _details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| ReadableTransport { inner, closed: None }))
    }
}

/// A connection whose failure to send is reported once nothing is left to read.
#[derive(Debug)]
struct ReadableTransport<T> {
    inner: T,
    /// The failure to send.
    closed: Option<io::Error>,
}

impl<T: Transport> Transport for ReadableTransport<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        match self.inner.transmit_output(amount, timeout) {
            Err(Error::Io(error)) if is_closed(&error) => {
                self.closed = Some(error);
                Ok(())
            }
            sent => sent,
        }
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        match (self.inner.await_input(timeout), self.closed.take()) {
            (Ok(true), closed) => {
                self.closed = closed;
                Ok(true)
            }
            (_, Some(error)) => Err(Error::Io(error)),
            (read, None) => read,
        }
    }

    fn is_open(&mut self) -> bool {
        self.closed.is_none() && self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
