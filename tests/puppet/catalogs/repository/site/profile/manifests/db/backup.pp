class profile::db::backup (
  Integer[0, 23] $hour,
  Struct[{daily => Integer, Optional[weekly] => Integer}] $keep = { 'daily' => 2 },
  Integer $minute = $hour,
) { }
