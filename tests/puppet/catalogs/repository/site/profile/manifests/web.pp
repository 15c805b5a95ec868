class profile::web (Boolean $tls = lookup('profile::web::tls::enabled')) {
  include web, web::vhosts
  if $tls { include profile::web::tls }
}
