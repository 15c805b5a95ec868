//! Figures, and how they are written down: a Markdown table for people, JSON for programs.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

/// Repeated measurements, sorted.
#[derive(Clone, Debug)]
pub struct Sample {
    values: Vec<f64>,
}

impl Sample {
    /// The sample of these values; at least one.
    pub fn new(mut values: Vec<f64>) -> Sample {
        assert!(!values.is_empty(), "something was measured");
        values.sort_by(f64::total_cmp);
        Sample { values }
    }

    /// The sample of these times, in milliseconds.
    pub fn times(times: &[Duration]) -> Sample {
        Sample::new(times.iter().map(|time| time.as_secs_f64() * 1e3).collect())
    }

    /// The value below which this share (0 to 1) of the others lies.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.values.len() - 1;
        self.values[(last as f64 * share).round() as usize]
    }

    /// The median.
    pub fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The 99th percentile; of less than a hundred values the largest, or nearly.
    pub fn p99(&self) -> f64 {
        self.quantile(0.99)
    }

    fn json(&self) -> Value {
        json!({"n": self.values.len(), "p50": self.p50(), "p95": self.quantile(0.95), "p99": self.p99(), "max": self.quantile(1.0)})
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of the row.
    pub what: String,
    /// The unit of the samples.
    pub unit: &'static str,
    /// The time that hiera-ls needs.
    pub ours: Sample,
    /// The time that the floor needs for the same.
    pub floor: Option<Sample>,
    /// The goal, in words.
    pub goal: String,
    /// Whether the goal is reached, where there is one.
    pub reached: Option<bool>,
}

impl Figure {
    /// A figure in milliseconds without a goal.
    pub fn new(what: impl Into<String>, ours: Sample) -> Figure {
        Figure {
            what: what.into(),
            unit: "ms",
            ours,
            floor: None,
            goal: String::new(),
            reached: None,
        }
    }

    /// The figure beside the floor's.
    pub fn beside(self, floor: Sample) -> Figure {
        Figure { floor: Some(floor), ..self }
    }

    /// The figure in another unit.
    pub fn in_unit(self, unit: &'static str) -> Figure {
        Figure { unit, ..self }
    }

    /// The figure with a goal.
    pub fn goal(self, goal: impl Into<String>, reached: impl Fn(&Sample) -> bool) -> Figure {
        let reached = Some(reached(&self.ours));
        Figure { goal: goal.into(), reached, ..self }
    }

    /// The figure with the goal that the median is at most so many times the floor's.
    pub fn at_most_floor(self, times: f64) -> Figure {
        let limit = self.floor.as_ref().map_or(f64::INFINITY, Sample::p50) * times;
        self.goal(format!("p50 at most {times}x floor"), |ours| ours.p50() <= limit)
    }

    /// A further goal: so much for the 99th percentile.
    pub fn and_p99(self, limit: f64) -> Figure {
        let reached = self.reached.unwrap_or(true) && self.ours.p99() <= limit;
        Figure {
            goal: format!("{}, p99 at most {limit}", self.goal),
            reached: Some(reached),
            ..self
        }
    }

    /// The figure with a limit for the median.
    pub fn at_most(self, limit: f64) -> Figure {
        let unit = self.unit;
        self.goal(format!("at most {limit} {unit}"), |ours| ours.p50() <= limit)
    }
}

/// A number with three digits that matter.
fn short(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// The figures as a table.
pub fn markdown(figures: &[Figure]) -> String {
    let mut text = String::from(
        "| what | unit | p50 | p99 | floor p50 | p99 | ratio | goal | reached |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for figure in figures {
        let Figure { what, unit, ours, floor, goal, reached } = figure;
        let floor = match floor {
            Some(floor) => format!(
                "{} | {} | {}",
                short(floor.p50()),
                short(floor.p99()),
                short(ours.p50() / floor.p50())
            ),
            None => " | | ".to_owned(),
        };
        let reached = reached.map_or("", |reached| if reached { "yes" } else { "no" });
        let _ = writeln!(
            text,
            "| {what} | {unit} | {} | {} | {floor} | {goal} | {reached} |",
            short(ours.p50()),
            short(ours.p99())
        );
    }
    text
}

/// The figures and where they were seen.
pub fn json(figures: &[Figure]) -> Value {
    let figure = |figure: &Figure| {
        json!({
            "what": figure.what, "unit": figure.unit, "ours": figure.ours.json(), "floor": figure.floor.as_ref().map(Sample::json),
            "goal": figure.goal, "reached": figure.reached,
        })
    };
    json!({"where": place(), "figures": figures.iter().map(figure).collect::<Vec<_>>()})
}

/// The machine and the commit, in a line.
pub fn place() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown", |rest| rest.trim_start_matches(['\t', ':', ' ']));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let git = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let commit = git
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    format!("{cores} cores ({model}), load {load} at the end, commit {commit}")
}
