class ssh::server (
  Boolean $strict,
  Integer $port,
  Array[String] $allow,
  Optional[Array] $deny = undef,
  Optional[String] $banner = undef,
) { }
