# A database server.
class profile::database (
  Hash[String[1], Hash] $instances,
  String[1] $listen,
  Pattern[/\A\d\d:\d\d\z/] $backup_window,
  String[1] $backup_user,
  Sensitive[String[1]] $owner_password,
  Sensitive[String[1]] $backup_password,
  Optional[String[1]] $data_context = undef,
) {
  $instances.each |$name, $instance| {
    file { $instance['data_dir']:
      ensure  => directory,
      owner   => 'postgres',
      mode    => $instance['mode'],
      seltype => $data_context,
    }
  }

  file {
    '/etc/postgresql/listen':  content => "${listen}\n";
    '/etc/postgresql/.pgpass': content => $owner_password, mode => '0600';
    '/etc/cron.d/pg_backup':   content => "# ${backup_user} at ${backup_window}\n";
    '/root/.pgpass':           content => $backup_password, mode => '0600';
  }
}
