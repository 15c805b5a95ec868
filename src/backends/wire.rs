//! The messages between hiera-ls and its Ruby process: values as JSON, calls, questions, answers.
//! `bridge.rb` has the other end of each. Messages of the process are untrusted: a malformed
//! message is an error.

use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

use crate::hiera::backends::{
    CallKey, CallLocation, Checked, FunctionCall, FunctionQuestion, Hiera3, Returned,
};
use crate::hiera::config::{BackendKind, Layer};
use crate::hiera::error::{LookupError, Raised};
use crate::hiera::key::KeySegment;
use crate::hiera::merge::Strategy;
use crate::puppet::rich::{RegexPattern, Rich, SemanticVersion, VersionRange};
use crate::puppet::ruby::base64;
use crate::puppet::ruby::inspect::float_text;
use crate::puppet::types;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::FilePath;

/// The member that marks a JSON object as a value that JSON has no form for.
const KIND: &str = "__t";

/// Returns a value as JSON.
pub(super) fn encode(value: &Value) -> Json {
    match value.data() {
        Data::Null => Json::Null,
        Data::Bool(value) => json!(value),
        Data::Integer(number) => json!(number),
        Data::BigInteger(digits) => special_json("int", json!(&**digits)),
        Data::Float(number) => special_json("float", json!(float_text(*number))),
        Data::String(text) => json!(&**text),
        Data::Symbol(name) => special_json("symbol", json!(&**name)),
        Data::Binary(bytes) => special_json("bytes", json!(base64::encode(bytes))),
        Data::Array(items) => items.iter().map(encode).collect(),
        Data::Hash(hash) => encode_hash(hash),
        Data::Sensitive(inner) => special_json("sensitive", encode(inner)),
        Data::Rich(rich) => encode_rich(rich),
    }
}

fn special_json(kind: &str, value: Json) -> Json {
    json!({KIND: kind, "v": value})
}

fn encode_hash(hash: &Hash) -> Json {
    let is_plain = hash.keys().all(|key| key.as_str().is_some_and(|key| key != KIND));
    if is_plain {
        return hash
            .iter()
            .filter_map(|(key, member)| Some((key.as_str()?.to_owned(), encode(&member.value))))
            .collect::<Map<_, _>>()
            .into();
    }
    special_json(
        "hash",
        hash.iter()
            .map(|(key, member)| json!([encode(&key.to_value(None)), encode(&member.value)]))
            .collect(),
    )
}

fn encode_rich(rich: &Rich) -> Json {
    match rich {
        Rich::Timestamp(nanos) => special_json("timestamp", json!(nanos.to_string())),
        Rich::Timespan(nanos) => special_json("timespan", json!(nanos.to_string())),
        Rich::SemVer(version) => special_json("semver", json!(version.to_string())),
        Rich::SemVerRange(range) => special_json("semver_range", json!(range.to_string())),
        Rich::Regexp(pattern) => special_json("regexp", json!(pattern.source())),
        Rich::Uri(text) => special_json("uri", json!(text)),
        Rich::Binary(bytes) => special_json("binary", json!(base64::encode(bytes))),
        Rich::Type(data_type) => special_json("type", json!(data_type.to_string())),
    }
}

/// The error of a message that is not as it should be.
#[derive(Debug)]
pub(super) struct Malformed(pub(super) String);

fn malformed_message(message: &str) -> Malformed {
    Malformed(format!("the Ruby process answered with {message}"))
}

/// Reads values; all of them have these marks and this place.
pub(super) struct Decoder {
    pub(super) from: Provenance,
}

