class web (
  String $user = $web::params::user,
  String $docroot = '/srv',
  Integer $workers = $facts['processors']['count'] * 2,
  String $group = $user,
) inherits web::params { }
