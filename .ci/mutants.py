#!/usr/bin/env python3
"""Mutation testing: whether the tests notice small faults in the code.

Draws places of the code by a seed, and changes each (`==` to `!=`, `first` to `last`, a number by one, ...). All mutants are
built into one copy of the package, as `if crate::mutant(7) { changed } else { original }`, because a build for each mutant
takes too long. The tests then run once for each mutant, until the first test fails:

    pip install tree-sitter tree-sitter-rust
    .ci/mutants.py --seed 24 src/fleet src/ide/refactor
    .ci/mutants.py --only 07c1d2ab34,31fe09a2c8 src --suite lib --suite 'cli:--skip secrets' --suite session:refactorings

A mutant is caught where a test fails, the program crashes, or the tests take three times as long as without a mutant (20
seconds at least). The status is 1 where a mutant survives. Tests, constants, patterns and the arguments of macros are not
changed. The name of a mutant follows from its path, its function, and the texts before and after the change, and the seed's
order from the name: both stay the same after commits that change other code, and `--only` repeats survivors.
"""

import argparse
import collections
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import tree_sitter
import tree_sitter_rust

OPERATORS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+",
}
METHODS = {
    "is_some": "is_none", "is_none": "is_some", "is_ok": "is_err", "is_err": "is_ok", "any": "all", "all": "any",
    "min": "max", "max": "min", "min_by_key": "max_by_key", "max_by_key": "min_by_key", "first": "last", "last": "first",
    "starts_with": "ends_with", "ends_with": "starts_with", "find": "rfind", "rfind": "find",
}
# Items whose code is no expression, or is evaluated by the compiler; where a mutant does not compile, another is drawn.
SKIPPED = {
    "attribute_item", "inner_attribute_item", "macro_invocation", "macro_definition", "const_item", "static_item", "const_block",
    "enum_variant", "array_type", "type_arguments", "type_parameters", "parameters", "closure_parameters", "use_declaration",
}
# Appended to the library of the copy. Where HIERA_LS_REACHED names a file, a run writes each number that it reaches there, with
# the name of the test: that of the thread, or the one that has started the process.
LIBRARY = """
pub(crate) fn mutant(number: u64) -> bool {
    use std::{cell::RefCell, collections::HashSet, env, fs::OpenOptions, io::Write, sync::LazyLock, thread};
    static CHOSEN: LazyLock<Option<u64>> = LazyLock::new(|| env::var("HIERA_LS_MUTANT").ok()?.parse().ok());
    static REACHED: LazyLock<Option<std::fs::File>> = LazyLock::new(|| {
        OpenOptions::new().create(true).append(true).open(env::var_os("HIERA_LS_REACHED")?).ok()
    });
    thread_local!(static KNOWN: RefCell<HashSet<u64>> = RefCell::default());
    if let Some(mut file) = REACHED.as_ref()
        && KNOWN.with_borrow_mut(|known| known.insert(number))
    {
        let started_by = env::var("HIERA_LS_TEST").ok();
        let test = started_by.or(thread::current().name().map(str::to_owned)).unwrap_or_default();
        let line = format!("{number} {test}\\n");
        file.write_all(line.as_bytes()).unwrap();
    }
    *CHOSEN == Some(number)
}
"""
PROGRAM = 'Command::new(env!("CARGO_BIN_EXE_hiera-ls"))'
PROGRAM_OF_TEST = f'''{{
    let mut program = {PROGRAM};
    program.env("HIERA_LS_TEST", std::thread::current().name().unwrap_or_default());
    program
}}'''
MEMORY = 8 << 30
SHORTEST_LIMIT = 20


@dataclasses.dataclass
class Mutant:
    """One change: bytes of a file, the text there, and the text in its place. `within` has the names of the items around it,
    `repetition` counts equal changes before it in the same function."""

    path: str
    within: str
    start: int
    end: int
    line: int
    original: str
    changed: str
    repetition: int = 0

    @functools.cached_property
    def number(self):
        texts = (" ".join(text.split()) for text in (self.original, self.changed))
        return digest(self.path, self.within, *texts, str(self.repetition))

    def expression(self):
        return f"(if crate::mutant({self.number}) {{ {self.changed} }} else {{ {self.original} }})"

    def overlaps(self, other):
        return self.path == other.path and self.start < other.end and other.start < self.end

    def __str__(self):
        # The differing part of two long expressions suffices.
        before, after = self.original, self.changed
        begin = len(os.path.commonprefix([before, after]))
        end = len(os.path.commonprefix([before[begin:][::-1], after[begin:][::-1]]))
        place = slice(max(begin - 30, 0), None)
        texts = [" ".join(text[place][: len(text) - place.start - max(end - 30, 0)].split()) for text in (before, after)]
        return f"{self.number:010x} {self.path}:{self.line} {self.within} `{texts[0]}` -> `{texts[1]}`"


