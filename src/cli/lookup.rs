//! `hiera-ls lookup`: effective values, one or many, with their story if asked for.

mod batch;
mod fleet;

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Once};
use std::time::Duration;

use super::watch::{WatchTarget, run_rounds};
use super::{
    ArgumentSettings, Failure, LookupArguments, Opened, Places, Render, Status, absolute_path,
    explain, note_unapplied, open, print_note,
};
use crate::backends::{BackendsConfig, Functions, Permit};
use crate::cli::settled::{note_unknown, note_unsettled};
use crate::disk::{FileSystem, OsFs};
use crate::eyaml::EnvironmentKeys;
use crate::hiera::backends::Backends;
use crate::hiera::eyaml::Decryptor;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, Resolver};
use crate::hiera::merge::{Strategy, parse_strategy};
use crate::hiera::request::LookupRequest;
use crate::hiera::scope::Scope;
use crate::ide::phrases::PlaceNames;
use crate::puppet::PuppetVersion;
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::types;
use crate::puppet::value::{Hash, Value};
use crate::text::FilePath;
use crate::text::escape::terminal_lines;
use crate::text::similar::suggestion;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::{from_json, read_values, scope_of_name, scopes_of};

pub(super) fn run(arguments: &LookupArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    if !arguments.watch {
        return run_once(arguments, out).map(|(status, _)| status);
    }
    let files = [&arguments.facts, &arguments.scope].into_iter().flatten();
    let target = WatchTarget { root: &arguments.root, near: None, files: files.collect() };
    run_rounds(&target, out, |out| run_once(arguments, out))
}

/// Answers once. Returns the status and the snapshot that was read.
fn run_once(
    arguments: &LookupArguments,
    out: &mut dyn Write,
) -> Result<(Status, Snapshot), Failure> {
    let request = read_request(arguments)?;
    let opened = open(&arguments.root, None, decryption_settings(arguments)?, None)?;
    opened.note_settings();
    let status = answer(arguments, &request, &opened, out)?;
    Ok((status, opened.snapshot))
}

fn answer(
    arguments: &LookupArguments,
    request: &LookupRequest,
    opened: &Opened,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let environment = opened.single_environment(arguments.root.environment.as_deref())?.clone();
    if let Some(choice) = &arguments.nodes {
        return fleet::answer_fleet(arguments, choice, opened, &environment, out);
    }
    let scopes = read_scopes(arguments, opened, &environment)?;
    let runnable = read_runnable(arguments, opened, &environment)?;
    if arguments.batch {
        let runnable = runnable.as_ref();
        return batch::answer_batch(
            arguments,
            opened,
            &environment,
            runnable,
            &scopes,
            request,
            out,
        );
    }
    let (_, scope) = scopes.first().ok_or("the scope file holds no scope")?;
    let view = opened.snapshot.view(&environment);
    let keys = opened.snapshot.eyaml_decryptor(&environment);
    let functions = runnable.as_ref().map(Runnable::functions);
    let session =
        functions.as_ref().map(|functions| functions.open_session(&environment.name, scope));
    let backends = session.as_ref().map(|session| session as &dyn Backends);
    let context = new_context(opened, &environment, &view, keys.as_ref(), scope);
    let resolver = Resolver::new(Context { backends, ..context });
    let status = if arguments.explain || arguments.explain_options {
        let options = print_options(arguments);
        explain::run(arguments, opened, &resolver, request, &options, out)
    } else {
        print_single(arguments, opened, &resolver, request, out)
    };
    note_other_version(functions.as_ref(), resolver.context().puppet);
    note_refused(functions.as_ref());
    status
}

