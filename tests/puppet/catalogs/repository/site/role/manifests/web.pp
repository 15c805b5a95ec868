class role::web(String $tier = 'front') inherits role::base { contain profile::web }
