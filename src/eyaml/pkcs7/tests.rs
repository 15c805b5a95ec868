//! Bad keys and bad messages; `tests/puppet/eyaml.rs` compares good ones with eyaml itself.

use super::*;

/// Found in the scenarios of eyaml: a throwaway key pair and a value encrypted for it.
const SCENARIOS: &str = include_str!("../../../tests/puppet/conformance/eyaml.yaml");

fn pem(label: &str) -> String {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let start = SCENARIOS.find(&begin).expect("the scenarios have keys");
    let len = SCENARIOS[start..].find(&end).expect("they end") + end.len();
    SCENARIOS[start..start + len].to_owned()
}

fn message() -> Vec<u8> {
    let start =
        SCENARIOS.find("ENC[PKCS7,").expect("the scenarios have values") + "ENC[PKCS7,".len();
    base64::decode(SCENARIOS[start..].split(']').next().expect("it has an end"))
}

fn keys() -> (PrivateKey, Certificate) {
    let key = PrivateKey::from_pem(&pem("RSA PRIVATE KEY")).expect("it is a key");
    (key, Certificate::from_pem(&pem("CERTIFICATE")).expect("it is a certificate"))
}

#[test]
fn with_and_without_a_certificate() {
    let (key, certificate) = keys();
    assert_eq!(decrypt(&message(), &key, Some(&certificate)).as_deref(), Ok(&b"hello"[..]));
    assert_eq!(decrypt(&message(), &key, None).as_deref(), Ok(&b"hello"[..]));
}

#[test]
fn no_message_and_no_key_makes_it_panic() {
    let (key, certificate) = keys();
    let good = message();
    // Every header byte changed, and a sample of the rest; no reader checks the versions.
    let mut intact = 0;
    for at in (0..60).chain((60..good.len()).step_by(29)) {
        for flip in [1, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            let result = decrypt(&bad, &key, Some(&certificate));
            intact += usize::from(result.as_deref() == Ok(b"hello"));
        }
    }
    assert!(intact < 10, "{intact} damaged messages are read as if they were not");
    for len in 0..good.len() {
        assert!(decrypt(&good[..len], &key, None).is_err(), "{len} bytes");
    }
    let text = pem("RSA PRIVATE KEY");
    let der = base64::decode(text.split("-----").nth(2).expect("a body"));
    for at in (0..der.len()).step_by(41) {
        let mut bad = der.clone();
        bad[at] ^= 0x55;
        let bad = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
            base64::encode(&bad)
        );
        if let Ok(key) = PrivateKey::from_pem(&bad) {
            drop(decrypt(&good, &key, None)); // the private exponent and its parts say the same thing twice
        }
    }
}

#[test]
fn texts_that_are_no_key_are_refused() {
    let wrong = [
        "",
        "junk",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
    ];
    for text in wrong {
        assert_eq!(
            PrivateKey::from_pem(text).err().as_deref(),
            Some("Neither PUB key nor PRIV key: unsupported"),
            "{text}"
        );
        assert_eq!(
            Certificate::from_pem(text).err().as_deref(),
            Some("PEM_read_bio_X509: no start line"),
            "{text}"
        );
    }
    assert!(PrivateKey::from_pem(&pem("CERTIFICATE")).is_err());
    assert!(
        Certificate::from_pem(&format!("a comment\n{}", pem("CERTIFICATE"))).is_ok(),
        "text around a block is passed over"
    );
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    use rsa::pkcs1::EncodeRsaPrivateKey;
    use rsa::{BigUint, RsaPrivateKey};
    // Primes of Mersenne: nothing has to be searched for.
    let prime = |bits: usize| (BigUint::from(1u8) << bits) - BigUint::from(1u8);
    let read = |p: usize, q: usize| {
        let key = RsaPrivateKey::from_p_q(prime(p), prime(q), BigUint::from(65_537u32));
        let der = key.expect("they are primes").to_pkcs1_der().expect("it can be written");
        let body = base64::encode(der.as_bytes());
        let pem =
            format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n");
        PrivateKey::from_pem(&pem).map(|_| ())
    };
    assert_eq!(read(1_279, 2_203), Ok(()));
    let told = Err("hiera-ls reads no RSA key of more than 8192 bits".to_owned());
    assert_eq!(read(4_253, 4_423), told);
}

#[test]
fn messages_are_read_again() {
    let (key, certificate) = keys();
    for plain in ["", "hello", "exactly sixteen!", "日本語\n"] {
        let message = encrypt(plain.as_bytes(), &certificate).expect("it is encrypted");
        assert_eq!(decrypt(&message, &key, Some(&certificate)).as_deref(), Ok(plain.as_bytes()));
        assert_eq!(decrypt(&message, &key, None).as_deref(), Ok(plain.as_bytes()));
        let hidden = message.windows(5).all(|bytes| bytes != b"hello");
        assert!(hidden);
    }
}
