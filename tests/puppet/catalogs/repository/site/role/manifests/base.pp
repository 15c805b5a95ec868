class role::base { include profile::base, profile::ntp, '::profile::ssh' }
