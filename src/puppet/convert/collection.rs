//! `Array.new` and `Hash.new`.

use super::{
    ConversionResult, Failure, OnMismatch, Parameters, call_function, conversion_error, made_of,
};
use crate::puppet::rich::Rich;
use crate::puppet::types::{self, DataType, Range};
use crate::puppet::value::{Data, Hash, Key, Member, Value};

use DataType as T;

/// The most elements that a number becomes. Puppet makes any number of them, and so hardly ends.
const MAX_ELEMENTS: i64 = 100_000;

fn any_array() -> DataType {
    T::array_type(T::Any, None)
}

pub(super) fn convert_array(arguments: &[Value]) -> ConversionResult {
    let source =
        T::Variant(vec![any_array(), T::hash(T::Any, T::Any, None), T::Binary, T::Iterable(None)]);
    let signatures: [Parameters<'_>; 2] = [
        (&[("from", source), ("wrap", T::Boolean(Some(false)))], 1),
        (&[("from", T::Any), ("wrap", T::Boolean(Some(true)))], 2),
    ];
    let on_error = |arguments: &[Value]| {
        Ok(format!(
            "Value of type {} cannot be converted to Array",
            types::infer(&arguments[0]).generalize()
        ))
    };
    let mismatch: OnMismatch<'_> = ((&[("from", T::Any), ("wrap", T::BOOLEAN)], 1), &on_error);
    call_function("new_array", &signatures, &[mismatch], arguments, |form, arguments| {
        let from = arguments[0].clone();
        match (from.data(), form) {
            (Data::Array(_), _) => Ok(from),
            (_, 1) => Ok(Value::array_of(vec![from], None)),
            // The array is as secret as the text, so that it does not even show the number of
            // characters.
            _ => Ok(Value::new_array(iterate(&from)?, from.provenance().with_origin(None))),
        }
    })
}

/// Returns the elements of an iteration over a value.
fn iterate(value: &Value) -> Result<Vec<Value>, Failure> {
    match value.data() {
        Data::Array(items) => Ok(items.to_vec()),
        Data::Hash(hash) => Ok(hash
            .iter()
            .map(|(key, member)| {
                let key = key.to_value(member.key_origin);
                Value::array_of(vec![key, member.value.clone()], member.key_origin)
            })
            .collect()),
        Data::Integer(count) => integers_between(0, *count, value),
        Data::String(text) => Ok(text
            .chars()
            .map(|c| Value::new_string(c.encode_utf8(&mut [0; 4]), value.provenance()))
            .collect()),
        Data::Rich(rich) => match &**rich {
            Rich::Binary(bytes) => Ok(bytes
                .iter()
                .map(|byte| {
                    let from = made_of(std::slice::from_ref(value));
                    Value::new(Data::Integer(i64::from(*byte)), from)
                })
                .collect()),
            Rich::Type(T::Enum { values, .. }) => {
                let from = made_of(std::slice::from_ref(value));
                Ok(values.iter().map(|text| Value::new_string(text, from)).collect())
            }
            Rich::Type(T::Integer(Range { from: Some(from), to: Some(to) })) => {
                match (i64::try_from(*from), i64::try_from(*to)) {
                    (Ok(from), Ok(to)) => integers_between(from, to.saturating_add(1), value),
                    _ => Err(Failure::Unknown),
                }
            }
            _ => Err(Failure::Unknown),
        },
        _ => Err(Failure::Unknown),
    }
}

fn integers_between(from: i64, to: i64, value: &Value) -> Result<Vec<Value>, Failure> {
    if to.saturating_sub(from) > MAX_ELEMENTS {
        return Err(Failure::Unknown);
    }
    Ok((from..to).map(|n| Value::new(Data::Integer(n), value.provenance_of_parts())).collect())
}

pub(super) fn hash(arguments: &[Value]) -> ConversionResult {
    let some = Some(Range { from: Some(1), to: None });
    let tree = super::local_type("TreeArray", pair_array(any_array(), some));
    let option = T::Enum { values: vec!["hash_tree".into(), "tree".into()], fold: false };
    let signatures: [Parameters<'_>; 3] = [
        (&[("from", tree), ("build_option", super::local_type("NewHashOption", option))], 1),
        (&[("from", super::local_type("KeyValueArray", pair_array(T::Any, some)))], 1),
        (&[("from", T::Any)], 1),
    ];
    call_function("new_hash", &signatures, &[], arguments, |form, arguments| {
        let from = &arguments[0];
        match (form, arguments.get(1)) {
            (0, Some(option)) => from_tree(from, option.as_str() == Some("hash_tree")),
            (0 | 1, _) => Ok(Value::hash_of(
                from.as_array().unwrap_or_default().iter().filter_map(pair_member).collect(),
                None,
            )),
            _ => from_elements(from),
        }
    })
}

