//! Functions that misbehave: each lookup ends, with an error where it must, and no process is left.

use std::path::{Path, PathBuf};

use super::{eventually, lookup, write};
use crate::support::{self, require};

/// Writes a repository whose only custom level is a lookup_key function with this body; `key` and
/// `context` are its arguments.
fn repository(name: &str, body: &str) -> PathBuf {
    let root = support::scratch(name);
    let function = format!(
        "Puppet::Functions.create_function(:'t::fn') do\n  def fn(key, options, context)\n    context.not_found if key == 'lookup_options'\n{body}\n  end\nend\n"
    );
    write(
        &root,
        &[
            ("hiera.yaml", "version: 5\nhierarchy:\n  - {name: Fn, lookup_key: t::fn}\n"),
            ("modules/t/lib/puppet/functions/t/fn.rb", &function),
        ],
    );
    root
}

/// The numbers in a file that a function wrote, of processes that it started.
fn processes(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn runs(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    // A process that has ended but was not waited for is a zombie.
    status.is_ok_and(|status| !status.contains(") Z"))
}

#[test]
fn output_of_functions_and_of_their_children_disturbs_nothing() {
    if !require("puppet") {
        return;
    }
    let root = repository(
        "hostile-prints",
        "    puts 'noise'\n    STDOUT.puts '{\"id\":3,\"result\":{\"value\":1}}'\n    STDOUT.write('x' * 200_000)\n    STDERR.puts 'noise'\n    system('echo noise; echo noise >&2')\n    $stdin.read\n    'answered'",
    );
    let run = lookup(&root, &["k"]);
    assert_eq!((run.stdout.as_str(), run.status), ("answered\n", Some(0)), "{}", run.stderr);
}

#[test]
fn a_function_that_sleeps_is_ended() {
    if !require("puppet") {
        return;
    }
    let root = repository("hostile-sleeps", "    key == 'k' ? sleep : 'quick'");
    let run = lookup(&root, &["--backend-timeout", "1", "k"]);
    assert_eq!(run.status, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("'t::fn' gave no answer in 1 s"), "{}", run.stderr);
    // The next question has a new process.
    let batch = ["lookup", "--run-backends", "--backend-timeout", "1", "--batch"];
    let run = support::run(
        support::hiera_ls(batch).current_dir(&root),
        "{\"key\":\"k\"}\n{\"key\":\"other\"}\n",
    );
    let answers = support::json_lines("batch", &run.stdout);
    assert!(answers[0]["error"].as_str().unwrap().contains("gave no answer"), "{answers:?}");
    assert_eq!(answers[1]["value"], "quick");
}

#[test]
fn a_function_that_ends_its_process_is_an_error() {
    if !require("puppet") {
        return;
    }
    for (name, body, message) in [
        ("exit", "    exit", "exit"),
        ("abort", "    abort('gone')", "gone"),
        ("exit-bang", "    exit!(3)", "Ruby ended (exit status: 3) while it ran 't::fn'"),
        ("kill", "    Process.kill(:KILL, Process.pid); sleep", "while it ran 't::fn'"),
        ("kill-group", "    Process.kill(:KILL, 0); sleep", "while it ran 't::fn'"),
        ("deep", "    def deep(n) = 1 + deep(n + 1)\n    deep(0)", "stack level too deep"),
    ] {
        let root = repository(&format!("hostile-ends-{name}"), body);
        let run = lookup(&root, &["k"]);
        assert_eq!(run.status, Some(2), "{name}: {}", run.stdout);
        assert!(run.stderr.contains(message), "{name}: {}", run.stderr);
    }
}

#[test]
fn children_of_a_function_end_with_the_command() {
    if !require("puppet") {
        return;
    }
    let body = "    file = File.join(__dir__, 'children')\n    File.open(file, 'a') { |f| f.puts fork { sleep } }\n    File.open(file, 'a') { |f| f.puts spawn('sleep 1000', pgroup: true) }\n    File.open(file, 'a') { |f| f.puts fork { Process.setsid; Process.daemon(true, true) if false; sleep } }\n    'answered'";
    let root = repository("hostile-children", body);
    let run = lookup(&root, &["k"]);
    assert_eq!(run.stdout, "answered\n", "{}", run.stderr);
    let children = processes(&root.join("modules/t/lib/puppet/functions/t/children"));
    assert_eq!(children.len(), 3);
    eventually("the end of all children", || !children.iter().any(|child| runs(child)));
}

/// Starts children that leave the group, the session and the environment; of one the parent ends. Each
/// writes its number into the file `children`.
#[cfg(target_os = "linux")]
const APART: &str = r##"    file = File.join(__dir__, 'children')
    sleeper = "echo $$ >> '#{file}'; exec sleep 1000"
    spawn('env', '-i', 'setsid', '/bin/sh', '-c', sleeper, unsetenv_others: true)
    fork do
      Process.setsid
      fork { exec('env', '-i', '/bin/sh', '-c', sleeper) }
      exit!
    end
    fork { Process.setsid; fork { Process.setsid; fork { exec('env', '-i', 'setsid', '/bin/sh', '-c', sleeper) }; exit! }; sleep 1000 }
    sleep 0.01 until File.exist?(file) && File.readlines(file).size == 3
"##;

/// However the command or its Ruby ends, no child stays behind that left everything that marks it.
#[cfg(target_os = "linux")]
#[test]
fn children_that_leave_their_session_and_environment_end_as_well() {
    if !require("puppet") {
        return;
    }
    for (name, ending, is_killed) in [
        ("answer", "'answered'", false),
        ("exit", "exit!(3)", false),
        ("abort", "Process.kill(:KILL, Process.pid); sleep", false),
        ("killed", "File.write(File.join(__dir__, 'ready'), ''); sleep", true),
    ] {
        let root = repository(&format!("hostile-apart-{name}"), &format!("{APART}    {ending}"));
        let folder = root.join("modules/t/lib/puppet/functions/t");
        if is_killed {
            let arguments = ["lookup", "--run-backends", "--backend-timeout", "1000", "k"];
            let mut command = support::hiera_ls(arguments).current_dir(&root).spawn().unwrap();
            eventually("the function", || folder.join("ready").exists());
            command.kill().unwrap();
            command.wait().unwrap();
        } else {
            // Some children keep the connection of their Ruby open. The command ends all the same, long
            // before its bound of time.
            let run = lookup(&root, &["k"]);
            assert!(!run.stderr.contains("gave no answer"), "{name}: {}", run.stderr);
        }
        let children = processes(&folder.join("children"));
        assert_eq!(children.len(), 3, "{name}");
        eventually("the end of all children", || !children.iter().any(|child| runs(child)));
    }
}

#[test]
fn a_child_that_comes_back_answers_nothing() {
    if !require("puppet") {
        return;
    }
    let root = repository("hostile-returns", "    fork\n    'answered'");
    let run = lookup(&root, &["k"]);
    assert_eq!((run.stdout.as_str(), run.status), ("answered\n", Some(0)), "{}", run.stderr);
}

#[test]
fn a_function_that_returns_or_looks_up_itself_is_an_error() {
    if !require("puppet") {
        return;
    }
    for (name, body, message) in [
        ("itself", "    list = []\n    list << list\n    list", "nested deeper"),
        ("recursion", "    call_function('lookup', key)", "Recursive lookup detected in [k]"),
        ("long", "    'x' * (70 << 20)", "no more than 64 MiB"),
    ] {
        let root = repository(&format!("hostile-loops-{name}"), body);
        let run = lookup(&root, &["k"]);
        assert_eq!(run.status, Some(2), "{name}: {}", run.stdout.len());
        assert!(run.stderr.contains(message), "{name}: {}", support::shortened(&run.stderr, 500));
    }
}

#[test]
fn functions_that_call_each_other_end_somewhere() {
    if !require("puppet") {
        return;
    }
    let root = repository("hostile-chain", "    call_function('lookup', key.succ)");
    let run = lookup(&root, &["k"]);
    assert_eq!(run.status, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("call each other more than 64 deep"), "{}", run.stderr);
}

#[test]
fn a_line_of_a_function_among_the_messages_ends_its_process() {
    if !require("puppet") {
        return;
    }
    for line in ["'x' * (66 << 20)", "'no message'"] {
        let root = repository(
            "hostile-messages",
            &format!("    ANSWERS.write({line}, \"\\n\")\n    ANSWERS.flush\n    sleep"),
        );
        let run = lookup(&root, &["k"]);
        assert_eq!(run.status, Some(2), "{}", run.stdout.len());
        assert!(run.stderr.contains("'t::fn' disturbed the messages"), "{}", run.stderr);
    }
}

#[test]
fn after_three_lost_processes_none_is_started() {
    if !require("puppet") {
        return;
    }
    let root =
        repository("hostile-losses", "    File.write(File.join(__dir__, key), '')\n    exit!");
    let questions: String =
        ["a", "b", "c", "d"].map(|key| format!("{{\"key\":\"{key}\"}}\n")).concat();
    let mut command = support::hiera_ls(["lookup", "--run-backends", "--batch"]);
    let run = support::run(command.current_dir(&root), questions);
    let answers = support::json_lines("batch", &run.stdout);
    let last = answers[3]["error"].as_str().unwrap();
    assert!(last.contains("Ruby was lost 3 times in a row"), "{answers:?}");
    let was_called = |key: &str| root.join("modules/t/lib/puppet/functions/t").join(key).exists();
    assert_eq!(["a", "b", "c", "d"].map(was_called), [true, true, true, false]);
}

#[test]
fn a_huge_index_is_not_wrapped() {
    if !require("puppet") {
        return;
    }
    let root = repository("hostile-index", "    'x'");
    let config = std::fs::read_to_string(root.join("hiera.yaml")).unwrap();
    write(&root, &[("hiera.yaml", &config.replace("lookup_key", "data_dig"))]);
    let function = root.join("modules/t/lib/puppet/functions/t/fn.rb");
    let text = std::fs::read_to_string(&function).unwrap();
    std::fs::write(function, text.replace("key == 'lookup_options'", "key == ['lookup_options']"))
        .unwrap();
    assert_eq!(lookup(&root, &["k.1000"]).stdout, "x\n");
    let run = lookup(&root, &["k.9000000000"]);
    assert_eq!(run.status, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("given up"), "{}", run.stderr);
}

/// A server or a command that is killed cannot end its process: that ends itself.
#[test]
fn a_killed_command_leaves_no_process() {
    if !require("puppet") {
        return;
    }
    let body = "    File.open(File.join(__dir__, 'children'), 'a') { |f| f.puts Process.pid, spawn('sleep 1000', pgroup: true) }\n    sleep";
    let root = repository("hostile-killed", body);
    let arguments = ["lookup", "--run-backends", "--backend-timeout", "1000", "k"];
    let mut command = support::hiera_ls(arguments).current_dir(&root).spawn().unwrap();
    let file = root.join("modules/t/lib/puppet/functions/t/children");
    eventually("the function", || processes(&file).len() == 2);
    command.kill().unwrap();
    command.wait().unwrap();
    let children = processes(&file);
    eventually("the end of all processes", || !children.iter().any(|child| runs(child)));
}

/// A function can end the command, as any process of the user can. Its own process and its children
/// do not stay behind.
#[cfg(unix)]
#[test]
fn a_function_that_kills_the_group_of_its_parent_ends_with_it() {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    const TIMES: usize = 4;
    if !require("puppet") {
        return;
    }
    let body = "    File.open(File.join(__dir__, 'children'), 'a') { |f| f.puts Process.pid, fork { sleep }, spawn('sleep 1000', pgroup: true) }\n    Process.kill(:KILL, -Process.getpgid(Process.ppid))\n    sleep";
    let root = repository("hostile-parent", body);
    let named = root.join("modules/t/lib/puppet/functions/t/children");
    let arguments = ["lookup", "--run-backends", "--backend-timeout", "1000", "k"];
    // The kernel hangs up the group of the functions some time after the end of its parent.
    for _ in 0..TIMES {
        let _ = std::fs::remove_file(&named);
        let mut command = support::hiera_ls(arguments);
        // The command has a process group of its own, and the test is in another group.
        let mut command = command.current_dir(&root).process_group(0).spawn().unwrap();
        let status = command.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "{status}");
        let children = processes(&named);
        assert_eq!(children.len(), 3);
        eventually("the end of all processes", || !children.iter().any(|child| runs(child)));
    }
}