/// Says once that functions ran in another version of Puppet than the one that the rest agrees with.
fn note_other_version(functions: Option<&Functions>, puppet: PuppetVersion) {
    static NOTED: Once = Once::new();
    let Some(installed) = functions.and_then(Functions::installed_puppet) else { return };
    let is_same = installed.split('.').next() == Some(&*puppet.major.to_string());
    if !is_same {
        NOTED.call_once(|| {
            let major = puppet.major;
            print_note(&format!(
                "functions ran in Puppet {installed}, all else is as in Puppet {major}"
            ));
        });
    }
}

/// Returns the settings for `--decrypt`: they permit the keys that this hiera.yaml names, at any
/// path, or those that other arguments name.
fn decryption_settings(arguments: &LookupArguments) -> Result<ArgumentSettings, Failure> {
    let mut eyaml = serde_json::json!({"decrypt": arguments.decrypt, "keyFolders": ["/"]});
    for (name, file) in
        [("privateKey", &arguments.eyaml_private_key), ("publicKey", &arguments.eyaml_public_key)]
    {
        if let Some(file) = file {
            eyaml[name] = absolute_path(file)?.as_str().into();
        }
    }
    Ok(ArgumentSettings::from_iter([("eyaml".to_owned(), eyaml)]))
}

/// The code that `--run-backends` lets run, and how it runs.
struct Runnable {
    config: BackendsConfig,
    permit: Permit,
    puppet: PuppetVersion,
}

impl Runnable {
    fn functions(&self) -> Functions {
        Functions::new(self.config.clone(), self.permit.clone(), self.puppet)
    }
}

/// Returns what `--run-backends` lets run; `None` without it.
///
/// Errors: a relative path is given and there is no current folder.
fn read_runnable(
    arguments: &LookupArguments,
    opened: &Opened,
    environment: &Environment,
) -> Result<Option<Runnable>, Failure> {
    let Some(named) = &arguments.run_backends else { return Ok(None) };
    let named = named.iter().filter(|name| !name.is_empty());
    let (files, names): (Vec<&String>, Vec<&String>) = named.partition(|name| name.contains('/'));
    let files: Result<BTreeSet<FilePath>, Failure> =
        files.into_iter().map(|file| absolute_path(file)).collect();
    let usual = BackendsConfig::default();
    let ruby = match &arguments.ruby {
        // Ruby starts in a folder of its own, so the path must be absolute.
        Some(ruby) if ruby.contains(std::path::is_separator) => {
            Some(absolute_path(ruby)?.to_string())
        }
        ruby => ruby.clone(),
    };
    let config = BackendsConfig {
        command: ruby.map_or(usual.command, |ruby| vec![ruby]),
        environment: arguments.pass_env.clone(),
        functions: (!names.is_empty()).then(|| names.into_iter().cloned().collect()),
        deadline: Duration::from_secs(arguments.backend_timeout),
    };
    let names = config.functions.as_deref();
    let permit = Permit::from_levels(&opened.snapshot, environment, names, &files?, &OsFs);
    let puppet = opened.snapshot.config_of(environment).puppet;
    Ok(Some(Runnable { config, permit, puppet }))
}

/// Notes how the user lets files run that functions would have loaded.
fn note_refused(functions: Option<&Functions>) {
    let refused = functions.map(Functions::take_refused).unwrap_or_default();
    if !refused.is_empty() {
        let refused: Vec<&str> = refused.iter().map(FilePath::as_str).collect();
        let files = refused.join(",");
        print_note(&format!(
            "a file that --run-backends names may run, too: --run-backends={files}"
        ));
    }
}

fn print_options(arguments: &LookupArguments) -> PrintOptions<'static> {
    let reveal = arguments.reveal_sensitive;
    PrintOptions { reveal_sensitive: reveal, reveal_decrypted: reveal, ..PrintOptions::default() }
}

fn new_context<'a>(
    opened: &'a Opened,
    environment: &'a Environment,
    view: &'a crate::workspace::EnvironmentView<'a>,
    keys: Option<&'a EnvironmentKeys<'a>>,
    scope: &'a Scope,
) -> Context<'a> {
    let decryptor = keys.map(|keys| keys as &dyn Decryptor);
    // Puppet fails where an editor goes on: this command gives Puppet's answer.
    Context {
        tolerant: false,
        decryptor,
        ..opened.snapshot.lookup_context(environment, view, scope)
    }
}

