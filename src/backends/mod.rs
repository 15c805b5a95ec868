//! Functions of levels, called in a Ruby process with the user's own Puppet.
//!
//! Nothing here runs unless the *user* asks for an evaluation, and permits it on the command line
//! or in the editor's own settings: a function is code of the repository and may do all that the
//! user may. No file of a repository starts a process, or names one.

#[cfg(unix)]
mod ending;
mod permit;
mod process;
mod wire;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::disk::{FileSystem, OsFs};
use crate::hiera::backends::{Ask, Backends, FunctionCall, Hiera3, Reply, Returned};
use crate::hiera::config::BackendKind;
use crate::hiera::error::{LookupError, Raised};
use crate::hiera::scope::Scope;
use crate::hiera::services::{is_secret_backend, is_secret_store};
use crate::puppet::value::{Hash, Key, Member, Provenance, Secrecy, Value};
use crate::puppet::{PuppetVersion, Strict};
use crate::text::{CancelToken, FilePath};
use crate::workspace::queries::functions::plain_name;
#[cfg(unix)]
pub use ending::own_all_children;
pub use permit::Permit;
use process::{Process, Received};
use wire::{Decoder, Malformed};

/// How calls within calls may nest.
const MAX_NESTED_CALLS: usize = 64;
/// How many processes may be lost in a row until none is started any more.
const MAX_LOSSES: usize = 3;

/// The user's settings for functions of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendsConfig {
    /// The command that starts Ruby, and its first arguments.
    pub command: Vec<String>,
    /// The names of environment variables that are passed on beside the usual ones.
    pub environment: Vec<String>,
    /// The functions that the user lets run; `None` for all that levels name.
    pub functions: Option<Vec<String>>,
    /// How long a function may work on one call.
    pub deadline: Duration,
}

impl Default for BackendsConfig {
    fn default() -> BackendsConfig {
        BackendsConfig {
            command: vec![default_ruby()],
            environment: Vec::new(),
            functions: None,
            deadline: Duration::from_secs(10),
        }
    }
}

/// Returns the Ruby of Puppet's own packages, where they are installed, or the one on the path.
fn default_ruby() -> String {
    const OF_PACKAGES: &str = "/opt/puppetlabs/puppet/bin/ruby";
    let is_there = OsFs.entry(&FilePath::new(OF_PACKAGES)).is_some();
    if is_there { OF_PACKAGES } else { "ruby" }.to_owned()
}

/// The functions of one environment: a Ruby process that starts when it is needed first.
pub struct Functions {
    config: BackendsConfig,
    permit: Permit,
    puppet: PuppetVersion,
    process: RefCell<Option<Process>>,
    /// How many processes were started.
    started: Cell<u64>,
    /// How many were lost since a call succeeded.
    losses: Cell<usize>,
    /// The number of the last message.
    last: Cell<u64>,
    /// The session that is open in the process, and which process that was.
    open: Cell<Option<(u64, u64)>>,
    sessions: Cell<u64>,
    nested: Cell<usize>,
    /// The marks of all values that functions were given: they may have kept them.
    given: Cell<Secrecy>,
    /// Cancels the call in progress.
    cancel: RefCell<CancelToken>,
    /// The files that were not loaded, as the permit does not name them.
    refused: RefCell<BTreeSet<FilePath>>,
}

impl Functions {
    /// Returns the functions of an environment that a permit lets run. No process is started yet.
    pub fn new(config: BackendsConfig, permit: Permit, puppet: PuppetVersion) -> Functions {
        Functions {
            config,
            permit,
            puppet,
            process: RefCell::new(None),
            started: Cell::new(0),
            losses: Cell::new(0),
            last: Cell::new(0),
            open: Cell::new(None),
            sessions: Cell::new(0),
            nested: Cell::new(0),
            given: Cell::new(Secrecy::NONE),
            cancel: RefCell::default(),
            refused: RefCell::default(),
        }
    }

    /// Returns the files that functions would have loaded since the last question and that the permit
    /// does not name.
    pub fn take_refused(&self) -> BTreeSet<FilePath> {
        self.refused.take()
    }

    /// Sets the token that ends the process while a function runs: the call fails then.
    pub fn set_cancel_token(&self, cancel: CancelToken) {
        *self.cancel.borrow_mut() = cancel;
    }

    /// Whether there is a process, which was started and not lost since.
    pub fn is_running(&self) -> bool {
        self.process.borrow().is_some()
    }

