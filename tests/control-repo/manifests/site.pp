# The certname says what a machine is and where it stands: web-01.oslo.example.net.
if $trusted['certname'] =~ /^([a-z]+)-\d+\.([a-z]+)\./ {
  $role = $1
  $site = $2
} else {
  fail("${trusted['certname']} is not named ROLE-NUMBER.SITE.DOMAIN")
}

node default {
  lookup('classes', Array[String[1]]).include
}
