class profile::web::tls (
  Boolean $enabled,
  Hash[Enum['modern', 'old'], Optional[Array[String]]] $ciphers,
  String $cert = "/etc/tls/${facts['role']}.pem",
) { }
