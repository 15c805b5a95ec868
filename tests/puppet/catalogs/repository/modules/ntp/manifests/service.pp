class ntp::service (String $name_of = $name, String $label = lookup('ntp::service::name')) { }
