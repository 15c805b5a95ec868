//! `lookup --batch`: questions line by line, for one scope or for every node of a fleet. The answer
//! to an invalid line is its error.

use std::io::{BufRead, BufReader, Read as _, StdinLock, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::{
    LookupArguments, Runnable, from_json, new_context, note_other_version, note_refused,
    print_options,
};
use crate::backends::Session;
use crate::cli::{Failure, Opened, Status};
use crate::hiera::backends::Backends;
use crate::hiera::lookup::{Context, Resolver, STACK};
use crate::hiera::request::LookupRequest;
use crate::hiera::scope::Scope;
use crate::ide::phrases::level_names;
use crate::puppet::print::{self, PrintOptions};
use crate::workspace::environments::Environment;
use crate::workspace::files::parallel;

/// How many questions are answered at once.
const AT_ONCE: usize = 64;
/// How many bytes a question may have.
const MAX_LINE: usize = 1 << 20;

/// Some scopes to answer for, with their names.
type Scopes<'a> = &'a [(String, Arc<Scope>)];

/// Answers questions as they come, in their order, for each scope in turn. Scopes are shared out
/// among the cores.
pub(super) fn answer_batch(
    arguments: &LookupArguments,
    opened: &Opened,
    environment: &Environment,
    runnable: Option<&Runnable>,
    scopes: Scopes<'_>,
    request: &LookupRequest,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let name_nodes = is_json_lines(&arguments.scope) || scopes.len() > 1;
    let options = print_options(arguments);
    let answerer = Answerer { opened, environment, runnable, options, name_nodes };
    // Functions of levels run in one process.
    let cores = if runnable.is_some() { 1 } else { parallel::core_count() };
    thread::scope(|threads| {
        let mut workers = Vec::new();
        for scopes in scopes.chunks(scopes.len().div_ceil(cores).max(1)) {
            let (ask, questions) = channel();
            let (answer, answers) = channel();
            let answerer = &answerer;
            thread::Builder::new().stack_size(STACK).spawn_scoped(threads, move || {
                answerer.answer_scopes(scopes, &questions, &answer)
            })?;
            workers.push((ask, answers));
        }
        let mut input = BufReader::new(std::io::stdin().lock());
        while let Some(lines) = lines_at_hand(&mut input)? {
            let questions: Arc<Vec<BatchQuestion>> = Arc::new(
                lines.into_iter().map(|line| BatchQuestion::read(line, request)).collect(),
            );
            for (ask, _) in &workers {
                ask.send(questions.clone())
                    .map_err(|_| Failure("a thread ended too soon".into()))?;
            }
            let answers: Result<Vec<Vec<String>>, _> =
                workers.iter().map(|(_, answers)| answers.recv()).collect();
            let answers = answers.map_err(|_| Failure("a thread ended too soon".into()))?;
            for n in 0..questions.len() {
                answers.iter().try_for_each(|answers| out.write_all(answers[n].as_bytes()))?;
            }
            out.flush()?; // the caller may wait for the answer before its next line
        }
        Ok(Status::Good)
    })
}

fn is_json_lines(path: &Option<String>) -> bool {
    path.as_ref().is_some_and(|path| path.ends_with("jsonl"))
}

/// A line of the input, or its error.
type InputLine = Result<Vec<u8>, String>;

/// The next lines with something in them: at least one, and as many as need not be waited for.
/// `None` at the end.
fn lines_at_hand(input: &mut BufReader<StdinLock<'_>>) -> Result<Option<Vec<InputLine>>, Failure> {
    let mut lines = Vec::new();
    loop {
        let Some(line) = next_line(input)? else { return Ok((!lines.is_empty()).then_some(lines)) };
        if !line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty()) {
            lines.push(line);
        }
        if !lines.is_empty() && (lines.len() == AT_ONCE || !input.buffer().contains(&b'\n')) {
            return Ok(Some(lines));
        }
    }
}

/// The next line; `None` at the end. Of one that is too long, the rest is passed over.
fn next_line(input: &mut impl BufRead) -> std::io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    if input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() <= MAX_LINE || line.ends_with(b"\n") {
        return Ok(Some(Ok(line)));
    }
    input.skip_until(b'\n')?;
    Ok(Some(Err(format!("this line is too long: it has more than {MAX_LINE} bytes"))))
}

/// The data that all threads answer from.
struct Answerer<'a> {
    opened: &'a Opened,
    environment: &'a Environment,
    runnable: Option<&'a Runnable>,
    options: PrintOptions<'static>,
    name_nodes: bool,
}

