//! The statements of `docs/fleet.md` in the real DuckDB, over the dump of the sample repository.

use super::at;
use crate::support::{self, in_package, python, scratch};

/// The version of DuckDB decides how tables are printed.
const DUCKDB: &str = "duckdb==2.0.1\n";

/// Runs the first statement of its input, and prints the answers to the others.
const SCRIPT: &str = "import duckdb, sys
create, *questions = sys.stdin.read().strip().rstrip(';').split(';')
duckdb.execute(create)
for question in questions:
    duckdb.sql(question).show(max_width=130)
";

/// Returns the blocks of a language on a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let blocks = page.split(&start).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn statements_of_the_page_have_the_answers_of_the_page() {
    let interpreter = match python::with_packages("duckdb", "duckdb", DUCKDB) {
        Ok(interpreter) => interpreter,
        Err(obstacle) => {
            support::missing("duckdb", &obstacle);
            return;
        }
    };
    let page = std::fs::read_to_string(in_package("docs/fleet.md")).expect("the page is there");
    let (statements, answers) = (blocks(&page, "sql"), blocks(&page, "text"));
    assert_eq!((statements.len(), answers.len()), (4, 3), "a table, and three questions");
    let root = in_package("tests/control-repo");
    let (status, lines, _) = at(&root, &["dump", "--nodes", "all", "--format", "jsonl"], "");
    assert_eq!(status, 0);
    let folder = scratch("queries");
    std::fs::write(folder.join("fleet.jsonl"), lines).expect("it can be written");
    let mut command = std::process::Command::new(interpreter);
    command.args(["-c", SCRIPT]).current_dir(&folder).env("PYTHONIOENCODING", "utf-8");
    let run = support::run(&mut command, statements.concat());
    assert_eq!(run.stderr, "");
    let printed: Vec<&str> = run.stdout.lines().filter(|line| !line.is_empty()).collect();
    let shown: Vec<&str> = answers.iter().flat_map(|answer| answer.lines()).collect();
    assert_eq!(printed, shown, "{}", run.stdout);
}
