use serde_json::Value as Json;

use super::*;
use crate::puppet::value::{Key, Member, Provenance, Secrecy};
use crate::text::work;
use crate::text::{Budget, CancelToken, FileId, TextRange};

fn bounds<'a>(cancel: &'a CancelToken, budget: &'a Budget) -> Bounds<'a> {
    Bounds { cancel, budget }
}

fn merge(strategy: &Strategy, higher: Value, lower: Value) -> Result<Value, MergeError> {
    let mut places = [Some(higher), Some(lower)];
    let (cancel, budget) = Default::default();
    let merged = fold(strategy, 2, bounds(&cancel, &budget), &mut |n| Ok(places[n].take()));
    merged.map(|merged| merged.expect("there are values"))
}

/// A value written as JSON; a key or string `#1` is the integer 1.
fn value(text: &str) -> Value {
    from_json(&serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn from_json(json: &Json) -> Value {
    let data = match json {
        Json::Null => Data::Null,
        Json::Bool(value) => Data::Bool(*value),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Data::Float(number.as_f64().unwrap()), Data::Integer)
        }
        Json::String(text) => Data::String(text.as_str().into()),
        Json::Array(items) => Data::Array(Arc::new(items.iter().map(from_json).collect())),
        Json::Object(members) => {
            let key = |text: &str| match text.strip_prefix('#') {
                Some(number) => {
                    let whole = number.parse().map(Data::Integer);
                    let data = whole.unwrap_or_else(|_| Data::Float(number.parse().unwrap()));
                    Key::new(data, Provenance::from_source(None))
                }
                None => Key::new_string(text),
            };
            let members =
                members.iter().map(|(name, value)| (key(name), new_member(None, from_json(value))));
            Data::Hash(Arc::new(members.collect()))
        }
    };
    Value::new(data, Provenance::from_source(None))
}

/// Folds places (`-` is one without a value) with a strategy written as data, and compares: a
/// value, `absent`, or part of an error.
#[track_caller]
fn check(merge: &str, places: &str, expected: &str) {
    let merge = if merge.starts_with('{') { value(merge) } else { Value::from_argument(merge) };
    let strategy = parse_strategy(&merge).unwrap().unwrap();
    let found: Vec<Option<Value>> =
        places.split(" | ").map(|text| (text != "-").then(|| value(text))).collect();
    let result = fold::<MergeError>(
        &strategy,
        found.len(),
        bounds(&CancelToken::default(), &Budget::default()),
        &mut |n| Ok(found[n].clone()),
    );
    check_result(result, expected, places);
}

#[track_caller]
fn check_result(result: Result<Option<Value>, MergeError>, expected: &str, places: &str) {
    match result {
        Ok(Some(merged)) => assert_eq!(merged.to_text(), value(expected).to_text(), "{places}"),
        Ok(None) => assert_eq!("absent", expected, "{places}"),
        Err(error) => assert!(error.to_string().contains(expected), "{places}: {error}"),
    }
}

/// Folds groups of places, and then the groups.
#[track_caller]
fn check_groups(merge: &str, groups: &[&[&str]], expected: &str) {
    let merge = if merge.starts_with('{') { value(merge) } else { Value::from_argument(merge) };
    let strategy = parse_strategy(&merge).unwrap().unwrap();
    let group = |places: &[&str]| {
        fold::<MergeError>(
            &strategy,
            places.len(),
            bounds(&CancelToken::default(), &Budget::default()),
            &mut |n| Ok((places[n] != "-").then(|| value(places[n]))),
        )
    };
    check_result(
        fold(
            &strategy,
            groups.len(),
            bounds(&CancelToken::default(), &Budget::default()),
            &mut |n| group(groups[n]),
        ),
        expected,
        &format!("{groups:?}"),
    );
}

const KNOCKOUT: &str = r#"{"strategy": "deep", "knockout_prefix": "--"}"#;
const KNOCKOUT_HASHES: &str =
    r#"{"strategy": "deep", "knockout_prefix": "--", "merge_hash_arrays": true}"#;
const MERGE_HASHES: &str = r#"{"strategy": "deep", "merge_hash_arrays": true}"#;
const SORTED: &str = r#"{"strategy": "deep", "sort_merged_arrays": true}"#;

