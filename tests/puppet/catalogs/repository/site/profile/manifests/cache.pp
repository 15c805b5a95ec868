# Explicit parameters go before data; an undef among them does not.
class profile::cache {
  class { 'cache': port => 11211, size => undef, * => { 'policy' => undef, 'ttl' => 60 } }
}
