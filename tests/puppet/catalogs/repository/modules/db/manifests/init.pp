class db (
  Sensitive[String] $password,
  Integer $port = $db::params::port,
  Integer $max_connections = 100,
  Optional[String] $data_dir = $db::params::base_dir,
) inherits db::params { }
