//! Counts of work, for tests which check that an edit causes work only for the entries that it
//! touches. Other builds count nothing.
//!
//! The counts are the calling thread's own: a test that reads them must cause no more files to be
//! read at a time than one thread takes.

/// Work that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// So many bytes of YAML were parsed.
    Parse(usize),
    /// A part of a data file was turned into values.
    Read,
    /// The definitions and references of a part of a data file were put into the index of keys.
    Index,
    /// The rules checked a part of a data file.
    Check,
    /// A finding was written down for the client.
    Write,
    /// A key was looked up in levels.
    Lookup,
    /// A level was located in a scope, or its known locations were found.
    Locate,
    /// The environments of a workspace were discovered.
    Layout,
    /// A step of a search whose cost must stay in proportion to its input.
    Step,
    /// The engine for Ruby's patterns was started.
    Match,
    /// A file of nodes that settings name was read.
    Source,
    /// Two values were compared.
    Compare,
}

/// How much work was done.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Bytes of YAML parsed.
    pub(crate) parsed: usize,
    /// Parts read.
    pub(crate) read: usize,
    /// Parts indexed.
    pub(crate) indexed: usize,
    /// Parts checked.
    pub(crate) checked: usize,
    /// Findings written down.
    pub(crate) written: usize,
    /// Keys looked up, those that tokens ask for included.
    pub(crate) lookups: usize,
    /// Levels located.
    pub(crate) located: usize,
    /// How often environments were discovered.
    pub(crate) layouts: usize,
    /// Steps of searches.
    pub(crate) steps: usize,
    /// Matches of Ruby's patterns that were tried.
    pub(crate) matches: usize,
    /// Files of nodes read.
    pub(crate) sources: usize,
    /// Values compared, the parts of values included.
    pub(crate) compared: usize,
}

#[cfg(test)]
thread_local! {
    static COUNTS: std::cell::Cell<Counts> = const {
        std::cell::Cell::new(Counts {
            parsed: 0,
            read: 0,
            indexed: 0,
            checked: 0,
            written: 0,
            lookups: 0,
            located: 0,
            layouts: 0,
            steps: 0,
            matches: 0,
            sources: 0,
            compared: 0,
        })
    };
}

/// Counts one piece of work.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn count_work(_: Work) {}

/// Counts one piece of work.
#[cfg(test)]
pub(crate) fn count_work(work: Work) {
    COUNTS.with(|counts| {
        let mut now = counts.get();
        match work {
            Work::Parse(bytes) => now.parsed += bytes,
            Work::Read => now.read += 1,
            Work::Index => now.indexed += 1,
            Work::Check => now.checked += 1,
            Work::Write => now.written += 1,
            Work::Lookup => now.lookups += 1,
            Work::Locate => now.located += 1,
            Work::Layout => now.layouts += 1,
            Work::Step => now.steps += 1,
            Work::Match => now.matches += 1,
            Work::Source => now.sources += 1,
            Work::Compare => now.compared += 1,
        }
        counts.set(now);
    });
}

/// Takes the counts since the last call on this thread.
#[cfg(test)]
pub(crate) fn take() -> Counts {
    COUNTS.take()
}
