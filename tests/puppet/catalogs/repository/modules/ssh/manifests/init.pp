class ssh (Integer $port = 1, Hash $client = {}) {
  contain ssh::client
}
