//! The disk itself: walks, links, versions of files.

use super::*;

#[test]
fn a_walk_goes_as_deep_as_it_may() {
    let root = std::env::temp_dir().join(format!("hiera-ls-depth-{}", std::process::id()));
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    for file in ["1", "a/2", "a/b/3"] {
        std::fs::write(root.join(file), "").unwrap();
    }
    let path = FilePath::new(root.to_str().unwrap());
    let found = |max_depth| {
        let limits = WalkLimits {
            skipped_folders: Vec::new(),
            trusted: Vec::new(),
            max_entries: 1000,
            max_depth,
        };
        let walk = OsFs.walk(&path, &limits);
        walk.entries
            .keys()
            .filter_map(|found| found.relative_to(&path).map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let all = [found(0), found(1), found(2), found(3)];
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(all[0], [""]);
    assert_eq!(all[1], ["", "1", "a"]);
    assert_eq!(all[2], ["", "1", "a", "a/2", "a/b"]);
    assert_eq!(all[3], ["", "1", "a", "a/2", "a/b", "a/b/3"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_longer_than_its_metadata_is_read_up_to_the_limit() {
    // The system gives these files a length of 0. The content of `pagemap` is as long as the
    // address space, is read in steps of eight bytes only, and not every system lets a process read
    // it.
    for (name, limit) in [("status", 63), ("pagemap", 4095)] {
        let path = FilePath::new(&format!("/proc/self/{name}"));
        if name == "pagemap" && std::fs::File::open(path.as_str()).is_err() {
            continue;
        }
        let Some(DiskEntry::File(stamp)) = OsFs.entry(&path) else { panic!("it is a file") };
        assert_eq!(stamp.size, 0);
        assert_eq!(OsFs.read(&path, limit), Err(ReadError::TooLarge(limit + 1)), "{name}");
    }
    let status = OsFs.read(&FilePath::new("/proc/self/status"), 1 << 20);
    assert!(status.is_ok_and(|bytes| bytes.len() > 64), "below the limit it is read");
}

#[cfg(unix)]
#[test]
fn a_file_in_anothers_place_is_another_version() {
    let root = std::env::temp_dir().join(format!("hiera-ls-stamp-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let [one, other] = ["one.yaml", "other.yaml"].map(|name| root.join(name));
    std::fs::write(&one, "a: 1").unwrap();
    std::fs::write(&other, "d: 1").unwrap();
    let time = std::fs::metadata(&one).unwrap().modified().unwrap();
    let other_file = std::fs::File::options().write(true).open(&other).unwrap();
    other_file.set_modified(time).unwrap();
    let entry = || OsFs.entry(&FilePath::new(one.to_str().unwrap()));
    let before = entry();
    let still = entry();
    // The clock of a disk is coarse.
    std::thread::sleep(std::time::Duration::from_millis(50));
    std::fs::rename(&other, &one).unwrap();
    let after = entry();
    std::fs::remove_dir_all(&root).unwrap();
    assert!(before == still && matches!(before, Some(DiskEntry::File(_))));
    assert_ne!(before, after, "it has the time and the length of the one before");
}

#[cfg(unix)]
#[test]
fn links_are_followed_within_the_root_only_and_never_for_ever() {
    use std::os::unix::fs::symlink;
    let root = std::env::temp_dir().join(format!("hiera-ls-walk-{}", std::process::id()));
    let outside = root.join("outside");
    let inside = root.join("repo");
    std::fs::create_dir_all(inside.join("data")).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.yaml"), "a: 1").unwrap();
    std::fs::write(inside.join("data/common.yaml"), "a: 1").unwrap();
    symlink(&inside, inside.join("data/loop")).unwrap();
    symlink(&outside, inside.join("data/out")).unwrap();
    symlink(inside.join("data"), inside.join("linked")).unwrap();
    symlink(inside.join("nowhere"), inside.join("dangling.yaml")).unwrap();
    let path = FilePath::new(inside.to_str().unwrap());
    let limits = WalkLimits {
        skipped_folders: Vec::new(),
        trusted: Vec::new(),
        max_entries: 1000,
        max_depth: 64,
    };
    let walk = OsFs.walk(&path, &limits);
    let found: Vec<&str> =
        walk.entries.keys().filter_map(|found| found.relative_to(&path)).collect();
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(found, ["", "data", "data/common.yaml", "linked", "linked/common.yaml"]);
}
