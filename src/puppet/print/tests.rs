use super::*;
use crate::hiera::data::{DataFile, DataFormat};
use crate::puppet::value::{Data, Provenance};
use crate::text::FileId;
use crate::yaml::parse;

fn read(text: &str) -> Value {
    DataFile::read_whole(&parse(text), text, FileId::new(0), DataFormat::Yaml)
        .root_value()
        .expect("a document")
}

#[test]
fn one_line_is_flow_style() {
    let value = read("k: {a: [1, 'x, y', two words], 'b c': {}, d: ~, e: \"x\\ny\"}\n");
    let value = value.get("k").unwrap();
    assert_eq!(
        print_inline(value, &PrintOptions::default()),
        r#"{a: [1, 'x, y', two words], b c: {}, d: ~, e: "x\ny"}"#
    );
}

#[test]
fn lines_have_the_places_of_their_leaves() {
    let value = read("a: {b: 1, c: |\n  x\n  y\n}\n".replace("|\n  x\n  y\n", "x").as_str());
    let lines = yaml_lines(&value, &PrintOptions::default());
    let told: Vec<(&str, bool)> =
        lines.iter().map(|line| (&*line.text, line.origin.is_some())).collect();
    assert_eq!(told, [("a:", false), ("  b: 1", true), ("  c: x", true)]);
}

#[test]
fn what_is_printed_reads_back_the_same() {
    let source = "a: 'yes'\nb: yes\nc: '0644'\nd: 0644\ne: [1, [2, {x: y}], {}, []]\nf: {g: {h: [1.5, ~]}, 'i: j': \"tab\\t\"}\nk: |\n  two\n  lines\nl: |-\n  one\n\n  two\nm: '- x'\nn: 'a #b'\no: \"\"\np: '12:30'\nq: {1: a}\nr: [|\n block]\n";
    let source = source.rsplit_once("r: ").expect("the last line").0;
    let value = read(source);
    let printed = print_yaml(&value, &PrintOptions::default());
    assert_eq!(read(&printed), value, "{printed}");
}

#[test]
fn characters_that_a_reader_refuses_or_a_display_obeys_are_escapes() {
    let value = Value::from("a\u{7f}\u{85}\u{9b}\u{2028}\u{202e}\u{feff}é😀");
    assert_eq!(
        print_inline(&value, &PrintOptions::default()),
        r#""a\u007f\u0085\u009b\u2028\u202e\ufeffé😀""#
    );
}

/// Returns what [`compact_lines`] prints where no leaf has a comment.
fn print_compact(value: &Value, options: &PrintOptions<'_>) -> String {
    with_comments(&compact_lines(value, options, &|_| None), &|_| None)
}

#[test]
fn short_lists_and_small_hashes_take_one_line() {
    let source = "servers: [a.example.net, b.example.net]\nuser: {uid: 1, groups: [wheel, 'x, y']}\nrules:\n- {port: 80, action: accept}\n- [80, [443]]\none: {a: 1}\nfive: {a: 1, b: 2, c: 3, d: 4, e: 5}\nempty: []\n";
    let expected = "servers: [a.example.net, b.example.net]\nuser:\n  uid: 1\n  groups: [wheel, 'x, y']\nrules:\n- {port: 80, action: accept}\n- - 80\n  - - 443\none: {a: 1}\nfive:\n  a: 1\n  b: 2\n  c: 3\n  d: 4\n  e: 5\nempty: []\n";
    assert_eq!(print_compact(&read(source), &PrintOptions::default()), expected);
}

#[test]
fn a_line_in_flow_style_has_the_width_of_a_terminal_at_most() {
    let list = |width: usize| {
        let item = "x".repeat((width - "k: [, ]".len()) / 2);
        let odd = "x".repeat((width - "k: [, ]".len()) % 2);
        read(&format!("k: [{item}, {item}{odd}]\n"))
    };
    let count = |width, options: &PrintOptions<'_>, comment: Option<&str>| {
        compact_lines(&list(width), options, &|_| comment.map(str::to_owned)).len()
    };
    let options = PrintOptions::default();
    assert_eq!(count(FLOW_WIDTH, &options, None), 1);
    assert_eq!(count(FLOW_WIDTH + 1, &options, None), 3);
    assert_eq!(count(FLOW_WIDTH - "  # Node".len(), &options, Some("Node")), 1);
    assert_eq!(count(FLOW_WIDTH - "  # Node".len() + 1, &options, Some("Node")), 3);
}

