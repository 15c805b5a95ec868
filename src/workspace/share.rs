//! The share of a work that one of several processes does: the processes need not know of each other,
//! as each finds its share by the names or the numbers of the items.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::fnv_hash;

/// The most shares of a work.
const MAX_SHARES: usize = 1000;

/// One of the shares of a work, written as `1/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Share {
    /// The share's number, from 1.
    pub number: usize,
    /// How many shares there are.
    pub count: usize,
}

impl Share {
    /// All of the work.
    pub const WHOLE: Share = Share { number: 1, count: 1 };

    /// Whether an item of this name is in the share. Each name is in one share of all, the same in
    /// every version and on every system.
    pub fn has_name(self, name: &str) -> bool {
        // The low bits of the hash alone depend on few bits of the name.
        let hash = fnv_hash(name.as_bytes());
        (hash ^ (hash >> 32)) % self.count as u64 == self.number as u64 - 1
    }

    /// Returns the numbers of the items in the share, of so many in a list. Neighbours stay
    /// together.
    pub fn range_of(self, length: usize) -> Range<usize> {
        self.share_start(self.number - 1, length)..self.share_start(self.number, length)
    }

    fn share_start(&self, number: usize, length: usize) -> usize {
        number * length / self.count
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl From<Share> for String {
    fn from(share: Share) -> String {
        share.to_string()
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(number, count)| {
            Some(Share { number: number.parse().ok()?, count: count.parse().ok()? })
        });
        numbers
            .filter(|share| {
                (1..=MAX_SHARES).contains(&share.count) && (1..=share.count).contains(&share.number)
            })
            .ok_or_else(|| {
                format!(
                    "must be a number and how many there are, such as 1/4, at most {MAX_SHARES}"
                )
            })
    }
}

impl TryFrom<String> for Share {
    type Error = String;

    fn try_from(text: String) -> Result<Share, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(count: usize) -> impl Iterator<Item = Share> {
        (1..=count).map(move |number| Share { number, count })
    }

    #[test]
    fn each_item_is_in_one_share() {
        for count in 1..=7 {
            for length in [0, 1, 5, 7, 100] {
                let all: Vec<usize> = shares(count).flat_map(|it| it.range_of(length)).collect();
                assert_eq!(all, (0..length).collect::<Vec<_>>());
            }
            let mut sizes = vec![0; count];
            for number in 0..1000 {
                let name = format!("module{}::setting_{number}", number % 20);
                let found: Vec<Share> = shares(count).filter(|it| it.has_name(&name)).collect();
                assert_eq!(found.len(), 1);
                sizes[found[0].number - 1] += 1;
            }
            let fair = 1000 / count;
            assert!(sizes.iter().all(|size| (fair / 2..=fair * 2).contains(size)), "{sizes:?}");
        }
    }

    #[test]
    fn a_share_is_written_as_a_fraction() {
        assert_eq!("2/4".parse(), Ok(Share { number: 2, count: 4 }));
        assert_eq!(Share { number: 2, count: 4 }.to_string(), "2/4");
        for wrong in ["", "1", "0/4", "5/4", "1/0", "a/b", "1/1001", "-1/4", "1/4/2"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
