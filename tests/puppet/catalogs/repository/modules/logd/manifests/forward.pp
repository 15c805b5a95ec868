class logd::forward (String $host, Integer $port = 514, Variant[String, Integer] $facility) { }
