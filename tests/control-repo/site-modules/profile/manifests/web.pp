# A web server.
class profile::web (
  Hash[String[1], Hash] $vhosts,
  String[1] $log_format,
  String[1] $content_security_policy,
  Integer[1] $workers,
  Array[String[1]] $trusted_proxies,
  Array[String[1]] $status_readers,
  Hash[String[1], Data] $tenants,
) {
  file { '/etc/nginx/fjordkaffe.json':
    content => stdlib::to_json({
      'vhosts'          => $vhosts,
      'log_format'      => $log_format,
      'csp'             => $content_security_policy,
      'workers'         => $workers,
      'trusted_proxies' => $trusted_proxies,
      'status_readers'  => $status_readers,
      'tenants'         => $tenants,
    }),
  }
}
