class mon (String $server, Boolean $tls = false) {
  # Puppet finds a class of a class in its module's init.pp.
  class checks (Array[String] $names, String $prefix = $mon::checks::names[0]) { }
}