/// The memory of the process is bounded where the platform can do that; the error then names the
/// bound.
#[cfg(target_os = "linux")]
#[test]
fn a_function_that_eats_memory_is_an_error() {
    if !require("puppet") {
        return;
    }
    for (name, body) in [
        ("text", "    'x' * (8 << 30)"),
        ("list", "    list = []\n    loop { list << ('x' * (64 << 20)) }"),
        (
            "child",
            "    reader = IO.popen(['ruby', '-e', \"begin; 'x' * (8 << 30); print 'much'; rescue NoMemoryError; print 'little'; end\"])\n    reader.read",
        ),
    ] {
        let root = repository(&format!("hostile-memory-{name}"), body);
        let run = lookup(&root, &["k"]);
        if name == "child" {
            assert_eq!(run.stdout, "little\n", "{}", run.stderr);
            continue;
        }
        assert_eq!(run.status, Some(2), "{name}: {}", run.stdout.len());
        assert!(run.stderr.contains("at most 2048 MiB of memory"), "{name}: {}", run.stderr);
    }
}

/// The bound of memory is a hard one: neither a function nor its children lift it.
#[cfg(target_os = "linux")]
#[test]
fn a_function_does_not_lift_its_bound_of_memory() {
    if !require("puppet") {
        return;
    }
    let lift = "[[8 << 30, 8 << 30], [8 << 30, Process.getrlimit(:AS)[1]]].each { |limits| Process.setrlimit(:AS, *limits) rescue nil }";
    let eat = "begin; 'x' * (3 << 30); 'much'; rescue NoMemoryError; 'little'; end";
    let child = format!("IO.popen(['ruby', '-e', \"{lift}; print({eat})\"]).read");
    let itself = format!("{lift}\n    {eat}");
    for (name, body) in [("itself", itself), ("child", child)] {
        let root = repository(&format!("hostile-lifts-{name}"), &format!("    {body}"));
        let run = lookup(&root, &["k"]);
        assert_eq!(run.stdout, "little\n", "{name}: {}", run.stderr);
    }
}

