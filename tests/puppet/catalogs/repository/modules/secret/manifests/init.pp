class secret (
  Variant[Sensitive[String], String] $api_token,
  Optional[Sensitive[Hash]] $extra_token = undef,
  String $plain = 'x',
) { }