    /// Returns the version of the Puppet that runs the functions, such as `7.23.0`; `None` where no
    /// process was started, or the last one was lost.
    pub fn installed_puppet(&self) -> Option<String> {
        self.process.borrow().as_ref()?.hello["puppet"].as_str().map(str::to_owned)
    }

    /// Returns the functions as they are called for one scope.
    pub fn open_session(&self, environment: &str, scope: &Scope) -> Session<'_> {
        let number = self.sessions.get() + 1;
        self.sessions.set(number);
        let variables: Hash = scope
            .known_variables()
            .map(|(name, value)| {
                let key = Key::from(Value::new_string(name, Provenance::from_source(None)));
                (key, Member { key_origin: None, value: value.clone() })
            })
            .collect();
        let environment = match scope.get("environment") {
            crate::hiera::scope::Variable::Known(name) => name.to_text().into_owned(),
            _ => environment.to_owned(),
        };
        let variables = Value::hash_of(variables, None);
        self.given.set(self.given.get().union(variables.secrecy_of_parts()));
        Session {
            functions: self,
            number,
            params: json!({
                "root": self.permit.root.as_str(),
                "environment": environment,
                "node": &*scope.name,
                "scope": wire::encode(&variables),
            }),
            hiera3: RefCell::new(None),
        }
    }

    fn next(&self) -> u64 {
        let number = self.last.get() + 1;
        self.last.set(number);
        number
    }

    /// Starts a process where there is none. Errors: why there is none.
    fn start(&self) -> Result<(), String> {
        if self.process.borrow().is_some() {
            return Ok(());
        }
        if self.losses.get() >= MAX_LOSSES {
            return Err(format!("Ruby was lost {MAX_LOSSES} times in a row"));
        }
        let strict = match self.puppet.strict {
            Strict::Off => "off",
            Strict::Warning => "warning",
            Strict::Error => "error",
        };
        let process = Process::start(&self.config, &self.permit, strict, &self.cancel.borrow())?;
        *self.process.borrow_mut() = Some(process);
        self.started.set(self.started.get() + 1);
        Ok(())
    }

    fn send(&self, message: &Json) {
        if let Some(process) = &*self.process.borrow() {
            process.send(message);
        }
    }

    /// Returns the next message. Errors: why there will be none; the process is ended then.
    fn receive(&self, left: &mut Duration, subject: &str) -> Result<Json, String> {
        let began = Instant::now();
        let received = match &mut *self.process.borrow_mut() {
            Some(process) => process.receive(*left, &self.cancel.borrow()),
            None => Received::End,
        };
        *left = left.saturating_sub(began.elapsed());
        let lost = match received {
            Received::Message(message) => {
                self.refused.borrow_mut().extend(wire::refused(&message));
                return Ok(message);
            }
            Received::Nothing => {
                format!("{subject} gave no answer in {} s", self.config.deadline.as_secs_f64())
            }
            Received::Cancelled => format!("{subject} was cancelled"),
            Received::Garbage => format!("{subject} disturbed the messages of its process"),
            Received::End => {
                let ending = match &mut *self.process.borrow_mut() {
                    Some(process) => process.end_phrase(),
                    None => "Ruby ended".to_owned(),
                };
                format!("{ending} while it ran {subject}")
            }
        };
        self.drop_process();
        Err(lost)
    }

    fn drop_process(&self) {
        *self.process.borrow_mut() = None;
        self.losses.set(self.losses.get() + 1);
    }
}

/// The functions of an environment, called for one scope.
pub struct Session<'a> {
    functions: &'a Functions,
    number: u64,
    params: Json,
    /// The backends of Hiera 3, once they are known: they are sent to each new process.
    hiera3: RefCell<Option<Json>>,
}