fn pair_array(first: DataType, some: Option<Range<i128>>) -> DataType {
    T::array_type(T::Tuple(vec![first, T::Any], None), some)
}

fn new_member(key: &Value, value: &Value) -> (Key, Member) {
    (Key::from(key.clone()), Member { key_origin: key.origin, value: value.clone() })
}

fn pair_member(item: &Value) -> Option<(Key, Member)> {
    if let [key, value] = item.as_array()? { Some(new_member(key, value)) } else { None }
}

/// Keys and values in turn.
fn from_elements(from: &Value) -> ConversionResult {
    match from.data() {
        Data::Hash(_) => Ok(from.clone()),
        Data::Array(items) if items.len() % 2 == 1 => {
            conversion_error("odd number of arguments for Hash")
        }
        Data::Array(items) => in_turn(items),
        _ if T::Iterable(None).accepts_value(from) => {
            let items = iterate(from)?;
            if let [only] = items.as_slice() {
                // Puppet calls Ruby's `Hash[x]` with the only element.
                return match only.data() {
                    _ if items.is_empty() => Ok(Value::hash_of(Hash::default(), None)),
                    _ => conversion_error("odd number of arguments for Hash"),
                };
            }
            if items.len() % 2 == 1 {
                conversion_error("odd number of arguments for Hash")
            } else {
                in_turn(&items)
            }
        }
        _ => conversion_error(format!(
            "Value of type {} cannot be converted to Hash",
            types::infer(from).generalize()
        )),
    }
}

fn in_turn(items: &[Value]) -> ConversionResult {
    Ok(Value::hash_of(items.chunks(2).map(|pair| new_member(&pair[0], &pair[1])).collect(), None))
}

/// Returns a hash within hashes from a list of ways and values. `all_hashes`: lists become hashes,
/// too.
fn from_tree(from: &Value, all_hashes: bool) -> ConversionResult {
    let mut root = Value::hash_of(Hash::default(), None);
    for entry in from.as_array().unwrap_or_default() {
        let Some([path, value]) = entry.as_array() else { return Err(Failure::Unknown) };
        let path = path.as_array().unwrap_or_default();
        let Data::Hash(hash) = root.data() else { return Err(Failure::Unknown) };
        let mut hash = (**hash).clone();
        match (path, value.data()) {
            ([], Data::Array(items)) => {
                hash.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(n, item)| new_member(&index_key(n, value), item)),
                );
            }
            ([], Data::Hash(members)) => {
                hash.extend(members.iter().map(|(key, member)| (key.clone(), member.clone())));
            }
            ([], _) => {
                let class = value.class_name();
                return conversion_error(format!(
                    "no implicit conversion of {} into Hash",
                    if class == "NilClass" { "nil" } else { class }
                ));
            }
            _ => {
                let value = if all_hashes { array_as_hash(value) } else { value.clone() };
                root = insert(&Value::hash_of(hash, None), path, value)?;
                continue;
            }
        }
        root = Value::hash_of(hash, None);
    }
    Ok(root)
}

/// Returns the key of a list's element; `of`: the list.
fn index_key(n: usize, of: &Value) -> Value {
    let number = Data::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    Value::new(number, of.provenance().with_origin(None))
}

fn array_as_hash(value: &Value) -> Value {
    match value.as_array() {
        Some(items) => {
            let members = items
                .iter()
                .enumerate()
                .map(|(n, item)| new_member(&index_key(n, value), &array_as_hash(item)));
            Value::hash(members.collect(), value.provenance())
        }
        None => value.clone(),
    }
}

/// Puts a value at the end of a way, through hashes that are made as needed and lists that are
/// there.
fn insert(of: &Value, path: &[Value], value: Value) -> Result<Value, Failure> {
    let Some((step, rest)) = path.split_first() else { return Ok(value) };
    match of.data() {
        Data::Hash(hash) => {
            let mut hash = (**hash).clone();
            let inner = match hash.get(&Key::from(step.clone())) {
                Some(member) if !rest.is_empty() => member.value.clone(),
                _ => Value::hash_of(Hash::default(), None),
            };
            let inner = insert(&inner, rest, value)?;
            let (key, member) = new_member(step, &inner);
            hash.insert(key, member);
            Ok(Value::hash(hash, of.provenance()))
        }
        Data::Array(items) => match step.data() {
            Data::Integer(n) if usize::try_from(*n).is_ok_and(|n| n < items.len()) => {
                let n = usize::try_from(*n).unwrap_or(0);
                let mut items = (**items).clone();
                items[n] = insert(&items[n], rest, value)?;
                Ok(Value::new_array(items, of.provenance()))
            }
            _ => Err(Failure::Unknown),
        },
        _ => Err(Failure::Unknown), // one of Ruby's errors about its own methods
    }
}
