# @summary Serves pages
#
# @param port Where it listens
# @param words [Hash[String, Array]]
#   What it says, by ünïcode name
class web::server (
  Integer[1, 65535] $port = lookup('web::port', Integer, 'first', 80),
  Hash[String, Array[String]] $words = {
    'a' => ['x', "y ${facts['os']['family']} ${lookup("k::${port}")}"],
  },
  Pattern[/\A[\/a-z]+\z/] $path = '/',
  Optional[String] $text = @("END"/L),
    It's ${words} at ${lookup('web::place')}
    | END
  $list = ['a', 'b'].map |$k, $v| { "${k}, ${v}" },
) inherits web::params {
  /* a comment's } */
  if $port =~ /^8/ or $port / 2 > 40 {
    include web::small, 'web::other'
  }
  class { 'web::ssl':
    key  => lookup({ 'name' => 'web::key', 'merge' => { 'strategy' => 'deep' } }),
    *    => $words,
  }
  -> Class['web::small']
  Deferred('lookup', ['web::secret'])
  File <| title == 'x' |> { require => Package['y'] }
}

type Web::Port = Variant[Integer[0, 65535], Enum['http', 'https']]

function web::f(String $x, *$rest) >> String {
  "${x} \${y} \u{1F600}"
}

node 'a.example.net', /^web\d+\./ {
  role('web')
}