/// The number of processes is bounded for users other than root; a function that forks without an end
/// meets the bound, and all its processes end with the command.
#[cfg(target_os = "linux")]
#[test]
fn a_function_that_forks_without_end_meets_a_bound() {
    if !require("puppet") {
        return;
    }
    // A shell starts the processes: Ruby itself would try to fork again and again, until the time
    // of its call is over.
    let script = "while :; do sleep 1000 > /dev/null 2>&1 & echo $!; done";
    let body = format!(
        "    started = IO.popen(['sh', '-c', '{script}'], err: [:child, :out]).read\n    File.write(File.join(__dir__, 'children'), started[/(\\d+\\n)+/])\n    \"#{{started[/cannot fork/i]}} #{{(101..256).include?(started.lines.size)}}\""
    );
    let root = repository("hostile-forks", &body);
    let arguments = ["lookup", "--run-backends", "--backend-timeout", "60", "k"];
    let mut command = support::hiera_ls(arguments);
    std::fs::create_dir(root.join("home")).unwrap();
    if rustix::process::getuid().is_root() {
        // No other test of functions runs as the user `nobody` (65534).
        let mut other = std::process::Command::new("setpriv");
        other.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        other.arg(command.get_program()).args(command.get_args());
        command = other;
        use std::os::unix::fs::PermissionsExt;
        for folder in ["home", "modules/t/lib/puppet/functions/t"] {
            let mode = std::fs::Permissions::from_mode(0o777);
            std::fs::set_permissions(root.join(folder), mode).unwrap();
        }
    }
    let run = support::run(command.env("HOME", root.join("home")).current_dir(&root), "");
    if run.stderr.starts_with("setpriv: failed to execute") {
        support::missing("puppet", "no other user may run the program that was built");
        return;
    }
    assert_eq!(run.stdout.to_lowercase(), "cannot fork true\n", "{}", run.stderr);
    // Puppet makes folders of its own in the home of users other than root: here it makes none.
    assert_eq!(std::fs::read_dir(root.join("home")).unwrap().count(), 0);
    let children = processes(&root.join("modules/t/lib/puppet/functions/t/children"));
    assert!(children.len() > 100);
    eventually("the end of all processes", || !children.iter().any(|child| runs(child)));
}

