class profile::db (Integer[1] $port = $db::params::port) inherits db::params {
  include db, db::tuning, profile::db::backup
}
