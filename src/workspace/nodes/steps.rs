//! The ways in which nodes become known without settings. A setting switches each of them off.

/// A way in which nodes become known without settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InferStep {
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

impl InferStep {
    /// All steps, and the words that `nodes.infer` has for them.
    pub const ALL: [(InferStep, &'static str); 9] = [
        (InferStep::FileNames, "fileNames"),
        (InferStep::NameParts, "nameParts"),
        (InferStep::Rspec, "rspec"),
        (InferStep::Bolt, "bolt"),
        (InferStep::NodeBlocks, "nodeBlocks"),
        (InferStep::Facts, "facts"),
        (InferStep::Classifier, "classifier"),
        (InferStep::Puppetdb, "puppetdb"),
        (InferStep::Kinds, "kinds"),
    ];
    /// The words of `nodes.infer` alone, in the order of `ALL`.
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

    fn step_bit(self) -> u16 {
        1 << (self as u16)
    }

    /// Returns the step that a word stands for.
    pub fn from_word(word: &str) -> Option<InferStep> {
        InferStep::ALL.iter().find(|(_, name)| *name == word).map(|(step, _)| *step)
    }
}

/// Some steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps(u16);

impl Steps {
    /// Every step.
    pub const ALL: Steps = Steps((1 << InferStep::ALL.len()) - 1);
    /// No step.
    pub const NONE: Steps = Steps(0);

    /// Whether a step is one of these steps.
    pub fn has_step(self, step: InferStep) -> bool {
        self.0 & step.step_bit() != 0
    }

    /// Returns these steps and one more.
    pub fn with_step(self, step: InferStep) -> Steps {
        Steps(self.0 | step.step_bit())
    }

    /// Whether any step reads files that no level reads.
    pub(in crate::workspace) fn reads_files(self) -> bool {
        let reading = [
            InferStep::Rspec,
            InferStep::Bolt,
            InferStep::NodeBlocks,
            InferStep::Facts,
            InferStep::Classifier,
            InferStep::Puppetdb,
        ];
        reading.iter().any(|step| self.has_step(*step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_has_its_word() {
        for ((step, word), listed) in InferStep::ALL.iter().zip(InferStep::WORDS) {
            assert_eq!((*word, InferStep::from_word(word)), (listed, Some(*step)));
            assert!(Steps::ALL.has_step(*step) && !Steps::NONE.has_step(*step));
            assert!(Steps::NONE.with_step(*step).has_step(*step));
        }
    }
}
