class mail (
  String $domain,
  Hash[String, String] $aliases,
  String $relay = "mx.${domain}",
  Optional[Sensitive] $nothing = undef,
  $queue = lookup('mail::queue', { 'default_value' => '/var/spool' }),
) { }
