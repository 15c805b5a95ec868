class role::cache { include role::base include profile::cache }
