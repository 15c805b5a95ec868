class ntp::params ($servers = ['pool.example'], Integer $port = 123) { }
