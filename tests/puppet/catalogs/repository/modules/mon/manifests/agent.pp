class mon::agent (Integer $interval, Array[String] $plugins = [], $retry = $interval) { }
