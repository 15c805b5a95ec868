//! A proxy in front of PuppetDB that fails on request.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The action of the proxy on bytes of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The proxy passes the bytes on.
    None,
    /// The proxy passes no byte on, and keeps the connection open.
    Stall,
    /// The proxy passes so many bytes on, and keeps the connection open.
    StallAfter(usize),
    /// The proxy passes so many bytes on, and closes the connection.
    CutAfter(usize),
    /// The proxy closes each connection at once.
    Down,
}

/// A proxy that runs until the process ends.
pub struct Proxy {
    pub port: u16,
    fault: Arc<Mutex<Fault>>,
    /// How many connections were made to the proxy.
    pub connections: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts a proxy in front of a port.
    pub fn start(target: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let fault = Arc::new(Mutex::new(Fault::None));
        let connections = Arc::new(AtomicUsize::new(0));
        let (current, count) = (fault.clone(), connections.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let current = current.clone();
                std::thread::spawn(move || serve(&client, target, &current));
            }
        });
        Proxy { port, fault, connections }
    }

    /// Changes the action of the proxy, also for open connections.
    pub fn set(&self, fault: Fault) {
        *self.fault.lock().expect("no holder panics") = fault;
    }
}

fn serve(client: &TcpStream, target: u16, fault: &Mutex<Fault>) {
    let fault = || *fault.lock().expect("no holder panics");
    if fault() == Fault::Down {
        return;
    }
    let server = TcpStream::connect(("127.0.0.1", target)).expect("the server is there");
    let (mut from_client, mut to_server) = (client, server.try_clone().expect("it is a socket"));
    let (mut to_client, mut from_server) = (client, &server);
    let is_closed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_closed = &is_closed;
        scope.spawn(move || {
            let _ = std::io::copy(&mut from_client, &mut to_server);
            is_closed.store(true, Ordering::SeqCst);
            let _ = to_server.shutdown(Shutdown::Both);
        });
        let (mut buffer, mut passed) = ([0; 1024], 0);
        while let Ok(count @ 1..) = from_server.read(&mut buffer) {
            loop {
                match fault() {
                    Fault::Stall => {}
                    Fault::StallAfter(most) if passed + count > most => {}
                    _ => break,
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
                if is_closed.load(Ordering::SeqCst) {
                    let _ = server.shutdown(Shutdown::Both);
                    return;
                }
            }
            if matches!(fault(), Fault::CutAfter(most) if passed + count > most) {
                break;
            }
            if to_client.write_all(&buffer[..count]).is_err() {
                break;
            }
            passed += count;
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    });
}