fn print_single(
    arguments: &LookupArguments,
    opened: &Opened,
    resolver: &Resolver<'_>,
    request: &LookupRequest,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let options = print_options(arguments);
    let names = PlaceNames { snapshot: &opened.snapshot, root: &opened.root };
    let mut unsettled = Vec::new();
    let mut unknown = BTreeSet::new();
    let answer = resolver.answer_telling(request, &mut |_, resolution| {
        note_unapplied(&resolution.unapplied_conversions);
        unsettled.extend(resolution.unsettled_levels.iter().cloned());
        unknown.extend(resolution.reads.unknown.iter().cloned());
    });
    let asked: Vec<String> = request.names.iter().map(|name| format!("'{name}'")).collect();
    let asked = asked.join(", ");
    let Some(answer) = answer.map_err(|error| Failure(error.print_message(&options)))? else {
        let subject = format!("did not find a value for {asked}");
        if unsettled.is_empty() {
            print_note(&format!("{subject}{}", nearest_key(&request.names, &opened.snapshot)));
            return Ok(Status::Bad);
        }
        let subject = format!("{subject}; levels that could not be evaluated may have one");
        note_unsettled(&subject, &unsettled, &names);
        return Ok(Status::NotSettled);
    };
    let subject = format!("levels that could not be evaluated may change the value of {asked}");
    note_unsettled(&subject, &unsettled, &names);
    if unsettled.is_empty() {
        note_unknown(&unknown, &asked);
    }
    match arguments.render_as.unwrap_or(Render::Yaml) {
        Render::S => writeln!(out, "{}", print::print_text(&answer.value, &options))?,
        Render::Json => writeln!(out, "{}", print::print_json(&answer.value, &options))?,
        Render::Yaml if arguments.render_as.is_none() && shows_places(arguments) => {
            let lines = print::yaml_lines(&answer.value, &options);
            let text = print::with_comments(&lines, &|origin| Some(names.place_name(origin)));
            write!(out, "{}", terminal_lines(&text))?;
        }
        Render::Yaml => write!(out, "{}", print::print_yaml(&answer.value, &options))?,
    }
    Ok(Status::Good)
}

/// Returns a question with the key that one of these names is probably a misspelling of; empty where
/// no file defines a similar one.
fn nearest_key(names: &[String], snapshot: &Snapshot) -> String {
    let keys = snapshot.keys();
    let roots = names.iter().filter_map(|name| Some(LookupKey::parse(name).ok()?.root_text()));
    roots
        .filter(|root| keys.definitions(root).is_empty())
        .map(|root| suggestion(&root, keys.keys().map(|key| &**key)))
        .collect()
}

/// Whether the file and line of each leaf is written: for people, not for programs.
fn shows_places(arguments: &LookupArguments) -> bool {
    match arguments.places {
        Places::Always => true,
        Places::Never => false,
        Places::Auto => std::io::stdout().is_terminal(),
    }
}

/// Returns the request that the arguments make: the options hash, and the single arguments that
/// replace its members.
fn read_request(arguments: &LookupArguments) -> Result<LookupRequest, Failure> {
    let mut request = LookupRequest::default();
    if let Some(options) = &arguments.options {
        request
            .apply_options(&parse_json_argument("--options", options)?)
            .map_err(|error| Failure(format!("--options: {error}")))?;
    }
    if !arguments.keys.is_empty() {
        request.names.clone_from(&arguments.keys);
    }
    if request.names.is_empty() && arguments.explain_options && !arguments.explain {
        request.names.push(NO_KEY.into());
    }
    if request.names.is_empty() && !arguments.batch {
        return Err(Failure("No keys were given to lookup.".into()));
    }
    if let Some(text) = &arguments.value_type {
        request.value_type = Some(types::parse(text)?);
    }
    if let Some(strategy) = merge_argument(arguments)? {
        request.merge = Some(Ok(strategy));
    }
    if let Some(text) = &arguments.default {
        request.default_value = Some(Value::from_argument(text));
    }
    if let Some(text) = &arguments.overrides {
        request.overrides = parse_hash_argument("--override", text)?;
    }
    if let Some(text) = &arguments.default_values_hash {
        request.default_values_hash = parse_hash_argument("--default-values-hash", text)?;
    }
    Ok(request)
}

