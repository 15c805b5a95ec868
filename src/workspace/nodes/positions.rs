//! Variables in the names of nodes: `bgo-api-01` may mean that the location is `bgo` and the role
//! `api`.
//!
//! A part of a name is taken for a variable only where nearly all names have, at that place, a
//! value that the variable's own data files show.

use std::collections::{BTreeMap, BTreeSet};

/// The values that data files show of each variable, by its name.
pub(super) type KnownValues = BTreeMap<String, BTreeSet<String>>;

/// The fewest names of one shape from which positions are learned.
const MIN_NAMES: usize = 3;
/// The share of the names that must have a known value at a position, in percent.
const MIN_SHARE: usize = 95;

/// A place in a name. Labels are separated by dots, parts of the first label by dashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Position {
    /// The label with this number, from 1; the first one is divided further.
    Label(usize),
    /// The part of the first label with this number, from 0.
    Part(usize),
    /// The part of the first label with this number, without the digits at its end.
    Stem(usize),
}

/// The number of labels of a name, and the number of parts of its first label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NameShape {
    labels: usize,
    parts: usize,
}

/// The meanings of positions in names.
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// The variables at positions, for each shape of name.
    claims: BTreeMap<NameShape, Vec<(Position, String)>>,
    /// The values that files show of the variables.
    known: KnownValues,
}

/// The value of a variable that a name states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatedValue {
    /// The text at a position.
    At(Position, String),
    /// Longer names have a part for the variable, this name has none.
    NoSuchPart,
}

impl Positions {
    /// Learns the positions from all names and the known values.
    pub(super) fn learn_positions(names: &[&str], known: &KnownValues) -> Positions {
        let mut by_shape: BTreeMap<NameShape, Vec<&str>> = BTreeMap::new();
        for name in names {
            by_shape.entry(name_shape(name)).or_default().push(name);
        }
        let claims = by_shape
            .into_iter()
            .filter(|(_, names)| names.len() >= MIN_NAMES)
            .map(|(shape, names)| (shape, find_claims(shape, &names, known)))
            .collect();
        Positions { claims, known: known.clone() }
    }

    /// Returns the values of variables that a name states, each variable once. A text that is no
    /// value which files show is not claimed: the variable may have another one.
    pub(super) fn told_by(&self, name: &str) -> Vec<(String, StatedValue)> {
        let shape = name_shape(name);
        let claims = self.claims.get(&shape);
        let mut told: Vec<(String, StatedValue)> = claims
            .into_iter()
            .flatten()
            .filter_map(|(position, variable)| {
                let text = text_at(name, *position)?;
                let is_known = self.known.get(variable).is_some_and(|it| it.contains(text));
                let stated = StatedValue::At(*position, text.to_owned());
                is_known.then(|| (variable.clone(), stated))
            })
            .collect();
        let longer = self.claims.iter().filter(|(other, _)| {
            claims.is_some() && other.labels == shape.labels && other.parts > shape.parts
        });
        for (position, variable) in longer.flat_map(|(_, claims)| claims) {
            let is_part = !matches!(position, Position::Label(_));
            if is_part && !told.iter().any(|(known, _)| known == variable) {
                told.push((variable.clone(), StatedValue::NoSuchPart));
            }
        }
        told
    }
}

/// Returns the variables that positions of these names, all of one shape, stand for. A position
/// that two variables fit equally well stands for none, and so does a variable that fits two
/// positions.
fn find_claims(shape: NameShape, names: &[&str], known: &KnownValues) -> Vec<(Position, String)> {
    let mut fitting: Vec<(usize, Position, &String)> = Vec::new();
    for position in shape_positions(shape) {
        for (variable, values) in known {
            let count = names
                .iter()
                .filter(|name| text_at(name, position).is_some_and(|part| values.contains(part)))
                .count();
            if count * 100 >= names.len() * MIN_SHARE {
                fitting.push((count, position, variable));
            }
        }
    }
    let best = fitting
        .iter()
        .filter(|one| {
            let rivals = fitting.iter().filter(|other| {
                (stem_place(other.1) == stem_place(one.1)) != (other.2 == one.2) // the same place or variable
            });
            rivals.clone().all(|other| other.0 < one.0)
        })
        .filter(|one| !is_stem_beside_part(one, &fitting));
    best.map(|(_, position, variable)| (*position, (*variable).clone())).collect()
}

fn is_stem_beside_part(
    one: &(usize, Position, &String),
    fitting: &[(usize, Position, &String)],
) -> bool {
    let Position::Stem(number) = one.1 else { return false };
    fitting.iter().any(|other| other.1 == Position::Part(number) && other.2 == one.2)
}

/// Returns the place of a position: a part and its stem are at the same place.
fn stem_place(position: Position) -> Position {
    match position {
        Position::Stem(number) => Position::Part(number),
        other => other,
    }
}

fn shape_positions(shape: NameShape) -> impl Iterator<Item = Position> {
    let labels = (1..shape.labels).map(Position::Label);
    let parts =
        (0..shape.parts).flat_map(|number| [Position::Part(number), Position::Stem(number)]);
    labels.chain(parts)
}

