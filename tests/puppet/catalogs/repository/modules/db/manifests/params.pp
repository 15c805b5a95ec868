class db::params ($port = 5433, $base_dir = '/var/lib/db') { }
