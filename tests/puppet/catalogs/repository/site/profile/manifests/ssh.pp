# The declaration gives the port before the class is included a second time.
class profile::ssh ($port = lookup('ssh::port', Integer, 'first', 22)) {
  class { 'ssh::server': strict => $port > 1024, port => undef }
  include ssh
  include ssh::server
}