fn parse_hash_argument(argument: &str, text: &str) -> Result<Hash, Failure> {
    let value = parse_json_argument(argument, text)?;
    value.as_hash().cloned().ok_or_else(|| Failure(format!("{argument}: not a hash")))
}

fn parse_json_argument(argument: &str, text: &str) -> Result<Value, Failure> {
    let parsed: serde_json::Value =
        serde_json::from_str(text).map_err(|error| Failure(format!("{argument}: {error}")))?;
    Ok(from_json(&parsed))
}

/// The key that Puppet takes where options are to be explained for none.
const NO_KEY: &str = "__global__";

fn merge_argument(arguments: &LookupArguments) -> Result<Option<Strategy>, Failure> {
    let has_options = arguments.knock_out_prefix.is_some()
        || arguments.sort_merged_arrays
        || arguments.merge_hash_arrays;
    let Some(merge) = &arguments.merge else {
        if has_options {
            return Err(Failure(DEEP_ONLY.into()));
        }
        return Ok(None);
    };
    let mut given = match serde_json::from_str::<serde_json::Value>(merge) {
        Ok(value) if value.is_object() => value,
        _ => serde_json::json!({"strategy": merge}),
    };
    if has_options && merge != "deep" {
        return Err(Failure(DEEP_ONLY.into()));
    }
    if merge == "deep" {
        // Puppet's command gives both options, set or not, and explanations show the options.
        given["sort_merged_arrays"] = arguments.sort_merged_arrays.into();
        given["merge_hash_arrays"] = arguments.merge_hash_arrays.into();
        if let Some(prefix) = &arguments.knock_out_prefix {
            given["knockout_prefix"] = prefix.as_str().into();
        }
    }
    Ok(parse_strategy(&from_json(&given))?)
}

const DEEP_ONLY: &str = "The options --knock-out-prefix, --sort-merged-arrays, and --merge-hash-arrays are only available with '--merge deep'";

/// Returns the scopes of a file that the arguments choose: that of the named node, or all for a
/// batch.
fn choose_scopes(
    scopes: Vec<(String, Arc<Scope>)>,
    arguments: &LookupArguments,
    file: &str,
) -> Result<Vec<(String, Arc<Scope>)>, Failure> {
    if scopes.is_empty() {
        return Err(Failure(format!("{file} holds no scope")));
    }
    if scopes.len() == 1 {
        return Ok(scopes);
    }
    match &arguments.node {
        Some(node) => {
            let hint = suggestion(node, scopes.iter().map(|(name, _)| name.as_str()));
            let of_node: Vec<_> = scopes.into_iter().filter(|(name, _)| name == node).collect();
            if of_node.is_empty() {
                Err(Failure(format!("{file} holds no scope of the node '{node}'{hint}")))
            } else {
                Ok(of_node)
            }
        }
        None if arguments.batch => Ok(scopes),
        None => {
            Err(Failure(format!("{file} holds {} scopes: name the node with --node", scopes.len())))
        }
    }
}

