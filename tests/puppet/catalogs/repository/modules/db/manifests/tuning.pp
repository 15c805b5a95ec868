class db::tuning (Integer $buffers, Optional[Integer] $cache = $buffers) { }
