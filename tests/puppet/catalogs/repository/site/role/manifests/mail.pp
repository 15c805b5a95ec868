class role::mail { include role::base include profile::mail }
