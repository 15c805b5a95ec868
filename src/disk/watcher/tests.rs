//! Links within a watched folder.

use super::*;

#[test]
fn files_behind_links_are_watched_within_the_folder_alone() {
    let folder = crate::disk::PrivateFolder::new("hiera-ls-watch").unwrap();
    let [root, outside] = ["root", "outside"].map(|name| folder.create_folder(name).unwrap());
    let real = root.join("real");
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, root.join("within")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("out")).unwrap();
    let root = FilePath::new(root.to_str().unwrap());
    let watcher = Watcher::new(&root).unwrap();
    std::fs::write(outside.join("a.yaml"), "a: 1\n").unwrap();
    std::fs::write(root.join("within/b.yaml").as_str(), "b: 1\n").unwrap();
    let changed = watcher.wait(|path| path.extension() == Some("yaml")).unwrap();
    assert_eq!(changed, BTreeSet::from([root.join("real/b.yaml")]));
}