/// Backends of Hiera 3 run in the same process, under the same rules.
#[test]
fn a_hostile_backend_of_hiera_3_is_held_alike() {
    if !require("puppet") {
        return;
    }
    for (name, body, message) in [
        ("prints", "puts 'noise'; STDOUT.write('x' * 200_000); 'answered'", ""),
        ("sleeps", "sleep", "'bad' gave no answer in 1 s"),
        ("ends", "exit!(3)", "Ruby ended (exit status: 3) while it ran 'bad'"),
        ("exception", "raise Exception, 'of no kind'", "of no kind"),
        ("itself", "list = []; list << list; list", "nested deeper"),
        (
            "recursion",
            "Hiera::Backend.parse_answer(\"%{hiera('k')}\", scope, {}, context)",
            "Recursive lookup detected in [k]",
        ),
        ("config", "Hiera::Config.instance_variable_set(:@config, 5); 'answered'", ""),
    ] {
        let root = support::scratch(&format!("hostile-hiera3-{name}"));
        let backend = format!(
            "class Hiera::Backend::Bad_backend\n  def lookup(key, scope, order_override, resolution_type, context)\n    throw :no_such_key if key == 'lookup_options'\n    {body}\n  end\nend\n"
        );
        write(
            &root,
            &[
                ("global.yaml", "version: 5\nhierarchy: [{name: Bad, hiera3_backend: bad}]\n"),
                ("hiera.yaml", "version: 5\nhierarchy: []\n"),
                ("modules/t/lib/hiera/backend/bad_backend.rb", &backend),
            ],
        );
        let global = ["--global-hiera-config", "global.yaml", "--backend-timeout", "1", "k"];
        let run = lookup(&root, &global);
        match message {
            "" => assert_eq!(run.stdout, "answered\n", "{name}: {}", run.stderr),
            _ => {
                assert_eq!(run.status, Some(2), "{name}: {}", run.stdout);
                let told = support::shortened(&run.stderr, 500);
                assert!(run.stderr.contains(message), "{name}: {told}");
            }
        }
    }
}

