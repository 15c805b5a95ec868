//! Which keys may be read, and from where.

use super::*;
use crate::workspace::fs::MemoryFs;

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
    let keys = Keys::new(&EyamlConfig { decrypt: true, ..config }, &folders, Arc::new(fs)).expect("it is switched on");
    let root = FilePath::new("/repo");
    keys.decryptor(&root).decrypt(b"", &pair(private)).expect_err("there is no key")
}

const NO_KEY: &str = "Neither PUB key nor PRIV key: unsupported";

#[test]
fn nothing_is_decrypted_unless_the_user_says_so() {
    assert!(Keys::new(&EyamlConfig::default(), &Arc::default(), Arc::new(MemoryFs::new())).is_none());
}

#[test]
fn keys_outside_the_workspace_are_read_only_where_the_user_names_them() {
    assert_eq!(message(EyamlConfig::default(), "keys/private.pem"), NO_KEY);
    for outside in ["/home/me/private.pem", "../home/me/private.pem", "keys/../../home/me/private.pem"] {
        assert!(message(EyamlConfig::default(), outside).starts_with("hiera-ls does not read /home/me/private.pem"), "{outside}");
    }
    let home = EyamlConfig { key_folders: vec![FilePath::new("/home/me")], ..EyamlConfig::default() };
    assert_eq!(message(home.clone(), "/home/me/private.pem"), NO_KEY);
    assert_eq!(message(home, "/home/me/huge.pem"), "/home/me/huge.pem is no key: it has 100000 bytes");
    let own = EyamlConfig { private_key: Some(FilePath::new("/home/me/private.pem")), ..EyamlConfig::default() };
    assert_eq!(message(own, "/etc/shadow"), NO_KEY, "the user's own key takes the place of what the repository names");
}