def digest(*texts):
    """A number of 40 bits."""
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode()).digest()[:5], "big")


def main():
    arguments = parse_arguments()
    root = pathlib.Path(__file__).resolve().parent.parent
    copy = pathlib.Path(arguments.copy or root / "target/mutants/copy").resolve()
    environment = {**os.environ, "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(copy.parent))}
    copy_package(root, copy)
    mutants = build_mutants(copy, arguments, environment)
    survivors = mutants
    for name in arguments.suite or ["lib"]:
        suite = Suite(name, copy, environment)
        survivors = [mutant for mutant in survivors if not suite.catches(mutant)]
    for mutant in survivors:
        print("survives:", mutant)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants caught")
    return 1 if survivors else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", help="folders and files of the package from which places are drawn")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--seed", type=int)
    chosen.add_argument("--only", type=lambda text: {int(part, 16) for part in text.split(",")}, help="names of mutants to run")
    parser.add_argument("--count", type=int, default=200, help="how many mutants the seed draws")
    parser.add_argument(
        "--suite",
        action="append",
        metavar="TARGET[:ARGUMENTS]",
        help="tests to run: `lib` (the default), or a file of tests/; the next suite is asked about what the one before misses",
    )
    parser.add_argument("--copy", help="the folder of the copy; the files of the package in it are replaced")
    return parser.parse_args()


def copy_package(root, copy):
    """Copies the package as it is now, with files that are not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, stdout=subprocess.PIPE, check=True
    )
    names = [name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]
    for name in names:
        target = copy / name
        if name.startswith("tests/") and name.endswith(".rs"):
            write_changed(target, (root / name).read_text().replace(PROGRAM, PROGRAM_OF_TEST).encode())
        elif not name.startswith("src/"):
            write_changed(target, (root / name).read_bytes())
            shutil.copymode(root / name, target)
    # The sources are written once more with the mutants; until then they are kept beside the copy.
    originals = copy.parent / "originals"
    shutil.rmtree(originals, ignore_errors=True)
    shutil.copytree(root / "src", originals / "src")
    for path in copy.glob("src/**/*"):
        if path.is_file() and not (originals / path.relative_to(copy)).exists():
            path.unlink()


def write_changed(path, content):
    """Writes a file whose content differs: a build depends on the times of files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