impl Session<'_> {
    /// Opens the session where another one is open, or a new process was started.
    fn open(&self) -> Result<(), String> {
        let functions = self.functions;
        functions.start()?;
        let wanted = Some((self.number, functions.started.get()));
        if functions.open.get() == wanted {
            return Ok(());
        }
        let answer = self.request_answer("open", &self.params, "the start of Puppet's scope")?;
        if wire::refused(&answer).is_some() {
            return Err(wire::error_of(&answer).map(|error| error.to_string()).unwrap_or_default());
        }
        if let Some(error) = answer["error"]["message"].as_str() {
            return Err(format!("Puppet does not know the environment: {error}"));
        }
        functions.open.set(wanted);
        if let Some(params) = &*self.hiera3.borrow() {
            self.request_answer("hiera3", params, "the start of Hiera 3")?;
        }
        Ok(())
    }

    /// Returns the answer to a request that asks nothing back.
    fn request_answer(&self, method: &str, params: &Json, subject: &str) -> Result<Json, String> {
        let functions = self.functions;
        let id = functions.next();
        functions.send(&json!({"id": id, "method": method, "params": params}));
        let mut left = functions.config.deadline.max(Duration::from_secs(60));
        loop {
            let message = functions.receive(&mut left, subject)?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    /// Makes backends of Hiera 3 known. Errors: Puppet's, inside those of the process.
    fn try_prepare(&self, hiera3: &Hiera3) -> Result<Result<(), LookupError>, String> {
        // The previous backends are forgotten: otherwise `open` would send them to a new process.
        *self.hiera3.borrow_mut() = None;
        self.open()?;
        let params = wire::encode_hiera3(hiera3);
        let answer = self.request_answer("hiera3", &params, "the start of Hiera 3")?;
        if let Some(error) = wire::error_of(&answer) {
            return Ok(Err(error));
        }
        *self.hiera3.borrow_mut() = Some(params);
        Ok(Ok(()))
    }

    fn try_call(&self, call: &FunctionCall<'_>, ask: &mut Ask<'_>) -> Result<Reply, String> {
        self.open()?;
        let functions = self.functions;
        let process = functions.started.get();
        let subject = format!("'{}'", call.function);
        let id = functions.next();
        functions.send(&json!({"id": id, "method": "call", "params": wire::encode_call(call)}));
        let mut left = functions.config.deadline;
        let mut asked: Vec<(u64, LookupError)> = Vec::new();
        loop {
            let message = functions.receive(&mut left, &subject)?;
            let name = plain_name(call.function);
            let is_secret = match call.kind {
                BackendKind::Hiera3 => is_secret_backend(&name),
                _ => is_secret_store(&name),
            };
            let marks = if is_secret {
                functions.given.get().union(Secrecy::DECRYPTED)
            } else {
                functions.given.get()
            };
            let from = Value::new_null(call.origin).into_secret(marks).provenance();
            let decoder = Decoder { from };
            let told = |Malformed(message): Malformed| {
                functions.drop_process();
                message
            };
            if message["id"] == id {
                functions.losses.set(0);
                return Ok(Reply {
                    returned: decoder.decode_returned(call, &message, &asked).map_err(told)?,
                    texts: decoder.decode_texts(&message).map_err(told)?,
                });
            }
            let Some(number) = message["ask"].as_u64().filter(|_| message["call"] == id) else {
                continue; // The message belongs to another call.
            };
            let question = decoder.decode_question(&message).map_err(told)?;
            let answer = ask(question);
            if functions.started.get() != process || functions.process.borrow().is_none() {
                return Err(format!("Ruby was lost while it ran {subject}"));
            }
            if let Ok(Some(value)) = &answer {
                functions.given.set(functions.given.get().union(value.secrecy_of_parts()));
            }
            functions.send(&wire::encode_answer(number, &answer));
            asked.extend(answer.err().map(|error| (number, error)));
        }
    }
}

impl Backends for Session<'_> {
    fn may_call(&self, function: &str) -> bool {
        self.functions.permit.may_call(function)
    }

    fn prepare(&self, hiera3: &Hiera3) -> Result<(), LookupError> {
        self.try_prepare(hiera3)
            .unwrap_or_else(|message| Err(LookupError::function_failed(message, Raised::Ruby)))
    }

    fn call_function(&self, call: &FunctionCall<'_>, ask: &mut Ask<'_>) -> Reply {
        let nested = self.functions.nested.get();
        if nested >= MAX_NESTED_CALLS {
            return failed_reply(format!(
                "given up: functions of levels call each other more than {MAX_NESTED_CALLS} deep"
            ));
        }
        self.functions.nested.set(nested + 1);
        let reply = self.try_call(call, ask);
        self.functions.nested.set(nested);
        let mut reply = reply.unwrap_or_else(failed_reply);
        if let Returned::Failed(error) = &mut reply.returned {
            *error = error
                .clone()
                .mark_quoting(&Value::new_null(None).into_secret(self.functions.given.get()));
        }
        reply
    }
}

fn failed_reply(message: String) -> Reply {
    Reply {
        returned: Returned::Failed(LookupError::function_failed(message, Raised::Ruby)),
        texts: Vec::new(),
    }
}
