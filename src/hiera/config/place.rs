//! The line that Puppet names in an error of a `hiera.yaml`. Puppet does not know where anything
//! stands, and searches the text.

use super::{ConfigProblem, ConfigProblemKind, HieraConfig};
use crate::hiera::error::LookupError;
use crate::puppet::ruby::regex::{RegexError, RubyRegex};

impl HieraConfig {
    /// Returns the error with this message, the file, and the first line that the pattern matches,
    /// if one does.
    pub(in crate::hiera) fn error_at(&self, message: &str, sought: &str) -> LookupError {
        self.search(sought, 0).map_or_else(crash, |line| self.error_in_line(message, line))
    }

    /// Returns the error of a problem. Of two things with one name Puppet names the line of the
    /// second, where it finds that.
    pub(super) fn error_of(&self, problem: &ConfigProblem) -> LookupError {
        let Some(sought) = &problem.sought else {
            return self.error_in_line(&problem.message, None);
        };
        if problem.kind != ConfigProblemKind::Duplicate {
            return self.error_at(&problem.message, sought);
        }
        let both = self.search(sought, 0).and_then(|first| match first {
            Some(line) => Ok((first, self.search(sought, line)?)),
            None => Ok((None, None)),
        });
        match both {
            Ok((Some(first), Some(second))) => self.error_in_line(
                &format!("{}. First defined at (line: {first})", problem.message),
                Some(second),
            ),
            Ok((only, _)) => self.error_in_line(&format!("{}.", problem.message), only),
            Err(error) => crash(error),
        }
    }

    fn error_in_line(&self, message: &str, line: Option<u32>) -> LookupError {
        LookupError::invalid_config(match line {
            Some(line) => format!("{message} (file: {}, line: {line})", self.path),
            None => format!("{message} (file: {})", self.path),
        })
    }

    /// Returns the number of the first line that the pattern matches, after so many lines. Text
    /// behind a `#` does not count, even in quotes.
    ///
    /// Errors: names stand in the pattern as they are, which may make it none. Source:
    /// `HieraConfig#find_line_matching`.
    fn search(&self, pattern: &str, after: u32) -> Result<Option<u32>, RegexError> {
        let pattern = RubyRegex::new(pattern)?;
        let text = self.text.to_str();
        let found =
            text.split_inclusive('\n').enumerate().skip(after as usize).find(|(_, line)| {
                pattern.is_match(line.split_once('#').map_or(line, |(code, _)| code)) == Some(true)
            });
        Ok(found.and_then(|(n, _)| u32::try_from(n + 1).ok()))
    }
}

fn crash(error: RegexError) -> LookupError {
    LookupError::crash(error.message)
}
