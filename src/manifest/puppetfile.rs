//! Puppetfiles: the modules that a deployment installs beside those that are checked in.

use crate::text::TextRange;

/// A module that a Puppetfile names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledModule {
    /// The folder's name: without the author's.
    pub name: String,
    /// The bytes of the name as written, without quotes.
    pub range: TextRange,
}

/// Reads a Puppetfile: the lines `mod 'AUTHOR-NAME', …`. Other Ruby code in it is passed over.
pub fn parse_puppetfile(text: &str) -> Vec<InstalledModule> {
    let mut modules = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        modules.extend(module_in(line, start));
        start += line.len();
    }
    modules
}

fn module_in(line: &str, start: usize) -> Option<InstalledModule> {
    let rest = line.trim_start().strip_prefix("mod")?;
    let argument = rest.trim_start_matches([' ', '\t', '(']);
    if argument.len() == rest.len() && !rest.starts_with(['\'', '"']) {
        return None; // another word that begins with `mod`
    }
    let quote = argument.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    let written = argument[1..].split(quote).next()?;
    let name = written.rsplit(['-', '/']).next()?;
    let at = start + line.len() - argument.len() + 1;
    let range = TextRange::new(u32::try_from(at).ok()?, u32::try_from(at + written.len()).ok()?);
    Some(InstalledModule { name: name.to_owned(), range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_in_all_spellings() {
        let text = "forge 'https://forge.puppet.com'\n# mod 'puppetlabs-no'\nmod 'puppetlabs-stdlib', '9.0.0'\n                      mod \"profile\",\n    :git => 'x'\nmod('theforeman/dns')\nmodule_path 'x'\nmoduledir 'external'\n";
        let modules = parse_puppetfile(text);
        let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names, ["stdlib", "profile", "dns"]);
        let written: Vec<&str> =
            modules.iter().map(|module| &text[module.range.as_usize()]).collect();
        assert_eq!(written, ["puppetlabs-stdlib", "profile", "theforeman/dns"]);
    }
}
