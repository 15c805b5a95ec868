//! Names the structured fact in the place of a legacy one: `%{::osfamily}` becomes
//! `%{facts.os.family}`.

use super::{Draft, RefactorContext, RefactoringKind};
use crate::hiera::data::{Reference, TokenUse};
use crate::text::{SourceChange, TextEdit, TextRange};
use std::sync::Arc;

/// Legacy facts with the structured facts of the same value, by name.
///
/// Source: Puppet's documentation, "Facter: core facts", section "Legacy facts". Those whose values
/// have another form than the structured ones, as `memorysize_mb`, are left out.
const FACTS: [(&str, &str); 58] = [
    ("architecture", "os.architecture"),
    ("augeasversion", "augeas.version"),
    ("bios_release_date", "dmi.bios.release_date"),
    ("bios_vendor", "dmi.bios.vendor"),
    ("bios_version", "dmi.bios.version"),
    ("boardassettag", "dmi.board.asset_tag"),
    ("boardmanufacturer", "dmi.board.manufacturer"),
    ("boardproductname", "dmi.board.product"),
    ("boardserialnumber", "dmi.board.serial_number"),
    ("chassisassettag", "dmi.chassis.asset_tag"),
    ("chassistype", "dmi.chassis.type"),
    ("domain", "networking.domain"),
    ("fqdn", "networking.fqdn"),
    ("gid", "identity.group"),
    ("hardwareisa", "processors.isa"),
    ("hardwaremodel", "os.hardware"),
    ("hostname", "networking.hostname"),
    ("id", "identity.user"),
    ("ipaddress", "networking.ip"),
    ("ipaddress6", "networking.ip6"),
    ("lsbdistcodename", "os.distro.codename"),
    ("lsbdistdescription", "os.distro.description"),
    ("lsbdistid", "os.distro.id"),
    ("lsbdistrelease", "os.distro.release.full"),
    ("lsbmajdistrelease", "os.distro.release.major"),
    ("lsbminordistrelease", "os.distro.release.minor"),
    ("lsbrelease", "os.distro.specification"),
    ("macaddress", "networking.mac"),
    ("manufacturer", "dmi.manufacturer"),
    ("memoryfree", "memory.system.available"),
    ("memorysize", "memory.system.total"),
    ("netmask", "networking.netmask"),
    ("netmask6", "networking.netmask6"),
    ("network", "networking.network"),
    ("network6", "networking.network6"),
    ("operatingsystem", "os.name"),
    ("operatingsystemmajrelease", "os.release.major"),
    ("operatingsystemrelease", "os.release.full"),
    ("osfamily", "os.family"),
    ("physicalprocessorcount", "processors.physicalcount"),
    ("processorcount", "processors.count"),
    ("productname", "dmi.product.name"),
    ("rubyplatform", "ruby.platform"),
    ("rubysitedir", "ruby.sitedir"),
    ("rubyversion", "ruby.version"),
    ("selinux", "os.selinux.enabled"),
    ("selinux_config_mode", "os.selinux.config_mode"),
    ("selinux_config_policy", "os.selinux.config_policy"),
    ("selinux_current_mode", "os.selinux.current_mode"),
    ("selinux_enforced", "os.selinux.enforced"),
    ("selinux_policyversion", "os.selinux.policy_version"),
    ("serialnumber", "dmi.product.serial_number"),
    ("swapfree", "memory.swap.available"),
    ("swapsize", "memory.swap.total"),
    ("system32", "os.windows.system32"),
    ("uptime", "system_uptime.uptime"),
    ("uuid", "dmi.product.uuid"),
    ("zonename", "solaris_zones.current"),
];

/// A legacy fact in a token.
pub(super) struct Legacy {
    /// Its place.
    pub(super) range: TextRange,
    name: &'static str,
    /// The structured fact, without `facts.`.
    pub(super) new: &'static str,
    /// The root key in whose data it stands.
    root: Arc<str>,
}

/// Returns the legacy fact that a token names, as written.
pub(super) fn legacy_fact(written: &str, range: TextRange, root: Arc<str>) -> Option<Legacy> {
    let plain = written.strip_prefix("::").unwrap_or(written);
    let plain = plain.strip_prefix("facts.").unwrap_or(plain);
    let place = FACTS.binary_search_by_key(&plain, |(name, _)| name).ok()?;
    let (name, new) = FACTS[place];
    Some(Legacy { range, name, new, root })
}

/// Returns the title of the change of one fact.
pub(super) fn title_for(one: &Legacy) -> String {
    format!("Use `facts.{}` for the legacy fact `{}`", one.new, one.name)
}

/// Returns the title of the change of all facts of a file.
pub(super) fn title_for_all(count: usize) -> String {
    format!("Use structured facts for all {count} legacy ones of this file")
}

/// Drafts the change of the fact at the cursor, and of all facts of the file.
pub(super) fn draft_facts(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let view = context.snapshot.view(context.environment);
    let Some(data) = view.data_of(context.wanted.path) else { return };
    if context.document.find_entry("sops").is_some() {
        return;
    }
    let all: Vec<Legacy> = data.tokens().filter_map(|token| context.token_fact(token)).collect();
    let range = context.wanted.range;
    let Some(here) = all.iter().find(|one| one.range.meets_range(range)) else { return };
    drafts.push(context.with_facts(title_for(here), std::slice::from_ref(here)));
    if all.len() > 1 {
        drafts.push(context.with_facts(title_for_all(all.len()), &all));
    }
}

impl RefactorContext<'_> {
    fn token_fact(&self, token: &TokenUse) -> Option<Legacy> {
        let Reference::Variable(_) = &token.reference else { return None };
        let range = self.snapshot.span_bytes(token.name_span);
        let written = self.document.text.get(range.as_usize())?;
        legacy_fact(written, range, token.root.clone())
    }

    fn with_facts(&self, title: String, all: &[Legacy]) -> Draft {
        let mut change = SourceChange::default();
        for one in all {
            let text = format!("facts.{}", one.new);
            change.push(self.wanted.path, TextEdit::new(one.range, text));
        }
        let keys = all.iter().map(|one| one.root.clone());
        Draft::new(RefactoringKind::Rewrite, title, change, keys)
    }
}

#[cfg(test)]
mod tests {
    use super::FACTS;

    #[test]
    fn the_table_is_in_order() {
        assert!(FACTS.is_sorted_by_key(|(name, _)| name));
    }
}