#[test]
fn strategies_as_data_writes_them() {
    let given = |text: &str| parse_strategy(&value(text));
    for name in ["first", "default", "unique", "hash", "deep", "reverse_deep"] {
        assert_eq!(given(&format!("\"{name}\"")).unwrap().unwrap().to_string(), name);
        assert_eq!(given(&format!("{{\"strategy\": \"{name}\"}}")).unwrap().unwrap().name(), name);
    }
    assert_eq!(
        given("\"unconstrained_deep\"").unwrap().unwrap().name(),
        "deep",
        "they share one object"
    );
    assert_eq!((given("null"), given("false")), (Ok(None), Ok(None)));
    let deep = |text: &str| match given(text) {
        Ok(Some(Strategy::Deep(options))) => (
            options.given.as_ref().map(|given| given.to_text().into_owned()),
            DeepOptions { given: None, ..options },
        ),
        other => panic!("{other:?}"),
    };
    let options = DeepOptions {
        knockout_prefix: Some("--".into()),
        merge_hash_arrays: true,
        ..DeepOptions::default()
    };
    assert_eq!(deep(KNOCKOUT_HASHES).1, options);
    let (given, options) = deep(r#"{"strategy": "deep", "knockout_prefix": null}"#);
    assert_eq!(
        (given.as_deref(), options),
        (Some(r#"{"knockout_prefix"=>nil}"#), DeepOptions::default())
    );
}

#[test]
fn what_is_no_strategy() {
    let nameless = "The hash given as 'merge' must contain the name of a strategy in string form for the key 'strategy'";
    for (given, expected) in [
        (r#""foo""#, "Unknown merge strategy: 'foo'"),
        (r#""Deep""#, "Unknown merge strategy: 'Deep'"),
        (r#""""#, "Unknown merge strategy: ''"),
        ("true", "Unknown merge strategy: 'true'"),
        (r#"["deep"]"#, r#"Unknown merge strategy: '["deep"]'"#),
        (r#"{"strategy": 1}"#, "Unknown merge strategy: '1'"),
        ("{}", nameless),
        (r#"{"knockout_prefix": "--"}"#, nameless),
        (r#"{"strategy": null}"#, nameless),
        (
            r#"{"strategy": "hash", "foo": 1}"#,
            "The merge options has wrong type, unrecognized key 'foo'",
        ),
        (
            r#"{"strategy": "hash", "foo": 1, "bar": 1}"#,
            " The merge options has wrong type, unrecognized key 'foo'\n  The merge options has wrong type, unrecognized key 'bar'",
        ),
        (
            r##"{"strategy": "hash", "#1": 1}"##,
            "The merge options has wrong type, expects size to be at most 1, got 2",
        ),
        (
            r#"{"strategy": "deep", "overwrite_arrays": true}"#,
            "The merge options has wrong type, unrecognized key 'overwrite_arrays'",
        ),
        (
            r#"{"strategy": "deep", "sort_merged_arrays": "x"}"#,
            "The merge options has wrong type, entry 'sort_merged_arrays' expects a value of type Undef or Boolean, got String",
        ),
        (
            r#"{"strategy": "deep", "knockout_prefix": [1]}"#,
            "The merge options has wrong type, entry 'knockout_prefix' expects a value of type Undef or String, got Tuple",
        ),
        (
            r##"{"strategy": "reverse_deep", "#1": 1}"##,
            "The merge options has wrong type, expects a Hash[String[1], Any] value, got Hash[Variant[String, Integer[1, 1]], Variant[String, Integer[1, 1]]]",
        ),
    ] {
        assert_eq!(parse_strategy(&value(given)).unwrap_err().to_string(), expected, "{given}");
    }
}

#[test]
fn first_stops_at_the_first_value() {
    check("first", "1 | 2", "1");
    check("first", "null | [1]", "null");
    check("default", "false | 1", "false");
    check("first", "- | 1", "1");
    check("first", "- | -", "absent");
    let mut asked = 0;
    let next = &mut |_| {
        asked += 1;
        Ok::<_, MergeError>(Some(Value::new_null(None)))
    };
    assert_eq!(
        fold(&Strategy::First, 9, bounds(&CancelToken::default(), &Budget::default()), next),
        Ok(Some(Value::new_null(None)))
    );
    assert_eq!(asked, 1);
}

#[test]
fn unique_rows() {
    for (places, expected) in [
        ("1 | 2", "[1, 2]"),
        ("[1,2] | 3", "[1,2,3]"),
        ("3 | [1,2]", "[3,1,2]"),
        ("[[1,2],[3]] | [[3],[1,2],[2,1]]", "[1,2,3]"),
        (r#"[1,"1",1.0] | [1.0,1,"1",2]"#, r#"[1,"1",1.0,2]"#),
        ("[null,1] | [null,2]", "[null,1,2]"),
        ("null | [1]", "[null,1]"),
        (
            "[1] | null",
            "The second element of the merge has wrong type, expects a value of type Scalar or Array, got Undef",
        ),
        ("null | null", "got Undef"),
        ("null | -", "[null]"),
        (r#"{"a":1} | 3"#, r#"[{"a":1},3]"#),
        (
            r#"3 | {"a":1}"#,
            "The second element of the merge has wrong type, expects a value of type Scalar or Array, got Struct",
        ),
        (r#"{"a":1} | {"b":2}"#, "got Struct"),
        (r#"{"a":1} | -"#, r#"[{"a":1}]"#),
        (r#"[{"a":1}] | [{"a":1},{"a":2}]"#, r#"[{"a":1},{"a":2}]"#),
        ("1 | -", "[1]"),
        ("1", "1"),
        ("[1,1,2]", "[1,2]"),
        ("[1,1,[1,2]]", "[1,1,[1,2]]"),
        ("[1,1] | [2,2]", "[1,2]"),
    ] {
        // The number of places decides whether a lone list is flattened, and not the number of
        // places that have a value.
        let expected = if places == "[1,1,[1,2]]" { "[1,[1,2]]" } else { expected };
        check("unique", places, expected);
    }
    check_groups("unique", &[&["[1,1,[1,2]]"], &[], &[]], "[1,1,2]");
    check_groups("unique", &[&["[[1,[1]]]"], &[], &[]], "[1,1]");
    check_groups("unique", &[&["[1,1,[1,2]]", "-"]], "[1,2]");
    check_groups("unique", &[&["[1,1,[1,2]]", "-"], &["-"]], "[1,1,1,2]");
}

#[test]
fn hash_rows() {
    for (places, expected) in [
        (r#"{"a":1,"c":{"x":1}} | {"b":2,"a":3,"c":{"y":2}}"#, r#"{"b":2,"a":1,"c":{"x":1}}"#),
        (r#"{"a":1} | {"b":1,"a":2} | {"c":1,"b":2,"a":3}"#, r#"{"c":1,"b":1,"a":1}"#),
        (r#"{"a":null} | {"a":1}"#, r#"{"a":null}"#),
        (
            r#"1 | {"a":1}"#,
            "The first element of the merge has wrong type, expects a Hash value, got Integer",
        ),
        (
            r#"{"a":1} | [1]"#,
            "The second element of the merge has wrong type, expects a Hash value, got Tuple",
        ),
        (r#"{"a":1} | null"#, "got Undef"),
        ("[1,1] | -", "[1,1]"),
        ("null", "null"),
        (
            r##"{"#1":"a"} | {"1":"b"}"##,
            "expects a Hash[String, Data] value, got Hash[Integer[1, 1], String]",
        ),
        (
            r##"{"a":{"#1":2}} | {}"##,
            "The first element of the merge has wrong type, entry 'a' expects a Data value, got Hash",
        ),
    ] {
        check("hash", places, expected);
    }
}

#[test]
fn deep_rows() {
    for (places, expected) in [
        ("[1,2] | [2,3]", "[2,3,1]"),
        (r#"["a"] | ["b","a"] | ["c","b"]"#, r#"["c","b","a"]"#),
        (
            r#"{"a":1,"c":{"x":1,"l":[1]}} | {"b":2,"a":3,"c":{"y":2,"l":[2]}}"#,
            r#"{"b":2,"a":1,"c":{"y":2,"l":[2,1],"x":1}}"#,
        ),
        ("1 | 2", "1"),
        ("[1,2] | 3", "[1,2]"),
        ("3 | [1,2]", "3"),
        (r#"{"a":1} | [1]"#, r#"{"a":1}"#),
        (r#"[1] | {"a":1}"#, "[1]"),
        (r#"{"a":[1]} | {"a":{"b":1}}"#, r#"{"a":[1]}"#),
        (r#"{"a":{"b":1}} | {"a":[1]}"#, r#"{"a":{"b":1}}"#),
        (r#"{"a":false} | {"a":{"b":1}}"#, r#"{"a":false}"#),
        (r#"{"a":null} | {"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
        (r#"null | {"a":1}"#, r#"{"a":1}"#),
        ("[1] | null", "[1]"),
        (r#"{"a":{}} | {"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":{}} | {"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"{"a":[]} | {"a":{"b":1}}"#, r#"{"a":[]}"#),
        (r#"{"a":[]} | {"a":1}"#, r#"{"a":[]}"#),
        (r#"{"a":{"b":1}} | {"a":false}"#, r#"{"a":{"b":1}}"#),
        (r#"{"a":[1]} | {"a":false}"#, r#"{"a":[1]}"#),
        (r#"{"a":{"b":[1,1],"c":[1,1]}} | {"a":1}"#, r#"{"a":{"b":[1,1],"c":[1]}}"#),
        (r#"{"x":null,"y":null} | {"x":1,"z":1}"#, r#"{"x":1,"z":1,"y":null}"#),
        (r#"{"a":[1,1]} | {"b":1}"#, r#"{"b":1,"a":[1]}"#),
        (r#"{"b":1} | {"a":[1,1]}"#, r#"{"a":[1,1],"b":1}"#),
        ("[1,1] | [2,2]", "[2,1]"),
        ("[1,1,[1,2]] | -", "[1,1,[1,2]]"),
        ("[[1,2],[3]] | [[3],[1,2],[2,1]]", "[[3],[1,2],[2,1]]"),
        ("[1.0] | [1]", "[1,1.0]"),
        (r##"{"#1.0":"a"} | {"#1":"b"}"##, r##"{"#1":"b","#1.0":"a"}"##),
        ("[null,1] | [null,2]", "[null,2,1]"),
        (r##"{"#1":"a"} | {"1":"b","#2":"c"}"##, r##"{"1":"b","#2":"c","#1":"a"}"##),
        (r#"{"a":[1]} | {"a":2} | {"a":[3]}"#, r#"{"a":[3,1]}"#),
    ] {
        check("deep", places, expected);
    }
    check("reverse_deep", r#"["a"] | ["b","a"] | ["c","b"]"#, r#"["a","b","c"]"#);
    check_groups("deep", &[&[r#"{"a":[1]}"#], &[r#"{"a":2}"#, r#"{"a":[3]}"#]], r#"{"a":[1]}"#);
}

#[test]
fn merge_hash_arrays_rows() {
    for (places, expected) in [
        (r#"[{"x":1},{"y":1}] | [{"x":2,"z":1}]"#, r#"[{"x":1,"z":1},{"y":1}]"#),
        (r#"[{"x":1}] | [{"x":2,"z":1},{"q":1}]"#, r#"[{"x":1,"z":1},{"q":1}]"#),
        (r#"[{"x":1},"s"] | [{"x":2}]"#, r#"[{"x":2},{"x":1},"s"]"#),
        (r#"[] | [{"x":2}]"#, r#"[{"x":2}]"#),
        (r#"[{"a":1}] | [{"b":1},{"c":1}] | [{"d":1}]"#, r#"[{"d":1,"b":1,"a":1},{"c":1}]"#),
    ] {
        check(MERGE_HASHES, places, expected);
    }
}

#[test]
fn sort_rows() {
    for (places, expected) in [
        (r#"{"x":["c","a"]} | {"y":["b","a"]}"#, r#"{"y":["b","a"],"x":["a","c"]}"#),
        (r#"["é","b","A"] | ["a","B"]"#, r#"["A","B","a","b","é"]"#),
        ("[2,1.5] | [3,1]", "[1,1.5,2,3]"),
        ("[[2],[1,3]] | [[1]]", "[[1],[1,3],[2]]"),
        (r#"["a"] | [1]"#, "comparison of Integer with String failed"),
        (r#"[1] | ["a"]"#, "comparison of String with 1 failed"),
        ("[2,1]", "[2,1]"),
    ] {
        check(SORTED, places, expected);
    }
}

#[test]
fn knockout_rows() {
    for (places, expected) in [
        (r#"["--a","c"] | ["a","b"]"#, r#"["b","c"]"#),
        (r#"["--z","c"] | ["a","b"]"#, r#"["a","b","c"]"#),
        (r#"["--a","c"] | ["--a","a","b"]"#, r#"["b","c"]"#),
        (r#"["--a","a"] | ["b"]"#, r#"["b","a"]"#),
        (r#"["a","--a"] | ["b","a"]"#, r#"["b","a"]"#),
        (r#"["c"] | ["--c","a"]"#, r#"["--c","a","c"]"#),
        (r#"["--a","c"]"#, r#"["--a","c"]"#),
        (r#"["--a","c"] | -"#, r#"["--a","c"]"#),
        (r#"["--","c"] | ["a","b"]"#, r#"["c"]"#),
        (r#"["--"] | ["a","b"]"#, "[]"),
        (r#"["--","c"] | "s""#, r#"["c"]"#),
        (r#"["--","c"] | {"a":1}"#, r#"["c"]"#),
        (r#"["--","c"] | null"#, r#"["--","c"]"#),
        (r#"["--1"] | [1,"1",2]"#, "[1,2]"),
        (r#"{"x":"--foo"} | {"x":"foo"}"#, r#"{"x":""}"#),
        (r#"{"x":"--foo"} | {}"#, r#"{"x":""}"#),
        (r#"{"x":"--foo"} | {"x":null}"#, r#"{"x":""}"#),
        (r#"{"x":"--foo"} | {"x":[1]}"#, r#"{"x":""}"#),
        (r#"{"x":"--"} | {"x":1}"#, r#"{"x":""}"#),
        (r#""--a" | "a""#, r#""""#),
        (r#""--" | ["a"]"#, r#""""#),
        (r#"{"y":1} | {"x":"--v"}"#, r#"{"x":"--v","y":1}"#),
        (r#"{"--x":1} | {"x":2}"#, r#"{"x":2,"--x":1}"#),
        (r#"{"x":["--a","c"]} | {"y":1}"#, r#"{"y":1,"x":["c"]}"#),
        (r#"{"x":["--a","a","c"]} | {"x":null}"#, r#"{"x":["c","a"]}"#),
        (r#"{"x":["--a","c"]} | {"x":5}"#, r#"{"x":["c"]}"#),
        (r#"{"x":["--a","c"]} | {"x":{"a":1}}"#, r#"{"x":["c"]}"#),
        (r#"[{"a":"--"}] | [{"a":1}]"#, r#"[{"a":1},{"a":"--"}]"#),
        (r#"[["--a"]] | [["a"]]"#, r#"[["a"],["--a"]]"#),
        (r#"["x\n--a"] | ["x\na","a"]"#, r#"["a"]"#),
        (r#"["----a"] | ["--a","a"]"#, r#"["a"]"#),
        (r#"["--a"] | ["b"] | ["a","c"]"#, r#"["a","c","b"]"#),
        (r#"["--a"] | ["a","b"] | ["a","c"]"#, r#"["a","c","b"]"#),
        (r#"["x"] | ["--a"] | ["a","c"]"#, r#"["c","x"]"#),
        (r#"["x"] | ["b"] | ["--a","a"]"#, r#"["--a","a","b","x"]"#),
        (r#"{"x":"--"} | {"x":["b"]} | {"x":["c"]}"#, r#"{"x":""}"#),
        (r#"{"x":["q"]} | {"x":"--"} | {"x":["a","c"]}"#, r#"{"x":["a","c","q"]}"#),
        (r#"["--a"] | - | ["a","c"]"#, r#"["c"]"#),
    ] {
        check(KNOCKOUT, places, expected);
    }
    check(KNOCKOUT_HASHES, r#"[{"a":"--"}] | [{"a":1}]"#, r#"[{"a":""}]"#);
    check_groups(KNOCKOUT, &[&[r#"["--a"]"#], &[r#"["b"]"#, r#"["a","c"]"#]], r#"["c","b"]"#);
    check_groups(KNOCKOUT, &[&[r#"["--a"]"#, r#"["b"]"#], &[r#"["a","c"]"#]], r#"["a","c","b"]"#);
}

#[test]
fn lists_merged_with_themselves_lose_elements() {
    for (list, expected) in [
        (r#"["--a","c"]"#, "[]"),
        (r#"["x","--a","c"]"#, r#"["x"]"#),
        (r#"["x","--a","c","a","d"]"#, r#"["x","d"]"#),
        (r#"["x","--a","c","--x","d","e"]"#, r#"["c"]"#),
        (r#"["x","c","--x"]"#, r#"["c"]"#),
        (r#"["--","c"]"#, "[]"),
    ] {
        check(
            KNOCKOUT,
            &format!(r#"{{"h":{{"x":{list}}}}} | {{"y":1}}"#),
            &format!(r#"{{"y":1,"h":{{"x":{expected}}}}}"#),
        );
    }
    check(
        KNOCKOUT,
        r#"{"h":{"x":["x","--a","c"]}} | {"h":{"z":1}}"#,
        r#"{"h":{"z":1,"x":["x","c"]}}"#,
    );
    check(
        KNOCKOUT,
        r#"{"a":{"b":["--x","y"],"c":["--x","y"]}} | {"a":1}"#,
        r#"{"a":{"b":["--x","y"],"c":[]}}"#,
    );
    check(
        KNOCKOUT,
        r#"{"h":{"x":"--a","y":{"z":"--"}}} | {"q":1}"#,
        r#"{"q":1,"h":{"x":"","y":{"z":""}}}"#,
    );
}

#[test]
fn the_prefix_is_a_regular_expression() {
    for (prefix, places, expected) in [
        (".", r#"["xa"] | ["a"]"#, "[]"),
        ("..", r#"["xya"] | ["a"]"#, "[]"),
        ("*", r#"["*a"] | ["a"]"#, r#"["a","*a"]"#),
        ("+", r#"["+a"] | ["a"]"#, r#"["a","+a"]"#),
        ("(", r#"["a"] | ["b"]"#, "end pattern with unmatched parenthesis: /^(/"),
        ("(", "[1] | [2]", "[2,1]"),
        ("[a", r#"["a"] | ["b"]"#, "premature end of char-class: /^[a/"),
        ("\\\\", r#"["a"] | ["b"]"#, "too short escape sequence"),
        ("", "1 | 2", "knockout_prefix cannot be an empty string in deep_merge!"),
    ] {
        check(
            &format!(r#"{{"strategy": "deep", "knockout_prefix": "{prefix}"}}"#),
            places,
            expected,
        );
    }
}

#[test]
fn options_of_the_unconstrained_strategies() {
    let with = |option: &str| format!(r#"{{"strategy": "unconstrained_deep", {option}}}"#);
    check(&with(r#""overwrite_arrays": true"#), r#"{"a":[1]} | {"a":[2]}"#, r#"{"a":[1]}"#);
    check(&with(r#""extend_existing_arrays": true"#), r#"{"a":1} | {"a":[2]}"#, r#"{"a":[2,1]}"#);
    check(
        &with(r#""preserve_unmergeables": true"#),
        r#"{"a":1,"b":1} | {"a":[2]}"#,
        r#"{"a":[2],"b":1}"#,
    );
    check(
        &with(r#""unpack_arrays": ",""#),
        r#"["1,2,3","4"] | ["5","6","7,8"]"#,
        r#"["5","6","7","8","1","2","3","4"]"#,
    );
}

fn at(file: u32, start: u32) -> Option<Span> {
    Some(Span::in_file(FileId::new(file), TextRange::new_empty(start)))
}

/// The value with the number of a file and of the part as the origin of each part; the parts are
/// counted from outside in.
fn placed(text: &str, file: u32) -> Value {
    fn place(value: Value, file: u32, count: &mut u32) -> Value {
        *count += 1;
        let origin = Provenance::from_source(at(file, *count));
        match value.into_parts().0 {
            Data::Array(items) => Value::new_array(
                items.iter().map(|item| place(item.clone(), file, count)).collect(),
                origin,
            ),
            Data::Hash(hash) => {
                let placed = hash.iter().map(|(key, given)| {
                    *count += 1;
                    (
                        key.clone(),
                        new_member(at(file, *count), place(given.value.clone(), file, count)),
                    )
                });
                Value::hash(placed.collect(), origin)
            }
            data => Value::new(data, origin),
        }
    }
    place(value(text), file, &mut 0)
}

fn origins(value: &Value) -> String {
    let span = |span: Option<Span>| {
        span.map_or("?".into(), |span| format!("{}:{}", span.file.number(), span.range.start))
    };
    let own = span(value.origin);
    match value.data() {
        Data::Array(items) => {
            format!("{own}[{}]", items.iter().map(origins).collect::<Vec<_>>().join(" "))
        }
        Data::Hash(hash) => {
            let members = hash.iter().map(|(key, given)| {
                format!("{}@{} {}", key.to_text(), span(given.key_origin), origins(&given.value))
            });
            format!("{own}{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        _ => own,
    }
}

#[test]
fn parts_keep_their_origins() {
    let merged = |merge: &str, higher: &str, lower: &str| {
        let strategy = parse_strategy(&if merge.starts_with('{') {
            value(merge)
        } else {
            Value::from_argument(merge)
        })
        .unwrap()
        .unwrap();
        origins(&super::tests::merge(&strategy, placed(higher, 1), placed(lower, 2)).unwrap())
    };
    assert_eq!(merged("unique", "[1,2]", "[2,3]"), "1:1[1:2 1:3 2:3]");
    assert_eq!(merged("unique", "1", "[1,3]"), "1:1[1:1 2:3]");
    assert_eq!(merged("hash", r#"{"a":1}"#, r#"{"b":1,"a":2}"#), "1:1{b@2:2 2:3, a@1:2 1:3}");
    assert_eq!(
        merged("deep", "[1,2]", "[2,3]"),
        "1:1[2:2 2:3 1:2]",
        "of duplicates the lower one stays"
    );
    assert_eq!(
        merged("deep", r#"{"a":{"x":1}}"#, r#"{"a":{"x":2,"y":3}}"#),
        "1:1{a@1:2 1:3{x@1:4 1:5, y@2:6 2:7}}"
    );
    assert_eq!(
        merged("deep", r#"{"a":null,"b":{}}"#, r#"{"a":1,"b":2}"#),
        "1:1{a@2:2 2:3, b@2:4 2:5}"
    );
    assert_eq!(merged(KNOCKOUT, r#"{"a":"--"}"#, r#"{"a":1}"#), "1:1{a@1:2 1:3}");
}

#[test]
fn errors_say_where() {
    let origin = |merge: Strategy, higher: &str, lower: &str| {
        super::tests::merge(&merge, placed(higher, 1), placed(lower, 2)).unwrap_err().origin()
    };
    assert_eq!(origin(Strategy::Hash, r#"{"a":1}"#, "[1]"), at(2, 1));
    assert_eq!(
        origin(Strategy::Hash, r##"{"a":{"#1":2}}"##, "{}"),
        at(1, 4),
        "the key that is no string"
    );
    assert_eq!(origin(Strategy::Unique, "[1]", "null"), at(2, 1));
    let error = parse_strategy(&placed(r#"{"strategy":"deep","foo":1}"#, 1)).unwrap_err();
    assert_eq!(error.origin(), at(1, 4));
}

#[test]
fn elements_of_long_lists_of_alike_hashes_are_not_compared_in_pairs() {
    let list = |from: u32| {
        let items: Vec<String> =
            (from..from + 20_000).map(|n| format!(r#"{{"name":"{n}","port":1}}"#)).collect();
        value(&format!("[{}]", items.join(",")))
    };
    work::take();
    let merged = merge(&Strategy::Unique, list(0), list(10_000)).unwrap();
    assert_eq!(merged.as_array().map(<[Value]>::len), Some(30_000));
    let merged = merge(&Strategy::Deep(DeepOptions::default()), list(0), list(10_000)).unwrap();
    assert_eq!(merged.as_array().map(<[Value]>::len), Some(30_000));
    let compared = work::take().compared;
    assert!(compared < 500_000, "{compared} comparisons of 80,000 elements");
}

#[test]
fn a_knockout_prefix_that_explodes_knocks_nothing_out() {
    let text = "a".repeat(60) + "!";
    let places = format!(r#"["{text}"] | ["b"]"#);
    check(
        r#"{"strategy": "deep", "knockout_prefix": "(a|a)*$"}"#,
        &places,
        &format!(r#"["b", "{text}"]"#),
    );
}

#[test]
fn what_a_deep_merge_leaves_as_it_is_is_shared_not_copied() {
    let lower = value(r#"{"both": {"a": {"x": [1]}}}"#);
    let higher = value(
        r#"{"both": {"b": {"y": [1, 2]}}, "own": {"z": {"list": [1, "1", {"k": 1}], "none": null}}, "twice": [1, 1]}"#,
    );
    let merged =
        merge(&Strategy::Deep(DeepOptions::default()), higher.clone(), lower.clone()).unwrap();
    let is_shared = |before: &Value, path: &[&str]| {
        let part = |value: &Value| {
            path.iter().fold(value.clone(), |value, key| value.get(key).unwrap().clone())
        };
        match (part(before).data(), part(&merged).data()) {
            (Data::Hash(a), Data::Hash(b)) => Arc::ptr_eq(a, b),
            (Data::Array(a), Data::Array(b)) => Arc::ptr_eq(a, b),
            other => panic!("{other:?}"),
        }
    };
    assert!(
        is_shared(&lower, &["both", "a"])
            && is_shared(&higher, &["both", "b"])
            && is_shared(&higher, &["own"])
    );
    assert!(!is_shared(&higher, &["twice"]), "it loses an element");
    let prefix = DeepOptions { knockout_prefix: Some("--".into()), ..DeepOptions::default() };
    let higher = value(r#"{"own": {"deep": {"a": "--a", "b": "b"}}}"#);
    let merged = merge(&Strategy::Deep(prefix), higher, value("{}")).unwrap();
    assert_eq!(merged.to_text(), value(r#"{"own": {"deep": {"a": "", "b": "b"}}}"#).to_text());
}

#[test]
fn a_cancelled_merge_stops_within_a_member() {
    let nested = (0..50).fold("1".to_owned(), |inner, _| format!(r#"{{"a": {inner}}}"#));
    let places = [value(&format!(r#"{{"own": {nested}}}"#)), value(r#"{"other": 1}"#)];
    let left = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(10));
    let asked = left.clone();
    let order = std::sync::atomic::Ordering::Relaxed;
    let cancel = CancelToken::new(move || {
        asked.fetch_update(order, order, |left| left.checked_sub(1)).is_err()
    });
    let strategy = Strategy::Deep(DeepOptions::default());
    let budget = Budget::default();
    let bounds = bounds(&cancel, &budget);
    let merged = fold::<MergeError>(&strategy, 2, bounds, &mut |n| Ok(Some(places[n].clone())));
    assert_eq!(merged, Err(MergeError::Cancelled));
}

#[test]
fn a_value_that_is_added_costs_what_it_holds() {
    let spent = |strategy: &Strategy, one: &dyn Fn(usize) -> String| {
        let (cancel, budget) = (CancelToken::default(), Budget::default());
        let next = &mut |n| Ok(Some(value(&one(n))));
        fold::<MergeError>(strategy, 100, bounds(&cancel, &budget), next).unwrap();
        crate::text::budget::MAX_REQUEST_PARTS - budget.parts_left()
    };
    let list = |n: usize| format!(r#"["a{n}", "b{n}", "c{n}"]"#);
    assert_eq!(spent(&Strategy::Unique, &list), 100 * 4 + 4);
    let hash = |n: usize| format!(r#"{{"a{n}": 1}}"#);
    assert_eq!(spent(&Strategy::Hash, &hash), 100 * 3 + 3);
}

#[test]
fn a_merge_beyond_the_budget_is_an_error_before_it_is_made() {
    let budget = Budget::default();
    let left = budget.pay_parts(crate::text::budget::MAX_REQUEST_PARTS - 5);
    assert_eq!(left, Ok(()));
    let cancel = CancelToken::default();
    for strategy in [Strategy::Unique, Strategy::Deep(DeepOptions::default())] {
        let next = &mut |_| Ok(Some(value("[1, 2, 3, 4]")));
        let merged = fold::<MergeError>(&strategy, 2, bounds(&cancel, &budget), next);
        assert_eq!(merged, Err(MergeError::Exhausted(crate::text::Limit::RequestParts)));
    }
}

/// Returns the value with strings that contain an `s` marked as decrypted.
fn with_secrets(value: Value) -> Value {
    let (data, from) = value.into_parts();
    match data {
        Data::Array(items) => {
            Value::new_array(items.iter().cloned().map(with_secrets).collect(), from)
        }
        Data::Hash(hash) => {
            let member = |(key, it): (&Key, &Member)| {
                (key.clone(), new_member(it.key_origin, with_secrets(it.value.clone())))
            };
            Value::hash(hash.iter().map(member).collect(), from)
        }
        Data::String(text) if text.contains('s') => {
            Value::new(Data::String(text), from).into_secret(Secrecy::DECRYPTED)
        }
        data => Value::new(data, from),
    }
}

/// Returns the strings that contain an `s` and are not marked; `seen` counts the marked ones.
fn unmarked(value: &Value, seen: &mut usize) -> Vec<String> {
    match value.data() {
        Data::Array(items) => items.iter().flat_map(|item| unmarked(item, seen)).collect(),
        Data::Hash(hash) => {
            hash.values().flat_map(|member| unmarked(&member.value, seen)).collect()
        }
        Data::String(text) if text.contains('s') && value.is_secret() => {
            *seen += 1;
            Vec::new()
        }
        Data::String(text) if text.contains('s') => vec![text.to_string()],
        _ => Vec::new(),
    }
}

#[test]
fn no_merge_drops_the_mark_of_a_secret() {
    let values = [
        r#""s1""#,
        r#"["s1", "b", "--s2"]"#,
        r#"["s2,s3", "s1", {"k": "s4"}]"#,
        r#"[{"k": "s1", "l": ["s2"]}, {"m": "s3"}]"#,
        r#"{"a": "s1", "b": {"c": "s2", "d": ["s3", "e"]}}"#,
        r#"{"a": ["s1", "--s2"], "b": "--s2", "c": {"d": "s5"}}"#,
        r#"{"b": {"c": ["s1"], "d": "s2"}, "e": [{"f": "s3"}, {"f": "s4"}]}"#,
    ];
    let options = [
        "",
        r#", "knockout_prefix": "--""#,
        r#", "sort_merged_arrays": true"#,
        r#", "merge_hash_arrays": true"#,
        r#", "unpack_arrays": ",""#,
        r#", "extend_existing_arrays": true"#,
        r#", "overwrite_arrays": true"#,
        r#", "preserve_unmergeables": true"#,
        r#", "knockout_prefix": "--", "unpack_arrays": ",", "merge_hash_arrays": true"#,
    ];
    let mut strategies: Vec<String> =
        ["first", "unique", "hash"].map(|name| format!(r#"{{"strategy": "{name}"}}"#)).to_vec();
    for name in ["deep", "reverse_deep", "unconstrained_deep"] {
        strategies.extend(options.map(|more| format!(r#"{{"strategy": "{name}"{more}}}"#)));
    }
    let mut seen = 0;
    for text in strategies {
        let strategy = parse_strategy(&value(&text)).unwrap_or_default();
        // Not every strategy takes every option.
        let Some(strategy) = strategy else { continue };
        for (higher, lower) in values.iter().flat_map(|one| values.map(|other| (*one, other))) {
            let [one, other] = [higher, lower].map(|text| with_secrets(value(text)));
            let Ok(merged) = merge(&strategy, one, other) else { continue };
            let plain = unmarked(&merged, &mut seen);
            assert!(plain.is_empty(), "{text} of {higher} and {lower} shows {plain:?}");
        }
    }
    assert!(seen > 1_000, "secrets were merged: {seen}");
}

#[test]
fn a_merge_of_more_places_than_a_lookup_has_left_is_told() {
    use crate::text::Limit;
    use crate::text::budget::MAX_REQUEST_STEPS;
    let (cancel, budget) = (CancelToken::default(), Budget::of_request());
    let most = usize::try_from(MAX_REQUEST_STEPS).expect("it fits");
    budget.pay_steps(most - 3).expect("so many are left");
    let mut asked = 0;
    let mut folded = |places| {
        fold::<MergeError>(&Strategy::Unique, places, bounds(&cancel, &budget), &mut |_| {
            asked += 1;
            Ok(None)
        })
    };
    assert_eq!(folded(3), Ok(None));
    let error = folded(2).expect_err("none are left");
    assert_eq!(error, MergeError::Exhausted(Limit::Steps));
    assert_eq!(error.to_string(), "more than 50000000 levels to go through");
    assert_eq!(asked, 3, "no place is asked that is not paid for");
}
