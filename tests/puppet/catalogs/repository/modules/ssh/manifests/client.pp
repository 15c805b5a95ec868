class ssh::client (Optional[String] $proxy, Hash[String, Scalar] $options = {}) { }