def build_mutants(copy, arguments, environment):
    """The mutants with the wanted names, or the first of the seed's order that compile, written into the copy."""
    originals = copy.parent / "originals"
    places = find_places(originals, arguments.rooms)
    if arguments.only:
        places = [place for place in places if place.number in arguments.only]
        for missing in arguments.only - {place.number for place in places}:
            sys.exit(f"no place has the name {missing:010x}: its code has changed")
    places.sort(key=lambda place: digest(str(arguments.seed), str(place.number)))
    refused = set()
    while True:
        # Some more than wanted, so that few rounds are needed.
        drawn = draw(places, refused, arguments.count * 5 // 4)
        ranges = write_mutants(originals, copy, drawn)
        failing = failing_mutants(copy, ranges, environment)
        print(f"{len(places)} places; {len(drawn)} drawn, {len(failing)} do not compile", flush=True)
        refused |= failing
        if not failing:
            return drawn[: arguments.count]


def find_places(root, rooms):
    """All places of the rooms, in the order of their paths."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
    paths = sorted(path for room in rooms for path in ([root / room] if room.endswith(".rs") else (root / room).glob("**/*.rs")))
    trees = {path: (path.read_bytes(), parser.parse(path.read_bytes())) for path in sorted(root.glob("src/**/*.rs"))}
    tests = {module for path, (text, tree) in trees.items() for module in test_modules(path, text, tree.root_node)}
    places = []
    for path in dict.fromkeys(paths):
        modules = [path.with_suffix(""), *path.parents]
        if not any(module in tests for module in modules):
            text, tree = trees[path]
            visit(tree.root_node, text, str(path.relative_to(root)), "", places)
    equal = collections.Counter()
    for place in places:
        key = (place.path, place.within, place.original, place.changed)
        place.repetition = equal[key]
        equal[key] += 1
    return places


def test_modules(path, text, node):
    """The modules that `#[cfg(test)] mod name;` declares, as paths without `.rs`."""
    folder = path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.with_suffix("")
    for child in node.children:
        if child.type == "mod_item" and is_test(child, text):
            yield folder / read(text, child.child_by_field_name("name"))


def is_test(item, text):
    previous = item.prev_sibling
    while previous is not None and previous.type in ("attribute_item", "line_comment"):
        if "test" in read(text, previous) and previous.type == "attribute_item":
            return True
        previous = previous.prev_sibling
    return False


def read(text, node):
    return text[node.start_byte : node.end_byte].decode()


def visit(node, text, path, within, places):
    """Adds the places in `node`, which is inside the items `within`."""
    kind = node.type
    if kind in SKIPPED or kind.endswith("_pattern") and kind != "match_pattern":
        return
    if kind.endswith("_item") and (is_test(node, text) or is_const(node, text)):
        return
    if kind.endswith("_item") and (name := node.child_by_field_name("name") or node.child_by_field_name("type")) is not None:
        within = f"{within}::{read(text, name)}".removeprefix("::")
    for changed in changes(node, text):
        places.append(Mutant(path, within, node.start_byte, node.end_byte, node.start_point[0] + 1, read(text, node), changed))
    if kind == "match_pattern":
        children = [node.child_by_field_name("condition")]
    elif kind == "field_expression":
        children = [node.child_by_field_name("value")]
    else:
        children = node.named_children
    for child in children:
        if child is not None:
            visit(child, text, path, within, places)


def is_const(item, text):
    return any(child.type == "function_modifiers" and "const" in read(text, child) for child in item.children)


def changes(node, text):
    """The texts that may stand in place of an expression."""
    kind, original = node.type, read(text, node)
    if kind == "binary_expression":
        left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        if (other := OPERATORS.get(read(text, operator))) is not None:
            yield f"{read(text, left)} {other} {read(text, right)}"
    elif kind == "unary_expression" and original.startswith("!"):
        yield original[1:]
    elif kind == "boolean_literal":
        yield "false" if original == "true" else "true"
    elif kind == "integer_literal" and original.isdigit():
        yield str(int(original) + 1)
        if original != "0":
            yield str(int(original) - 1)
    elif kind == "call_expression":
        function = node.child_by_field_name("function")
        if function.type == "field_expression":
            name = function.child_by_field_name("field")
            if (other := METHODS.get(read(text, name))) is not None:
                yield text[node.start_byte : name.start_byte].decode() + other + text[name.end_byte : node.end_byte].decode()
        if is_condition(node) or original.endswith(".is_empty()"):
            yield f"!{original}"


def is_condition(node):
    parent = node.parent
    return parent.type in ("if_expression", "while_expression", "match_pattern") and parent.child_by_field_name("condition") == node


def draw(places, refused, count):
    """The first places in the seed's order that neither failed nor overlap one before them."""
    drawn = {}
    total = 0
    for place in places:
        before = drawn.setdefault(place.path, [])
        if place.number not in refused and not any(place.overlaps(other) for other in before):
            before.append(place)
            total += 1
            if total == count:
                break
    chosen = {place.number for group in drawn.values() for place in group}
    return [place for place in places if place.number in chosen]


def write_mutants(originals, copy, mutants):
    """Writes the sources. Returns where the mutants are then: by path, ranges of bytes with numbers."""
    ranges = {}
    for source in sorted(path for path in originals.glob("src/**/*") if path.is_file()):
        path = str(source.relative_to(originals))
        text, offset = source.read_bytes(), 0
        ranges[path] = []
        for mutant in sorted((mutant for mutant in mutants if mutant.path == path), key=lambda mutant: mutant.start):
            expression = mutant.expression().encode()
            start = mutant.start + offset
            text = text[:start] + expression + text[mutant.end + offset :]
            ranges[path].append((start, start + len(expression), mutant.number))
            offset += len(expression) - (mutant.end - mutant.start)
        if path == "src/lib.rs":
            text += LIBRARY.encode()
        write_changed(copy / path, text)
    return ranges


def failing_mutants(copy, ranges, environment):
    """The numbers of the mutants that the compiler refuses; empty where the copy compiles."""
    messages, error = cargo(copy, environment, "test", "--lib", "--no-run")
    failing = set()
    for message in messages:
        diagnostic = message.get("message") if message["reason"] == "compiler-message" else None
        if diagnostic is None or diagnostic["level"] != "error":
            continue
        spans = [span for part in [diagnostic, *diagnostic["children"]] for span in part["spans"]]
        found = {
            number
            for span in spans
            for start, end, number in ranges.get(span["file_name"], [])
            if start < span["byte_end"] and span["byte_start"] < end
        }
        if not found and spans:
            # A fault that shows elsewhere: the mutant before it is the most likely cause.
            before = [(start, number) for start, _, number in ranges[spans[0]["file_name"]] if start <= spans[0]["byte_start"]]
            found = {max(before)[1]} if before else set()
        if not found and spans:
            sys.exit(f"the copy does not compile, and no mutant is at fault:\n{diagnostic['rendered']}")
        failing |= found
    if error is not None and not failing:
        sys.exit(error)
    return failing


def cargo(copy, environment, *words):
    """The messages of Cargo, its JSON lines, and what it prints where it fails."""
    command = ["cargo", *words, "--locked", "--message-format=json"]
    done = subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    return messages, None if done.returncode == 0 else done.stderr.decode()


class Suite:
    """The tests of one target, `lib` or the name of an integration test."""

    def __init__(self, name, copy, environment):
        self.name, _, arguments = name.partition(":")
        self.arguments = arguments.split()
        self.copy = copy
        target = ["--lib"] if self.name == "lib" else ["--test", self.name]
        messages, error = cargo(copy, environment, "test", *target, "--no-run")
        if error is not None:
            sys.exit(error)
        built = [message["executable"] for message in messages if message.get("executable") and message["profile"]["test"]]
        [self.executable] = built
        self.environment = {**environment, "CARGO_MANIFEST_DIR": str(copy)}
        reached = copy.parent / f"reached-{self.name}"
        reached.write_text("")
        begun = time.monotonic()
        if (failed := self.run(self.arguments, 3600, HIERA_LS_REACHED=str(reached))) is not None:
            sys.exit(f"the tests of {self.name} fail without a mutant: {failed}")
        self.limit = max(SHORTEST_LIMIT, 3 * (time.monotonic() - begun))
        listed = subprocess.run([self.executable, "--list"], cwd=copy, env=self.environment, stdout=subprocess.PIPE, check=True)
        tests = {line.removesuffix(": test") for line in listed.stdout.decode().splitlines() if line.endswith(": test")}
        # By number, the tests; `None` for threads and processes of any of them.
        self.reached = collections.defaultdict(set)
        for line in reached.read_text().splitlines():
            number, _, test = line.partition(" ")
            self.reached[int(number)].add(test if test in tests else None)
        print(f"{self.name}: {self.limit:.0f} s at most for a mutant, {len(self.reached)} mutants reached", flush=True)

    def catches(self, mutant):
        """Runs the tests that reach a mutant, and prints the verdict."""
        begun = time.monotonic()
        reaching = self.reached.get(mutant.number, set())
        tests = sorted(reaching - {None})
        runs = [["--exact", *tests]] if tests else []
        if None in reaching:
            runs.append(self.arguments)
        results = (self.run(words, self.limit, HIERA_LS_MUTANT=str(mutant.number)) for words in runs)
        failed = next((failed for failed in results if failed is not None), None)
        verdict = f"caught by {failed}" if failed else f"not noticed by {len(tests)} tests" if reaching else "not reached"
        print(f"{self.name}: {mutant}: {verdict} ({time.monotonic() - begun:.0f} s)", flush=True)
        return failed is not None

    def run(self, words, limit, **variables):
        """Why the tests with these arguments fail: the first test that does, or what ended them; `None` where all pass."""
        process = subprocess.Popen(
            [self.executable, *words],
            cwd=self.copy,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
            text=True,
            errors="replace",
        )
        late = threading.Event()
        timer = threading.Timer(limit, lambda: (late.set(), kill(process)))
        timer.start()
        try:
            for line in process.stdout:
                if line.startswith("test ") and line.rstrip().endswith("FAILED"):
                    return line.split()[1]
            if late.is_set():
                return "the time limit"
            status = process.wait()
            return None if status == 0 else f"status {status}"
        finally:
            timer.cancel()
            kill(process)
            process.wait()


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    sys.exit(main())
