class cache (Integer $port, Integer $size, Enum['lru', 'lfu'] $policy, Integer $ttl = 5, Integer $shards = 2) { }