impl Decoder {
    /// Returns the value of a JSON text.
    pub(super) fn decode_value(&self, json: &Json) -> Result<Value, Malformed> {
        let data = match json {
            Json::Null => Data::Null,
            Json::Bool(value) => Data::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(number) => Data::Integer(number),
                None => return Err(malformed_message("a number beyond 64 bits")),
            },
            Json::String(text) => Data::String(text.as_str().into()),
            Json::Array(items) => {
                let items: Result<Vec<Value>, Malformed> =
                    items.iter().map(|item| self.decode_value(item)).collect();
                Data::Array(Arc::new(items?))
            }
            Json::Object(members) => match members.get(KIND) {
                Some(kind) => {
                    let kind = kind.as_str().unwrap_or_default();
                    return self.decode_special(kind, json);
                }
                None => {
                    let mut hash = Hash::default();
                    for (key, value) in members {
                        let key = self.new_key(Data::String(key.as_str().into()));
                        hash.insert(key, self.decode_member(value)?);
                    }
                    Data::Hash(Arc::new(hash))
                }
            },
        };
        Ok(Value::new(data, self.from))
    }

    fn new_key(&self, data: Data) -> Key {
        Key::new(data, self.from)
    }

    fn decode_member(&self, value: &Json) -> Result<Member, Malformed> {
        Ok(Member { key_origin: None, value: self.decode_value(value)? })
    }

    fn decode_special(&self, kind: &str, json: &Json) -> Result<Value, Malformed> {
        let given = &json["v"];
        let text = || given.as_str().ok_or_else(|| malformed_message("a value without its text"));
        let bytes = || Ok::<_, Malformed>(base64::decode(text()?));
        let data = match kind {
            "int" => Data::BigInteger(text()?.into()),
            "float" => Data::Float(match text()? {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                text => text.parse().map_err(|_| malformed_message("a float that is none"))?,
            }),
            "symbol" => Data::Symbol(text()?.into()),
            "bytes" => Data::Binary(bytes()?.into()),
            "binary" => Data::Rich(Arc::new(Rich::Binary(bytes()?))),
            "sensitive" => Data::Sensitive(Arc::new(self.decode_value(given)?)),
            "hash" => {
                let mut hash = Hash::default();
                for pair in given.as_array().into_iter().flatten() {
                    let key = self.decode_value(&pair[0])?;
                    hash.insert(Key::from(key), self.decode_member(&pair[1])?);
                }
                Data::Hash(Arc::new(hash))
            }
            "regexp" | "type" | "rich" => return self.decode_rich(kind, text()?, json),
            _ => return Err(malformed_message("a value of an unknown kind")),
        };
        Ok(Value::new(data, self.from))
    }

    /// Returns a rich value; an object that no value of hiera-ls represents becomes its text.
    fn decode_rich(&self, kind: &str, text: &str, json: &Json) -> Result<Value, Malformed> {
        let converted = match (kind, json["type"].as_str().unwrap_or_default()) {
            ("type", _) => types::parse(text).ok().map(Rich::Type),
            ("regexp", _) => {
                RegexPattern::new(text).ok().map(|pattern| Rich::Regexp(Arc::new(pattern)))
            }
            (_, "SemVer") => SemanticVersion::parse(text).ok().map(Rich::SemVer),
            (_, "SemVerRange") => VersionRange::parse(text).ok().map(Rich::SemVerRange),
            (_, "Timestamp") => parse_nanos(text).map(Rich::Timestamp),
            (_, "Timespan") => parse_nanos(text).map(Rich::Timespan),
            (_, "URI") => Some(Rich::Uri(text.to_owned())),
            _ => None,
        };
        let data = match converted {
            Some(rich) => Data::Rich(Arc::new(rich)),
            None => Data::String(text.into()),
        };
        Ok(Value::new(data, self.from))
    }

    /// Returns the value of a call, or the type of one that Puppet refuses.
    fn decode_checked(&self, json: &Json) -> Result<Checked, Malformed> {
        match json["invalid"].as_str() {
            Some(got) => Ok(Checked::Illegal(got.into())),
            None => match json.get("value") {
                Some(value) => Ok(Checked::Legal(self.decode_value(value)?)),
                None => Err(malformed_message("no value")),
            },
        }
    }

    /// Returns the outcome of a call. `asked` has the errors that questions were answered with, by
    /// the number of the question.
    pub(super) fn decode_returned(
        &self,
        call: &FunctionCall<'_>,
        reply: &Json,
        asked: &[(u64, LookupError)],
    ) -> Result<Returned, Malformed> {
        if reply["not_found"] == true {
            return Ok(Returned::NotFound);
        }
        if let Some(error) = reply.get("error") {
            return Ok(Returned::Failed(decode_failure(error, asked)));
        }
        let result = &reply["result"];
        let is_hash = matches!(call.kind, BackendKind::DataHash | BackendKind::LegacyFunction);
        if !is_hash || matches!(call.key, CallKey::Member(_)) {
            return self.decode_checked(result).map(Returned::Value);
        }
        let pairs = result["pairs"].as_array().ok_or_else(|| malformed_message("no hash"))?;
        let members: Result<Vec<(Key, Checked)>, Malformed> = pairs
            .iter()
            .map(|pair| {
                let key = Key::from(self.decode_value(&pair["key"])?);
                Ok((key, self.decode_checked(pair)?))
            })
            .collect();
        Ok(Returned::Hash { members: members?, has_default: result["default"] == true })
    }

    /// Returns the texts that a function explained itself with.
    pub(super) fn decode_texts(&self, reply: &Json) -> Result<Vec<Value>, Malformed> {
        reply["texts"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|text| self.decode_value(text))
            .collect()
    }

    /// Returns a question.
    pub(super) fn decode_question(&self, message: &Json) -> Result<FunctionQuestion, Malformed> {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("interpolate") => {
                Ok(FunctionQuestion::Interpolate(self.decode_value(&params["value"])?))
            }
            Some("lookup") => Ok(FunctionQuestion::Lookup {
                key: params["key"].as_str().ok_or_else(|| malformed_message("no key"))?.to_owned(),
                merge: self.decode_value(&params["merge"])?,
                global_only: params["global_only"] == true,
                overrides: self.decode_value(&params["overrides"])?,
                defaults: self.decode_value(&params["defaults"])?,
                order_override: self.decode_value(&params["order_override"])?,
            }),
            _ => Err(malformed_message("an unknown question")),
        }
    }
}

