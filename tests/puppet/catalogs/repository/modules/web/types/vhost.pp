# A site.
type Web::Vhost = Struct[{
  port          => Integer[1, 65535], # as it listens
  root          => String[1],
  Optional[tls] => Boolean,
}]