/// Returns the scopes to answer for, with the names of their nodes.
fn read_scopes(
    arguments: &LookupArguments,
    opened: &Opened,
    environment: &Environment,
) -> Result<Vec<(String, Arc<Scope>)>, Failure> {
    let name = arguments.root.environment.clone().unwrap_or_else(|| environment.name.clone());
    let config = opened.snapshot.config_of(environment);
    let (rules, puppet) = (&config.nodes.derive, config.puppet);
    if let Some(file) = &arguments.scope {
        let scopes: Vec<(String, Arc<Scope>)> = read_scope_values(file)?
            .into_iter()
            .map(|value: Value| {
                let hash = value
                    .as_hash()
                    .ok_or_else(|| Failure(format!("{file}: a scope must be a hash")))?;
                let certname = value
                    .get("trusted")
                    .and_then(|trusted| trusted.get("certname"))
                    .and_then(Value::as_str);
                let certname =
                    certname.or(arguments.node.as_deref()).unwrap_or("unnamed").to_owned();
                Ok((
                    certname.clone(),
                    Arc::new(crate::workspace::nodes::literal_scope(
                        hash, &certname, &name, puppet,
                    )),
                ))
            })
            .collect::<Result<_, Failure>>()?;
        return choose_scopes(scopes, arguments, file);
    }
    if let Some(file) = &arguments.facts {
        let values = read_scope_values(file)?;
        let stem = FilePath::new(file).name().split('.').next().unwrap_or_default().to_owned();
        let scopes = scopes_of(&values, arguments.node.as_deref(), &stem, &name, puppet)
            .map_err(|error| Failure(format!("{file}: {error}")))?;
        let scopes = scopes
            .into_iter()
            .map(|(certname, mut scope)| {
                scope.derive(rules.clone());
                (certname, Arc::new(scope))
            })
            .collect();
        return choose_scopes(scopes, arguments, file);
    }
    Ok(vec![find_scope(opened, environment, arguments.node.as_deref(), &name)?])
}

fn read_scope_values(file: &str) -> Result<Vec<Value>, Failure> {
    let path = absolute_path(file)?;
    let bytes = OsFs.read(&path, u64::MAX).map_err(|error| Failure(format!("{path}: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure(format!("{path}: it is not UTF-8")))?;
    read_values(&path, &text).map_err(|error| Failure(format!("{path}: {error}")))
}

/// Returns the scope of the node with this certname, or of the settings' node; with none, a scope
/// whose answers hold for every node. `name` is the environment's.
pub(super) fn find_scope(
    opened: &Opened,
    environment: &Environment,
    node: Option<&str>,
    name: &str,
) -> Result<(String, Arc<Scope>), Failure> {
    let config = opened.snapshot.config_of(environment);
    let known = opened.snapshot.nodes_of(environment);
    let kinds = &opened.snapshot.kinds_of(environment).all;
    let wanted = node.or(config.nodes.default.as_deref());
    match wanted
        .map(|wanted| (wanted, known.iter().chain(kinds).find(|node| &*node.name == wanted)))
    {
        Some((_, Some(node))) => Ok((node.name.to_string(), node.scope_in(name))),
        Some((wanted, None)) if known.iter().any(|node| node.is_given) => Err(Failure(format!(
            "no facts are known of the node '{wanted}'{}; `hiera-ls nodes` lists those that are known",
            suggestion(wanted, known.iter().map(|node| &*node.name))
        ))),
        Some((wanted, None)) => {
            print_note(&format!(
                "no facts are known of the node '{wanted}': only its name is{}",
                suggestion(wanted, known.iter().chain(kinds).map(|node| &*node.name))
            ));
            let mut scope = scope_of_name(wanted, name, config.puppet);
            scope.derive(config.nodes.derive.clone());
            Ok((wanted.to_owned(), Arc::new(scope)))
        }
        // No node is given: the scope is open, so that an answer holds for every node.
        None => {
            let mut scope = Scope::open("any node");
            scope.set_variable("environment", Value::from_argument(name));
            Ok(("any node".into(), Arc::new(scope)))
        }
    }
}