/// With the flag, and without a level that needs it, no process is started: a Ruby that does not
/// exist is not missed.
#[test]
fn a_hierarchy_without_custom_levels_starts_no_process() {
    let root = support::scratch("hostile-none");
    write(
        &root,
        &[
            ("hiera.yaml", "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n"),
            ("global.yaml", ":backends: [yaml]\n:hierarchy: [g]\n:yaml:\n  :datadir: data\n"),
            ("data/common.yaml", "k: 1\n"),
            ("data/g.yaml", "g: 2\n"),
        ],
    );
    let run = |key: &str| {
        let arguments = ["--ruby", "/nosuch/ruby", "--global-hiera-config", "global.yaml", key];
        lookup(&root, &arguments)
    };
    assert_eq!(run("k").stdout, "1\n");
    assert_eq!(run("g").stdout, "2\n");
    assert_eq!(run("nosuch").status, Some(1));
}

/// The path of a Ruby is relative to the current folder; Ruby itself starts in another one.
#[cfg(unix)]
#[test]
fn the_path_of_a_ruby_is_relative_to_the_current_folder() {
    if !require("puppet") {
        return;
    }
    let root = repository("hostile-ruby", "    'answered'");
    write(&root, &[("bin/own", "#!/bin/sh\nexec ruby \"$@\"\n")]);
    support::make_program(&root.join("bin/own"));
    for ruby in ["./bin/own", "bin/own", "ruby"] {
        let run = lookup(&root, &["--ruby", ruby, "k"]);
        assert_eq!(run.stdout, "answered\n", "{ruby}: {}", run.stderr);
    }
}

/// Only the usual environment variables, and those that the user names, reach a function; the
/// folder that it runs in is empty.
#[test]
fn functions_see_a_clean_environment() {
    if !require("puppet") {
        return;
    }
    let body = "    ENV.keys.grep_v(/^(HIERA_LS_|LC_|LANG)/).sort + Dir.children('.')";
    let root = repository("hostile-environment", body);
    let run = |more: &[&str]| {
        let arguments = ["lookup", "--run-backends", "--render-as", "json", "k"];
        let mut command = support::hiera_ls(arguments.iter().chain(more));
        command.env_clear().env("PATH", std::env::var("PATH").unwrap());
        command.env("HOME", "/").env("MY_TOKEN", "x").env("RUBYOPT", "-w").env("GEM_HOME", "/");
        support::run(command.current_dir(&root), "").stdout
    };
    assert_eq!(run(&[]), "[\"HOME\",\"PATH\"]\n");
    assert_eq!(run(&["--pass-env", "MY_TOKEN"]), "[\"HOME\",\"MY_TOKEN\",\"PATH\"]\n");
}
