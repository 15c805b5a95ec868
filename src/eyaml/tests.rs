//! The keys that may be read, and the folders that they may lie in.

use super::*;
use crate::disk::MemoryFs;

fn pair(private: &str) -> KeyPair {
    let file = |path: &str| KeySource { variable: None, file: Some(path.to_owned()) };
    KeyPair { private: file(private), public: file("keys/public.pem") }
}

fn message(config: EyamlConfig, private: &str) -> String {
    let fs = MemoryFs::new();
    fs.write("/repo/keys/private.pem", "no key");
    fs.write("/home/me/private.pem", "no key either");
    fs.write("/home/me/huge.pem", vec![b'x'; 100_000]);
    let folders = Arc::new(vec![FilePath::new("/repo")]);
    let keys = Keys::new(&EyamlConfig { decrypt: true, ..config }, &folders, Arc::new(fs))
        .expect("it is switched on");
    let root = FilePath::new("/repo");
    keys.decryptor_in(&root).decrypt(b"", &pair(private)).expect_err("there is no key")
}

const NO_KEY: &str = "Neither PUB key nor PRIV key: unsupported";

#[test]
fn nothing_is_decrypted_without_the_users_switch() {
    assert!(
        Keys::new(&EyamlConfig::default(), &Arc::default(), Arc::new(MemoryFs::new())).is_none()
    );
}

#[test]
fn keys_outside_the_workspace_are_read_only_where_the_user_names_them() {
    assert_eq!(message(EyamlConfig::default(), "keys/private.pem"), NO_KEY);
    for outside in
        ["/home/me/private.pem", "../home/me/private.pem", "keys/../../home/me/private.pem"]
    {
        assert!(
            message(EyamlConfig::default(), outside)
                .starts_with("hiera-ls does not read /home/me/private.pem"),
            "{outside}"
        );
    }
    let home =
        EyamlConfig { key_folders: vec![FilePath::new("/home/me")], ..EyamlConfig::default() };
    assert_eq!(message(home.clone(), "/home/me/private.pem"), NO_KEY);
    assert_eq!(
        message(home, "/home/me/huge.pem"),
        "/home/me/huge.pem is no key: it has 100000 bytes"
    );
    let own = EyamlConfig {
        private_key: Some(FilePath::new("/home/me/private.pem")),
        ..EyamlConfig::default()
    };
    assert_eq!(
        message(own, "/etc/shadow"),
        NO_KEY,
        "the user's own key takes the place of what the repository names"
    );
}

/// A link is where it leads: the repository cannot name a file of the user's by one.
#[cfg(unix)]
#[test]
fn a_link_to_a_key_outside_the_workspace_is_not_followed() {
    use crate::disk::OsFs;
    use std::os::unix::fs::symlink;
    let here = std::env::temp_dir().join(format!("hiera-ls-key-links-{}", std::process::id()));
    let (repo, home) = (here.join("repo"), here.join("home"));
    std::fs::create_dir_all(repo.join("keys")).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("private.pem"), "no key").unwrap();
    std::fs::write(repo.join("keys/real.pem"), "no key").unwrap();
    symlink(home.join("private.pem"), repo.join("keys/out.pem")).unwrap();
    symlink(&home, repo.join("out")).unwrap();
    symlink(repo.join("keys/real.pem"), repo.join("in.pem")).unwrap();
    symlink(here.join("nowhere"), repo.join("dangling.pem")).unwrap();
    symlink(&repo, here.join("linked")).unwrap();
    let path = |path: &std::path::Path| FilePath::new(path.to_str().unwrap());
    let message = |root: &std::path::Path, file: &str, key_folders: Vec<FilePath>| {
        let config = EyamlConfig { decrypt: true, key_folders, ..EyamlConfig::default() };
        let root = path(root);
        let keys = Keys::new(&config, &Arc::new(vec![root.clone()]), Arc::new(OsFs))
            .expect("it is switched on");
        keys.decryptor_in(&root).decrypt(b"", &pair(file)).expect_err("there is no key")
    };
    let refusal = |named: &str| {
        let (named, real) = (
            path(&repo.join(named)),
            path(&std::fs::canonicalize(home.join("private.pem")).unwrap()),
        );
        format!(
            "hiera-ls does not read {named}, which leads to {real} and lies outside the workspace"
        )
    };
    let mut seen = Vec::new();
    for named in ["keys/out.pem", "out/private.pem"] {
        seen.push((message(&repo, named, Vec::new()), refusal(named)));
        seen.push((message(&repo, named, vec![path(&home)]), NO_KEY.to_owned()));
    }
    for named in ["keys/real.pem", "in.pem"] {
        seen.push((message(&repo, named, Vec::new()), NO_KEY.to_owned()));
        seen.push((message(&here.join("linked"), named, Vec::new()), NO_KEY.to_owned()));
    }
    let missing =
        format!("No such file or directory @ rb_sysopen - {}", path(&repo.join("dangling.pem")));
    seen.push((message(&repo, "dangling.pem", Vec::new()), missing));
    let missing =
        format!("No such file or directory @ rb_sysopen - {}", path(&here.join("linked/nope.pem")));
    seen.push((message(&here.join("linked"), "nope.pem", Vec::new()), missing));
    std::fs::remove_dir_all(&here).unwrap();
    for (message, expected) in seen {
        assert!(message.starts_with(&expected), "{message}, not {expected}");
    }
}

