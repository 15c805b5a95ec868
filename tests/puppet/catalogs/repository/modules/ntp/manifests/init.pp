class ntp (
  Array[Ntp::Server] $servers = $ntp::params::servers,
  String $driftfile = '/var/lib/ntp/drift',
  Optional[Ntp::Port] $port = $ntp::params::port,
  $useIt = 'none',
  Ntp::Mode $mode = 'client',
  String $from_module,
  String $by_token = 'no',
) inherits ntp::params {
  include ntp::service
}
