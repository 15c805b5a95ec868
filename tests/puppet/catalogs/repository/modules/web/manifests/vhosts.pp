class web::vhosts (Hash[String, Web::Vhost] $sites, Web::Vhost $fallback = { 'port' => 80, 'root' => '/' }) { }