impl Answerer<'_> {
    /// Answers questions for some scopes until the channel is closed. An answer has a line for each
    /// scope.
    fn answer_scopes(
        &self,
        scopes: Scopes<'_>,
        questions: &Receiver<Arc<Vec<BatchQuestion>>>,
        answers: &Sender<Vec<String>>,
    ) {
        let view = self.opened.snapshot.view(self.environment);
        let keys = self.opened.snapshot.eyaml_decryptor(self.environment);
        let functions = self.runnable.map(Runnable::functions);
        let session = |scope: &Arc<Scope>| {
            functions
                .as_ref()
                .map(|functions| functions.open_session(&self.environment.name, scope))
        };
        let sessions: Vec<Option<Session<'_>>> =
            scopes.iter().map(|(_, scope)| session(scope)).collect();
        let mut resolvers: Vec<(&str, Resolver<'_>)> = Vec::new();
        for ((name, scope), session) in scopes.iter().zip(&sessions) {
            let backends = session.as_ref().map(|session| session as &dyn Backends);
            let context = new_context(self.opened, self.environment, &view, keys.as_ref(), scope);
            resolvers.push((name, Resolver::new(Context { backends, ..context })));
        }
        for questions in questions {
            let answered = questions
                .iter()
                .map(|question| self.answer_question(question, &resolvers))
                .collect();
            if answers.send(answered).is_err() {
                return; // the receiver has stopped: writing failed
            }
        }
        let puppet = self.opened.snapshot.config_of(self.environment).puppet;
        note_other_version(functions.as_ref(), puppet);
        note_refused(functions.as_ref());
    }

    fn answer_question(
        &self,
        question: &BatchQuestion,
        resolvers: &[(&str, Resolver<'_>)],
    ) -> String {
        let mut lines = String::new();
        for (name, resolver) in resolvers {
            lines.push('{');
            if self.name_nodes {
                lines.push_str("\"node\":");
                print::json_string(name, &mut lines);
                lines.push(',');
            }
            question.write_answer(resolver, &self.options, &mut lines);
            lines.push_str("}\n");
        }
        lines
    }
}

/// A line of a batch: `key`, or `name` as in an options hash, and any other members of an options
/// hash.
struct BatchQuestion {
    /// The part of the question that the answer repeats: the key, or the names.
    named: serde_json::Value,
    request: Result<LookupRequest, String>,
}

impl BatchQuestion {
    /// Reads a line. `base` has the arguments that the line leaves out.
    fn read(line: InputLine, base: &LookupRequest) -> BatchQuestion {
        let line = match line {
            Ok(line) => line,
            Err(message) => return bad_question(message),
        };
        let mut parsed = match serde_json::from_slice(&line) {
            Ok(serde_json::Value::Object(members)) => members,
            Ok(_) => return bad_question("this line has no key".into()),
            Err(error) => return bad_question(format!("this line is no question: {error}")),
        };
        let named = match (parsed.shift_remove("key"), parsed.get("name")) {
            (Some(serde_json::Value::String(key)), None) => key.into(),
            (None, Some(name)) => name.clone(),
            _ => return bad_question("this line has no key".into()),
        };
        if parsed.get("merge").is_some_and(serde_json::Value::is_null) {
            parsed.shift_remove("merge"); // the same as none
        }
        parsed.insert("name".into(), named.clone());
        let mut request = base.clone();
        let applied = request.apply_options(&from_json(&parsed.into()));
        BatchQuestion {
            named,
            request: applied.map(|()| request).map_err(|error| error.to_string()),
        }
    }

    fn write_answer(
        &self,
        resolver: &Resolver<'_>,
        options: &PrintOptions<'_>,
        answer: &mut String,
    ) {
        answer.push_str("\"key\":");
        answer.push_str(&self.named.to_string());
        let mut unsettled = Vec::new();
        let found = match &self.request {
            Ok(request) => resolver
                .answer_request(request, &mut unsettled)
                .map_err(|error| error.print_message(options)),
            Err(message) => Err(message.clone()),
        };
        match found {
            Ok(Some(found)) => {
                answer.push_str(",\"found\":true,\"value\":");
                answer.push_str(&print::print_json(&found.value, options));
                if !found.unapplied_conversions.is_empty() {
                    let each = found
                        .unapplied_conversions
                        .iter()
                        .map(|one| (one.key.to_string(), one.to.as_str().into()));
                    answer.push_str(",\"unapplied_convert_to\":");
                    answer.push_str(&serde_json::Value::Object(each.collect()).to_string());
                }
            }
            Ok(None) => answer.push_str(",\"found\":false"),
            Err(message) => {
                answer.push_str(",\"error\":");
                print::json_string(&message, answer);
            }
        }
        if !unsettled.is_empty() {
            let levels: serde_json::Value = level_names(&unsettled).into();
            answer.push_str(&format!(",\"settled\":false,\"unsettled_levels\":{levels}"));
        }
    }
}

fn bad_question(message: String) -> BatchQuestion {
    BatchQuestion { named: "".into(), request: Err(message) }
}
