# Time from the site's own servers.
class chrony (
  Array[String[1]] $servers,
  Struct[{ threshold => Float, limit => Integer }] $makestep,
  String[1] $config_file,
  Boolean $rtcsync,
) {
  $lines = $servers.map |$server| { "server ${server} iburst\n" }
  file { $config_file:
    content => "${lines.join}makestep ${makestep['threshold']} ${makestep['limit']}\n${if $rtcsync { "rtcsync\n" } else { '' }}",
  }
}
