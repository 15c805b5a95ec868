//! The ways in which nodes become known without settings. A setting switches each of them off.

/// A way in which nodes become known without settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The files of a node level are nodes.
    FileNames,
    /// Parts of nodes' names are values of variables.
    NameParts,
    /// Hosts that specs of rspec-puppet describe.
    Rspec,
    /// Targets of Bolt inventories.
    Bolt,
    /// `node` blocks of manifests.
    NodeBlocks,
    /// Facts files, factsets and whole scopes.
    Facts,
    /// Outputs of node classifiers.
    Classifier,
    /// Dumps of PuppetDB.
    Puppetdb,
    /// Kinds of nodes: unknown variables of nodes may have the values that files are named after.
    Kinds,
}

impl Step {
    /// All steps, and the words that `nodes.infer` has for them.
    pub const ALL: [(Step, &'static str); 9] = [
        (Step::FileNames, "fileNames"),
        (Step::NameParts, "nameParts"),
        (Step::Rspec, "rspec"),
        (Step::Bolt, "bolt"),
        (Step::NodeBlocks, "nodeBlocks"),
        (Step::Facts, "facts"),
        (Step::Classifier, "classifier"),
        (Step::Puppetdb, "puppetdb"),
        (Step::Kinds, "kinds"),
    ];
    /// The words alone, in the same order.
    pub const WORDS: [&'static str; 9] = [
        "fileNames",
        "nameParts",
        "rspec",
        "bolt",
        "nodeBlocks",
        "facts",
        "classifier",
        "puppetdb",
        "kinds",
    ];

    fn bit(self) -> u16 {
        1 << (self as u16)
    }

    /// Returns the step that a word stands for.
    pub fn named(word: &str) -> Option<Step> {
        Step::ALL.iter().find(|(_, name)| *name == word).map(|(step, _)| *step)
    }
}

/// Some steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps(u16);

impl Steps {
    /// Every step.
    pub const ALL: Steps = Steps(u16::MAX);
    /// No step.
    pub const NONE: Steps = Steps(0);

    /// Whether a step is one of them.
    pub fn has(self, step: Step) -> bool {
        self.0 & step.bit() != 0
    }

    /// Returns these steps and one more.
    pub fn with(self, step: Step) -> Steps {
        Steps(self.0 | step.bit())
    }

    /// Whether any step reads files that no level reads.
    pub(in crate::workspace) fn reads_files(self) -> bool {
        let reading = [
            Step::Rspec,
            Step::Bolt,
            Step::NodeBlocks,
            Step::Facts,
            Step::Classifier,
            Step::Puppetdb,
        ];
        reading.iter().any(|step| self.has(*step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_has_its_word() {
        for ((step, word), listed) in Step::ALL.iter().zip(Step::WORDS) {
            assert_eq!((*word, Step::named(word)), (listed, Some(*step)));
            assert!(Steps::ALL.has(*step) && !Steps::NONE.has(*step));
            assert!(Steps::NONE.with(*step).has(*step));
        }
    }
}