/// A repository may name any variable: no message contains its value.
#[test]
fn values_of_variables_are_not_revealed() {
    // One that is set wherever tests run, and surely holds no key.
    let (variable, value) = ("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    let source = KeySource { variable: Some(variable.to_owned()), file: None };
    let folders = Arc::new(vec![FilePath::new("/repo")]);
    let config = EyamlConfig { decrypt: true, ..EyamlConfig::default() };
    let keys = Keys::new(&config, &folders, Arc::new(MemoryFs::new())).expect("it is switched on");
    let root = FilePath::new("/repo");
    let pair = KeyPair { private: source.clone(), public: source };
    let message = keys.decryptor_in(&root).decrypt(b"", &pair).expect_err("there is no key");
    assert_eq!(message, NO_KEY);
    assert!(!format!("{keys:?} {pair:?}").contains(value));
}

#[test]
fn of_a_key_only_the_last_version_is_held() {
    let fs = Arc::new(MemoryFs::new());
    let folders = Arc::new(vec![FilePath::new("/repo")]);
    let config = EyamlConfig { decrypt: true, ..EyamlConfig::default() };
    let keys = Keys::new(&config, &folders, fs.clone()).expect("it is switched on");
    let root = FilePath::new("/repo");
    let mut numbers = Vec::new();
    for text in ["one", "one", "two"] {
        fs.write("/repo/private.pem", text);
        assert!(keys.decryptor_in(&root).decrypt(b"", &pair("private.pem")).is_err());
        let shelf = keys.private.lock().unwrap();
        assert_eq!(shelf.len(), 1);
        numbers.extend(shelf.values().map(|held| held.number));
    }
    assert_eq!(numbers, [0, 0, 1]);
    let mut plain = Plain::default();
    plain.remember_answer((0, Some(7), vec![1]), b"old");
    plain.remember_answer((1, Some(7), vec![1]), b"new");
    plain.forget(0);
    assert_eq!((plain.known.len(), plain.size), (1, 4));
}

#[test]
fn what_was_decrypted_is_forgotten_where_it_becomes_too_much() {
    let mut plain = Plain::default();
    let text = vec![b'x'; MAX_REMEMBERED / 3];
    let mut remembered = Vec::new();
    for number in 0..4 {
        plain.remember_answer((0, None, vec![number]), &text);
        remembered.push(plain.known.len());
        assert!(plain.size <= MAX_REMEMBERED);
    }
    assert_eq!(remembered, [1, 2, 1, 2]);
    assert!(plain.known.contains_key(&(0, None, vec![3])), "the last one is there");
}

#[test]
fn a_text_is_encrypted_with_keys_that_may_be_named_and_no_private_one() {
    let encrypted = |config: EyamlConfig, public: &str| {
        let fs = MemoryFs::new();
        fs.write("/repo/keys/public.pem", "no certificate");
        fs.write("/home/me/public.pem", "no certificate either");
        let folders = Arc::new(vec![FilePath::new("/repo")]);
        let named = KeySource { variable: None, file: Some(public.to_owned()) };
        let root = FilePath::new("/repo");
        super::encrypt(b"text", &named, &root, (&config, &folders, Arc::new(fs)))
            .expect_err("there is no certificate")
    };
    let none = "PEM_read_bio_X509: no start line";
    assert_eq!(encrypted(EyamlConfig::default(), "keys/public.pem"), none);
    for outside in ["/home/me/public.pem", "keys/../../home/me/public.pem"] {
        let message = encrypted(EyamlConfig::default(), outside);
        assert!(message.starts_with("hiera-ls does not read /home/me/public.pem"), "{message}");
    }
    let home =
        EyamlConfig { key_folders: vec![FilePath::new("/home/me")], ..EyamlConfig::default() };
    assert_eq!(encrypted(home, "/home/me/public.pem"), none);
    let own = EyamlConfig {
        public_key: Some(FilePath::new("/home/me/public.pem")),
        ..EyamlConfig::default()
    };
    assert_eq!(encrypted(own, "/etc/shadow"), none, "the user's own takes its place");
}
