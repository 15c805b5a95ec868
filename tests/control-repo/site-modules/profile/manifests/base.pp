# What every machine gets.
class profile::base (
  String $motd,
  String[1] $contact,
  String[1] $prompt,
  Sensitive[String[4]] $console_pin,
  Array[String[1]] $packages,
  Enum['apt', 'dnf'] $package_manager,
  Hash[String[1], Hash] $users,
  Hash[String[1], Integer] $sysctl,
  Struct[{ path => String[1], mode => String[4] }] $log_dir,
  Hash[String[1], String] $inventory,
) {
  include chrony

  package { $packages: ensure => installed }

  file {
    '/etc/motd':           content => $motd;
    '/etc/contact':        content => "${contact}\n";
    '/etc/prompt':         content => "${prompt}\n";
    '/etc/inventory':      content => "${inventory['owner']} ${inventory['page']}\n";
    '/etc/console_pin':    content => $console_pin, mode => '0600';
    '/etc/pkg_manager':    content => "${package_manager}\n";
    $log_dir['path']:      ensure => directory, mode => $log_dir['mode'];
  }

  $users.each |$name, $user| {
    user { $name: * => $user }
  }

  $settings = $sysctl.map |$name, $value| { "${name} = ${value}\n" }
  file { '/etc/sysctl.d/fjordkaffe.conf': content => $settings.join }
}
