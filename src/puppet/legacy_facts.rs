//! The facts that Facter leaves out since Puppet 8, and the structured facts in their place.

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

/// Names that often are variables of the user's own where no `::` and no `facts.` precede them.
const COMMON_NAMES: [&str; 6] = ["domain", "gid", "id", "network", "uptime", "uuid"];

/// Returns the legacy fact that a variable as written names, such as `::osfamily` and
/// `facts.hostname`, and the structured one of the same value, without `facts.`. `None` also for a
/// name that often is a variable of the user's own.
pub fn written_legacy_fact(written: &str) -> Option<(&'static str, &'static str)> {
    let plain = written.strip_prefix("::").unwrap_or(written);
    let plain = plain.strip_prefix("facts.").unwrap_or(plain);
    let is_certain = plain.len() < written.len() || !COMMON_NAMES.contains(&plain);
    structured_fact(plain).filter(|_| is_certain)
}

/// Returns the legacy fact of this name, and the structured one of the same value, without `facts.`.
pub fn structured_fact(name: &str) -> Option<(&'static str, &'static str)> {
    FACTS.binary_search_by_key(&name, |(known, _)| known).ok().map(|place| FACTS[place])
}

#[cfg(test)]
mod tests {
    use super::{FACTS, written_legacy_fact};

    #[test]
    fn the_table_is_in_order() {
        assert!(FACTS.is_sorted_by_key(|(name, _)| name));
    }

    #[test]
    fn a_common_name_is_a_fact_where_it_is_written_as_one() {
        let is_fact = |written| written_legacy_fact(written).is_some();
        assert!(is_fact("osfamily") && is_fact("::id") && is_fact("facts.domain"));
        assert!(!is_fact("domain") && !is_fact("facts.os") && !is_fact("role"));
    }
}