#[test]
fn leaves_with_comments_of_their_own_have_lines_of_their_own() {
    let value = read("a: [1, 2]\nb: [3, 4]\n");
    let second = value.get("b").unwrap().as_array().unwrap()[1].origin;
    let comment = |origin| Some(if Some(origin) == second { "Node" } else { "Role" }.to_owned());
    let lines = compact_lines(&value, &PrintOptions::default(), &comment);
    let expected = "a: [1, 2]  # Role\nb:\n- 3        # Role\n- 4        # Node\n";
    assert_eq!(with_comments(&lines, &comment), expected);
}

/// The marks in place of secrets are no texts of flow style.
#[test]
fn masked_texts_stay_in_block_style() {
    let options = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
    let printed = print_compact(&read("[a, 'ENC[PKCS7,abc]']"), &options);
    assert_eq!(printed, "- a\n- ENC[encrypted]\n");
    let secret = Secrecy { sensitive: true, ..Secrecy::default() };
    let items = vec![Value::from("a"), Value::from("b").into_secret(secret)];
    let list = Value::array_of(items, None);
    let printed = print_compact(&list, &PrintOptions::default());
    assert_eq!(printed, "- a\n- Sensitive [value redacted]\n");
}

#[test]
fn secrets_are_hidden() {
    let sensitive = Value::new(
        Data::Sensitive(std::sync::Arc::new("s3cret".into())),
        Provenance::from_source(None),
    );
    assert_eq!(print_yaml(&sensitive, &PrintOptions::default()), "Sensitive [value redacted]\n");
    assert_eq!(print_json(&sensitive, &PrintOptions::default()), "\"Sensitive [value redacted]\"");
    let reveal = PrintOptions { reveal_sensitive: true, ..PrintOptions::default() };
    assert_eq!(print_json(&sensitive, &reveal), r#"{"__ptype":"Sensitive","__pvalue":"s3cret"}"#);
    let mask = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
    assert_eq!(print_yaml(&"x ENC[PKCS7,abc] y".into(), &mask), "x ENC[encrypted] y\n");
}

#[test]
fn json_has_a_word_for_everything() {
    let value = read("{1: .inf, b: 123456789012345678901234567890, c: 1.0, d: !!binary //8=}");
    let expected = r#"{"1":{"__ptype":"Float","__pvalue":"Infinity"},"b":123456789012345678901234567890,"c":1.0,"d":{"__ptype":"Binary","__pvalue":"//8="}}"#;
    assert_eq!(print_json(&value, &PrintOptions::default()), expected);
}

#[test]
fn long_values_are_cut() {
    let options = PrintOptions { max_lines: Some(2), ..PrintOptions::default() };
    assert_eq!(print_yaml(&read("[1, 2, 3, 4]"), &options), "- 1\n- 2\n# …\n");
    let options = PrintOptions { max_json: Some(4), ..PrintOptions::default() };
    assert_eq!(print_json(&read("[[1, 2], {a: 3}, 4]"), &options), "[[1,2]");
    assert_eq!(print_json(&read("{a: {b: 1}, c: 2}"), &options), "{\"a\":{");
}

#[test]
fn printing_stops_when_cancelled() {
    let value = read("[1, [2, 3], {a: 4, b: 5}]");
    let cancelled = CancelToken::new(|| true);
    let options = PrintOptions { cancel: Some(&cancelled), ..PrintOptions::default() };
    assert!(!print_yaml(&value, &options).contains('1'));
    assert!(!print_json(&value, &options).contains('1'));
}
