class profile::monitoring (String $contact = 'root') {
  create_resources('class', { 'mon' => { 'server' => 'mon.example' }, 'mon::agent' => {} })
  include mon::checks
}