fn parse_nanos(text: &str) -> Option<i128> {
    text.parse::<i128>().ok()
}

fn decode_failure(error: &Json, asked: &[(u64, LookupError)]) -> LookupError {
    let own = error["asked"].as_u64();
    if let Some((_, error)) = own.and_then(|own| asked.iter().find(|(number, _)| *number == own)) {
        return error.clone();
    }
    if let Some(path) = error["refused"].as_str() {
        let reason = if error["changed"] == true {
            "it has changed since it was let run"
        } else {
            "it is not among the files that may run"
        };
        return LookupError::function_failed(
            format!("{path} was not loaded: {reason}"),
            Raised::Ruby,
        );
    }
    let raised = if error["lookup"] == true {
        Raised::Lookup { has_issue: error["issue"] == true }
    } else if error["puppet"] == true {
        Raised::Puppet
    } else {
        Raised::Ruby
    };
    LookupError::function_failed(error["message"].as_str().unwrap_or_default().to_owned(), raised)
}

/// Returns the parameters of a call.
pub(super) fn encode_call(call: &FunctionCall<'_>) -> Json {
    let module = match call.layer {
        Layer::Module(name) => Some(&**name),
        Layer::Global | Layer::Environment => None,
    };
    let mut params = json!({
        "kind": call.kind.key(),
        "function": call.function,
        "module": module,
        "config": call.config.as_str(),
        "level": call.level,
        "location_number": call.location_number,
        "options": call.options.map(encode),
        "location": call.location.map(|location| match location {
            CallLocation::Path(path) => json!({"path": path}),
            CallLocation::Uri(uri) => json!({"uri": uri}),
        }),
        "explain": call.explains,
    });
    match call.key {
        CallKey::All => {}
        CallKey::Member(key) => params["member"] = json!(key),
        CallKey::Root(key) => params["key"] = json!(key),
        CallKey::Segments(segments) => {
            params["segments"] = segments
                .iter()
                .map(|segment| match segment {
                    KeySegment::Name(name) => json!(&**name),
                    KeySegment::Index(index) => json!(index),
                })
                .collect();
        }
        CallKey::Hiera3 { text, merge, order_override, global_only } => {
            params["key"] = json!(text);
            params["merge"] = encode_strategy(merge);
            params["order_override"] = order_override.iter().map(encode).collect();
            params["global_only"] = json!(global_only);
        }
    }
    params
}

/// Returns a merge strategy as the function `lookup` takes it.
fn encode_strategy(merge: &Strategy) -> Json {
    let Some(options) = merge.options() else { return json!(merge.name()) };
    let mut given = options.clone();
    let named = [("strategy", merge.name())].map(|(key, name)| {
        (Key::from(new_text_value(key)), Member { key_origin: None, value: new_text_value(name) })
    });
    given.extend(named);
    encode_hash(&given)
}

fn new_text_value(text: &str) -> Value {
    Value::new_string(text, Provenance::from_source(None))
}

/// Returns the parameters that make backends of Hiera 3 known.
pub(super) fn encode_hiera3(hiera3: &Hiera3) -> Json {
    let backends = hiera3.backends.iter().map(|backend| {
        json!({
            "level": backend.level,
            "title": &*backend.title,
            "name": &*backend.name,
            "datadir": backend.datadir,
            "sources": backend.sources.iter().map(|source| &**source).collect::<Vec<_>>(),
            "options": backend.options.as_ref().map(encode),
        })
    });
    json!({
        "config": hiera3.config.as_str(),
        "text": hiera3.text.as_deref(),
        "backends": backends.collect::<Vec<_>>(),
    })
}

/// Returns the error of a request that asks nothing back; `None` where it succeeded.
pub(super) fn error_of(reply: &Json) -> Option<LookupError> {
    Some(decode_failure(reply.get("error")?, &[]))
}

/// Returns the file that a message says was not loaded, as no permit names it.
pub(super) fn refused(message: &Json) -> Option<FilePath> {
    let error = message.get("error")?;
    (error["changed"] == false).then(|| error["refused"].as_str().map(FilePath::new)).flatten()
}

/// Returns the answer to a question.
pub(super) fn encode_answer(number: u64, answer: &Result<Option<Value>, LookupError>) -> Json {
    match answer {
        Ok(Some(value)) => json!({"answer": number, "value": encode(value)}),
        Ok(None) => json!({"answer": number, "not_found": true}),
        Err(error) => {
            let (class, issue) = match error.raised() {
                Raised::Lookup { has_issue } => ("lookup", has_issue),
                Raised::Puppet => ("puppet", false),
                Raised::Ruby => ("ruby", false),
            };
            let issue = issue.then_some("HIERA_LS");
            let told = json!({"class": class, "issue": issue, "message": error.to_string()});
            json!({"answer": number, "error": told})
        }
    }
}
