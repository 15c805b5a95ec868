# Every node has it.
class profile::base (
  Optional[String] $motd = undef,
  Array[String] $packages = ['curl', 'vim'],
  Hash[String, Any] $limits = { 'nofile' => 1024, 'core' => 0 },
) {
  include profile::users
}
