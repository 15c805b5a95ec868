use super::*;

fn check(texts: &str, expected: Resolved) {
    for text in texts.split(' ') {
        assert_eq!(resolve_plain(text), expected, "{text:?}");
    }
}

#[test]
fn words() {
    check("yes Yes YES yEs on On ON true True TRUE tRue", Resolved::Bool(true));
    check("no No NO off Off OFF false False FALSE", Resolved::Bool(false));
    check("~ null Null NULL nUll", Resolved::Null);
    assert_eq!(resolve_plain(""), Resolved::Null);
    check(
        "y Y n N nil none None inf NaN foo::bar 1.2.3.4 192.168.0.1 v1 1% 1/2 $1 = 1r",
        Resolved::String,
    );
}

#[test]
fn integers() {
    check("0 -0 +0 00 0_ 0__ 00_", Resolved::Integer(0));
    check("07 0_7", Resolved::Integer(7));
    check("-017", Resolved::Integer(-15));
    check("0x1F", Resolved::Integer(31));
    check("0x_1 0b_1 01", Resolved::Integer(1));
    check("-0b11", Resolved::Integer(-3));
    check("1_000 1,000", Resolved::Integer(1000));
    check("1,2", Resolved::Integer(12));
    check("20200101", Resolved::Integer(20_200_101));
    check("08 09 -08 0o10 0O17 0o8 0d10 0X1f 0xG 0x 0x1.8 0B101 0b102 0b", Resolved::String);
    check("1_ 1_0_ 1__0 _1 -_1 1, --1 1+1 1-1", Resolved::String);
    check("9223372036854775808", Resolved::BigInteger("9223372036854775808".into()));
    check("-9223372036854775808", Resolved::Integer(i64::MIN));
    check(
        "-0xffffffffffffffffffffffffffffffff",
        Resolved::BigInteger("-340282366920938463463374607431768211455".into()),
    );
    check("0x_", Resolved::BadNumber("invalid value for Integer(): \"0x\"".into()));
}

#[test]
fn floats() {
    check("1.0 1.", Resolved::Float(1.0));
    check(".5 +.5 0.5", Resolved::Float(0.5));
    check("1_0.5", Resolved::Float(10.5));
    check("12,34.5e+1", Resolved::Float(12345.0));
    check("1.e+5", Resolved::Float(100_000.0));
    check(".inf .INF +.inf", Resolved::Float(f64::INFINITY));
    check("-.inf", Resolved::Float(f64::NEG_INFINITY));
    check(
        "1.5_0 1.2,3 0.1_2 1.2.3 1e3 1e+3 1e-3 12e3 1.5e3 1.0e10 0.1e400 1.e5 . .. + +. -. e5 .e5",
        Resolved::String,
    );
    check("-.e+1", Resolved::BadNumber("invalid value for Float(): \"-e+1\"".into()));
    assert!(matches!(resolve_plain("-0.0"), Resolved::Float(zero) if zero.is_sign_negative()));
    assert!(matches!(resolve_plain(".NaN"), Resolved::Float(nan) if nan.is_nan()));
}

#[test]
fn sexagesimals() {
    check("1:30 01:30 +1:30", Resolved::Integer(5400));
    check("-1:30", Resolved::Integer(-1800));
    check("1:5", Resolved::Integer(3900));
    check("22:22", Resolved::Integer(80520));
    check("12:30:45", Resolved::Integer(45045));
    check("1_1:30", Resolved::Integer(41400));
    check("1:30.5", Resolved::Float(5430.0));
    check("12:30:45.678", Resolved::Float(45045.678));
    check("1:60 1:99 99:99:99 3306:3306 1:2:3:4 1:2_3", Resolved::String);
}

#[test]
fn dates_and_symbols() {
    check("2020-01-01 2020-1-1 2020-02-30 0000-00-00", Resolved::Date);
    check("2020-01-01T10:00:00 2020-01-01T10:00:00Z 2020-01-01t10:00:00.123+02:00", Resolved::Time);
    assert_eq!(resolve_plain("2020-01-01 10:00:00"), Resolved::Time);
    check("2020-13-45 2020-01 2020-01-01x 12-12-2012 2020-01-01t10:00:00z", Resolved::String);
    check(":foo :\"foo\" :'foo'", Resolved::Symbol("foo".into()));
    check("::foo", Resolved::Symbol(":foo".into()));
    check(":30", Resolved::Symbol("30".into()));
    check(":", Resolved::String);
}

#[test]
fn tags() {
    let scalar = NodeKind::Scalar { style: crate::yaml::ScalarStyle::Plain, text: "".into() };
    let mapping = NodeKind::Mapping { flow: false, entries: Vec::new() };
    let sequence = NodeKind::Sequence { flow: false, items: Vec::new() };
    for text in ["!str", "!ruby/string", "tag:yaml.org,2002:str"] {
        assert_eq!(tag_meaning(text, &scalar), TagMeaning::Text);
    }
    for normal in ["!", "!vault", "tag:yaml.org,2002:int", "!strange"] {
        assert_eq!(tag_meaning(normal, &scalar), TagMeaning::NormalRules);
        assert_eq!(tag_meaning(normal, &mapping), TagMeaning::NormalRules);
    }
    assert_eq!(tag_meaning("tag:yaml.org,2002:set", &mapping), refused_class("Psych::Set"));
    assert_eq!(tag_meaning("tag:yaml.org,2002:omap", &sequence), TagMeaning::OrderedHash);
    assert_eq!(tag_meaning("!ruby/object:Hash", &mapping), TagMeaning::NormalRules);
    assert_eq!(tag_meaning("!ruby/object:Foo", &mapping), refused_class("Foo"));
    assert_eq!(tag_meaning("!ruby/sym", &scalar), TagMeaning::Symbol);
}