fn name_shape(name: &str) -> NameShape {
    let first = name.split('.').next().unwrap_or_default();
    NameShape { labels: name.split('.').count(), parts: first.split('-').count() }
}

/// Returns the text at a position; `None` where there is none, or a part has no digits to leave
/// out.
fn text_at(name: &str, position: Position) -> Option<&str> {
    match position {
        Position::Label(number) => name.split('.').nth(number),
        Position::Part(number) => name_part(number, name),
        Position::Stem(number) => {
            let whole = name_part(number, name)?;
            let stem = whole.trim_end_matches(|c: char| c.is_ascii_digit());
            (stem.len() < whole.len() && !stem.is_empty()).then_some(stem)
        }
    }
}

fn name_part(number: usize, name: &str) -> Option<&str> {
    name.split('.').next()?.split('-').nth(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(values: &[(&str, &[&str])]) -> KnownValues {
        let one = |(name, values): &(&str, &[&str])| {
            ((*name).to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
        };
        values.iter().map(one).collect()
    }

    fn told(names: &[&str], values: &[(&str, &[&str])], name: &str) -> Vec<String> {
        let told = Positions::learn_positions(names, &known(values)).told_by(name);
        let line = |(variable, told): (String, StatedValue)| match told {
            StatedValue::At(_, text) => format!("{variable}={text}"),
            StatedValue::NoSuchPart => format!("{variable}="),
        };
        told.into_iter().map(line).collect()
    }

    const FLEET: [&str; 7] = [
        "bgo-api-01",
        "bgo-db-01",
        "osl-api-02",
        "osl-db-02",
        "bgo-compute-vgpu-01",
        "osl-compute-vgpu-02",
        "osl-compute-hpc-03",
    ];
    const VALUES: [(&str, &[&str]); 3] = [
        ("location", &["bgo", "osl"]),
        ("role", &["api", "db", "compute"]),
        ("variant", &["vgpu", "hpc"]),
    ];

    #[test]
    fn parts_of_names_are_variables() {
        assert_eq!(
            told(&FLEET, &VALUES, "osl-compute-hpc-03"),
            ["location=osl", "role=compute", "variant=hpc"]
        );
        assert_eq!(told(&FLEET, &VALUES, "bgo-api-01"), ["location=bgo", "role=api", "variant="]);
    }

    #[test]
    fn labels_and_stems_are_positions_too() {
        let names = ["web01.osl.example.net", "db02.bgo.example.net", "web03.bgo.example.net"];
        let values: [(&str, &[&str]); 2] = [("site", &["osl", "bgo"]), ("role", &["web", "db"])];
        assert_eq!(told(&names, &values, "db02.bgo.example.net"), ["site=bgo", "role=db"]);
    }

    #[test]
    fn longer_names_with_other_labels_say_nothing() {
        let names: Vec<String> = FLEET.iter().map(|name| format!("{name}.example.net")).collect();
        let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
        let short = ["bgo-api", "osl-db", "bgo-db"];
        all.extend(short);
        assert_eq!(told(&all, &VALUES, "bgo-api"), ["location=bgo", "role=api"]);
    }

    #[test]
    fn a_part_with_a_number_states_the_value_that_has_it() {
        let values: [(&str, &[&str]); 1] = [("site", &["osl1", "bgo2", "osl", "bgo"])];
        assert_eq!(told(&["osl1-a", "bgo2-b", "osl1-c"], &values, "osl1-a"), ["site=osl1"]);
    }

    #[test]
    fn what_too_few_names_show_is_not_claimed() {
        let values: [(&str, &[&str]); 1] = [("role", &["web", "db"])];
        assert!(told(&["web-1", "db-1"], &values, "web-1").is_empty(), "two names");
        let odd = ["web-1", "db-1", "web-2", "nova-1", "hal-9"];
        assert!(told(&odd, &values, "web-1").is_empty(), "three of five have a role");
    }

    #[test]
    fn a_part_that_is_no_known_value_is_not_claimed() {
        let mut names: Vec<String> = (1..30).map(|n| format!("web{n:02}.oslo.net")).collect();
        names.push("web30.oslo2.net".into());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let values: [(&str, &[&str]); 1] = [("site", &["oslo", "bgo"])];
        assert_eq!(told(&names, &values, "web07.oslo.net"), ["site=oslo"]);
        assert!(told(&names, &values, "web30.oslo2.net").is_empty());
    }

    #[test]
    fn one_position_serves_one_variable() {
        let both: [(&str, &[&str]); 2] = [("role", &["web", "db"]), ("tier", &["web", "db"])];
        assert!(told(&["web-1", "db-1", "web-2"], &both, "web-1").is_empty());
        let twice: [(&str, &[&str]); 1] = [("site", &["a", "b"])];
        assert!(told(&["a-b", "b-a", "a-a"], &twice, "a-b").is_empty());
    }
}
